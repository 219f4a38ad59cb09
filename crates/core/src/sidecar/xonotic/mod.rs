//! The sidecar for Xonotic and Nexuiz, through the server's event log and its remote console.
//!
//! The sidecar chooses teams in the warm-up, which a restart of the map ends. On servers without a
//! warm-up, it chooses them in the seconds before play in which the server waits (`g_start_delay`). `log`
//! handles lines of the log, `rcon` has the packets of the remote console.

mod log;
pub mod rcon;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use super::{
    Act, Sidecar,
    follower::{
        ConnectionKey, FollowedSetup, GameFollower, LogTime, LoggedPlayer, OpeningTime, Settings,
        TeamWord,
    },
};
use crate::{
    domain::PlayerKey,
    ingest::{team::ClientTeam, xonotic::identity},
    protocol::Reply,
};

/// The most players who are known at a time. A real server has fewer.
const MAX_CLIENTS: usize = 256;
/// The types of games without teams.
const WITHOUT_TEAMS: [&str; 12] = [
    "dm", "duel", "lms", "arena", "rune", "ka", "mayhem", "rc", "cts", "inv", "surv", "br",
];

/// A sidecar for one game server of Xonotic or Nexuiz.
pub struct Xonotic {
    follower: GameFollower,
    time: LogTime,
    opening: OpeningTime,
    /// Whether games begin with a warm-up, which a restart ends.
    warms_up: bool,
    setup: FollowedSetup,
    /// The type of the game, for example `ctf`.
    kind: String,
    /// The players by the number that the log gives them.
    clients: BTreeMap<u32, XonoticClient>,
    scores: Scores,
}

/// A player as the log describes them.
#[derive(Debug)]
struct XonoticClient {
    /// The number by which commands name the player.
    slot: Option<u32>,
    bot: bool,
    key: PlayerKey,
    name: String,
    place: ClientTeam,
}

/// The list of final scores that is being read.
#[derive(Debug, Default)]
struct Scores {
    reading: bool,
    /// The index of the score that decides the game.
    label: Option<usize>,
    finals: Vec<(u8, f64)>,
}

impl Xonotic {
    /// A sidecar that has read no log and has no connection. `opening` is how long teams may be
    /// chosen in a new game without a warm-up after the first player has joined, in milliseconds.
    pub fn new(settings: Settings, warms_up: bool, opening: u64) -> Self {
        Self {
            follower: GameFollower::new(settings, word),
            time: LogTime::default(),
            opening: OpeningTime::new(opening),
            warms_up,
            setup: FollowedSetup::default(),
            kind: String::new(),
            clients: BTreeMap::new(),
            scores: Scores::default(),
        }
    }

    /// All players, as the log describes them.
    fn players(&self) -> Vec<(ConnectionKey, LoggedPlayer)> {
        let clients = self.clients.iter();
        clients
            .map(|(&id, client)| {
                let side = match client.place {
                    ClientTeam::Team(side) => Some(side),
                    _ => None,
                };
                let free = client.place == ClientTeam::Free && !self.setup.teams;
                let player = LoggedPlayer {
                    key: client.key.clone(),
                    name: client.name.clone(),
                    number: client.slot,
                    side,
                    plays: side.is_some() || free,
                };
                (connection(id), player)
            })
            .collect()
    }
}

impl XonoticClient {
    fn new(slot: Option<u32>, bot: bool, nick: &[u8]) -> Self {
        let (key, name) = identity(bot, nick);
        Self {
            slot,
            bot,
            key,
            name,
            // In a game without teams no line states a team.
            place: ClientTeam::Free,
        }
    }
}

fn connection(id: u32) -> ConnectionKey {
    ConnectionKey(Some(id), String::new())
}

/// How commands name the sides; the numbers are the engine's.
fn word(side: u8) -> TeamWord {
    let (name, number) = match side {
        0 => ("red", 5),
        1 => ("blue", 14),
        2 => ("yellow", 13),
        _ => ("pink", 10),
    };
    TeamWord { name, number }
}

impl Sidecar for Xonotic {
    fn connected(&mut self, now: u64, acts: &mut Vec<Act>) {
        self.follower.connected(now, acts);
    }

    fn disconnected(&mut self) {
        self.follower.disconnected();
    }

    fn log_line(&mut self, line: &[u8], now: u64, acts: &mut Vec<Act>) {
        self.read_log_line(line, now, acts);
    }

    fn reply(&mut self, reply: Reply, now: u64, acts: &mut Vec<Act>) {
        self.follower.reply(reply, now, acts);
    }

    fn tick(&mut self, now: u64, acts: &mut Vec<Act>) {
        self.open(now, acts);
        self.follower.tick(now, acts);
    }
}
