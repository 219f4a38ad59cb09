//! A sidecar balances a game server that cannot speak the line protocol. It reads the server's log, sends
//! the daemon the requests that a plugin inside the game would send, and turns the daemon's replies into
//! console commands.
//!
//! This room only decides: log lines, replies and the time come in as arguments, and what to do comes
//! out as [`Act`]s. Sockets, files and the clock belong to the command line.
//!
//! Each engine has a folder with an implementation of [`Sidecar`], such as [`idtech3`]. What engines
//! share stands beside them: `link` is the connection to the daemon, `lull` is when to choose teams.
//! A sidecar for another engine adds a folder here and a subcommand in `cli/sidecar`.
//!
//! What holds for every engine: no human is moved while play is on unless the operator allows it, and
//! no text that a player chose becomes part of a console command, except a bot's name of plain
//! characters.

pub mod idtech3;
mod link;
mod lull;

use crate::protocol::{Reply, Request};

/// What a sidecar wants done.
#[derive(Clone, Debug, PartialEq)]
pub enum Act {
    /// Send this request to the daemon.
    Send(Request),
    /// Let the game server execute these console commands, in this order.
    Console(Vec<String>),
    /// Show this line to the operator.
    Report(String),
}

/// One game server's sidecar. `now` is the caller's clock in milliseconds, which never runs backwards;
/// acts are appended in the order in which they have to be done.
pub trait Sidecar {
    /// There is a new connection to the daemon, which knows nothing of the game yet.
    fn connected(&mut self, now: u64, acts: &mut Vec<Act>);

    /// The connection to the daemon has ended.
    fn disconnected(&mut self);

    /// The game server wrote this line to its log, without its line end.
    fn log_line(&mut self, line: &[u8], now: u64, acts: &mut Vec<Act>);

    /// The daemon sent a reply.
    fn reply(&mut self, reply: Reply, now: u64, acts: &mut Vec<Act>);

    /// Time has passed. To be called several times a second.
    fn tick(&mut self, now: u64, acts: &mut Vec<Act>);
}
