//! A sidecar balances a game server that cannot speak the line protocol: it reads the server's log, says
//! to the daemon what a mutator would say, and turns the daemon's answers into console commands.
//!
//! This room is the thinking alone: what came in and the time are arguments, what to do comes out as
//! [`Act`]s; sockets, files and the clock belong to the command line. Nobody is moved while play is
//! on unless auto-balance is, and no text that a player chose ever becomes part of a command, but a
//! bot's name of plain letters. Entry point: [`Sidecar`].

mod answers;
mod commands;
mod lull;
mod people;
mod play;
mod session;
#[cfg(test)]
mod tests;
mod words;

pub use commands::SpareBot;
pub use session::Sidecar;

/// What to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Act {
    /// Say this line to the daemon; it has no end of line.
    Say(String),
    /// Let the game server do these console commands, in this order.
    Console(Vec<String>),
    /// Tell the operator.
    Tell(String),
}

/// What an operator can choose. Times are milliseconds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// The name of the game server, as HELLO tells it.
    pub server: String,
    /// What proves it, where the daemon asks for that.
    pub token: Option<String>,
    /// Whether the daemon hears of bots as if they were humans, and so says where each belongs;
    /// otherwise it says how many belong on each team.
    pub bots_as_players: bool,
    /// Whether people may be moved while play is on.
    pub auto_balance: bool,
    /// Whether humans are moved by the game's own admin commands.
    pub admin: bool,
    /// Teams are chosen when nobody came or went for so long.
    pub settle: u64,
    /// How often a move that did not happen is ordered, at least once.
    pub attempts: u32,
    /// Bots that may be added and removed as the daemon wishes; without any, bots only change teams.
    pub spare_bots: Vec<SpareBot>,
}
