//! The metrics of queues and of what is hosted, with their names and meanings.

use super::{HostingLevels, QueueCounts, QueueMetrics};
use crate::{matchmaking::lifecycle::Stage, metrics::Registry};

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
