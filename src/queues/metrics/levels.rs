//! Who waits, and what is hosted, at a moment.

use tokio::time::Instant;

use crate::matchmaking::lifecycle::{Lifecycle, Stage};

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
    pub(super) round: Option<Instant>,
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
    pub(super) fn plus(mut self, other: &Self) -> Self {
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

    pub(super) fn of(life: &Lifecycle) -> Self {
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
