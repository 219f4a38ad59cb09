//! One connection of an instance.

use std::{
    fmt,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::protocol::HostNotice;

/// Sends to one connection of an instance, and knows whether the connection is open. Sending never waits.
#[derive(Clone)]
pub struct Link {
    /// Distinguishes the links of this process, also where another daemon knows one of them.
    number: u64,
    send: Arc<dyn Fn(&HostNotice) + Send + Sync>,
    is_open: Arc<dyn Fn() -> bool + Send + Sync>,
    /// The clock's millisecond of the last line from the connection.
    heard: Arc<AtomicU64>,
}

impl Link {
    /// A link that calls `send` to send, and `is_open` to find out whether its connection is open. The
    /// connection stores in `heard` when it received its last line.
    pub fn new(
        send: impl Fn(&HostNotice) + Send + Sync + 'static,
        is_open: impl Fn() -> bool + Send + Sync + 'static,
        heard: Arc<AtomicU64>,
    ) -> Self {
        static LINKS: AtomicU64 = AtomicU64::new(1);
        Self {
            number: LINKS.fetch_add(1, Ordering::Relaxed),
            send: Arc::new(send),
            is_open: Arc::new(is_open),
            heard,
        }
    }

    pub(super) fn number(&self) -> u64 {
        self.number
    }

    pub(super) fn send(&self, notice: &HostNotice) {
        (self.send)(notice);
    }

    pub(super) fn is_open(&self) -> bool {
        (self.is_open)()
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
            send: Arc::new(|_| {}),
            is_open: Arc::new(|| false),
            heard: Arc::default(),
        })
    }
}

impl fmt::Debug for Link {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Link")
    }
}
