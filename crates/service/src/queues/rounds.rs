//! Rounds: when one of each queue begins, what goes into the planner and comes out, and what is known of the last one.

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
    QueueMetrics, QueueShared, RoundCores, SearchTime,
    backfill::{Seeking, fill, seeking},
    pool::RoundFacts,
    pool::{RoundPool, Waiting},
};
use crate::{
    matchmaking::lifecycle::{Filling, Lifecycle, Proposal, SearchedPool, TicketNumber},
    matchmaking::{
        Effort, Queue,
        planner::{Cores, PlanInput, PlannedMatch},
        queue::RoundSpacing,
    },
    model::Timestamp,
    session::draw_seed,
};

/// A round that has not begun.
pub(super) struct PlannedRound {
    pub queue: Arc<Queue>,
    pub waiting: Vec<Waiting>,
    /// The matches in play that seek players.
    pub seeking: Vec<Seeking>,
    pub facts: RoundFacts,
    pub seed: u64,
    pub at: Timestamp,
    pub cores: RoundCores,
    pub cancelled: Arc<AtomicBool>,
}

/// What a round has found.
pub(super) struct FoundMatches {
    /// The queue as it was when the round began.
    pub queue: Arc<Queue>,
    pub proposals: Vec<Proposal>,
    /// The tickets that were found for matches in play.
    pub fillings: Vec<Filling>,
    /// The processor time of the search.
    pub searched: Duration,
}

impl PlannedRound {
    /// Searches. Takes up to seconds of a core.
    /// Free seats of matches in play come first; new matches are formed of the other tickets.
    pub fn run(self) -> FoundMatches {
        let cores = self.cores.clone();
        let (found, time) = SearchTime::of(&*cores, |cores| self.search(cores));
        FoundMatches {
            searched: time.alone,
            ..found
        }
    }

    fn search(mut self, cores: &dyn Cores) -> FoundMatches {
        let (queue, facts) = (&self.queue, &self.facts);
        let waiting = &mut self.waiting;
        let fillings = fill(queue, &self.seeking, waiting, facts, self.seed);
        let pool = RoundPool::new(&self.queue, &self.waiting, &self.facts);
        let input = pool.input(&self.queue, self.seed, Effort::default());
        let plan = input.plan(cores, &self.cancelled);
        let stored = match plan.matches.is_empty() {
            true => None,
            false => pool.stored(&input, self.at).map(Arc::new),
        };
        let proposals = plan.matches.iter();
        let proposals = proposals.map(|found| self.proposal(&pool, &input, found, stored.as_ref()));
        FoundMatches {
            proposals: proposals.collect(),
            fillings,
            searched: Duration::ZERO,
            queue: self.queue.clone(),
        }
    }

    fn proposal(
        &self,
        pool: &RoundPool,
        input: &PlanInput<'_>,
        found: &PlannedMatch,
        stored: Option<&Arc<SearchedPool>>,
    ) -> Proposal {
        let number = |at: &usize| pool.numbers.get(*at).copied();
        let team =
            |team: &Vec<usize>| -> Vec<TicketNumber> { team.iter().filter_map(number).collect() };
        let chance = self.facts.chance(found, &pool.tickets);
        let mut why = vec![head(found, chance, self.seed)];
        why.extend(input.explain(found).iter().map(|report| report.line()));
        Proposal {
            teams: found.teams.iter().map(team).collect(),
            size: u32::try_from(found.size).unwrap_or(u32::MAX),
            mode: found.picks.get("mode").cloned(),
            map: found.picks.get("map").cloned(),
            penalty: found.penalty,
            chance,
            seed: self.seed,
            searched_at: self.at,
            ruleset: self.facts.ruleset.to_string(),
            why,
            pool: stored.cloned(),
        }
    }
}

/// The first line about a match.
fn head(found: &PlannedMatch, chance: Option<f64>, seed: u64) -> String {
    let chance = match chance {
        Some(chance) => format!("team 0 wins with a chance of {chance:.3}"),
        None => "no chance is predicted".to_owned(),
    };
    format!(
        "penalty {:.3}; {chance}; the oldest ticket waited {:.1} s; seed {seed}",
        found.penalty, found.waited
    )
}

/// After this number of rounds in succession whose search has panicked, the next one begins as if nothing had changed.
const FAILURES: u32 = 2;

/// The rounds of all queues.
#[derive(Debug)]
pub(super) struct QueueRounds {
    running: JoinSet<FoundMatches>,
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
    /// What it has cost.
    searched: Duration,
    /// Number of rounds in succession whose search has panicked.
    failures: u32,
}

impl LastRound {
    /// Whether the next round may begin.
    fn is_over(&self) -> bool {
        let Some(began) = self.began else {
            return true;
        };
        let has_changed = self.stale && self.failures < FAILURES;
        began.elapsed() >= RoundSpacing::default().after(has_changed, self.searched)
    }

    /// Notes that its search has ended after this processor time, or has panicked. In that case all tickets still wait,
    /// and the round begins again as if one of them had just come; it has cost the time that has passed at most.
    /// Returns that time.
    fn end(&mut self, searched: Option<Duration>) -> Duration {
        let took = self.began.map_or(Duration::ZERO, |began| began.elapsed());
        let has_failed = searched.is_none();
        self.runs = false;
        self.searched = searched.unwrap_or(took);
        self.stale |= has_failed;
        self.failures = match has_failed {
            true => self.failures.saturating_add(1),
            false => 0,
        };
        took
    }
}

impl QueueRounds {
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
    pub fn begin(&mut self, shared: &QueueShared, life: &Lifecycle) {
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
            let facts = RoundFacts::new(queue, &shared.learning, life);
            let waiting = waiting(life, name, &facts);
            if waiting.is_empty() {
                continue;
            }
            (last.runs, last.stale) = (true, false);
            last.began = Some(Instant::now());
            let round = PlannedRound {
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
    pub async fn next(&mut self) -> Option<FoundMatches> {
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
        let took = last.end(found.as_ref().ok().map(|found| found.searched));
        match found {
            Ok(found) => {
                self.metrics.round(&name, took);
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
pub(super) fn waiting(life: &Lifecycle, queue: &str, facts: &RoundFacts) -> Vec<Waiting> {
    let waiting = life.searchable(queue);
    let waiting = waiting.filter(|record| !facts.awaits(&record.ticket.players));
    let waiting = waiting.map(|record| Waiting {
        number: record.number,
        waited: life.waited(record),
        spec: record.ticket.spec.clone(),
    });
    waiting.collect()
}

impl Drop for QueueRounds {
    fn drop(&mut self) {
        self.cancelled.store(true, Ordering::Relaxed);
    }
}
