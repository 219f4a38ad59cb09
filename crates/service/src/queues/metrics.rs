//! What is counted about queues, instances and hosted matches, with names and meanings; also who waits, and what is
//! hosted, at a moment.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
    time::Duration,
};

use parking_lot::Mutex;
use tokio::time::Instant;

use crate::{
    matchmaking::lifecycle::{Change, Effects, Happened, Lifecycle, Stage},
    metrics::{Counter, Histogram, Registry, SECONDS},
};

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
    /// Tickets that were refused because their client had too many.
    without_room: Counter,
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

    /// Counts a ticket that is refused because its client has too many.
    pub(in crate::queues) fn refused(&self) {
        self.without_room.count();
    }

    /// How many tickets were refused because their client had too many.
    pub fn without_room(&self) -> u64 {
        self.without_room.get()
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

impl QueueMetrics {
    /// Adds all metrics to those of a reading.
    pub fn gather(&self, all: &mut Registry) {
        for (name, counts) in self.queues.lock().iter() {
            counts.gather(all, name);
        }
        self.hosting().gather(all);
        let failures = all.counter(
            "evenkeel_queue_write_failures_total",
            "How often tickets could not be read or written; the last state on disk holds then.",
        );
        failures.add(self.failures.get());
        let refused = all.counter(
            "evenkeel_tickets_refused_total",
            "Tickets that were refused because their client had too many of those that wait.",
        );
        refused.add(self.without_room());
    }
}

impl QueueCounts {
    fn gather(&self, all: &mut Registry, queue: &str) {
        all.extend(&self.registry);
        let levels = *self.levels.lock();
        for (name, help, value) in [
            (
                "evenkeel_queue_tickets",
                "Tickets that wait.",
                Some(levels.tickets as f64),
            ),
            (
                "evenkeel_queue_players",
                "Players in tickets that wait.",
                Some(levels.players as f64),
            ),
            (
                "evenkeel_queue_oldest_wait_seconds",
                "How long the oldest ticket has waited.",
                Some(levels.oldest),
            ),
            (
                "evenkeel_queue_round_age_seconds",
                "Time since the last search for matches ended; absent before the first.",
                levels.round_age(),
            ),
        ] {
            if let Some(value) = value {
                all.gauge((name, "queue", queue), help).set(value);
            }
        }
    }
}

impl HostingLevels {
    fn gather(&self, all: &mut Registry) {
        for (stage, count) in Stage::HOSTED.iter().zip(self.matches) {
            let matches = all.gauge(
                ("evenkeel_hosted_matches", "stage", stage.as_str()),
                "Hosted matches that are kept, by stage.",
            );
            matches.set(count as f64);
        }
        let draining = all.gauge(
            "evenkeel_instances_draining",
            "Instances that get no further matches.",
        );
        draining.set(self.draining as f64);
        for (state, count) in [("connected", self.connected), ("away", self.away)] {
            let instances = all.gauge(
                ("evenkeel_instances", "state", state),
                "Instances that are connected, or whose connection is lost.",
            );
            instances.set(count as f64);
        }
        for (state, count) in [("used", self.used_slots), ("free", self.free_slots)] {
            let slots = all.gauge(
                ("evenkeel_slots", "state", state),
                "Slots of connected instances, with a match or without.",
            );
            slots.set(count as f64);
        }
    }
}

/// Who waits in a queue.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct QueueLevels {
    /// Number of tickets that wait.
    pub tickets: usize,
    /// Number of players in them.
    pub players: usize,
    /// How long the oldest of them has waited, in seconds.
    pub oldest: f64,
    /// When the last round ended.
    round: Option<Instant>,
}

impl QueueLevels {
    /// The seconds since the last round; `None` before the first.
    pub fn round_age(&self) -> Option<f64> {
        self.round.map(|at| at.elapsed().as_secs_f64())
    }
}

/// The hosted matches and the instances.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HostingLevels {
    /// Number of hosted matches in each stage, in the order of [`Stage::HOSTED`].
    pub matches: [usize; Stage::HOSTED.len()],
    /// Number of instances that are connected.
    pub connected: usize,
    /// Number of instances whose connection is lost.
    pub away: usize,
    /// Number of instances that get no further matches.
    pub draining: usize,
    /// Number of slots of connected instances with a match.
    pub used_slots: usize,
    /// Number of slots of connected instances without one.
    pub free_slots: usize,
}

impl HostingLevels {
    /// These levels and those of another partition together.
    fn plus(mut self, other: &Self) -> Self {
        for (count, more) in self.matches.iter_mut().zip(other.matches) {
            *count += more;
        }
        self.connected += other.connected;
        self.away += other.away;
        self.draining += other.draining;
        self.used_slots += other.used_slots;
        self.free_slots += other.free_slots;
        self
    }

    fn of(life: &Lifecycle) -> Self {
        let mut levels = Self::default();
        for hosted in life.hosted_matches() {
            let stage = Stage::HOSTED
                .iter()
                .position(|stage| *stage == hosted.stage);
            if let Some(count) = stage.and_then(|at| levels.matches.get_mut(at)) {
                *count += 1;
            }
        }
        for instance in life.instances() {
            levels.draining += usize::from(instance.drains);
            if instance.away.is_some() {
                levels.away += 1;
                continue;
            }
            let used = instance.matches.len();
            levels.connected += 1;
            levels.used_slots += used;
            levels.free_slots += (instance.offer.slots as usize).saturating_sub(used);
        }
        levels
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matchmaking::lifecycle::InstanceOffer;

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
            let offer = InstanceOffer {
                name,
                slots,
                ..InstanceOffer::default()
            };
            life.joined(offer).unwrap();
        }
        life.lost("b");
        let levels = HostingLevels::of(&life);
        assert_eq!((levels.connected, levels.away), (1, 1));
        assert_eq!((levels.used_slots, levels.free_slots), (0, 3));
    }
}
