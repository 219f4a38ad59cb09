//! What happens next in a simulation.

use std::{cmp::Reverse, collections::BinaryHeap};

/// Something that happens at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum CrowdEvent {
    /// A party queues.
    Arrive(usize),
    /// The patience of a party's so-and-so-many-th ticket ends, or its time to live.
    GiveUp(usize, u32),
    /// The search of a round has ended.
    Commit,
    /// A player of a party declines a match.
    Decline(u64, usize),
    /// The last player accepts a match.
    Accept(u64),
}

/// Events in the order of their times; those of one time in the order in which they were added.
#[derive(Debug, Default)]
pub(super) struct Agenda {
    events: BinaryHeap<Reverse<(u64, u64, CrowdEvent)>>,
    added: u64,
}

impl Agenda {
    /// Adds an event at a time in milliseconds.
    pub fn add(&mut self, at: u64, event: CrowdEvent) {
        self.events.push(Reverse((at, self.added, event)));
        self.added += 1;
    }

    /// The time of the next event.
    pub fn next_at(&self) -> Option<u64> {
        self.events.peek().map(|Reverse((at, ..))| *at)
    }

    /// Takes the next event, with its time.
    pub fn take(&mut self) -> Option<(u64, CrowdEvent)> {
        let Reverse((at, _, event)) = self.events.pop()?;
        Some((at, event))
    }
}
