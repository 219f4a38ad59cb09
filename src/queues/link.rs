//! One connection of an instance.

use std::{
    collections::BTreeMap,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
};

use parking_lot::Mutex;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::{
    protocol::{HostNotice, HostSeat},
    session::Mailbox,
};

/// The players who are on the way to the match in play of a connection. Clones refer to the same players.
#[derive(Clone, Debug, Default)]
pub struct Expected(Arc<Mutex<BTreeMap<String, HostSeat>>>);

impl Expected {
    /// Takes the seat of a player who is on the way.
    pub fn take(&self, player: &str) -> Option<HostSeat> {
        self.0.lock().remove(player)
    }

    fn note(&self, notice: &HostNotice) {
        match notice {
            HostNotice::Admit(seats) => self
                .0
                .lock()
                .extend(seats.iter().map(|seat| (seat.player.clone(), seat.clone()))),
            HostNotice::Dismiss(players) => {
                self.0.lock().retain(|player, _| !players.contains(player));
            }
            HostNotice::Session(_) | HostNotice::Close { .. } => {}
        }
    }
}

/// A connection of an instance to another daemon.
#[derive(Clone, Debug)]
pub(super) struct RemoteLink {
    pub daemon: String,
    pub is_open: Arc<AtomicBool>,
    /// The clock's millisecond of its last line.
    pub heard: Arc<AtomicU64>,
}

/// Sends to one connection of an instance, and knows whether the connection is open. Sending never waits.
#[derive(Clone, Debug)]
pub struct Link {
    /// Distinguishes the links of this process, also where another daemon knows one of them.
    number: u64,
    end: End,
    /// The clock's millisecond of the last line from the connection.
    heard: Arc<AtomicU64>,
}

#[derive(Clone, Debug)]
enum End {
    /// A connection to this daemon.
    Here(Mailbox, Expected),
    /// A connection to another daemon.
    There(RemoteLink),
    /// A connection to another daemon of which only the number is known. It counts as closed.
    Unknown,
}

impl Link {
    /// A link to the connection that sends what is in the mailbox. The connection stores in `heard` when it received
    /// its last line.
    pub fn new(mailbox: Mailbox, expected: Expected, heard: Arc<AtomicU64>) -> Self {
        static LINKS: AtomicU64 = AtomicU64::new(1);
        Self {
            number: LINKS.fetch_add(1, Ordering::Relaxed),
            end: End::Here(mailbox, expected),
            heard,
        }
    }

    /// A link to a connection of another daemon, which knows it by this number.
    pub(super) fn there(number: u64, remote: RemoteLink) -> Self {
        Self {
            number,
            heard: remote.heard.clone(),
            end: End::There(remote),
        }
    }

    pub(super) fn number(&self) -> u64 {
        self.number
    }

    /// The other daemon, if the connection is to another one: what it is sent has to be written.
    pub(super) fn daemon(&self) -> Option<&str> {
        match &self.end {
            End::There(there) => Some(&there.daemon),
            End::Here(..) | End::Unknown => None,
        }
    }

    /// Sends a notice to a connection of this daemon.
    pub(super) fn send(&self, notice: &HostNotice) {
        match &self.end {
            End::Here(mailbox, expected) => {
                expected.note(notice);
                if let Err(error) = mailbox.push_all(notice.lines()) {
                    tracing::warn!(%error, "an instance is not sent a match");
                }
            }
            End::There(_) | End::Unknown => {}
        }
    }

    pub(super) fn is_open(&self) -> bool {
        match &self.end {
            End::Here(mailbox, _) => mailbox.is_open(),
            End::There(there) => there.is_open.load(Ordering::Relaxed),
            End::Unknown => false,
        }
    }

    /// The clock's millisecond of the last line.
    pub(super) fn heard(&self) -> u64 {
        self.heard.load(Ordering::Relaxed)
    }
}

/// To other daemons, a link is its number.
impl Serialize for Link {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_u64(self.number)
    }
}

/// A link of another daemon, by its number alone: nothing can be sent to it.
impl<'de> Deserialize<'de> for Link {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        Ok(Self {
            number: u64::deserialize(from)?,
            end: End::Unknown,
            heard: Arc::default(),
        })
    }
}
