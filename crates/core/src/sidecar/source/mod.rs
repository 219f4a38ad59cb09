//! The engine Source: Team Fortress 2, Counter-Strike: Source, Counter-Strike: Global Offensive
//! and their relatives, through the server's log and its remote console.
//!
//! Teams are chosen until the first round of a map starts, while the server waits for players,
//! and in a warm-up. `log` reads rounds, final scores and players as [`ingest`](crate::ingest) does; `deaths` holds what a
//! restore of Counter-Strike may take back;
//! `rcon` has the packets of the remote console.

mod deaths;
mod log;
pub mod rcon;
#[cfg(test)]
mod tests;

use super::{
    engine::{Engine, TeamChanges, TeamOrders},
    follower::{FollowedServer, OpeningTime, TeamWord, TemplateCommands},
    logged::{ConnectionKey, LoggedPlayer, LoggedSetup},
};
use crate::ingest::source::{clients::ConnectedClients, setup::ServerSetup, style::ResultStyle};
use deaths::HeldDeaths;

/// The engine of one Source game server.
pub struct Source {
    commands: TemplateCommands,
    /// How commands name the sides.
    words: fn(u8) -> TeamWord,
    opening: OpeningTime,
    /// The game's folder, if the operator states it.
    game: Option<String>,
    setup: ServerSetup,
    clients: ConnectedClients,
    rounds: RoundState,
    /// The final scores that have been read, by side.
    finals: Vec<(u8, f64)>,
    deaths: HeldDeaths,
    /// Whether the sidecar has reported to the operator that the map is not known yet.
    warned: bool,
}

/// The rounds of a game.
#[derive(Debug, Default)]
struct RoundState {
    /// Whether a round is being played.
    running: bool,
    /// When the last round began, in milliseconds since the log began.
    began: Option<u64>,
    /// When play started, in milliseconds since the log began.
    started: u64,
    /// Whether a round has started on this map, or the game has been restarted.
    begun: bool,
    /// The name of the game that the events have shown.
    shown: Option<&'static str>,
    style: ResultStyle,
    /// Whether the score of a round of this game has been read.
    scored: bool,
    /// Whether a match has ended and the next one has not started, in a game whose log marks both.
    /// Rounds in between do not count.
    waits: bool,
}

impl RoundState {
    /// Whether the log states the score after each round, as Counter-Strike does.
    fn states_scores(&self) -> bool {
        self.style != ResultStyle::Finals
    }

    /// Whether a line marks the end of a match, as in Counter-Strike: Global Offensive.
    fn has_end(&self) -> bool {
        self.style == ResultStyle::Rounds { has_end: true }
    }
}

impl Source {
    /// An engine that has read no log. `game` is the game's folder, such as `tf`, for logs that do not state
    /// it. `opening` is how long the server waits for players on a new map after the first one has joined, in
    /// milliseconds.
    pub fn new(commands: TemplateCommands, game: Option<String>, opening: u64) -> Self {
        let folder = game.clone().unwrap_or_default();
        Self {
            commands,
            words: word,
            opening: OpeningTime::new(opening),
            game,
            setup: ServerSetup::of(folder.as_bytes()),
            clients: ConnectedClients::default(),
            rounds: RoundState::default(),
            finals: Vec::new(),
            deaths: HeldDeaths::default(),
            warned: false,
        }
    }

    /// The setup of the game, once the log has named its map.
    fn game_setup(&self) -> Option<LoggedSetup> {
        (!self.setup.map.is_empty()).then(|| LoggedSetup {
            game_type: self.setup.game_type(self.rounds.shown, None),
            mutators: self.setup.mutators(),
            map: self.setup.map.clone(),
            teams: true,
            match_id: None,
        })
    }

    /// All players, as the log describes them.
    fn players(&self) -> Vec<(ConnectionKey, LoggedPlayer)> {
        let clients = self.clients.iter();
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
                (ConnectionKey(player.number, player.key.id.clone()), player)
            })
            .collect()
    }
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
