//! The exact search for small pools: every way to put tickets on teams, except those that violate a
//! hard rule whatever comes, or can no longer become better than the best so far. The oracle of the
//! other searches.

use super::{
    Candidates,
    reach::Reach,
    teams::{Cost, Teams},
};
use crate::pool::Pool;

/// The most tickets, the seed among them, for which the search is exact.
pub(super) const MOST: usize = 16;

/// The best teams, unless the budget of `nodes` steps runs out.
pub(super) struct Exact {
    /// The tickets of each team; empty if no full teams meet all hard rules.
    pub seats: Vec<Vec<u32>>,
    /// The cost of these teams.
    pub cost: Cost,
    /// Whether every way was considered.
    pub proven: bool,
}

/// Finds the cheapest full teams of `size` players with the seed that meet all hard rules.
///
/// Each ticket goes on one of the teams or stays out, so there are at most (teams + 1)^tickets
/// ways. They are cut short by rules that more tickets can only violate more, and by [`Reach`].
pub(super) fn exact(
    pool: &Pool<'_>,
    teams: &mut Teams<'_>,
    candidates: &Candidates,
    size: usize,
    nodes: usize,
) -> Exact {
    let mut search = ExactSearch {
        pool,
        grows: teams.grows(),
        reach: Reach::new(pool, candidates, teams.seats.len(), size),
        teams,
        size,
        tickets: order(pool, candidates),
        best: None,
        nodes,
    };
    let mut rest: Vec<usize> = search
        .tickets
        .iter()
        .map(|t| pool.people.size(*t))
        .collect();
    for at in (0..rest.len().saturating_sub(1)).rev() {
        rest[at] += rest[at + 1];
    }
    search.teams.put(0, candidates.seed);
    search.reach.pass(candidates.seed, 1);
    search.reach.place(0, candidates.seed, 1);
    let players = size * search.teams.seats.len();
    if search.reach.seats(players) && search.reach.evens(candidates.seed) {
        search.go(0, &rest);
    }
    search.teams.take(0, candidates.seed);
    let proven = search.nodes > 0;
    match search.best {
        Some((cost, seats)) => Exact {
            seats,
            cost,
            proven,
        },
        None => Exact {
            seats: Vec::new(),
            cost: Cost {
                hard: f64::INFINITY,
                soft: f64::INFINITY,
            },
            proven,
        },
    }
}

/// The candidates in the order in which they are tried. Those that other matches need come last, and
/// large parties first, because they leave the fewest ways. Then one value comes after the other, so that
/// it is soon clear when the teams cannot be as even in it as they must be.
fn order(pool: &Pool<'_>, candidates: &Candidates) -> Vec<u32> {
    let mut places: Vec<usize> = (0..candidates.len()).collect();
    places.sort_by_key(|at| {
        let ticket = candidates.ticket(*at);
        let size = std::cmp::Reverse(pool.people.size(ticket));
        let surplus = candidates.is_surplus(*at);
        (surplus, size, pool.mirrors.get(ticket), ticket)
    });
    places.into_iter().map(|at| candidates.ticket(at)).collect()
}

struct ExactSearch<'a, 'p, 't> {
    pool: &'a Pool<'p>,
    teams: &'a mut Teams<'t>,
    grows: Vec<bool>,
    reach: Reach<'p>,
    tickets: Vec<u32>,
    size: usize,
    best: Option<(Cost, Vec<Vec<u32>>)>,
    nodes: usize,
}

impl ExactSearch<'_, '_, '_> {
    fn is_solved(&self) -> bool {
        self.nodes == 0
            || self
                .best
                .as_ref()
                .is_some_and(|(cost, _)| *cost == Cost::default())
    }

    fn go(&mut self, at: usize, rest: &[usize]) {
        if self.is_solved() {
            return;
        }
        self.nodes -= 1;
        let count = self.teams.seats.len();
        let lacking: usize = (0..count)
            .map(|team| self.size - self.teams.heads(team))
            .sum();
        if lacking == 0 {
            let cost = self.teams.cost();
            let best = self.best.as_ref();
            if cost.hard == 0.0 && best.is_none_or(|(least, _)| cost.is_below(*least)) {
                self.best = Some((cost, self.teams.seats.clone()));
            }
            return;
        }
        let Some(&ticket) = self.tickets.get(at) else {
            return;
        };
        if rest.get(at).is_none_or(|rest| *rest < lacking) {
            return;
        }
        self.reach.pass(ticket, 1);
        for team in 0..count {
            self.try_on(team, ticket, at, rest);
            if self.is_solved() {
                break;
            }
        }
        self.reach.skip(ticket, 1);
        let players = self.size * count;
        if !self.is_solved() && self.reach.seats(players) && self.reach.evens(ticket) {
            self.go(at + 1, rest);
        }
        self.reach.skip(ticket, -1);
        self.reach.pass(ticket, -1);
    }

    /// Goes on with the ticket on a team, if that can lead to a match.
    fn try_on(&mut self, team: usize, ticket: u32, at: usize, rest: &[usize]) {
        let own = self.pool.people.size(ticket);
        // Empty teams are alike: the first stands for all of them.
        let repeated = self.teams.heads(team) == 0 && (0..team).any(|t| self.teams.heads(t) == 0);
        if repeated || self.teams.heads(team) + own > self.size {
            return;
        }
        self.reach.place(team, ticket, 1);
        if self.reach.evens(ticket) {
            self.teams.put(team, ticket);
            let least = self.teams.growing(&self.grows);
            let best = self.best.as_ref();
            if least.hard == 0.0 && best.is_none_or(|(best, _)| least.is_below(*best)) {
                self.go(at + 1, rest);
            }
            self.teams.take(team, ticket);
        }
        self.reach.place(team, ticket, -1);
    }
}
