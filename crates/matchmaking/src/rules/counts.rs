//! How many players of each team have each value, as several rules count.

use std::{collections::HashMap, hash::Hash};

use super::{RuleTally, compare::Comparison};
use crate::people::People;

/// The values of each ticket's players as small numbers, given in the order of their first
/// occurrence.
#[derive(Debug, Default)]
pub(crate) struct Symbols {
    starts: Vec<u32>,
    symbols: Vec<u32>,
    count: usize,
    /// How often each value occurs.
    often: Vec<u32>,
}

impl Symbols {
    /// Gives each key that `keys` adds for a ticket a symbol, after the keys that are `known` to have one.
    pub fn of<K: Eq + Hash>(
        people: &People,
        known: impl IntoIterator<Item = K>,
        mut keys: impl FnMut(u32, &mut Vec<K>),
    ) -> Self {
        let mut known: HashMap<K, u32> = known.into_iter().zip(0..).collect();
        let (mut starts, mut symbols, mut found) = (vec![0], Vec::new(), Vec::new());
        for ticket in 0..people.tickets() as u32 {
            keys(ticket, &mut found);
            for key in found.drain(..) {
                let next = known.len() as u32;
                symbols.push(*known.entry(key).or_insert(next));
            }
            starts.push(symbols.len() as u32);
        }
        let mut often = vec![0; known.len()];
        for &symbol in &symbols {
            often[symbol as usize] += 1;
        }
        Self {
            starts,
            symbols,
            count: known.len(),
            often,
        }
    }

    /// Number of different values.
    pub fn count(&self) -> usize {
        self.count
    }

    /// The share of all values that are this one.
    pub fn share(&self, symbol: u32) -> f64 {
        let count = self.often[symbol as usize];
        f64::from(count) / self.symbols.len().max(1) as f64
    }

    /// The symbols of a ticket, one for each time that it has the value.
    pub fn of_ticket(&self, ticket: u32) -> &[u32] {
        let at = ticket as usize;
        &self.symbols[self.starts[at] as usize..self.starts[at + 1] as usize]
    }
}

/// The numbers of players by value and team.
#[derive(Debug)]
pub(super) struct TeamCounts<'a> {
    symbols: &'a Symbols,
    teams: usize,
    counts: Vec<i32>,
}

impl<'a> TeamCounts<'a> {
    pub fn new(symbols: &'a Symbols, teams: usize) -> Self {
        Self {
            symbols,
            teams,
            counts: vec![0; symbols.count * teams],
        }
    }

    /// The counts of a value, by team.
    fn row(&mut self, symbol: u32) -> &mut [i32] {
        let first = symbol as usize * self.teams;
        &mut self.counts[first..first + self.teams]
    }

    /// The count of a value on the first team.
    pub fn get(&self, symbol: u32) -> i32 {
        self.counts[symbol as usize * self.teams]
    }

    /// Adds `by` to the count of each of the ticket's values on the team, and returns by how much
    /// the sum of `cost` over all rows has changed.
    pub fn change(
        &mut self,
        team: usize,
        ticket: u32,
        by: i32,
        cost: impl Fn(&[i32]) -> i64,
    ) -> i64 {
        let symbols = self.symbols;
        let mut change = 0;
        for &symbol in symbols.of_ticket(ticket) {
            let row = self.row(symbol);
            let before = cost(row);
            row[team] += by;
            change += cost(row) - before;
        }
        change
    }
}

/// The tally of a rule that compares the teams' counts of each value.
pub(super) struct CountTally<'a> {
    counts: TeamCounts<'a>,
    comparison: Comparison<i32>,
    sum: i64,
}

impl<'a> CountTally<'a> {
    /// Empty teams.
    pub fn new(symbols: &'a Symbols, teams: usize, comparison: Comparison<i32>) -> Self {
        let empty = beyond(comparison, &vec![0; teams]);
        Self {
            counts: TeamCounts::new(symbols, teams),
            comparison,
            sum: empty * symbols.count() as i64,
        }
    }

    fn add(&mut self, team: usize, ticket: u32, by: i32) {
        let comparison = self.comparison;
        let cost = |row: &[i32]| beyond(comparison, row);
        self.sum += self.counts.change(team, ticket, by, cost);
    }
}

fn beyond(comparison: Comparison<i32>, row: &[i32]) -> i64 {
    i64::from(comparison.beyond(row.iter().copied()))
}

impl RuleTally for CountTally<'_> {
    fn put(&mut self, team: usize, ticket: u32) {
        self.add(team, ticket, 1);
    }

    fn take(&mut self, team: usize, ticket: u32) {
        self.add(team, ticket, -1);
    }

    fn violation(&self) -> f64 {
        self.sum as f64
    }
}
