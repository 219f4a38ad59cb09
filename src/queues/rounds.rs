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
    QueueMetrics, QueueShared, RoundCores,
    backfill::{Seeking, fill, seeking},
    pool::RoundFacts,
    pool::{RoundPool, Waiting},
};
use crate::{
    matchmaking::lifecycle::{Filling, Lifecycle, Proposal, SearchedPool, TicketNumber},
    matchmaking::{AGAIN_MILLIS, Effort, PlanInput, PlannedMatch, Queue, REST, SPACING_MILLIS},
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
}

impl PlannedRound {
    /// Searches. Takes up to seconds of a core.
    /// Free seats of matches in play come first; new matches are formed of the other tickets.
    pub fn run(mut self) -> FoundMatches {
        let (queue, facts) = (&self.queue, &self.facts);
        let waiting = &mut self.waiting;
        let fillings = fill(queue, &self.seeking, waiting, facts, self.seed);
        let pool = RoundPool::new(&self.queue, &self.waiting, &self.facts);
        let input = pool.input(&self.queue, self.seed, Effort::default());
        let plan = input.plan(&*self.cores, &self.cancelled);
        let stored = match plan.matches.is_empty() {
            true => None,
            false => pool.stored(&input, self.at).map(Arc::new),
        };
        let proposals = plan.matches.iter();
        let proposals = proposals.map(|found| self.proposal(&pool, &input, found, stored.as_ref()));
        FoundMatches {
            proposals: proposals.collect(),
            fillings,
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

/// The shortest time between the beginnings of two rounds of a queue.
const SPACING: Duration = Duration::from_millis(SPACING_MILLIS);
/// The time after which a round begins although nothing has changed but the waits.
const AGAIN: Duration = Duration::from_millis(AGAIN_MILLIS);
/// After this number of rounds in succession whose search has panicked, the next one waits [`AGAIN`].
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
