//! The search for one match around one ticket, its seed: numbered starts, of which the
//! lowest-numbered without any cost wins, else the best by cost and number. If there is none, the nearest match: teams that
//! meet the rules as far as they go, and what they lack.

mod anneal;
mod exact;
mod teams;
#[cfg(test)]
mod tests;

pub(super) use exact::Unfilled;
pub(super) use teams::Cost;

use std::sync::{
    OnceLock,
    atomic::{AtomicBool, AtomicUsize, Ordering},
};

use evenkeel_model::random::{Stream, StreamPurpose, seeded_hash};

use crate::{
    columns::Bits,
    pool::{Combination, Combinations, Lacking, Pool},
};

use exact::Reach;
use teams::{CandidateTickets, TeamsInSearch};

/// The budget of one search.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Budget {
    /// Number of starts.
    pub starts: usize,
    /// Number of moves of each annealing.
    pub moves: usize,
    /// Number of steps of an exact search.
    pub nodes: usize,
}

/// A match that a search proposes.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct MatchProposal {
    /// The tickets of each team.
    pub teams: Vec<Vec<u32>>,
    /// Number of players of each team.
    pub size: usize,
    /// What the violations cost.
    pub cost: Cost,
    /// The number of the start that found it.
    pub start: usize,
}

impl MatchProposal {
    /// All tickets of the match.
    pub(crate) fn tickets(&self) -> impl Iterator<Item = u32> + '_ {
        self.teams.iter().flatten().copied()
    }

    /// The match with one ticket in the place of another; `None` if it then violates a hard rule or
    /// costs more.
    pub(crate) fn with(&self, pool: &Pool<'_>, one: u32, other: u32) -> Option<Self> {
        let mut found = self.clone();
        let mut tickets = found.teams.iter_mut().flatten();
        *tickets.find(|ticket| **ticket == other)? = one;
        let waited = found.waited(pool);
        let mut teams = TeamsInSearch::new(pool, found.size, waited, &[]);
        anneal::restore(&mut teams, &found.teams);
        found.cost = teams.cost();
        let is_sound = found.cost.hard == 0.0 && found.cost.soft <= self.cost.soft;
        is_sound.then(|| anneal::even(pool, found, waited))
    }

    /// How long its oldest ticket has waited, in seconds.
    pub(crate) fn waited(&self, pool: &Pool<'_>) -> f64 {
        let waited = self.tickets().map(|ticket| pool.waited(ticket));
        waited.fold(0.0, f64::max)
    }
}

/// Why a search found no match.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Failure {
    /// For each hard rule that chooses candidates, its place and the most that it and the rules
    /// before it left.
    pub narrowed: Vec<(usize, usize)>,
    /// The best teams that were found, if any were searched for.
    pub best: Option<Box<MatchProposal>>,
    /// The place of the strict rule by which nobody mirrors the ticket.
    pub unmirrored: Option<usize>,
    /// What the candidates have too few players for.
    pub lacking: Option<Lacking>,
    /// Why the candidates cannot fill the teams, if that is why.
    pub unfilled: Option<Box<Unfilled>>,
}

/// A search around one ticket.
pub(super) struct MatchSearch<'p> {
    pool: &'p Pool<'p>,
    seed: u32,
    waited: f64,
    budget: Budget,
    random: u64,
    combinations: Combinations,
}

impl<'p> MatchSearch<'p> {
    /// The search for a match of `seed` and other `free` tickets. `random` is the seed of all
    /// random numbers.
    pub(crate) fn new(
        pool: &'p Pool<'p>,
        seed: u32,
        free: &Bits,
        budget: Budget,
        random: u64,
    ) -> Self {
        let waited = pool.waited(seed);
        let mut combinations = pool.combinations(seed, free, waited, random);
        combinations
            .all
            .sort_by_key(|combination| !has_mate(pool, seed, combination));
        Self {
            pool,
            seed,
            waited,
            budget,
            random: seeded_hash(random, u64::from(seed).to_le_bytes()),
            combinations,
        }
    }

