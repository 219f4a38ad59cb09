//! How long the tickets of the last matches waited.

use std::collections::VecDeque;

/// The number of tickets over which the median is taken.
const LAST: usize = 100;

/// The waits of a queue's last matched tickets, in milliseconds.
#[derive(Clone, Debug, Default)]
pub(super) struct Waits(VecDeque<i64>);

impl Waits {
    pub fn add(&mut self, millis: i64) {
        if self.0.len() >= LAST {
            self.0.pop_front();
        }
        self.0.push_back(millis);
    }

    /// The median; `None` before the first match. Of an even number, the lower of the middle two.
    pub fn median(&self) -> Option<i64> {
        let mut waits: Vec<i64> = self.0.iter().copied().collect();
        waits.sort_unstable();
        waits.get(waits.len().saturating_sub(1) / 2).copied()
    }
}
