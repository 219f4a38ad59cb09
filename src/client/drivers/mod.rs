//! Runs sidecars and agents: reads a game server's log, drives its remote console and its process, and keeps a
//! connection to the daemon.
//!
//! The room `sidecar` makes the decisions; this one gives it log lines, replies and the time, and does what it
//! says. `driver` is the loop. `game_log` reads logs, `console` has a remote console for each engine, `daemon` is the
//! connection, `kept` and `process` are for agents, which host matches. The command line has the options.
//!
//! A command for the game server is either carried out soon or dropped: a move that comes late could be wrong.

#![allow(
    clippy::disallowed_methods,
    reason = "the clock of a sidecar begins when it starts"
)]

mod console;
mod daemon;
mod driver;
mod endpoint;
mod error;
mod game_log;
mod kept;
mod process;

pub use console::{
    ConsoleEvent, DarkPlacesConsole, IdTech3Console, Password, RemoteConsole, Security,
    SourceConsole, TeeworldsConsole,
};
pub use daemon::DaemonConnection;
pub use driver::Driver;
pub use endpoint::DaemonEndpoint;
pub use error::DriverError;
pub use game_log::GameLog;
pub use kept::KeptMatch;
pub use process::ServerProcess;
