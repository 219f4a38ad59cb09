//! What is counted about queues, instances and hosted matches.

mod families;
mod levels;

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
    time::Duration,
};

use parking_lot::Mutex;
use tokio::time::Instant;

use crate::{
    matchmaking::lifecycle::{Change, Effects, Happened, Lifecycle},
    metrics::{Counter, Histogram, Registry, SECONDS},
};

pub use levels::{HostingLevels, QueueLevels};

/// The upper bounds of waits, in seconds.
const WAITS: &[f64] = &[
    1.0, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0, 600.0, 1_800.0, 3_600.0,
];
/// How often levels are looked at.
pub(in crate::queues) const LOOK: Duration = Duration::from_secs(1);

/// What is counted about all queues and instances.
#[derive(Debug, Default)]
pub struct QueueMetrics {
    queues: Mutex<BTreeMap<String, Arc<QueueCounts>>>,
    /// By partition.
    hosting: Mutex<BTreeMap<String, HostingLevels>>,
    /// How often the tickets could not be written.
    failures: Counter,
}

/// What is counted about one queue.
#[derive(Debug)]
struct QueueCounts {
    registry: Registry,
    waits: Histogram,
    rounds: Histogram,
    formed: Counter,
    failed_rounds: Counter,
    levels: Mutex<QueueLevels>,
}

impl QueueCounts {
    fn new(queue: &str) -> Self {
        let mut all = Registry::default();
        let of = |metric| (metric, "queue", queue);
        Self {
            waits: all.histogram(
                of("evenkeel_queue_wait_seconds"),
                "How long tickets had waited when they were matched.",
                WAITS,
            ),
            rounds: all.histogram(
                of("evenkeel_queue_round_seconds"),
                "Time of a search for matches.",
                SECONDS,
            ),
            formed: all.counter(
                of("evenkeel_queue_matches_formed_total"),
                "Matches that were formed.",
            ),
            failed_rounds: all.counter(
                of("evenkeel_queue_failed_rounds_total"),
                "Searches for matches that a fault of the program has ended.",
            ),
            registry: all,
            levels: Mutex::default(),
        }
    }
}

impl QueueMetrics {
    fn of(&self, queue: &str) -> Option<Arc<QueueCounts>> {
        self.queues.lock().get(queue).cloned()
    }

    /// Has these queues from now on. Those that it had before keep their counts.
    pub(in crate::queues) fn configure<'a>(&self, names: impl Iterator<Item = &'a String>) {
        let mut queues = self.queues.lock();
        let mut before = std::mem::take(&mut *queues);
        queues.extend(names.map(|name| {
            let kept = before.remove(name);
            let counts = kept.unwrap_or_else(|| Arc::new(QueueCounts::new(name)));
            (name.clone(), counts)
        }));
    }

    /// Adds a round of duration `took`.
    pub(in crate::queues) fn round(&self, queue: &str, took: Duration) {
        if let Some(counts) = self.of(queue) {
            counts.rounds.observe(took.as_secs_f64());
            counts.levels.lock().round = Some(Instant::now());
        }
    }

    /// Counts a round that is skipped because its search has panicked.
    pub(in crate::queues) fn round_failed(&self, queue: &str) {
        if let Some(counts) = self.of(queue) {
            counts.failed_rounds.count();
        }
    }

    /// Adds the matches and the waits of changes that are on disk.
    pub(in crate::queues) fn written(&self, effects: &Effects) {
        for change in &effects.write {
            if let Change::Formed(formed) = change
                && let Some(counts) = self.of(&formed.queue)
            {
                counts.formed.count();
            }
        }
        for happened in &effects.count {
            if let Happened::Waited(queue, millis) = happened
                && let Some(counts) = self.of(queue)
            {
                counts.waits.observe(*millis as f64 / 1_000.0);
            }
        }
    }

    /// Counts a write of tickets that failed.
    pub(in crate::queues) fn failed(&self) {
        self.failures.count();
    }

    /// Takes over who waits in the queues of a partition, and what is hosted.
    pub(in crate::queues) fn look(
        &self,
        partition: &str,
        own: &BTreeSet<String>,
        life: &Lifecycle,
    ) {
        let levels = HostingLevels::of(life);
        self.hosting.lock().insert(partition.to_owned(), levels);
        let mut levels = BTreeMap::<&str, QueueLevels>::new();
        for record in life.waiting_tickets() {
            let level = levels.entry(&record.ticket.queue).or_default();
            level.tickets += 1;
            level.players += record.ticket.players.len();
            level.oldest = level.oldest.max(life.waited(record) as f64 / 1_000.0);
        }
        let queues = self.queues.lock();
        for (name, counts) in queues.iter().filter(|(name, _)| own.contains(*name)) {
            let mut shown = counts.levels.lock();
            let new = levels.remove(name.as_str()).unwrap_or_default();
            *shown = QueueLevels {
                round: shown.round,
                ..new
            };
        }
    }

    /// Another daemon knows who waits, and what is hosted.
    pub(in crate::queues) fn look_away(&self, partition: &str, own: &BTreeSet<String>) {
        self.look(partition, own, &Lifecycle::default());
    }

    /// Who waits, by queue, as of the last second.
    pub fn queues(&self) -> Vec<(String, QueueLevels)> {
        let queues = self.queues.lock();
        let level =
            |(name, counts): (&String, &Arc<QueueCounts>)| (name.clone(), *counts.levels.lock());
        queues.iter().map(level).collect()
    }

    /// What is hosted, as of the last second.
    pub fn hosting(&self) -> HostingLevels {
        let hosting = self.hosting.lock();
        hosting
            .values()
            .fold(HostingLevels::default(), HostingLevels::plus)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matchmaking::lifecycle::Offer;

    #[test]
    fn a_queue_keeps_its_counts_as_long_as_it_is_configured() {
        let metrics = QueueMetrics::default();
        let names = |names: &[&str]| names.iter().map(|n| n.to_string()).collect::<Vec<_>>();
        metrics.configure(names(&["a", "b"]).iter());
        let waited = |queue: &str, millis| Happened::Waited(queue.to_owned(), millis);
        metrics.written(&Effects {
            count: vec![waited("a", 7_000), waited("c", 1)],
            ..Effects::default()
        });
        metrics.configure(names(&["a", "c"]).iter());
        let waits = |queue: &str| {
            metrics
                .of(queue)
                .map(|counts| counts.waits.counts().total())
        };
        assert_eq!(
            [waits("a"), waits("b"), waits("c")],
            [Some(1), None, Some(0)]
        );
    }

    #[test]
    fn slots_count_while_their_instance_is_connected() {
        let mut life = Lifecycle::default();
        for (name, slots) in [("a", 3), ("b", 2)] {
            let name = name.to_owned();
            let offer = Offer {
                name,
                slots,
                ..Offer::default()
            };
            life.joined(offer).unwrap();
        }
        life.lost("b");
        let levels = HostingLevels::of(&life);
        assert_eq!((levels.connected, levels.away), (1, 1));
        assert_eq!((levels.used_slots, levels.free_slots), (0, 3));
    }
}
