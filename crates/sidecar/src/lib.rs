#![doc = include_str!("../README.md")]
//!
//! # How it is built
//!
//! A sidecar balances a game server that cannot use the line protocol. It reads the server's log, sends
//! the daemon the requests that a plugin inside the game would send, and turns the daemon's replies into
//! console commands.
//!
//! This room only makes decisions: log lines, replies and the time are its arguments, and [`Act`]s
//! its results. The room `drivers` owns sockets, files and the clock.
//!
//! [`follower`] is the sidecar of every engine; [`engine`] says what differs between [`idtech3`], [`source`],
//! [`teeworlds`] and [`xonotic`], and how to add another. `link` tracks the connection to the daemon, `progress` a game, its players
//! and its phase; `balancing_window` decides when to choose teams, and `chat` answers players' commands. [`agent`] makes a game server host matches of queues.
//!
//! For every engine: no human is moved during play unless the operator permits it. Text that a
//! player chose becomes part of a console command only as a bot's name of plain characters, or in a
//! line of the chat, where all other characters are replaced.

#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used))] // a test may fail by unwrapping
#![warn(unreachable_pub)]

pub mod agent;
mod balancing_window;
mod chat;
pub mod engine;
pub mod follower;
pub mod idtech3;
mod link;
mod progress;
pub mod source;
pub mod teeworlds;
pub mod xonotic;

pub use chat::ChatSettings;
pub use progress::{ConnectionKey, LoggedPlayer, LoggedSetup};

use agent::AgentMatch;
use evenkeel_protocol::{Push, Reply, Request};

/// Something that the caller has to do for a sidecar.
#[derive(Clone, Debug, PartialEq)]
pub enum Act {
    /// Send this request to the daemon.
    Send(Request),
    /// Make the game server execute these console commands, in this order.
    Console(Vec<String>),
    /// Make the game server execute this command, and pass its answer to [`Sidecar::answer`].
    Ask {
        /// The number of the question, which is passed back with its answer.
        id: u64,
        /// The console command.
        command: String,
    },
    /// Write this match to the file that survives the agent, before anything that follows is done;
    /// without a match, remove the file.
    Keep(Option<AgentMatch>),
    /// Show this line to the operator.
    Report(String),
}

/// The sidecar or the agent of one game server. `now` is the caller's clock in milliseconds, which never
/// runs backwards. Methods append acts to `acts`, in the order in which to do them. Those with a body are
/// for agents, which host matches.
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

    /// Call it for each line that the daemon sends without a request.
    fn push(&mut self, _push: &Push, _now: u64, _acts: &mut Vec<Act>) {}

    /// Call it with the answer to a question, or with `None` if there is none.
    fn answer(&mut self, _id: u64, _text: Option<&[u8]>, _now: u64, _acts: &mut Vec<Act>) {}

    /// Goes on with the match that an earlier agent has kept. Call it after the existing log was
    /// read, and before the first connection.
    fn restore(&mut self, _kept: AgentMatch) {}

    /// Call it when the game server's process has ended.
    fn server_ended(&mut self, _now: u64, _acts: &mut Vec<Act>) {}

    /// Whether the game server has to be started, if it does not run: it does not answer.
    fn needs_server(&self, _now: u64) -> bool {
        false
    }

    /// For how long the game server has not answered, in milliseconds.
    fn silent_for(&self, _now: u64) -> u64 {
        0
    }

    /// The command that ends the game server.
    fn quit_command(&self) -> &'static str {
        "quit"
    }

    /// Call it before the sidecar ends. A match that has not begun goes to another instance. A game in
    /// play goes on, and another agent can take it over, unless the game server ends, too.
    fn stop(&mut self, _server_ends: bool, _acts: &mut Vec<Act>) {}
}

/// Whether a name of a map or a mode is safe in a command: 1 to 64 letters, digits, `_`, `-` and `.`, the
/// first a letter or digit.
fn is_plain_name(name: &str) -> bool {
    let plain = |b: u8| b.is_ascii_alphanumeric() || b"_-.".contains(&b);
    let first = name.bytes().next();
    let starts = first.is_some_and(|b| b.is_ascii_alphanumeric());
    starts && name.len() <= 64 && name.bytes().all(plain)
}

/// The commands that the game server has not been sent yet. A list that is sent too early can replace one that the
/// game server has not read yet.
#[derive(Debug)]
struct ConsoleQueue {
    commands: Vec<String>,
    /// The shortest time between two lists of commands, in milliseconds.
    pause: u64,
    /// When the next list may be sent.
    next: u64,
}

impl ConsoleQueue {
    fn new(pause: u64) -> Self {
        Self {
            commands: Vec::new(),
            pause,
            next: 0,
        }
    }

    fn push(&mut self, commands: impl IntoIterator<Item = String>) {
        self.commands.extend(commands);
    }

    /// Whether all commands have been sent.
    fn is_empty(&self) -> bool {
        self.commands.is_empty()
    }

    /// Drops the commands that were not sent.
    fn clear(&mut self) {
        self.commands.clear();
    }

    /// Whether commands may be sent now.
    fn is_free(&self, now: u64) -> bool {
        now >= self.next
    }

    /// Sends these lines of the chat and the commands that wait, if there are any. The lines come first, because some
    /// commands make the game server wait for a few frames.
    fn send(&mut self, lines: Vec<String>, now: u64, acts: &mut Vec<Act>) {
        let mut commands = lines;
        commands.append(&mut self.commands);
        if !commands.is_empty() {
            self.next = now.saturating_add(self.pause);
            acts.push(Act::Console(commands));
        }
    }
}
