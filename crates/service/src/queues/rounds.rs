//! Rounds: when one of each queue begins, what goes into the planner and comes out, and what is known of the last one;
//! what a search costs; and how a match is found again in its stored pool.
//!
//! The processor time is the measure of what a search costs: time that passes while the process is stopped, or while
//! other programs have the cores, is not in it.

use std::{
    collections::{BTreeMap, HashMap},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread::{self, ThreadId},
    time::Duration,
};

use parking_lot::Mutex;
use tokio::{
    task::{Id, JoinError, JoinSet},
    time::Instant,
};

use super::{
    QueueMetrics, QueueShared, RoundCores, Threads,
    backfill::{Seeking, fill, seeking},
    pool::{RoundFacts, RoundPool, Waiting},
};

use crate::{
    learning::processor_time,
    matchmaking::{
        Effort, Queue, QueueSettings, Ticket,
        lifecycle::{Filling, Lifecycle, Proposal, SearchedPool, TicketNumber},
        planner::{Cores, PlanInput, PlannedMatch},
        queue::RoundSpacing,
    },
    model::Timestamp,
    session::draw_seed,
    store::FoundMatch,
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

/// How much processor time a search has used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SearchTime {
    /// The time that the search would have taken on idle cores: that of the busiest thread of each batch, and that
    /// between the batches.
    pub alone: Duration,
    /// The time of all threads together.
    pub total: Duration,
}

impl SearchTime {
    /// Calls `search`, and measures it and all jobs that it runs on the cores it is given.
    pub fn of<T>(cores: &dyn Cores, search: impl FnOnce(&dyn Cores) -> T) -> (T, Self) {
        let helped = Mutex::new(Self::default());
        let since = processor_time();
        let found = search(&MeteredCores {
            cores,
            helped: &helped,
        });
        let own = processor_time().saturating_sub(since);
        let Self { alone, total } = helped.into_inner();
        let time = Self {
            alone: own + alone,
            total: own + total,
        };
        (found, time)
    }
}

/// Runs jobs on `cores`, and measures them.
struct MeteredCores<'a> {
    cores: &'a dyn Cores,
    /// What other threads than the one of the search add to its time.
    helped: &'a Mutex<SearchTime>,
}

impl Cores for MeteredCores<'_> {
    fn run(&self, count: usize, job: &(dyn Fn(usize) + Sync)) {
        let threads: Mutex<HashMap<ThreadId, Duration>> = Mutex::default();
        self.cores.run(count, &|at| {
            let since = processor_time();
            job(at);
            let took = processor_time().saturating_sub(since);
            *threads.lock().entry(thread::current().id()).or_default() += took;
        });
        let mut threads = threads.into_inner();
        let own = threads.remove(&thread::current().id()).unwrap_or_default();
        let busiest = threads.values().max().copied().unwrap_or_default();
        let mut helped = self.helped.lock();
        helped.alone += busiest.saturating_sub(own);
        helped.total += threads.values().sum::<Duration>();
    }

    fn share(&self, jobs: usize) -> Box<dyn Cores + '_> {
        Box::new(MeteredShare {
            cores: self.cores.share(jobs),
            helped: self.helped,
        })
    }
}

/// The cores of one job's own jobs.
struct MeteredShare<'a> {
    cores: Box<dyn Cores + 'a>,
    helped: &'a Mutex<SearchTime>,
}

impl MeteredShare<'_> {
    fn measured(&self) -> MeteredCores<'_> {
        MeteredCores {
            cores: &*self.cores,
            helped: self.helped,
        }
    }
}

impl Cores for MeteredShare<'_> {
    fn run(&self, count: usize, job: &(dyn Fn(usize) + Sync)) {
        self.measured().run(count, job);
    }
}

/// What a search in the stored pool of a match finds.
#[derive(Clone, Debug, PartialEq)]
pub struct ReplayedSearch {
    /// The match with the oldest ticket of the stored one; `None` if no match has it.
    pub found: Option<PlannedMatch>,
    /// The tickets of the pool, to which its teams refer.
    pub tickets: Vec<Ticket>,
    /// Whether it has the teams of the stored match.
    pub same_teams: bool,
    /// Whether it has the mode and the map of the stored match.
    pub same_picks: bool,
    /// What each rule finds in it, one line each.
    pub why: Vec<String>,
    /// What has changed since then, one sentence each.
    pub notes: Vec<String>,
}

/// Searches in the stored pool of a match, with the configuration, seed and effort of then. `now` is the
/// present configuration of its queue.
///
/// # Errors
/// Returns what is missing, as a sentence.
pub fn replay(
    found: &FoundMatch,
    now: Option<&QueueSettings>,
    threads: Threads,
) -> Result<ReplayedSearch, String> {
    let (queue, pool) = RoundPool::restored(found)?;
    let (seed, effort) = match &found.pool {
        Some(pool) => (pool.seed, Effort::new(pool.effort)),
        None => (0, Effort::default()),
    };
    let input = pool.input(&queue, seed, effort);
    let plan = input.plan(&threads, &AtomicBool::new(false));
    let number = |place: &usize| pool.numbers.get(*place).copied();
    let teams = |planned: &PlannedMatch| -> Vec<Vec<TicketNumber>> {
        let team = |team: &Vec<usize>| sorted(team.iter().filter_map(number).collect());
        planned.teams.iter().map(team).collect()
    };
    let proposal = &found.formed.proposal;
    let stored: Vec<_> = proposal.teams.iter().cloned().map(sorted).collect();
    let oldest = stored.iter().flatten().min().copied();
    let again = plan.matches.into_iter().find(|planned| {
        let mut tickets = planned.teams.iter().flatten().filter_map(number);
        oldest.is_some_and(|oldest| tickets.any(|ticket| ticket == oldest))
    });
    let has_picks = |planned: &PlannedMatch| {
        let picks = [("mode", &proposal.mode), ("map", &proposal.map)];
        picks
            .iter()
            .all(|(name, word)| planned.picks.get(*name) == word.as_ref())
    };
    let why = again.as_ref().map(|again| input.explain(again));
    Ok(ReplayedSearch {
        same_teams: again.as_ref().is_some_and(|again| teams(again) == stored),
        same_picks: again.as_ref().is_some_and(has_picks),
        why: why.iter().flatten().map(|report| report.line()).collect(),
        notes: notes(found, queue.settings(), now),
        found: again,
        tickets: pool.tickets,
    })
}

fn sorted(mut team: Vec<TicketNumber>) -> Vec<TicketNumber> {
    team.sort_unstable();
    team
}

fn notes(found: &FoundMatch, then: &QueueSettings, now: Option<&QueueSettings>) -> Vec<String> {
    let queue = &found.formed.queue;
    let mut notes = Vec::new();
    match now {
        None => notes.push(format!("the configuration no longer has the queue {queue}")),
        Some(now) if now != then => notes.push(format!(
            "the configuration of {queue} has changed since; this search used the one of then"
        )),
        Some(_) => {}
    }
    let version = env!("CARGO_PKG_VERSION");
    if let Some(pool) = found.pool.as_ref().filter(|pool| pool.version != version) {
        notes.push(format!(
            "evenkeel {} found it, and this is {version}",
            pool.version
        ));
    }
    notes
}
