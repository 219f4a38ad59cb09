//! How many players of each team have each value, as several rules count.

use std::{collections::HashMap, hash::Hash};

use super::RuleTally;
use crate::matchmaking::people::People;

/// The values of each ticket's players as small numbers, given in the order of their first
/// occurrence.
#[derive(Debug, Default)]
pub(in crate::matchmaking) struct Symbols {
    starts: Vec<u32>,
    symbols: Vec<u32>,
    count: usize,
    /// How often each value occurs.
    often: Vec<u32>,
}

impl Symbols {
    /// Gives each key that `keys` adds for a ticket a symbol.
    pub fn of<K: Eq + Hash>(people: &People, mut keys: impl FnMut(u32, &mut Vec<K>)) -> Self {
        let mut known = HashMap::new();
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

    /// The values of a column, one for each player.
    pub fn of_column(people: &People, column: usize) -> Self {
        Self::of(people, |ticket, keys| {
            let players = people.members(ticket);
            keys.extend(players.map(|player| people.key(column, player)));
        })
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
    pub symbols: &'a Symbols,
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
    pub fn row(&mut self, symbol: u32) -> &mut [i32] {
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

/// The tally of a rule whose violation is the sum of a cost over the rows of [`TeamCounts`].
pub(super) struct CostTally<'a, C> {
    counts: TeamCounts<'a>,
    cost: C,
    sum: i64,
}

impl<'a, C: Fn(&[i32]) -> i64> CostTally<'a, C> {
    /// Empty teams. A row without players costs nothing.
    pub fn new(symbols: &'a Symbols, teams: usize, cost: C) -> Self {
        Self {
            counts: TeamCounts::new(symbols, teams),
            cost,
            sum: 0,
        }
    }
}

impl<C: Fn(&[i32]) -> i64> RuleTally for CostTally<'_, C> {
    fn put(&mut self, team: usize, ticket: u32) {
        self.sum += self.counts.change(team, ticket, 1, &self.cost);
    }

    fn take(&mut self, team: usize, ticket: u32) {
        self.sum += self.counts.change(team, ticket, -1, &self.cost);
    }

    fn violation(&self) -> f64 {
        self.sum as f64
    }
}

/// The largest minus the smallest count of a row.
pub(super) fn range(row: &[i32]) -> i64 {
    let (mut least, mut most) = (i32::MAX, i32::MIN);
    for &count in row {
        least = least.min(count);
        most = most.max(count);
    }
    i64::from(most) - i64::from(least)
}

/// The keys that any team has, each with its count by team: the evaluation from scratch of the rules
/// that count.
pub(super) fn tabulate(teams: &[Vec<u64>]) -> Vec<(u64, Vec<usize>)> {
    let mut keys: Vec<u64> = teams.iter().flatten().copied().collect();
    keys.sort_unstable();
    keys.dedup();
    let count = |key: u64| {
        let on = |team: &Vec<u64>| team.iter().filter(|other| **other == key).count();
        teams.iter().map(on).collect()
    };
    keys.into_iter().map(|key| (key, count(key))).collect()
}

/// The values of a column that any player of the teams has, each with its count by team.
pub(super) fn tabulate_column(
    people: &People,
    teams: &[Vec<u32>],
    column: usize,
) -> Vec<(u64, Vec<usize>)> {
    let keys = |team: &Vec<u32>| {
        let players = people.all(team);
        players.map(|player| people.key(column, player)).collect()
    };
    tabulate(&teams.iter().map(keys).collect::<Vec<_>>())
}

/// The sum over the keys of how far the teams' counts are apart: what a mirrored match has 0 of.
pub(super) fn unmirrored(table: &[(u64, Vec<usize>)]) -> f64 {
    let each = table.iter().map(|(_, counts)| difference(counts) as f64);
    each.sum()
}

/// The largest minus the smallest of some counts.
pub(super) fn difference(counts: &[usize]) -> usize {
    let most = counts.iter().copied().max().unwrap_or(0);
    most - counts.iter().copied().min().unwrap_or(0)
}
