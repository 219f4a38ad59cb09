//! How often a daemon writes what grows with the number of players: weights and checkpoints.
//!
//! Weights are published at once. The tables follow at once as long as there are few players; with more, writing them takes a
//! small part of the daemon's time.

use std::time::Duration;

use parking_lot::Mutex;
use tokio::{
    sync::Notify,
    time::{Instant, sleep_until},
};

/// After a write, a daemon waits this many times as long as it took.
const REST: u32 = 20;
/// The weights in the database are never older than this, and the time that it takes to write them.
const OLDEST: Duration = Duration::from_secs(30);
/// Other daemons read a checkpoint this often while matches come: their chances are at most this much older than those
/// of the daemon that learns, and for large states the time that [`REST`] gives.
const FOLLOWED: Duration = Duration::from_secs(10);
/// With at most this many weights, they are written after every match.
const FEW: usize = 500;

/// When a daemon writes next.
#[derive(Debug, Default)]
pub(super) struct Pace {
    pub checkpoints: Schedule,
    pub weights: Schedule,
}

impl Pace {
    /// Notes that weights were written, which began at `since`; `count` is how many there are.
    pub fn weights_written(&self, count: usize, since: Instant) {
        let rest = (REST * since.elapsed()).min(OLDEST);
        let rest = if count <= FEW { Duration::ZERO } else { rest };
        self.weights.done(rest);
    }

    /// Notes that a checkpoint was written, which began at `since`; `is_shared` is whether other daemons may read it.
    pub fn checkpoint_written(&self, since: Instant, is_shared: bool) {
        let least = if is_shared { FOLLOWED } else { Duration::ZERO };
        self.checkpoints.done((REST * since.elapsed()).max(least));
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

    #[tokio::test(start_paused = true)]
    async fn many_weights_are_written_a_twentieth_of_the_time() {
        let pace = Pace::default();
        assert!(!pace.weights.rests());
        pace.weights_written(FEW, Instant::now());
        assert!(!pace.weights.rests());
        let since = Instant::now();
        tokio::time::advance(Duration::from_millis(100)).await;
        pace.weights_written(FEW + 1, since);
        assert!(pace.weights.rests());
        assert!(!pace.weights.hurry() && !pace.weights.rests());
        pace.weights_written(FEW + 1, since);
        pace.weights.note_behind();
        let asked = Instant::now();
        pace.weights.due().await;
        let waited = asked.elapsed();
        assert!((1_990..2_010).contains(&waited.as_millis()), "{waited:?}");
        assert!(!pace.weights.rests() && !pace.weights.hurry());
        tokio::time::advance(Duration::from_secs(9)).await;
        pace.weights_written(FEW + 1, since);
        let asked = Instant::now();
        pace.weights.note_behind();
        pace.weights.due().await;
        assert!(asked.elapsed() <= OLDEST + Duration::from_millis(2));
    }
}
