//! The errors of lines: [`Refusal`] of a command, [`MalformedReply`] from a server.

use evenkeel_model::worded;

worded! {
    /// The reason for an ERROR, as the code in the reply. The codes are part of the protocol.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Code {
        /// The first word of the line is not a verb of the protocol.
        UnknownCommand = "unknown-command",
        /// An argument is missing, out of range or unknown.
        BadArgument = "bad-argument",
        /// The line is longer than the server accepts.
        TooLong = "too-long",
        /// The command needs a running game: send GAME first.
        NoGame = "no-game",
        /// The roster contains no player with this identifier.
        UnknownPlayer = "unknown-player",
        /// The roster has as many humans as the daemon allows.
        RosterFull = "roster-full",
        /// The peer is not authorised, or the state of the game does not permit the command.
        NotAllowed = "not-allowed",
        /// The connection has exceeded its number of errors and is closed.
        TooManyErrors = "too-many-errors",
        /// The server has no capacity, or no time, for the command.
        Overloaded = "overloaded",
        /// The server failed; its log contains the details.
        Internal = "internal",
    }
}

/// The error reply to a command. A refused command changes nothing.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{} {text}", code.as_str())]
pub struct Refusal {
    /// The reason as a code, for programs.
    pub code: Code,
    /// The reason as text on one line, for people.
    pub text: String,
}

impl Refusal {
    /// A refusal for this reason.
    pub fn new(code: Code, text: impl Into<String>) -> Self {
        let text = text.into();
        Self { code, text }
    }
}

/// A line from a server that is not a reply of this version of the protocol.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{problem}: {line}")]
pub struct MalformedReply {
    /// What is wrong with the line.
    pub problem: &'static str,
    /// The beginning of the line, with control characters escaped.
    pub line: String,
}

impl MalformedReply {
    /// The most bytes of the line in an error.
    const SHOWN: usize = 80;

    pub(super) fn new(problem: &'static str, line: &[u8]) -> Self {
        let shown = &line[..line.len().min(Self::SHOWN)];
        Self {
            problem,
            line: shown.escape_ascii().to_string(),
        }
    }
}
