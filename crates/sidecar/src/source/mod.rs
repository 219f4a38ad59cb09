//! The engine Source: Team Fortress 2, Counter-Strike: Source, Counter-Strike: Global Offensive
//! and their relatives, through the server's log and its remote console.
//!
//! Teams are chosen until the first round of a map starts, while the server waits for players,
//! and in a warm-up. `log` handles what the log shows, also what a restore of Counter-Strike takes back;
//! `rcon` has the packets of the remote console.

mod log;
pub mod rcon;
#[cfg(test)]
mod tests;

use super::{
    engine::{Engine, TeamChanges, TeamOrders},
    follower::{FollowedServer, OpeningTime, TeamWord, TemplateCommands},
};
use crate::progress::{ConnectionKey, LoggedPlayer, LoggedSetup};
use evenkeel_ingest::source::{clients::Client, server::LoggedServer};
use log::HeldDeaths;

/// The engine of one Source game server.
pub struct Source {
    commands: TemplateCommands,
    /// How commands name the sides.
    words: fn(u8) -> TeamWord,
    opening: OpeningTime,
    log: LoggedServer,
    /// Whether a round has started on this map, or the game has been restarted.
    begun: bool,
    /// The final scores that have been read, by side.
    finals: Vec<(u8, f64)>,
    deaths: HeldDeaths,
    /// Whether the sidecar has reported to the operator that the map is not known yet.
    warned: bool,
}

impl Source {
    /// An engine that has read no log. `game` is the game's folder, such as `tf`, for logs that do not state
    /// it. `opening` is how long the server waits for players on a new map after the first one has joined, in
    /// milliseconds.
    pub fn new(commands: TemplateCommands, game: Option<String>, opening: u64) -> Self {
        Self {
            commands,
            words: word,
            opening: OpeningTime::new(opening),
            log: LoggedServer::of(game),
            begun: false,
            finals: Vec::new(),
            deaths: HeldDeaths::default(),
            warned: false,
        }
    }

    /// The setup of the game, once the log has named its map.
    fn game_setup(&self) -> Option<LoggedSetup> {
        let setup = &self.log.setup;
        (!setup.map.is_empty()).then(|| LoggedSetup {
            game_type: self.log.game_type(),
            mutators: setup.mutators(),
            map: setup.map.clone(),
            teams: true,
            match_id: None,
        })
    }

    /// All players, as the log describes them.
    fn players(&self) -> Vec<(ConnectionKey, LoggedPlayer)> {
        let clients = self.log.clients.iter();
        clients
            .map(|client| {
                let player = LoggedPlayer {
                    key: client.key(),
                    name: client.name(),
                    number: client.number(),
                    side: client.team(),
                    free: false,
                    begun: true,
                    role: client.role(),
                };
                (connection(client), player)
            })
            .collect()
    }
}

fn connection(client: &Client) -> ConnectionKey {
    ConnectionKey(client.number(), client.key().id)
}

/// How commands name the sides: the engine's teams begin at 2, after those who watch.
fn word(side: u8) -> TeamWord {
    let name = match side {
        0 => "red",
        1 => "blue",
        2 => "yellow",
        _ => "green",
    };
    TeamWord {
        name,
        number: u32::from(side) + 2,
    }
}

/// How commands name the sides in Counter-Strike.
fn counter_strike_word(side: u8) -> TeamWord {
    TeamWord {
        name: if side == 0 { "t" } else { "ct" },
        number: u32::from(side) + 2,
    }
}

impl Engine for Source {
    fn log_line(&mut self, line: &[u8], server: &mut FollowedServer) {
        self.read_log_line(line, server);
    }

    fn tick(&mut self, server: &mut FollowedServer) {
        self.deaths.pass(self.opening.log_position(), server);
        self.open(server);
    }

    fn orders(&self, changes: &TeamChanges<'_>) -> TeamOrders {
        self.commands.orders(changes, self.words)
    }
}
