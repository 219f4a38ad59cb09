//! When a round of each queue begins, and what is known of its last one.

use std::{
    collections::{BTreeMap, HashMap},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use tokio::{
    task::{Id, JoinError, JoinSet},
    time::Instant,
};

use super::{
    QueueMetrics, Shared,
    backfill::seeking,
    known::PlayerFacts,
    pool::Waiting,
    search::{Found, Round},
};
use crate::{
    lifecycle::Lifecycle,
    matchmaking::{AGAIN_MILLIS, REST, SPACING_MILLIS},
    session::draw_seed,
};

/// The shortest time between the beginnings of two rounds of a queue.
const SPACING: Duration = Duration::from_millis(SPACING_MILLIS);
/// The time after which a round begins although nothing has changed but the waits.
const AGAIN: Duration = Duration::from_millis(AGAIN_MILLIS);
/// After this number of rounds in succession whose search has panicked, the next one waits [`AGAIN`].
const FAILURES: u32 = 2;

/// The rounds of all queues.
#[derive(Debug)]
pub(super) struct Rounds {
    running: JoinSet<Found>,
    /// The queue of each round that runs.
    names: HashMap<Id, String>,
    queues: BTreeMap<String, LastRound>,
    cancelled: Arc<AtomicBool>,
    metrics: Arc<QueueMetrics>,
}

#[derive(Debug, Default)]
struct LastRound {
    runs: bool,
    /// Whether tickets have come or gone since it began.
    stale: bool,
    began: Option<Instant>,
    took: Duration,
    /// Number of rounds in succession whose search has panicked.
    failures: u32,
}

impl LastRound {
    /// A queue spends at most a third of its time on searches.
    fn is_over(&self) -> bool {
        let Some(began) = self.began else {
            return true;
        };
        let spacing = match self.stale && self.failures < FAILURES {
            true => SPACING,
            false => AGAIN,
        };
        began.elapsed() >= spacing.max(REST * self.took)
    }

    /// Notes that its search has ended, or has panicked. In that case all tickets still wait, and the round
    /// begins again as if one of them had just come.
    fn end(&mut self, has_failed: bool) {
        self.runs = false;
        self.took = self.began.map_or(Duration::ZERO, |began| began.elapsed());
        self.stale |= has_failed;
        self.failures = match has_failed {
            true => self.failures.saturating_add(1),
            false => 0,
        };
    }
}

impl Rounds {
    /// No round runs yet.
    pub fn new(metrics: &Arc<QueueMetrics>) -> Self {
        Self {
            running: JoinSet::new(),
            names: HashMap::new(),
            queues: BTreeMap::new(),
            cancelled: Arc::default(),
            metrics: metrics.clone(),
        }
    }

    /// Notes that tickets have come or gone.
    pub fn changed(&mut self) {
        self.queues.values_mut().for_each(|last| last.stale = true);
    }

    /// Begins a round of every queue whose turn has come.
    pub fn begin(&mut self, shared: &Shared, life: &Lifecycle) {
        if shared.learning.is_starting() {
            return; // no weights yet
        }
        for (name, queue) in shared.queues().iter() {
            let last = self.queues.entry(name.clone()).or_default();
            if last.runs || !last.is_over() {
                continue;
            }
            if life.queued(name).next().is_none() {
                continue;
            }
            let facts = PlayerFacts::new(queue, &shared.learning, life);
            let waiting = waiting(life, name, &facts);
            if waiting.is_empty() {
                continue;
            }
            (last.runs, last.stale) = (true, false);
            last.began = Some(Instant::now());
            let round = Round {
                queue: queue.clone(),
                waiting,
                seeking: seeking(life, queue, &facts),
                facts,
                seed: draw_seed(),
                at: life.now(),
                cores: shared.cores.read().clone(),
                cancelled: self.cancelled.clone(),
            };
            let running = self.running.spawn_blocking(move || round.run());
            self.names.insert(running.id(), name.clone());
        }
    }

    /// Waits for the end of a round; never returns while none runs. Cancel safe.
    pub async fn next(&mut self) -> Option<Found> {
        let ended = match self.running.join_next_with_id().await {
            Some(ended) => ended,
            None => std::future::pending().await,
        };
        let (id, found) = match ended {
            Ok((id, found)) => (id, Ok(found)),
            Err(error) => (error.id(), Err(fault(error))),
        };
        let name = self.names.remove(&id).unwrap_or_default();
        let last = self.queues.entry(name.clone()).or_default();
        last.end(found.is_err());
        match found {
            Ok(found) => {
                self.metrics.round(&name, last.took);
                Some(found)
            }
            Err(fault) => {
                tracing::error!(
                    queue = name,
                    fault,
                    "a search of the queue has failed: its round is skipped"
                );
                self.metrics.round_failed(&name);
                None
            }
        }
    }
}

/// The message of a search that has panicked, because of a fault in this program. Panics end here: the daemon and the
/// rounds of other queues go on.
fn fault(error: JoinError) -> String {
    let panic = match error.try_into_panic() {
        Ok(panic) => panic,
        Err(error) => return error.to_string(),
    };
    let text = panic.downcast_ref::<&str>().copied();
    let text = text.or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    text.unwrap_or("a panic without a message").to_owned()
}

/// The tickets that wait in a queue, without those that are held, and those with a player of whom more will be known in
/// a moment.
pub(super) fn waiting(life: &Lifecycle, queue: &str, facts: &PlayerFacts) -> Vec<Waiting> {
    let waiting = life.searchable(queue);
    let waiting = waiting.filter(|record| !facts.awaits(&record.ticket.players));
    let waiting = waiting.map(|record| Waiting {
        number: record.number,
        waited: life.waited(record),
        spec: record.ticket.spec.clone(),
    });
    waiting.collect()
}

impl Drop for Rounds {
    fn drop(&mut self) {
        self.cancelled.store(true, Ordering::Relaxed);
    }
}
