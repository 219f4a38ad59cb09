//! What time does to matches and tickets: when each is due, when a match asks an allocator again, and how long tickets waited.
//!
//! Each match asks once, and again some time after an answer that brings no game server. The times between grow and
//! are spread at random, so that many matches do not ask in step.

use std::{collections::VecDeque, time::Duration};

use super::{CoordinatorSettings, KEEP_MILLIS, Match, Stage, TicketNumber, millis};
use evenkeel_model::{Timestamp, record::MatchId, time::Backoff};

/// Something that happens at a time unless something else happens before.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Due {
    /// A match has been in its state for too long.
    Match(MatchId),
    /// A ticket that waits expires, or a ticket that has ended is removed.
    Ticket(TicketNumber),
    /// An instance was silent for too long, or has not come back in time.
    Instance(String),
    /// Players who were sent to a match in play have not come.
    Expected(MatchId),
    /// An instance has rested, or a match may ask the allocator again.
    Allocate,
}

impl CoordinatorSettings {
    /// When the state of a match times out, if it does.
    pub(super) fn deadline(&self, one: &Match) -> Option<Timestamp> {
        let after = |limit| one.since.plus_millis(limit);
        Some(match (one.stage, one.parted) {
            (Stage::Proposed, _) => return one.open_until,
            (Stage::Formed, _) => return None,
            (Stage::Reserved, _) => one.wait_until,
            (Stage::Opening | Stage::Ready, _) => after(millis(self.open_seconds)),
            (Stage::Joining, _) => after(millis(self.join_seconds)),
            (Stage::Playing, Some(parted)) => parted.plus_millis(self.resume_millis()),
            (Stage::Playing, None) => after(millis(self.play_seconds)),
            (Stage::Over | Stage::Failed, _) => after(KEEP_MILLIS),
        })
    }
}

/// How long a match pauses after answers without a game server before it asks again.
const PAUSES: Backoff = Backoff::new(Duration::from_millis(500), Duration::from_secs(15));

/// How a match that waits has asked for a game server.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct HostAsking {
    /// Whether a request is under way.
    is_open: bool,
    /// How many answers in a row brought no game server.
    failed: u32,
    /// When the match asks again.
    again: Timestamp,
}

impl HostAsking {
    /// Whether the match asks now: no request is under way, and it has paused for long enough.
    pub(super) fn begins(&mut self, now: Timestamp) -> bool {
        let begins = !self.is_open && self.again <= now;
        self.is_open |= begins;
        begins
    }

    /// An answer has brought no game server. `jitter`, 0 to 1, is drawn at random. Returns when the match asks
    /// again.
    pub(super) fn failed(&mut self, now: Timestamp, jitter: f64) -> Timestamp {
        self.failed = self.failed.saturating_add(1);
        self.is_open = false;
        let pause = PAUSES.spread(self.failed, 1.0 - jitter);
        self.again = now.plus_millis(i64::try_from(pause.as_millis()).unwrap_or(i64::MAX));
        self.again
    }
}

/// The number of tickets over which the median is taken.
const LAST: usize = 100;

/// The waits of a queue's last matched tickets, in milliseconds.
#[derive(Clone, Debug, Default)]
pub(super) struct Waits(VecDeque<i64>);

impl Waits {
    pub(super) fn add(&mut self, millis: i64) {
        if self.0.len() >= LAST {
            self.0.pop_front();
        }
        self.0.push_back(millis);
    }

    /// The median; `None` before the first match. Of an even number, the lower of the middle two.
    pub(super) fn median(&self) -> Option<i64> {
        let mut waits: Vec<i64> = self.0.iter().copied().collect();
        waits.sort_unstable();
        waits.get(waits.len().saturating_sub(1) / 2).copied()
    }
}