    /// Runs the starts for each size of teams that the wait allows, the largest first.
    pub(crate) fn run(
        &self,
        cores: &dyn Cores,
        cancelled: &AtomicBool,
    ) -> Result<MatchProposal, Failure> {
        let mut failure = Failure {
            narrowed: self.combinations.narrowed.clone(),
            ..Failure::default()
        };
        let all = self.combinations.all.iter();
        let mut mated = all.filter(|combination| has_mate(self.pool, self.seed, combination));
        let Some(fullest) = mated.next() else {
            failure.unmirrored = self.pool.strict_rule;
            return Err(failure);
        };
        let lacking = |combination: &Combination| self.pool.lacking(&combination.tickets);
        failure.lacking = lacking(fullest);
        if failure.lacking.is_some() && mated.all(|combination| lacking(combination).is_some()) {
            return Err(failure);
        }
        failure.lacking = None;
        let accepted = self.pool.queue.accepts(self.waited);
        for size in self.pool.queue.sizes(self.waited) {
            let grounds = self.viable(size);
            match self.race(&grounds, size, cores, cancelled) {
                None if failure.unfilled.is_none() => {
                    failure.unfilled = self.unfilled(&grounds, size).map(Box::new);
                }
                Some(found) if found.cost.hard == 0.0 && found.cost.soft <= accepted => {
                    let found = anneal::even(self.pool, found, self.waited);
                    return Ok(self.priced(found));
                }
                Some(found) if failure.best.is_none() => failure.best = Some(Box::new(found)),
                _ => {}
            }
        }
        Err(failure)
    }

    /// The match with the cost that it has by the wait of its oldest ticket. That ticket can be older than
    /// the seed if its own search has failed; the rules may then allow more.
    fn priced(&self, mut found: MatchProposal) -> MatchProposal {
        let waited = found.waited(self.pool);
        if waited > self.waited && found.cost.soft > 0.0 {
            let mut teams = TeamsInSearch::new(
                self.pool,
                found.size,
                waited,
                &self.combinations.decided_rules,
            );
            anneal::restore(&mut teams, &found.teams);
            found.cost = teams.cost();
        }
        found
    }

    /// Runs the numbered starts. One without any cost stops those with higher numbers, so the result is
    /// that of running them one after the other: the lowest-numbered without any cost, else the best by
    /// cost and number.
    fn race(
        &self,
        viable: &[CandidateSet<'_>],
        size: usize,
        cores: &dyn Cores,
        cancelled: &AtomicBool,
    ) -> Option<MatchProposal> {
        let solved = AtomicUsize::new(usize::MAX);
        let run = |number: usize| {
            let stop =
                || cancelled.load(Ordering::Relaxed) || solved.load(Ordering::Relaxed) < number;
            if stop() {
                return None;
            }
            let found = self.start(viable, number, size, &stop)?;
            if found.cost == Cost::default() {
                solved.fetch_min(number, Ordering::Relaxed);
            }
            Some(found)
        };
        let mut best: Option<MatchProposal> = None;
        for found in collect(cores, self.budget.starts, &run)
            .into_iter()
            .flatten()
        {
            let solved = found.cost == Cost::default();
            if best
                .as_ref()
                .is_none_or(|best| found.cost.is_below(best.cost))
            {
                best = Some(found);
            }
            if solved {
                break;
            }
        }
        best
    }

    /// The combinations with enough players for teams of this size, and of those whom rules demand.
    /// Without the others, a start is never spent on one that cannot fill the teams while another could.
    fn viable(&self, size: usize) -> Vec<CandidateSet<'_>> {
        let needed = size * self.pool.queue.settings().teams.as_usize();
        let is_viable = |combination: &&Combination| {
            let sizes = combination
                .tickets
                .iter()
                .map(|ticket| self.pool.people.size(ticket));
            let mut sums = sizes.scan(0, |sum, size| {
                *sum += size;
                Some(*sum)
            });
            has_mate(self.pool, self.seed, combination)
                && self.pool.lacking(&combination.tickets).is_none()
                && sums.any(|sum| sum >= needed)
        };
        let viable = self.combinations.all.iter().filter(is_viable);
        viable.map(CandidateSet::new).collect()
    }

