//! When a round of each queue begins, and what is known of its last one.

use std::{
    collections::BTreeMap,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use tokio::{
    task::{JoinError, JoinSet},
    time::Instant,
};

use super::{
    Shared, Threads,
    known::Facts,
    pool::Waiting,
    search::{Found, Round},
};
use crate::{
    matchmaking::{AGAIN_MILLIS, REST, SPACING_MILLIS},
    session::draw_seed,
    tickets::Life,
};

/// The shortest time between the beginnings of two rounds of a queue.
const SPACING: Duration = Duration::from_millis(SPACING_MILLIS);
/// The time after which a round begins although nothing has changed but the waits.
const AGAIN: Duration = Duration::from_millis(AGAIN_MILLIS);
/// The most threads of a round.
const THREADS: usize = 2;

/// The rounds of all queues.
#[derive(Debug, Default)]
pub(super) struct Rounds {
    running: JoinSet<(Duration, Found)>,
    queues: BTreeMap<String, LastRound>,
    cancelled: Arc<AtomicBool>,
}

#[derive(Debug, Default)]
struct LastRound {
    runs: bool,
    /// Whether tickets have come or gone since it began.
    stale: bool,
    began: Option<Instant>,
    took: Duration,
}

impl LastRound {
    /// A queue spends at most a third of its time on searches.
    fn is_over(&self) -> bool {
        let Some(began) = self.began else {
            return true;
        };
        let spacing = if self.stale { SPACING } else { AGAIN };
        began.elapsed() >= spacing.max(REST * self.took)
    }
}

impl Rounds {
    /// Notes that tickets have come or gone.
    pub fn changed(&mut self) {
        self.queues.values_mut().for_each(|last| last.stale = true);
    }

    /// Begins a round of every queue whose turn has come.
    pub fn begin(&mut self, shared: &Shared, life: &Life) {
        if shared.learning.is_starting() {
            return; // no weights yet
        }
        for (name, queue) in shared.queues().iter() {
            let last = self.queues.entry(name.clone()).or_default();
            if last.runs || !last.is_over() {
                continue;
            }
            let waiting = waiting(life, name);
            if waiting.is_empty() {
                continue;
            }
            (last.runs, last.stale) = (true, false);
            last.began = Some(Instant::now());
            let round = Round {
                queue: queue.clone(),
                waiting,
                facts: Facts::new(queue, &shared.learning, life),
                seed: draw_seed(),
                at: life.now(),
                threads: threads(),
                cancelled: self.cancelled.clone(),
            };
            self.running.spawn_blocking(move || {
                let began = Instant::now();
                let found = round.run();
                (began.elapsed(), found)
            });
        }
    }

    /// Waits for the end of a round; never returns while none runs. Cancel safe.
    pub async fn next(&mut self) -> Option<Found> {
        let ended: Result<_, JoinError> = match self.running.join_next().await {
            Some(ended) => ended,
            None => std::future::pending().await,
        };
        match ended {
            Ok((took, found)) => {
                let last = self
                    .queues
                    .entry(found.queue.name().to_owned())
                    .or_default();
                (last.runs, last.took) = (false, took);
                Some(found)
            }
            Err(error) => {
                tracing::error!(%error, "a search of the queue has failed");
                // The next round of each queue begins once its own has ended; that of the failed one
                // is unknown, so all may begin again. A proposal that comes twice is dropped.
                self.queues.values_mut().for_each(|last| last.runs = false);
                None
            }
        }
    }
}

/// The tickets that wait in a queue.
pub(super) fn waiting(life: &Life, queue: &str) -> Vec<Waiting> {
    let waiting = life.queued(queue).map(|record| Waiting {
        number: record.number,
        waited: life.waited(record),
        content: record.ticket.content.clone(),
    });
    waiting.collect()
}

/// As many threads as the machine has cores, at most [`THREADS`].
fn threads() -> Threads {
    let cores = std::thread::available_parallelism();
    Threads(cores.map_or(1, |cores| cores.get().min(THREADS)))
}

impl Drop for Rounds {
    fn drop(&mut self) {
        self.cancelled.store(true, Ordering::Relaxed);
    }
}
