//! Finding a match again in its stored pool.

use std::sync::atomic::AtomicBool;

use super::{Threads, pool::RoundPool};
use crate::{
    matchmaking::lifecycle::TicketNumber,
    matchmaking::{Effort, QueueSettings, Ticket, planner::PlannedMatch},
    store::FoundMatch,
};

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
