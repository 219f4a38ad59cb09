//! How often a daemon writes what grows with the number of players: weights, places and checkpoints.
//!
//! Weights are published at once. The tables, from which pages read, follow at once as long as there are few players;
//! with more, writing them takes a small part of the daemon's time.

use std::time::Duration;

use parking_lot::Mutex;
use tokio::{
    sync::Notify,
    time::{Instant, sleep_until},
};

use crate::store::NewWeights;

/// After a write, a daemon waits this many times as long as it took.
const REST: u32 = 20;
/// The weights in the database are never older than this, and the time that it takes to write them. Places, which
/// change for everybody below a player who rises, are counted again after this time.
const OLDEST: Duration = Duration::from_secs(30);
/// A checkpoint is written at most this often: what was learned since the last one is learned again after a start.
const CHECKPOINTS: Duration = Duration::from_secs(60);
/// With at most this many weights, they are written and their places are counted after every match.
pub(super) const FEW: usize = 500;

/// When a daemon writes next.
#[derive(Debug, Default)]
pub(super) struct Pace {
    pub checkpoints: Schedule,
    pub weights: Schedule,
    pub places: Schedule,
}

impl Pace {
    /// Notes that these weights were written, which began at `since`.
    pub fn wrote(&self, new: &NewWeights, since: Instant) {
        match new.places {
            true => {
                self.weights.done(Duration::ZERO);
                self.places_counted(since);
            }
            false => {
                self.weights.done((REST * since.elapsed()).min(OLDEST));
                self.places.note_behind();
            }
        }
    }

    /// Notes that places were counted, which began at `since`.
    pub fn places_counted(&self, since: Instant) {
        self.places.done((REST * since.elapsed()).max(OLDEST));
    }

    /// Notes that a checkpoint was written, which began at `since`.
    pub fn checkpoint_written(&self, since: Instant) {
        self.checkpoints
            .done((REST * since.elapsed()).max(CHECKPOINTS));
    }
}

/// When something is written that is written now and then.
#[derive(Debug)]
pub(super) struct Schedule {
    /// From when on it may be written.
    due: Mutex<Instant>,
    /// Whether what is written is old.
    is_behind: Mutex<bool>,
    behind: Notify,
}

impl Default for Schedule {
    fn default() -> Self {
        Self {
            due: Mutex::new(Instant::now()),
            is_behind: Mutex::new(false),
            behind: Notify::new(),
        }
    }
}

impl Schedule {
    /// Whether it is too early to write again.
    pub fn rests(&self) -> bool {
        Instant::now() < *self.due.lock()
    }

    /// Notes that it was written, and is not written again before this time has passed.
    fn done(&self, rest: Duration) {
        *self.due.lock() = Instant::now() + rest;
        *self.is_behind.lock() = false;
    }

    /// Notes that what is written is old.
    pub fn note_behind(&self) {
        *self.is_behind.lock() = true;
        self.behind.notify_one();
    }

    /// Lets it be written at once, if it is behind. Returns whether it is.
    pub fn hurry(&self) -> bool {
        *self.due.lock() = Instant::now();
        *self.is_behind.lock()
    }

    /// Waits until it is behind, and may be written. Returns once for each time that it is.
    pub async fn due(&self) {
        loop {
            let behind = *self.is_behind.lock();
            if !behind {
                self.behind.notified().await;
                continue;
            }
            let due = *self.due.lock();
            sleep_until(due).await;
            if std::mem::take(&mut *self.is_behind.lock()) {
                return;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn new(weights: usize) -> NewWeights {
        NewWeights {
            places: weights <= FEW,
            ..NewWeights::default()
        }
    }

    #[tokio::test(start_paused = true)]
    async fn many_weights_are_written_a_twentieth_of_the_time() {
        let pace = Pace::default();
        assert!(!pace.weights.rests());
        pace.wrote(&new(FEW), Instant::now());
        assert!(!pace.weights.rests());
        let since = Instant::now();
        tokio::time::advance(Duration::from_millis(100)).await;
        pace.wrote(&new(FEW + 1), since);
        assert!(pace.weights.rests());
        assert!(!pace.weights.hurry() && !pace.weights.rests());
        pace.wrote(&new(FEW + 1), since);
        pace.weights.note_behind();
        let asked = Instant::now();
        pace.weights.due().await;
        let waited = asked.elapsed();
        assert!((1_990..2_010).contains(&waited.as_millis()), "{waited:?}");
        assert!(!pace.weights.rests() && !pace.weights.hurry());
        tokio::time::advance(Duration::from_secs(9)).await;
        pace.wrote(&new(FEW + 1), since);
        let asked = Instant::now();
        pace.weights.note_behind();
        pace.weights.due().await;
        assert!(asked.elapsed() <= OLDEST + Duration::from_millis(2));
    }

    #[tokio::test(start_paused = true)]
    async fn places_are_counted_every_thirty_seconds() {
        let pace = Pace::default();
        pace.wrote(&new(FEW + 1), Instant::now());
        let asked = Instant::now();
        pace.places.due().await;
        assert_eq!(asked.elapsed(), Duration::ZERO);
        pace.places_counted(Instant::now());
        pace.wrote(&new(FEW + 1), Instant::now());
        pace.places.due().await;
        assert!(asked.elapsed() >= OLDEST);
    }
}
