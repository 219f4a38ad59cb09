//! The engine of Xonotic and Nexuiz, through the server's event log and its remote console.
//!
//! Teams are chosen in the warm-up, which a restart of the map ends. On servers without a
//! warm-up, they are chosen in the seconds before play in which the server waits (`g_start_delay`). `rcon` has
//! the packets of the remote console.

pub mod rcon;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use super::{
    engine::{Engine, TeamChanges, TeamOrders},
    follower::{FollowedServer, OpeningTime, TeamWord, TemplateCommands},
    logged::{ConnectionKey, LoggedPlayer, LoggedSetup},
};
use crate::ingest::{
    stamp,
    team::ClientTeam,
    xonotic::{
        GAME,
        grammar::{self, Event},
        identity, server_name,
    },
};

/// The most players who are known at a time. A real server has fewer.
const MAX_CLIENTS: usize = 256;
/// The types of games without teams.
const WITHOUT_TEAMS: [&str; 12] = [
    "dm", "duel", "lms", "arena", "rune", "ka", "mayhem", "rc", "cts", "inv", "surv", "br",
];

/// The engine of one game server of Xonotic or Nexuiz.
pub struct Xonotic {
    commands: TemplateCommands,
    opening: OpeningTime,
    /// Whether games begin with a warm-up, which a restart ends.
    warms_up: bool,
    setup: LoggedSetup,
    /// The type of the game, for example `ctf`.
    kind: String,
    /// The players by the number that the log gives them.
    clients: BTreeMap<u32, XonoticClient>,
    scores: Scores,
}

/// A player as the log describes them.
#[derive(Debug)]
struct XonoticClient {
    bot: bool,
    player: LoggedPlayer,
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
    /// An engine that has read no log. `opening` is how long teams may be chosen in a new game without a
    /// warm-up after the first player has joined, in milliseconds.
    pub fn new(commands: TemplateCommands, warms_up: bool, opening: u64) -> Self {
        Self {
            commands,
            opening: OpeningTime::new(opening),
            warms_up,
            setup: LoggedSetup::default(),
            kind: String::new(),
            clients: BTreeMap::new(),
            scores: Scores::default(),
        }
    }

    /// All players, as the log describes them.
    fn players(&self) -> Vec<(ConnectionKey, LoggedPlayer)> {
        let clients = self.clients.iter();
        let players =
            clients.map(|(&id, client)| (ConnectionKey::numbered(id), client.player.clone()));
        players.collect()
    }
}

impl XonoticClient {
    fn new(slot: Option<u32>, bot: bool, nick: &[u8]) -> Self {
        let (key, name) = identity(bot, nick);
        let player = LoggedPlayer {
            key,
            name,
            number: slot,
            side: None,
            // In a game without teams no line states a team.
            free: true,
            begun: true,
            role: None,
        };
        Self { bot, player }
    }
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

impl Xonotic {
    /// Starts play once the time in which the server waits is over.
    fn open(&mut self, server: &mut FollowedServer) {
        if self.opening.is_due(server) {
            server.start(self.setup.clone());
        }
    }

    fn event(&mut self, event: Event<'_>, server: &mut FollowedServer) {
        match event {
            Event::GameStart { kind, map } => self.begin(kind, map, server),
            Event::Mutators(list) => {
                let names = list.split(|&b| b == b':').map(server_name);
                self.setup.mutators = names.filter(|name| !name.is_empty()).collect();
                if !self.setup.mutators.is_empty() && self.clients.is_empty() {
                    self.announce(server);
                }
            }
            Event::Restart => {
                self.opening.pending = false;
                server.start(self.setup.clone());
            }
            Event::Join { .. } | Event::Team { .. } | Event::Part(_) | Event::Name { .. } => {
                self.roster(event);
                server.sync(self.players());
            }
            Event::GameOver => {
                // A game that was played to its end has been closed by `:end` before.
                self.clients.clear();
                server.leave_map();
                self.opening.reset();
            }
            other => self.play(other, server),
        }
    }

