//! The nearest match: teams that meet the rules as far as they go, and what they lack.

use super::{CandidateTickets, Cost, MatchSearch, TeamsInSearch, pairs};
use crate::pool::Pool;

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
    pub fn nearest(&self) -> Option<Nearest> {
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
                pairs::build_whole(self.pool, &mut teams, &candidates, size);
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
