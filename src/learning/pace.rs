//! How often a daemon writes a checkpoint, which grows with the number of players.

use std::time::Duration;

use parking_lot::Mutex;
use tokio::{
    sync::Notify,
    time::{Instant, sleep_until},
};

/// After a write, a daemon waits this many times as long as it took.
const REST: u32 = 20;
/// A checkpoint is written at most this often: what was learned since the last one is learned again after a start.
const LEAST: Duration = Duration::from_secs(60);

/// When the next checkpoint is written.
#[derive(Debug)]
pub(super) struct Pace {
    /// From when on it may be written.
    due: Mutex<Instant>,
    /// Whether the last one is old.
    is_behind: Mutex<bool>,
    behind: Notify,
}

impl Default for Pace {
    fn default() -> Self {
        Self {
            due: Mutex::new(Instant::now()),
            is_behind: Mutex::new(false),
            behind: Notify::new(),
        }
    }
}

impl Pace {
    /// Notes that one was written, which began at `since`.
    pub fn wrote(&self, since: Instant) {
        *self.due.lock() = Instant::now() + (REST * since.elapsed()).max(LEAST);
        *self.is_behind.lock() = false;
    }

    /// Notes that the last one is old.
    pub fn note_behind(&self) {
        *self.is_behind.lock() = true;
        self.behind.notify_one();
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
    async fn checkpoints_are_written_once_a_minute_and_a_twentieth_of_the_time() {
        let pace = Pace::default();
        for (takes, rest) in [(1, 60), (2, 60), (4, 80)] {
            let since = Instant::now();
            tokio::time::advance(Duration::from_secs(takes)).await;
            pace.wrote(since);
            pace.note_behind();
            let asked = Instant::now();
            pace.due().await;
            let waited = asked.elapsed().as_millis();
            assert!(
                (0..10).contains(&(waited as i64 - 1_000 * rest)),
                "{waited}"
            );
        }
    }
}
