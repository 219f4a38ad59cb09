//! The content of a journal: a state, followed by everything that changed it.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use super::{JournalError, frame::FrameBuffer, older};
use crate::{
    domain::{Timestamp, Verdict},
    lobby::{Command, Lobby},
};

/// The first byte of a frame's payload; that of version 0.2.0 is another one.
const MARK: u8 = 1;

/// One entry of a journal, in a frame beside the millisecond of the session at which it happened.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")] // for entries of version 0.2.0
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

/// Collects entries for one frame.
#[derive(Debug, Default)]
pub struct EntryBuffer(FrameBuffer);

impl EntryBuffer {
    /// Adds an entry for something that happened at `at`, in milliseconds of the session.
    ///
    /// # Errors
    /// Fails if the entry cannot be encoded. The buffer cannot be used after that.
    pub fn push(&mut self, at: u64, entry: &Entry<'_>) -> Result<(), JournalError> {
        let is_first = self.is_empty();
        let payload = self.0.payload();
        if is_first {
            payload.push(MARK);
        }
        let written = postcard::to_extend(&(at, entry), std::mem::take(payload));
        *payload = written.map_err(|_| JournalError::Unwritable)?;
        Ok(())
    }

    /// Whether nothing was added since the buffer was cleared.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Discards all entries.
    pub fn clear(&mut self) {
        self.0.clear();
    }

    /// The frame of all entries; `None` if there are none.
    ///
    /// # Errors
    /// Fails if the entries do not fit into one frame.
    pub fn frame(&mut self) -> Result<Option<&[u8]>, JournalError> {
        self.0.seal()
    }
}

/// An entry, and the millisecond of the session at which it happened.
pub(super) type TimedEntry = (u64, Entry<'static>);

/// The entries of a frame, each with its millisecond. Ends after the first that cannot be read.
#[derive(Debug)]
pub(super) struct Entries<'a> {
    rest: &'a [u8],
    /// Whether version 0.2.0 has written them.
    older: bool,
}

impl<'a> Entries<'a> {
    /// The entries that [`EntryBuffer`] has collected in this payload.
    pub(super) fn read(payload: &'a [u8]) -> Self {
        let rest = payload.strip_prefix(&[MARK]);
        Self {
            rest: rest.unwrap_or(payload),
            older: rest.is_none(),
        }
    }
}

impl Iterator for Entries<'_> {
    type Item = Result<TimedEntry, JournalError>;

    fn next(&mut self) -> Option<Self::Item> {
        let bytes = std::mem::take(&mut self.rest);
        (!bytes.is_empty()).then(|| {
            let (entry, rest) = match self.older {
                true => older::read(bytes)?,
                false => postcard::take_from_bytes::<TimedEntry>(bytes)
                    .map_err(|_| JournalError::Unreadable)?,
            };
            match &entry {
                (_, Entry::Command(command)) if !command.is_finite() => {
                    Err(JournalError::Unreadable)
                }
                _ => {
                    self.rest = rest;
                    Ok(entry)
                }
            }
        })
    }
}