    /// One start: a combination, teams built from tickets that mirror each other, and annealing.
    /// `None` if the candidates cannot fill the teams, or if an earlier start has found what there is.
    fn start(
        &self,
        viable: &[CandidateSet<'_>],
        number: usize,
        size: usize,
        stop: &dyn Fn() -> bool,
    ) -> Option<MatchProposal> {
        let set = viable.get(number % viable.len().max(1))?;
        let is_first = number < viable.len();
        let CheckedCandidates {
            candidates,
            unfilled,
        } = self.candidates(set, size);
        let count = self.pool.queue.settings().teams.as_usize();
        let too_large = self.pool.people.size(self.seed) > size;
        if too_large || unfilled.is_some() || candidates.players(self.pool) < count * size {
            return None;
        }
        let mut teams = TeamsInSearch::new(
            self.pool,
            size,
            self.waited,
            &self.combinations.decided_rules,
        );
        let found = |seats: Vec<Vec<u32>>, cost| {
            Some(MatchProposal {
                teams: seats,
                size,
                cost,
                start: number,
            })
        };
        let is_small = candidates.len() < exact::MOST;
        if is_small && !is_first {
            return None;
        }
        let mut is_possible = true;
        if is_small {
            let best = exact::exact(self.pool, &mut teams, candidates, size, self.budget.nodes);
            if !best.seats.is_empty() {
                return found(best.seats, best.cost);
            }
            is_possible = !best.proven;
        }
        anneal::build(self.pool, &mut teams, candidates, size);
        if !is_possible {
            // What is missing is all that there is to report.
            let cost = teams.cost();
            return found(teams.seats, cost);
        }
        let key = (number as u64)
            .to_le_bytes()
            .into_iter()
            .chain((size as u64).to_le_bytes());
        let mut stream = Stream::new(seeded_hash(self.random, key), StreamPurpose::Match);
        let cost = anneal::anneal(&mut teams, candidates, self.budget.moves, &mut stream, stop);
        found(teams.seats, cost)
    }
}

/// Whether a combination has enough tickets that mirror the seed by the strict rules.
fn has_mate(pool: &Pool<'_>, seed: u32, combination: &Combination) -> bool {
    if pool.people.size(seed) == 1 || pool.strict_rule.is_none() {
        return true;
    }
    let others = pool.queue.settings().teams.as_usize() - 1;
    let strict = pool.strict.get(seed);
    let alike = combination.tickets.iter();
    let mut alike = alike.filter(|ticket| *ticket != seed && pool.strict.get(*ticket) == strict);
    alike.nth(others - 1).is_some()
}

/// Runs independent jobs, on as many threads as it likes.
pub trait Cores: Sync {
    /// Calls `job` once with each number below `count`, in any order, and returns when all calls
    /// have returned.
    fn run(&self, count: usize, job: &(dyn Fn(usize) + Sync));

    /// The cores for each job's own jobs when `jobs` run at once.
    fn share(&self, _jobs: usize) -> Box<dyn Cores + '_> {
        Box::new(OneCore)
    }
}

/// Runs all jobs on the calling thread, in the order of their numbers.
#[derive(Clone, Copy, Debug, Default)]
pub struct OneCore;

impl Cores for OneCore {
    fn run(&self, count: usize, job: &(dyn Fn(usize) + Sync)) {
        (0..count).for_each(job);
    }
}

/// Runs the jobs and returns their results by number. A job that did not run has none.
pub(crate) fn collect<T: Send + Sync>(
    cores: &dyn Cores,
    count: usize,
    job: &(dyn Fn(usize) -> T + Sync),
) -> Vec<T> {
    let slots: Vec<OnceLock<T>> = (0..count).map(|_| OnceLock::new()).collect();
    cores.run(count, &|at| {
        if let Some(slot) = slots.get(at) {
            slot.get_or_init(|| job(at));
        }
    });
    slots.into_iter().filter_map(OnceLock::into_inner).collect()
}

/// A combination on which starts for one size of teams search.
struct CandidateSet<'c> {
    pub combination: &'c Combination,
    /// Computed by the first start.
    candidates: OnceLock<CheckedCandidates>,
}

impl<'c> CandidateSet<'c> {
    pub(crate) fn new(combination: &'c Combination) -> Self {
        Self {
            combination,
            candidates: OnceLock::new(),
        }
    }
}

/// The candidates of a combination.
struct CheckedCandidates {
    pub candidates: CandidateTickets,
    /// Why they cannot fill the teams, as far as the rules that count values can tell.
    pub unfilled: Option<Unfilled>,
}

impl MatchSearch<'_> {
    /// The candidates of a combination, which all of its starts share.
    fn candidates<'g>(&self, set: &'g CandidateSet<'_>, size: usize) -> &'g CheckedCandidates {
        set.candidates.get_or_init(|| {
            let tickets = &set.combination.tickets;
            let candidates = CandidateTickets::of(self.pool, self.seed, tickets);
            let count = self.pool.queue.settings().teams.as_usize();
            let reach = Reach::new(self.pool, &candidates, count, size);
            CheckedCandidates {
                unfilled: reach.unfilled(count * size),
                candidates,
            }
        })
    }

    /// Why no combination can fill teams of this size; `None` if one of them may.
    fn unfilled(&self, sets: &[CandidateSet<'_>], size: usize) -> Option<Unfilled> {
        let (first, others) = sets.split_first()?;
        let unfilled = self.candidates(first, size).unfilled?;
        // Where not even all tickets together fill the teams, no combination needs a look.
        let mut all = first.combination.tickets.clone();
        for set in others {
            all.add(&set.combination.tickets);
        }
        let teams = self.pool.queue.settings().teams.as_usize();
        let reach = Reach::of(self.pool, self.seed, all.iter(), teams, size);
        if reach.unfilled(teams * size).is_some() {
            return Some(unfilled);
        }
        let mut others = others.iter();
        let may_fill = others.any(|set| self.candidates(set, size).unfilled.is_none());
        (!may_fill).then_some(unfilled)
    }
}

