//! The exact search for small pools: every way to put tickets on teams, except those that violate a
//! hard rule whatever comes, or can no longer become better than the best so far. The oracle of the
//! other searches.

use super::{
    CandidateTickets,
    teams::{Cost, TeamsInSearch},
};
use crate::{
    pool::Pool,
    rules::{Symbols, TeamShare},
};

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
    teams: &mut TeamsInSearch<'_>,
    candidates: &CandidateTickets,
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
    search.reach.assign(0, candidates.seed, 1);
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
fn order(pool: &Pool<'_>, candidates: &CandidateTickets) -> Vec<u32> {
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
    teams: &'a mut TeamsInSearch<'t>,
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
        self.reach.assign(team, ticket, 1);
        if self.reach.evens(ticket) {
            self.teams.put(team, ticket);
            let least = self.teams.growing(&self.grows);
            let best = self.best.as_ref();
            if least.hard == 0.0 && best.is_none_or(|(best, _)| least.is_below(*best)) {
                self.go(at + 1, rest);
            }
            self.teams.take(team, ticket);
        }
        self.reach.assign(team, ticket, -1);
    }
}

/// The hard rules by which tickets that are still to come can be too few.
pub(super) struct Reach<'p> {
    rules: Vec<CountedRule<'p>>,
    pool: &'p Pool<'p>,
    teams: usize,
}

/// A hard rule by which the candidates cannot fill the teams.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Unfilled {
    /// The place of the rule.
    pub rule: usize,
    /// The most players whom the rule lets on all teams together.
    pub most: i64,
    /// Number of players that the teams need.
    pub needed: usize,
}

/// One rule: how often each of its values is on each team, and how often it can still come.
struct CountedRule<'p> {
    /// Its place in the queue.
    place: usize,
    symbols: &'p Symbols,
    share: TeamShare,
    /// The counts by value and team.
    on: Vec<i32>,
    /// By value, the number among the tickets that are still to come.
    rest: Vec<i32>,
    /// By value, the number on all teams and to come.
    all: Vec<i32>,
    /// The most players that all teams together can have.
    most: i64,
}

impl CountedRule<'_> {
    /// The most players whom the teams can have with a value, by how often it occurs.
    fn seats(&self, symbol: usize, ticket: Option<usize>) -> i64 {
        let count = self.all[symbol];
        self.share.seats(count, ticket.unwrap_or(1))
    }
}

impl<'p> Reach<'p> {
    /// The rules for teams of `size` players, with the seed on none of them and all tickets to come.
    pub fn new(
        pool: &'p Pool<'p>,
        candidates: &CandidateTickets,
        teams: usize,
        size: usize,
    ) -> Self {
        let tickets = (0..candidates.len()).map(|at| candidates.ticket(at));
        let tickets = tickets.chain([candidates.seed]);
        Self::of(pool, candidates.seed, tickets, teams, size)
    }

    /// The same for any tickets, among which the seed is.
    pub fn of(
        pool: &'p Pool<'p>,
        seed: u32,
        tickets: impl Iterator<Item = u32>,
        teams: usize,
        size: usize,
    ) -> Self {
        let prepared = pool.queue.rules().iter().zip(&pool.prepared).enumerate();
        let hard = prepared.filter(|(_, (rule, _))| rule.hard);
        let shares = hard.filter_map(|(place, (rule, prepared))| {
            let limit = rule.limit(pool.waited(seed), size);
            Some((place, prepared.share(teams, limit)?))
        });
        let rules = shares.map(|(place, (symbols, share))| CountedRule {
            place,
            symbols,
            share,
            on: vec![0; symbols.count() * teams],
            rest: vec![0; symbols.count()],
            all: vec![0; symbols.count()],
            most: 0,
        });
        let mut reach = Self {
            rules: rules.collect(),
            pool,
            teams,
        };
        for ticket in tickets {
            reach.come(ticket);
        }
        reach
    }

    /// Adds a ticket to those that are still to come.
    fn come(&mut self, ticket: u32) {
        let size = self.pool.people.size(ticket);
        for rule in &mut self.rules {
            let own = rule.symbols.of_ticket(ticket);
            for &symbol in own {
                let symbol = symbol as usize;
                rule.most -= rule.seats(symbol, rule.share.whole(size));
                rule.rest[symbol] += 1;
                rule.all[symbol] += 1;
                rule.most += rule.seats(symbol, rule.share.whole(size));
            }
            rule.most += rule.share.uncounted(size, own.len()) as i64;
        }
    }

    /// Takes a ticket from those to come: it is placed or skipped next.
    pub fn pass(&mut self, ticket: u32, by: i32) {
        for rule in &mut self.rules {
            for &symbol in rule.symbols.of_ticket(ticket) {
                rule.rest[symbol as usize] -= by;
            }
        }
    }

    /// Places a ticket on a team (1), or takes it away again (-1).
    pub fn assign(&mut self, team: usize, ticket: u32, by: i32) {
        let teams = self.teams;
        for rule in &mut self.rules {
            for &symbol in rule.symbols.of_ticket(ticket) {
                rule.on[symbol as usize * teams + team] += by;
            }
        }
    }

    /// Skips a ticket (1), or takes that back (-1).
    pub fn skip(&mut self, ticket: u32, by: i32) {
        let size = self.pool.people.size(ticket);
        for rule in &mut self.rules {
            let own = rule.symbols.of_ticket(ticket);
            for &symbol in own {
                let symbol = symbol as usize;
                rule.most -= rule.seats(symbol, rule.share.whole(size));
                rule.all[symbol] -= by;
                rule.most += rule.seats(symbol, rule.share.whole(size));
            }
            rule.most -= i64::from(by) * rule.share.uncounted(size, own.len()) as i64;
        }
    }

    /// The first rule by which the teams cannot have `players` players in all.
    pub fn unfilled(&self, players: usize) -> Option<Unfilled> {
        let mut rules = self.rules.iter();
        let rule = rules.find(|rule| rule.most < players as i64)?;
        Some(Unfilled {
            rule: rule.place,
            most: rule.most,
            needed: players,
        })
    }

    /// Whether the teams can still have `players` players in all, by each rule.
    pub fn seats(&self, players: usize) -> bool {
        self.unfilled(players).is_none()
    }

    /// Whether the tickets to come can still make the teams as even as the rules demand, in the values
    /// of a ticket.
    pub fn evens(&self, ticket: u32) -> bool {
        self.rules.iter().all(|rule| {
            let Some(slack) = rule.share.slack() else {
                return true;
            };
            rule.symbols.of_ticket(ticket).iter().all(|&symbol| {
                let symbol = symbol as usize;
                let row = &rule.on[symbol * self.teams..(symbol + 1) * self.teams];
                let most = row.iter().copied().max().unwrap_or(0);
                let lacking = row.iter().map(|count| (most - slack - count).max(0));
                lacking.sum::<i32>() <= rule.rest[symbol]
            })
        })
    }
}
