//! What can be wrong with a line: [`Refusal`] of a command, [`MalformedReply`] from a server.

/// Why a command failed, in the word that stands on the wire. Part of the contract.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Code {
    /// The line's first word is no verb of the protocol.
    UnknownCommand,
    /// An argument is missing, out of range or unknown.
    BadArgument,
    /// The line is longer than the server accepts.
    TooLong,
    /// The command needs a running game: GAME comes first.
    NoGame,
    /// The roster holds no player of that identifier.
    UnknownPlayer,
    /// The roster is full.
    RosterFull,
    /// The peer has no right to this, or the game is in a state that rules it out.
    NotAllowed,
    /// The connection has made as many errors as it may, and is closed.
    TooManyErrors,
    /// The server has no capacity or no time left for the command.
    Overloaded,
    /// The server failed; its log holds the details.
    Internal,
}

impl Code {
    const ALL: [Self; 10] = [
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

    /// The word on the wire.
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

    /// The code that this word on the wire means.
    pub fn parse(word: &[u8]) -> Option<Self> {
        Self::ALL
            .into_iter()
            .find(|code| code.as_str().as_bytes() == word)
    }
}

/// Why a command was refused. A refused command has changed nothing.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{} {text}", code.as_str())]
pub struct Refusal {
    /// The reason for programs.
    pub code: Code,
    /// The reason for people, on one line.
    pub text: String,
}

/// A line from a server that is no reply of this protocol version.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{problem}: {line}")]
pub struct MalformedReply {
    /// What is wrong with it.
    pub problem: &'static str,
    /// The beginning of the line, escaped so that it can be printed.
    pub line: String,
}

impl MalformedReply {
    /// Bytes of the line that are quoted.
    const SHOWN: usize = 80;

    pub(super) fn new(problem: &'static str, line: &[u8]) -> Self {
        let shown = &line[..line.len().min(Self::SHOWN)];
        Self {
            problem,
            line: shown.escape_ascii().to_string(),
        }
    }
}
