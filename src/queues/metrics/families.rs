//! The names and meanings of what is counted about queues.

use super::QueueMetrics;
use crate::{
    coordinator::Stage,
    metrics::{Family, FamilyKind},
};

impl QueueMetrics {
    /// The names, meanings and values.
    pub fn families(&self) -> Vec<Family> {
        let mut families = self.queue_families();
        families.extend(self.hosting_families());
        families.push(Family::counter(
            "evenkeel_queue_write_failures_total",
            "How often tickets could not be read or written; the last state on disk holds then.",
            &self.failures,
        ));
        families
    }

    fn queue_families(&self) -> Vec<Family> {
        let gauge = FamilyKind::Gauge;
        let mut tickets = Family::new(gauge, "evenkeel_queue_tickets", "Tickets that wait.");
        let mut players = Family::new(
            gauge,
            "evenkeel_queue_players",
            "Players in tickets that wait.",
        );
        let mut oldest = Family::new(
            gauge,
            "evenkeel_queue_oldest_wait_seconds",
            "How long the oldest ticket has waited.",
        );
        let mut age = Family::new(
            gauge,
            "evenkeel_queue_round_age_seconds",
            "Time since the last search for matches ended; absent before the first.",
        );
        let mut waits = Family::new(
            FamilyKind::Histogram,
            "evenkeel_queue_wait_seconds",
            "How long tickets had waited when they were matched.",
        );
        let mut rounds = Family::new(
            FamilyKind::Histogram,
            "evenkeel_queue_round_seconds",
            "Time of a search for matches.",
        );
        let mut formed = Family::new(
            FamilyKind::Counter,
            "evenkeel_queue_matches_formed_total",
            "Matches that were formed.",
        );
        for (name, counts) in self.queues.lock().iter() {
            let label = [("queue", name.as_str())];
            let levels = *counts.levels.lock();
            tickets = tickets.with(&label, levels.tickets);
            players = players.with(&label, levels.players);
            oldest = oldest.with(&label, levels.oldest);
            if let Some(seconds) = levels.round_age() {
                age = age.with(&label, seconds);
            }
            waits = waits.with(&label, counts.waits.counts());
            rounds = rounds.with(&label, counts.rounds.counts());
            formed = formed.with(&label, &counts.formed);
        }
        vec![tickets, players, oldest, age, waits, rounds, formed]
    }

    fn hosting_families(&self) -> Vec<Family> {
        let levels = self.hosting();
        let gauge = FamilyKind::Gauge;
        let mut matches = Family::new(
            gauge,
            "evenkeel_hosted_matches",
            "Hosted matches that are kept, by stage.",
        );
        for (stage, count) in Stage::ALL.iter().zip(levels.matches) {
            matches = matches.with(&[("stage", stage.as_str())], count);
        }
        let instances = Family::new(
            gauge,
            "evenkeel_instances",
            "Instances that are connected, or whose connection is lost.",
        );
        let slots = Family::new(
            gauge,
            "evenkeel_slots",
            "Slots of connected instances, with a match or without.",
        );
        vec![
            matches,
            instances
                .with(&[("state", "connected")], levels.connected)
                .with(&[("state", "away")], levels.away),
            Family::gauge(
                "evenkeel_instances_draining",
                "Instances that get no further matches.",
                levels.draining,
            ),
            slots
                .with(&[("state", "used")], levels.used_slots)
                .with(&[("state", "free")], levels.free_slots),
        ]
    }
}
