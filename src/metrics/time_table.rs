//! Durations by kind, for what happens up to millions of times a second.
//!
//! Threads that count in the same memory slow each other down. So the table has several copies; each thread
//! counts in one of them, and a reader adds them up.

use std::{
    sync::atomic::{AtomicU64, AtomicUsize, Ordering},
    time::Duration,
};

use super::BucketCounts;

/// The number of copies of the table. Threads beyond that share them.
const COPIES: usize = 16;
/// The upper bounds of the ranges, in nanoseconds: from a look into memory to a search for teams.
const BOUNDS: [u64; 14] = [
    1_000,
    5_000,
    10_000,
    50_000,
    100_000,
    500_000,
    1_000_000,
    5_000_000,
    10_000_000,
    50_000_000,
    100_000_000,
    500_000_000,
    1_000_000_000,
    5_000_000_000,
];

/// The durations of one kind: a count for each bound, one for longer durations, and the sum in nanoseconds.
#[derive(Debug, Default)]
struct Row {
    counts: [AtomicU64; BOUNDS.len() + 1],
    nanos: AtomicU64,
}

/// The durations of some kinds of events, of which each has a number.
#[derive(Debug)]
pub struct TimeTable {
    /// The rows of each copy.
    copies: Box<[Box<[Row]>]>,
}

/// The number of the copy in which this thread counts.
fn own_copy() -> usize {
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    thread_local! {
        static OWN: usize = NEXT.fetch_add(1, Ordering::Relaxed) % COPIES;
    }
    OWN.with(|own| *own)
}

impl TimeTable {
    /// An empty table for this number of kinds.
    pub fn new(kinds: usize) -> Self {
        let rows = || (0..kinds).map(|_| Row::default()).collect();
        Self {
            copies: (0..COPIES).map(|_| rows()).collect(),
        }
    }

    /// Adds a duration of the kind with this number, `times` times. A number that the table does not have adds
    /// nothing.
    pub fn observe(&self, kind: usize, times: u32, duration: Duration) {
        let copy = self.copies.get(own_copy());
        let Some(row) = copy.and_then(|rows| rows.get(kind)) else {
            return;
        };
        let nanos = u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX);
        // Most durations are below one of the first bounds.
        let at = BOUNDS.iter().take_while(|bound| **bound < nanos).count();
        if let Some(count) = row.counts.get(at) {
            count.fetch_add(times.into(), Ordering::Relaxed);
        }
        let nanos = nanos.saturating_mul(times.into());
        row.nanos.fetch_add(nanos, Ordering::Relaxed);
    }

    /// The durations of a kind so far, in seconds.
    pub fn counts(&self, kind: usize) -> BucketCounts {
        let rows = || self.copies.iter().filter_map(|rows| rows.get(kind));
        let sum = |of: &dyn Fn(&Row) -> &AtomicU64| -> u64 {
            rows().map(|row| of(row).load(Ordering::Relaxed)).sum()
        };
        BucketCounts {
            bounds: BOUNDS.iter().map(|nanos| *nanos as f64 / 1e9).collect(),
            counts: (0..=BOUNDS.len())
                .map(|at| sum(&|row| &row.counts[at]))
                .collect(),
            sum: sum(&|row| &row.nanos) as f64 / 1e9,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_duration_has_a_range() {
        let table = TimeTable::new(1);
        let edges = BOUNDS
            .iter()
            .flat_map(|nanos| [nanos - 1, *nanos, nanos + 1]);
        for nanos in edges.chain([0]) {
            table.observe(0, 1, Duration::from_nanos(nanos));
        }
        table.observe(0, 2, Duration::MAX);
        let counts = table.counts(0).counts;
        assert_eq!(counts[..3], [3, 3, 3]);
        assert_eq!(counts[14], 3);
        assert_eq!(counts.iter().sum::<u64>(), 3 * 14 + 3);
    }
}
