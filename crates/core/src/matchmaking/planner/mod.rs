//! The planner: from the tickets of one round to matches, and a reason for each ticket that is left.
//!
//! A few of the oldest tickets have their turn first, then those that fit the fewest others: the
//! tickets that fit many fill the matches of those that fit few, and still find each other at the end.
//! An old ticket that is left takes the place of a younger one where it can (`exchange`).
//!
//! The searches of one batch see the same free tickets, so they may run on several cores; their
//! matches are committed in the order of their turns, and a match that has lost a ticket to an earlier
//! one is searched for again. The size of a batch is fixed, so the number of cores changes nothing but
//! the time.

mod input;
mod refine;
mod report;
mod why;

use std::{collections::BTreeSet, sync::atomic::AtomicBool};

use super::{
    Cores, Queue, Ticket,
    bits::Bits,
    cores,
    pool::Pool,
    search::{Failure, MatchProposal, MatchSearch},
};
pub use input::{Effort, PlanInput};
pub(super) use report::reports;
pub use report::{Left, Plan, PlannedMatch, RuleReport};
pub use why::Explanation;

/// The searches of one batch.
const BATCH: usize = 4;
/// Of so many tickets, one of the oldest has its turn before those that fit the fewest others. So the
/// oldest ticket is in a match if there is one for it, and every other ticket gets there in time.
const OLDEST: usize = 32;

/// Forms matches of the tickets, where no rating system predicts chances.
///
/// `cancelled` ends the searches early; the matches found until then are returned.
pub fn plan(
    queue: &Queue,
    tickets: &[Ticket],
    seed: u64,
    effort: Effort,
    cores: &dyn Cores,
    cancelled: &AtomicBool,
) -> Plan {
    let input = PlanInput {
        seed,
        effort,
        ..PlanInput::new(queue, tickets)
    };
    input.plan(cores, cancelled)
}

impl PlanInput<'_> {
    /// Forms matches of the tickets.
    ///
    /// `cancelled` ends the searches early; the matches found until then are returned.
    pub fn plan(&self, cores: &dyn Cores, cancelled: &AtomicBool) -> Plan {
        let pool = self.pool();
        let mut round = PlanRound::new(&pool, self.seed, self.effort);
        round.run(cores, cancelled);
        round.exchange(cores, cancelled);
        let tries = self.effort.tries(round.matches.len(), pool.len());
        round.refine(tries, cores, cancelled);
        round.exchange(cores, cancelled);
        let picks = report::Picks::new(&pool, self.seed);
        report::plan(&picks, round.matches, &round.failures)
    }
}

/// The state of one round.
struct PlanRound<'p> {
    pool: &'p Pool<'p>,
    seed: u64,
    effort: Effort,
    free: Bits,
    /// The tickets that have not had their turn, the next one last.
    waiting: Vec<u32>,
    matches: Vec<MatchProposal>,
    failures: Vec<(u32, Failure)>,
}

impl<'p> PlanRound<'p> {
    fn new(pool: &'p Pool<'p>, seed: u64, effort: Effort) -> Self {
        Self {
            pool,
            seed,
            effort,
            free: pool.all(),
            waiting: turns(pool),
            matches: Vec::new(),
            failures: Vec::new(),
        }
    }

    /// Gives the tickets that have lost their places another turn.
    fn again(&mut self, cores: &dyn Cores, cancelled: &AtomicBool) {
        let failed: BTreeSet<u32> = self.failures.iter().map(|(ticket, _)| *ticket).collect();
        self.waiting = self
            .free
            .iter()
            .filter(|ticket| !failed.contains(ticket))
            .collect();
        self.waiting.reverse();
        self.run(cores, cancelled);
    }

    fn run(&mut self, cores: &dyn Cores, cancelled: &AtomicBool) {
        loop {
            self.end_if_lacking();
            let batch = self.batch();
            if batch.is_empty() {
                return;
            }
            let free = &self.free;
            let (pool, seed, budget) = (self.pool, self.seed, self.effort.budget());
            let own = cores.share(batch.len());
            let search = |at: usize| {
                let ticket = *batch.get(at)?;
                let search = MatchSearch::new(pool, ticket, free, budget, seed);
                Some((ticket, search.run(&*own, cancelled)))
            };
            let results = cores::collect(cores, batch.len(), &search);
            self.commit(results.into_iter().flatten());
        }
    }

    /// Ends the searches if all free tickets together have too few players of whom a hard rule demands
    /// some on each team. No match could be formed of them, whichever ticket a search starts from.
    fn end_if_lacking(&mut self) {
        let Some(lacking) = self.pool.lacking(&self.free) else {
            return;
        };
        while let Some(ticket) = self.waiting.pop() {
            if self.free.contains(ticket) {
                let failure = Failure {
                    lacking: Some(lacking),
                    ..Failure::default()
                };
                self.failures.push((ticket, failure));
            }
        }
    }

    /// The next tickets that are free and have not had their turn.
    fn batch(&mut self) -> Vec<u32> {
        let mut batch = Vec::new();
        while batch.len() < BATCH
            && let Some(ticket) = self.waiting.pop()
        {
            if self.free.contains(ticket) {
                batch.push(ticket);
            }
        }
        batch
    }

    fn commit(&mut self, results: impl Iterator<Item = (u32, Result<MatchProposal, Failure>)>) {
        let mut again = Vec::new();
        for (ticket, result) in results {
            if !self.free.contains(ticket) {
                continue;
            }
            match result {
                Err(failure) => self.failures.push((ticket, failure)),
                Ok(found) if found.tickets().all(|ticket| self.free.contains(ticket)) => {
                    for ticket in found.tickets() {
                        self.free.remove(ticket);
                    }
                    self.matches.push(found);
                }
                Ok(_) => again.push(ticket),
            }
        }
        self.waiting.extend(again.into_iter().rev());
    }
}

/// The tickets in the order of their turns, the first one last.
fn turns(pool: &Pool<'_>) -> Vec<u32> {
    let oldest = pool.len().div_ceil(OLDEST) as u32;
    let mut others: Vec<u32> = (oldest..pool.len() as u32).collect();
    others.sort_by(|one, other| pool.by_selectivity(*one, *other).reverse());
    others.extend((0..oldest).rev());
    others
}
