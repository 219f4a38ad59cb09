//! How often a daemon writes what grows with the number of players: the table of weights, and checkpoints.
//!
//! Weights are published at once. The table, from which pages read, follows at once as long as there are few players;
//! with more, writing it takes a small part of the daemon's time.

use std::time::Duration;

use parking_lot::Mutex;
use tokio::{
    sync::Notify,
    time::{Instant, sleep_until},
};

/// After a write, a daemon waits this many times as long as it took.
const REST: u32 = 20;
/// The table of weights is never older than this, and the time that it takes to write it.
const OLDEST: Duration = Duration::from_secs(30);
/// So few weights are written after every match.
const FEW: usize = 500;

/// When a daemon writes next.
#[derive(Debug)]
pub(super) struct Pace {
    times: Mutex<Times>,
    /// Notified when the table of weights is older than the rulings.
    behind: Notify,
}

#[derive(Debug)]
struct Times {
    /// From when on a checkpoint may be written, and from when on the weights.
    checkpoint: Instant,
    weights: Instant,
    /// The number of weights that were written last.
    written: usize,
    is_behind: bool,
}

impl Default for Pace {
    fn default() -> Self {
        let now = Instant::now();
        Self {
            times: Mutex::new(Times {
                checkpoint: now,
                weights: now,
                written: 0,
                is_behind: false,
            }),
            behind: Notify::new(),
        }
    }
}

impl Pace {
    /// Whether it is too early for another checkpoint.
    pub fn rests_from_checkpoints(&self) -> bool {
        Instant::now() < self.times.lock().checkpoint
    }

    /// Notes that a checkpoint was written, which began at `since`.
    pub fn checkpoint_written(&self, since: Instant) {
        self.times.lock().checkpoint = Instant::now() + REST * since.elapsed();
    }

    /// Whether it is too early to write the weights again.
    pub fn rests_from_weights(&self) -> bool {
        let times = self.times.lock();
        times.written > FEW && Instant::now() < times.weights
    }

    /// Notes that this number of weights was written, which began at `since`.
    pub fn weights_written(&self, since: Instant, weights: usize) {
        let mut times = self.times.lock();
        times.weights = Instant::now() + (REST * since.elapsed()).min(OLDEST);
        (times.written, times.is_behind) = (weights, false);
    }

    /// Notes that the table of weights is older than the rulings.
    pub fn weights_are_behind(&self) {
        self.times.lock().is_behind = true;
        self.behind.notify_one();
    }

    /// Lets the weights be written at once, if they are behind. Returns whether they are.
    pub fn hurry(&self) -> bool {
        let mut times = self.times.lock();
        times.weights = Instant::now();
        times.is_behind
    }

    /// Waits until the weights are behind, and may be written. Returns once for each time that they are.
    pub async fn weights_are_due(&self) {
        loop {
            let due = {
                let times = self.times.lock();
                times.is_behind.then_some(times.weights)
            };
            match due {
                Some(due) => {
                    sleep_until(due).await;
                    if std::mem::take(&mut self.times.lock().is_behind) {
                        return;
                    }
                }
                None => self.behind.notified().await,
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
        assert!(!pace.rests_from_weights());
        let wrote = |pace: &Pace, weights| pace.weights_written(Instant::now(), weights);
        wrote(&pace, FEW);
        assert!(!pace.rests_from_weights());
        let since = Instant::now();
        tokio::time::advance(Duration::from_millis(100)).await;
        pace.weights_written(since, FEW + 1);
        assert!(pace.rests_from_weights());
        assert!(!pace.hurry() && !pace.rests_from_weights());
        pace.weights_written(since, FEW + 1);
        pace.weights_are_behind();
        assert!(pace.times.lock().is_behind);
        let asked = Instant::now();
        pace.weights_are_due().await;
        let waited = asked.elapsed();
        assert!((1_990..2_010).contains(&waited.as_millis()), "{waited:?}");
        assert!(!pace.rests_from_weights() && !pace.hurry());
        tokio::time::advance(Duration::from_secs(9)).await;
        pace.weights_written(since, FEW + 1);
        let asked = Instant::now();
        pace.weights_are_behind();
        pace.weights_are_due().await;
        assert!(asked.elapsed() <= OLDEST + Duration::from_millis(2));
    }
}
