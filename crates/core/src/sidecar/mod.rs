//! A sidecar balances a game server that cannot use the line protocol. It reads the server's log, sends
//! the daemon the requests that a plugin inside the game would send, and turns the daemon's replies into
//! console commands.
//!
//! This room only makes decisions: log lines, replies and the time are its arguments, and [`Act`]s
//! its results. The command line owns sockets, files and the clock.
//!
//! Each engine has a folder with an implementation of [`Sidecar`]: [`idtech3`], [`source`], [`xonotic`].
//! [`follower`] follows the games of the last two. The other files are for all engines: `link` tracks the
//! connection to the daemon, `progress` the phase of a game, `entry` a player in the daemon's roster;
//! `lull` decides when to choose teams, and `chat` answers players' commands. A sidecar for another
//! engine needs a folder here and a subcommand in `cli/sidecar`.
//!
//! For every engine: no human is moved during play unless the operator permits it. Text that a
//! player chose becomes part of a console command only as a bot's name of plain characters, or in a
//! line of the chat, where all other characters are replaced.

mod chat;
mod entry;
pub mod follower;
pub mod idtech3;
mod link;
mod lull;
mod progress;
pub mod source;
pub mod xonotic;

pub use chat::ChatSettings;

use crate::protocol::{Reply, Request};

/// Something that the caller has to do for a sidecar.
#[derive(Clone, Debug, PartialEq)]
pub enum Act {
    /// Send this request to the daemon.
    Send(Request),
    /// Make the game server execute these console commands, in this order.
    Console(Vec<String>),
    /// Show this line to the operator.
    Report(String),
}

/// The sidecar of one game server. `now` is the caller's clock in milliseconds, which never runs
/// backwards. Methods append acts to `acts`, in the order in which to do them.
pub trait Sidecar {
    /// Call it for each new connection to the daemon, which has no state of the game yet.
    fn connected(&mut self, now: u64, acts: &mut Vec<Act>);

    /// Call it when the connection to the daemon has ended.
    fn disconnected(&mut self);

    /// Call it for each line of the game server's log, without its line end.
    fn log_line(&mut self, line: &[u8], now: u64, acts: &mut Vec<Act>);

    /// Call it for each reply of the daemon.
    fn reply(&mut self, reply: Reply, now: u64, acts: &mut Vec<Act>);

    /// Call it several times per second, to let time pass.
    fn tick(&mut self, now: u64, acts: &mut Vec<Act>);
}
