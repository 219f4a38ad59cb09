//! The errors of lines: [`Refusal`] of a command, [`MalformedReply`] from a server.

/// The reason for an ERROR, as the code in the reply. The codes are part of the protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Code {
    /// The first word of the line is not a verb of the protocol.
    UnknownCommand,
    /// An argument is missing, out of range or unknown.
    BadArgument,
    /// The line is longer than the server accepts.
    TooLong,
    /// The command needs a running game: send GAME first.
    NoGame,
    /// The roster contains no player with this identifier.
    UnknownPlayer,
    /// The roster has as many humans as the daemon allows.
    RosterFull,
    /// The peer is not authorised, or the state of the game does not permit the command.
    NotAllowed,
    /// The connection has exceeded its number of errors and is closed.
    TooManyErrors,
    /// The server has no capacity, or no time, for the command.
    Overloaded,
    /// The server failed; its log contains the details.
    Internal,
}

impl Code {
    /// All codes, in the order of their numbers (`code as usize`).
    pub const ALL: [Self; 10] = [
        Self::UnknownCommand,
        Self::BadArgument,
        Self::TooLong,
        Self::NoGame,
        Self::UnknownPlayer,
        Self::RosterFull,
        Self::NotAllowed,
        Self::TooManyErrors,
        Self::Overloaded,
        Self::Internal,
    ];

    /// The code as it is sent in an ERROR reply.
    pub fn as_str(self) -> &'static str {
        match self {
            Code::UnknownCommand => "unknown-command",
            Code::BadArgument => "bad-argument",
            Code::TooLong => "too-long",
            Code::NoGame => "no-game",
            Code::UnknownPlayer => "unknown-player",
            Code::RosterFull => "roster-full",
            Code::NotAllowed => "not-allowed",
            Code::TooManyErrors => "too-many-errors",
            Code::Overloaded => "overloaded",
            Code::Internal => "internal",
        }
    }

    /// The code with this word; `None` for a word of another version.
    pub fn parse(word: &[u8]) -> Option<Self> {
        Self::ALL
            .into_iter()
            .find(|code| code.as_str().as_bytes() == word)
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
