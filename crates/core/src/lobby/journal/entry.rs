//! The content of a journal: a state, followed by everything that changed it.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use crate::{
    domain::{Timestamp, Verdict},
    lobby::{Command, Lobby},
};

/// One entry of a journal, in a frame beside the millisecond of the session at which it happened.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Entry<'a> {
    /// This state replaces all entries before it.
    Snapshot(Box<JournalSnapshot<'a>>),
    /// HELLO named the game server.
    Server(Cow<'a, str>),
    /// A command that the lobby has carried out.
    Command(Cow<'a, Command>),
    /// The reasons for the last decision, one per line. They belong to the present game only.
    Reasons(Cow<'a, [String]>),
    /// The number that the game has from this entry on.
    Number(i64),
    /// The date of the session's millisecond 0, as of START.
    Epoch(Timestamp),
    /// END ended the game; its match is not on disk yet.
    End(Verdict),
    /// The match is on disk, and this is the answer to END.
    Ended(EndAnswer),
    /// An answer to END is about to be sent: the match's id, or that the match is kept.
    Delivered,
}

/// The state of a session's game.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct JournalSnapshot<'a> {
    /// The game server, once HELLO has named it.
    pub server: Option<Cow<'a, str>>,
    /// The number of the game, which no other game has.
    pub number: i64,
    /// The date of the snapshot.
    pub date: Timestamp,
    /// The date of the session's millisecond 0, as of START.
    pub epoch: Timestamp,
    /// The answer to END; `None` if the game is not over.
    pub end: Option<EndAnswer>,
    /// The reasons for the last decision of the game, one per line.
    pub reasons: Cow<'a, [String]>,
    /// The lobby. Its game is not over, or its match is on disk.
    pub lobby: Cow<'a, Lobby>,
    /// The game that the lobby keeps because the present one may be the same once more.
    pub held: Option<Cow<'a, HeldGame>>,
}

/// What a session knows of a game that its lobby keeps.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HeldGame {
    /// The number of the game.
    pub number: i64,
    /// The date of the session's millisecond 0, as of its START.
    pub epoch: Timestamp,
    /// The reasons for its last decision, one per line.
    pub reasons: Vec<String>,
}

/// The answer to END.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EndAnswer {
    /// The id under which the match is stored.
    pub id: i64,
    /// Why the match is not rated; `None` if it is.
    pub unrated: Option<String>,
    /// Whether the answer has been sent, or was about to be sent.
    pub delivered: bool,
}

/// An entry, and the millisecond of the session at which it happened.
pub(super) type TimedEntry = (u64, Entry<'static>);
