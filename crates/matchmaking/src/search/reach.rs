//! What the rules that compare or limit numbers of players leave possible while an exact search places
//! or skips one ticket after the other.

use super::Candidates;
use crate::{
    pool::Pool,
    rules::{Share, Symbols},
};

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
    share: Share,
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
    pub fn new(pool: &'p Pool<'p>, candidates: &Candidates, teams: usize, size: usize) -> Self {
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
    pub fn place(&mut self, team: usize, ticket: u32, by: i32) {
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