    /// A game begins. The log names every player again.
    fn begin(&mut self, kind: &[u8], map: &[u8], server: &mut FollowedServer) {
        self.clients.clear();
        server.leave_map();
        self.scores = Scores::default();
        self.kind = server_name(kind).to_lowercase();
        self.setup = LoggedSetup {
            game_type: format!("{GAME}.{}", self.kind),
            mutators: Vec::new(),
            map: server_name(map),
            teams: !WITHOUT_TEAMS.contains(&self.kind.as_str()),
            match_id: None,
        };
        self.opening.reset();
        self.announce(server);
    }

    fn announce(&mut self, server: &mut FollowedServer) {
        server.begin(self.setup.clone());
        if self.warms_up {
            server.warm_up();
        } else {
            self.opening.pending = true;
        }
    }

    /// Handles players who join, leave, or change their team or name.
    fn roster(&mut self, event: Event<'_>) {
        match event {
            Event::Join {
                id,
                slot,
                bot,
                nick,
            } => {
                // A player who had this slot is gone.
                self.clients
                    .retain(|_, client| slot.is_none() || client.player.number != slot);
                if self.clients.len() < MAX_CLIENTS {
                    self.clients.insert(id, XonoticClient::new(slot, bot, nick));
                }
            }
            Event::Team { id, place } => {
                if let Some(client) = self.clients.get_mut(&id) {
                    client.player.side = match place {
                        ClientTeam::Team(side) => Some(side),
                        _ => None,
                    };
                    client.player.free = place == ClientTeam::Free;
                }
            }
            Event::Name { id, nick } => {
                if let Some(client) = self.clients.get_mut(&id) {
                    (client.player.key, client.player.name) = identity(client.bot, nick);
                }
            }
            Event::Part(id) => {
                self.clients.remove(&id);
            }
            _ => {}
        }
    }

    /// Handles events of play and of its results.
    fn play(&mut self, event: Event<'_>, server: &mut FollowedServer) {
        match event {
            Event::Kill {
                frag,
                killer,
                victim,
            } => {
                let [killer, victim] = [killer, victim].map(ConnectionKey::numbered);
                server.dies(&victim, frag.then_some(&killer));
                if self.kind == "tdm" {
                    // A suicide or the death of a team mate costs the killer's team a point.
                    let points = if frag { 1.0 } else { -1.0 };
                    server.score(&killer, points);
                }
            }
            Event::Capture(id) => server.score(&ConnectionKey::numbered(id), 1.0),
            Event::Scores { .. } => {
                server.over();
                self.scores = Scores {
                    reading: true,
                    ..Scores::default()
                };
            }
            Event::Status => self.scores.reading = false,
            _ if !self.scores.reading => {}
            Event::PlayerLabels(labels) | Event::TeamLabels(labels) => {
                self.scores.label = grammar::deciding(labels);
            }
            Event::Player { id, scores, .. } => {
                let label = self.scores.label;
                if let Some(points) = label.and_then(|label| grammar::score(scores, label)) {
                    server.points(&ConnectionKey::numbered(id), points);
                }
            }
            Event::TeamScores { team, scores } => {
                let label = self.scores.label;
                if let Some(score) = label.and_then(|label| grammar::score(scores, label)) {
                    self.scores.finals.retain(|(known, _)| *known != team);
                    self.scores.finals.push((team, score));
                }
            }
            Event::End => {
                let scores = std::mem::take(&mut self.scores);
                server.finals(scores.finals);
                server.end();
            }
            _ => {}
        }
    }
}

impl Engine for Xonotic {
    fn log_line(&mut self, line: &[u8], server: &mut FollowedServer) {
        let line = stamp::bare(line, |line| line.starts_with(b":"));
        let Ok(event) = grammar::read(line) else {
            return;
        };
        let date = match event {
            Event::Time(date) => Some(date),
            _ => None,
        };
        self.opening.read(date, server.now());
        if event != Event::Restart {
            self.open(server);
        }
        self.event(event, server);
    }

    fn tick(&mut self, server: &mut FollowedServer) {
        self.open(server);
    }

    fn orders(&self, changes: &TeamChanges<'_>) -> TeamOrders {
        self.commands.orders(changes, word)
    }
}
