//! One round: the tickets of a queue go into the planner, and proposals come out.

use std::sync::{Arc, atomic::AtomicBool};

use super::{
    RoundCores,
    backfill::{Seeking, fill},
    known::PlayerFacts,
    pool::{RoundPool, Waiting},
};
use crate::{
    domain::Timestamp,
    lifecycle::{Filling, Proposal, SearchedPool, TicketNumber},
    matchmaking::{Effort, PlanInput, PlannedMatch, Queue},
};

/// A round that has not begun.
pub(super) struct Round {
    pub queue: Arc<Queue>,
    pub waiting: Vec<Waiting>,
    /// The matches in play that seek players.
    pub seeking: Vec<Seeking>,
    pub facts: PlayerFacts,
    pub seed: u64,
    pub at: Timestamp,
    pub cores: RoundCores,
    pub cancelled: Arc<AtomicBool>,
}

/// What a round has found.
pub(super) struct Found {
    /// The queue as it was when the round began.
    pub queue: Arc<Queue>,
    pub proposals: Vec<Proposal>,
    /// The tickets that were found for matches in play.
    pub fillings: Vec<Filling>,
}

impl Round {
    /// Searches. Takes up to seconds of a core.
    /// Free seats of matches in play come first; new matches are formed of the other tickets.
    pub fn run(mut self) -> Found {
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
        Found {
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
