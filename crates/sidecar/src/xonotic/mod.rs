//! The engine of Xonotic and Nexuiz, through the server's event log and its remote console.
//!
//! Teams are chosen in the warm-up, which a restart of the map ends. On servers without a
//! warm-up, they are chosen in the seconds before play in which the server waits (`g_start_delay`). `rcon` has
//! the packets of the remote console.

pub mod rcon;
#[cfg(test)]
mod tests;

use super::{
    engine::{Engine, TeamChanges, TeamOrders},
    follower::{FollowedServer, OpeningTime, TeamWord, TemplateCommands},
};
use crate::progress::{ConnectionKey, LoggedPlayer, LoggedSetup};
use evenkeel_ingest::{
    ClientTeam, GameEvent, stamp,
    xonotic::{
        GAME,
        grammar::{self, XonoticEvent},
        server::XonoticServer,
    },
};

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
    log: XonoticServer,
}

impl Xonotic {
    /// An engine that has read no log. `opening` is how long teams may be chosen in a new game without a
    /// warm-up after the first player has joined, in milliseconds.
    pub fn new(commands: TemplateCommands, warms_up: bool, opening: u64) -> Self {
        Self {
            commands,
            opening: OpeningTime::new(opening),
            warms_up,
            log: XonoticServer::default(),
        }
    }

    fn setup(&self) -> LoggedSetup {
        LoggedSetup {
            game_type: format!("{GAME}.{}", self.log.kind),
            mutators: self.log.mutators.iter().cloned().collect(),
            map: self.log.map.clone(),
            teams: !WITHOUT_TEAMS.contains(&self.log.kind.as_str()),
            match_id: None,
        }
    }

    /// All players, as the log describes them.
    fn players(&self) -> Vec<(ConnectionKey, LoggedPlayer)> {
        let players = self.log.clients.iter().map(|(&id, client)| {
            let player = LoggedPlayer {
                key: client.key(),
                name: client.name.clone(),
                number: client.number,
                side: client.team(),
                free: client.place == ClientTeam::Free,
                begun: true,
                role: None,
            };
            (ConnectionKey::of(id), player)
        });
        players.collect()
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
            server.start(self.setup());
        }
    }

    fn event(&mut self, event: GameEvent, server: &mut FollowedServer) {
        match event {
            GameEvent::Game => {
                server.leave_map();
                self.opening.reset();
                self.announce(server);
            }
            GameEvent::Setup => {
                if !self.log.mutators.is_empty() && self.log.clients.is_empty() {
                    self.announce(server);
                }
            }
            GameEvent::Start => {
                self.opening.pending = false;
                server.start(self.setup());
            }
            GameEvent::Client(_) | GameEvent::Left(_) => server.sync(self.players()),
            GameEvent::Closed => {
                // A game that was played to its end has been closed by `:end` before.
                server.leave_map();
                self.opening.reset();
            }
            other => server.take(other),
        }
    }

    fn announce(&mut self, server: &mut FollowedServer) {
        server.begin(self.setup());
        if self.warms_up {
            server.warm_up();
        } else {
            self.opening.pending = true;
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
            XonoticEvent::Time(date) => Some(date),
            _ => None,
        };
        self.opening.read(date, server.now());
        if event != XonoticEvent::Restart {
            self.open(server);
        }
        let mut events = Vec::new();
        self.log.interpret(event, &mut events);
        for event in events {
            self.event(event, server);
        }
    }

    fn tick(&mut self, server: &mut FollowedServer) {
        self.open(server);
    }

    fn orders(&self, changes: &TeamChanges<'_>) -> TeamOrders {
        self.commands.orders(changes, word)
    }
}
