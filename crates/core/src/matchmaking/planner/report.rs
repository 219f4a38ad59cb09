//! The result of a round, in the caller's terms.

use std::collections::BTreeMap;

use super::{picks::Picks, reason::reason};
use crate::matchmaking::{
    pool::Pool,
    search::{Failure, MatchProposal},
};

/// The matches and the tickets that are left.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// The matches, in the order in which they were committed.
    pub matches: Vec<PlannedMatch>,
    /// The other tickets, the oldest first.
    pub left: Vec<Left>,
}

/// A match that meets every hard rule.
#[derive(Clone, Debug, PartialEq)]
pub struct PlannedMatch {
    /// The places in the caller's list of the tickets on each team, ascending.
    pub teams: Vec<Vec<usize>>,
    /// Number of players of each team.
    pub size: usize,
    /// What the rules picked for the match, such as its `mode` and its `map`.
    pub picks: BTreeMap<String, String>,
    /// What the violations of rules that are not hard cost together.
    pub penalty: f64,
    /// How long the oldest ticket has waited, in seconds.
    pub waited: f64,
}

/// A ticket that is in no match.
#[derive(Clone, Debug, PartialEq)]
pub struct Left {
    /// Its place in the caller's list.
    pub ticket: usize,
    /// Why, in one sentence.
    pub reason: String,
    /// For each hard rule that chooses candidates, its name, and how many candidates it and the rules
    /// before it left for the fullest match, the ticket included.
    pub candidates: Vec<(String, usize)>,
}

pub(super) fn plan(
    picks: &Picks<'_>,
    matches: Vec<MatchProposal>,
    failures: &[(u32, Failure)],
) -> Plan {
    let pool = picks.pool;
    let mut left = pool.all();
    for ticket in matches.iter().flat_map(MatchProposal::tickets) {
        left.remove(ticket);
    }
    let failures: BTreeMap<u32, &Failure> = failures.iter().map(|(at, why)| (*at, why)).collect();
    let left = left.iter().map(|ticket| {
        let failure = failures.get(&ticket).copied();
        Left {
            ticket: pool.places[ticket as usize],
            reason: reason(pool, ticket, failure),
            candidates: failure.map_or_else(Vec::new, |failure| candidates(pool, failure)),
        }
    });
    Plan {
        left: left.collect(),
        matches: matches.iter().map(|found| planned(picks, found)).collect(),
    }
}

/// How many candidates each hard rule left, by its name.
pub(super) fn candidates(pool: &Pool<'_>, failure: &Failure) -> Vec<(String, usize)> {
    let rules = pool.queue.rules();
    let named = failure.narrowed.iter().filter_map(|(at, count)| {
        let rule = rules.get(*at)?;
        Some((rule.name.clone(), *count))
    });
    named.collect()
}

fn planned(picks: &Picks<'_>, found: &MatchProposal) -> PlannedMatch {
    let pool = picks.pool;
    let team = |team: &Vec<u32>| {
        let places = team.iter().map(|ticket| pool.places[*ticket as usize]);
        let mut places: Vec<usize> = places.collect();
        places.sort_unstable();
        places
    };
    PlannedMatch {
        teams: found.teams.iter().map(team).collect(),
        size: found.size,
        picks: picks.draw(found),
        penalty: found.cost.soft,
        waited: found.waited(pool),
    }
}