/// Teams that are not full, or that violate a rule.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Nearest {
    /// The tickets of each team.
    pub teams: Vec<Vec<u32>>,
    /// Number of players that each team should have.
    pub size: usize,
    /// The words that rules picked for the match, by the rules' places.
    pub picks: Vec<(usize, u32)>,
    /// The tickets whose likes other teams lack.
    pub lacks: Vec<Lack>,
    /// Number of players that each team lacks besides.
    pub free: Vec<usize>,
}

/// Tickets that a team lacks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Lack {
    /// The team, counted from 0.
    pub team: usize,
    /// The ticket that those on the team would mirror.
    pub like: u32,
    /// Number of tickets.
    pub count: usize,
}

impl MatchSearch<'_> {
    /// The teams around the seed that lack the fewest players; `None` if no combination has the seed.
    pub(crate) fn nearest(&self) -> Option<Nearest> {
        let mut best: Option<(usize, Cost, Nearest)> = None;
        for size in self.pool.queue.sizes(self.waited) {
            if self.pool.people.size(self.seed) > size {
                continue;
            }
            for combination in &self.combinations.all {
                let candidates = CandidateTickets::of(self.pool, self.seed, &combination.tickets);
                let mut teams = TeamsInSearch::new(
                    self.pool,
                    size,
                    self.waited,
                    &self.combinations.decided_rules,
                );
                anneal::build_whole(self.pool, &mut teams, &candidates, size);
                let heads = (0..teams.seats.len()).map(|team| teams.heads(team));
                let lacking = heads.map(|heads| size.saturating_sub(heads)).sum();
                let strain = teams.strain();
                let is_better = best.as_ref().is_none_or(|(least, cost, _)| {
                    lacking < *least || lacking == *least && strain.is_below(*cost)
                });
                if is_better {
                    let picks = combination.picks.clone();
                    let found = described(self.pool, teams.seats, size, picks, strain);
                    best = Some((lacking, strain, found));
                }
            }
        }
        best.map(|(.., found)| found)
    }
}

fn described(
    pool: &Pool<'_>,
    teams: Vec<Vec<u32>>,
    size: usize,
    picks: Vec<(usize, u32)>,
    strain: Cost,
) -> Nearest {
    let lacks = match strain == Cost::default() {
        true => Vec::new(),
        false => lacks(pool, &teams),
    };
    let free = (0..).zip(&teams).map(|(at, team)| {
        let own: usize = team.iter().map(|ticket| pool.people.size(*ticket)).sum();
        let lacked = lacks.iter().filter(|lack| lack.team == at);
        let lacked: usize = lacked
            .map(|lack| lack.count * pool.people.size(lack.like))
            .sum();
        size.saturating_sub(own + lacked)
    });
    Nearest {
        free: free.collect(),
        teams,
        size,
        picks,
        lacks,
    }
}

/// The tickets that other teams lack, if the rules that compare teams do not hold.
fn lacks(pool: &Pool<'_>, teams: &[Vec<u32>]) -> Vec<Lack> {
    let mirrors = |ticket: u32| {
        pool.prepared
            .iter()
            .any(|rule| rule.mirror(ticket).is_some())
    };
    let mut seen: Vec<u32> = Vec::new();
    let mut lacks = Vec::new();
    for &like in teams.iter().flatten() {
        let signature = pool.mirrors.get(like);
        if seen.contains(&signature) || !mirrors(like) {
            continue;
        }
        seen.push(signature);
        let alike = |ticket: &&u32| pool.mirrors.get(**ticket) == signature;
        let counts: Vec<usize> = teams
            .iter()
            .map(|team| team.iter().filter(alike).count())
            .collect();
        let most = counts.iter().copied().max().unwrap_or(0);
        let fewer = counts
            .iter()
            .enumerate()
            .filter(|(_, count)| **count < most);
        lacks.extend(fewer.map(|(team, count)| Lack {
            team,
            like,
            count: most - count,
        }));
    }
    lacks
}
