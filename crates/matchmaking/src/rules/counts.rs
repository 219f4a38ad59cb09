//! What rules count and add up of the players of each team, and how they compare the numbers of the teams.

use std::{
    collections::HashMap,
    hash::Hash,
    ops::{Add, Sub},
};

use serde::Deserialize;

use super::RuleTally;
use crate::columns::TicketPeople;

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
    pub(crate) fn of<K: Eq + Hash>(
        people: &TicketPeople,
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
    pub(crate) fn count(&self) -> usize {
        self.count
    }

    /// The share of all values that are this one.
    pub(crate) fn share(&self, symbol: u32) -> f64 {
        let count = self.often[symbol as usize];
        f64::from(count) / self.symbols.len().max(1) as f64
    }

    /// The symbols of a ticket, one for each time that it has the value.
    pub(crate) fn of_ticket(&self, ticket: u32) -> &[u32] {
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
    pub(super) fn new(symbols: &'a Symbols, teams: usize) -> Self {
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
    pub(super) fn get(&self, symbol: u32) -> i32 {
        self.counts[symbol as usize * self.teams]
    }

    /// Adds `by` to the count of each of the ticket's values on the team, and returns by how much
    /// the sum of `cost` over all rows has changed.
    pub(super) fn change(
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
    comparison: NumberCondition<i32>,
    sum: i64,
}

impl<'a> CountTally<'a> {
    /// Empty teams.
    pub(super) fn new(
        symbols: &'a Symbols,
        teams: usize,
        comparison: NumberCondition<i32>,
    ) -> Self {
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

fn beyond(comparison: NumberCondition<i32>, row: &[i32]) -> i64 {
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

/// What must hold of the teams' numbers.
#[derive(Clone, Copy, Debug)]
pub(super) enum NumberCondition<T> {
    /// Each is at least `least` and at most `most`.
    Each { least: T, most: T },
    /// They differ by at most this.
    Differ(T),
    /// All of them together are at most this.
    Together(T),
}

impl<T> NumberCondition<T>
where
    T: Copy + Default + PartialOrd + Add<Output = T> + Sub<Output = T>,
{
    /// By how much they break it: 0 if it holds.
    pub(super) fn beyond(self, mut numbers: impl Iterator<Item = T>) -> T {
        match self {
            Self::Each { least, most } => numbers.fold(T::default(), |sum, number| match number {
                few if few < least => sum + (least - few),
                many if many > most => sum + (many - most),
                _ => sum,
            }),
            Self::Differ(limit) => {
                let Some(first) = numbers.next() else {
                    return T::default();
                };
                let (least, most) = numbers.fold((first, first), |(least, most), number| {
                    let least = if number < least { number } else { least };
                    (least, if number > most { number } else { most })
                });
                let apart = most - least;
                more(apart, limit)
            }
            Self::Together(limit) => more(numbers.fold(T::default(), Add::add), limit),
        }
    }
}

/// By how much a number is above a limit.
fn more<T: Default + PartialOrd + Sub<Output = T>>(number: T, limit: T) -> T {
    if number > limit {
        number - limit
    } else {
        T::default()
    }
}

/// Sums are counted in this part of 1, in whole numbers, so that they are exact in any order.
const PARTS: f64 = 4096.0;

/// A number in whole parts. Numbers beyond 10^12 count as that.
pub(super) fn parts(number: f64) -> i64 {
    (number.clamp(-1e12, 1e12) * PARTS).round() as i64
}

/// What the numbers of some players add up to.
#[derive(Clone, Copy, Debug)]
pub(super) struct NumberSums {
    pub players: usize,
    /// The sum, in parts.
    pub sum: i64,
    pub least: f64,
    pub most: f64,
}

impl NumberSums {
    pub(super) const NONE: Self = Self {
        players: 0,
        sum: 0,
        least: f64::INFINITY,
        most: f64::NEG_INFINITY,
    };

    pub(super) fn and(self, other: Self) -> Self {
        Self {
            players: self.players + other.players,
            sum: self.sum + other.sum,
            least: self.least.min(other.least),
            most: self.most.max(other.most),
        }
    }
}

/// The number of a team that is compared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Statistic {
    #[default]
    Sum,
    Mean,
    #[serde(rename = "max")]
    Highest,
    /// The largest number minus the smallest, which only `spread` compares.
    #[serde(skip)]
    Span,
}

impl Statistic {
    /// That of no players is 0.
    pub(super) fn of(self, numbers: NumberSums) -> f64 {
        let sum = numbers.sum as f64 / PARTS;
        match self {
            Self::Sum => sum,
            Self::Mean => sum / numbers.players.max(1) as f64,
            _ if numbers.players == 0 => 0.0,
            Self::Highest => parts(numbers.most) as f64 / PARTS,
            Self::Span => numbers.most - numbers.least,
        }
    }

    /// A span is compared with the limit, the others with each other.
    pub(super) fn comparison(self, limit: f64) -> NumberCondition<f64> {
        match self {
            Self::Span => NumberCondition::Each {
                least: 0.0,
                most: limit,
            },
            Self::Sum | Self::Mean | Self::Highest => NumberCondition::Differ(limit),
        }
    }
}

/// Keeps the tickets on each team and computes the violation from them.
pub(super) struct Seated<F> {
    teams: Vec<Vec<u32>>,
    violation: F,
}

impl<F: Fn(&[Vec<u32>]) -> f64> Seated<F> {
    pub(super) fn new(teams: usize, violation: F) -> Self {
        Self {
            teams: vec![Vec::new(); teams],
            violation,
        }
    }
}

impl<F: Fn(&[Vec<u32>]) -> f64> RuleTally for Seated<F> {
    fn put(&mut self, team: usize, ticket: u32) {
        self.teams[team].push(ticket);
    }

    fn take(&mut self, team: usize, ticket: u32) {
        let team = &mut self.teams[team];
        if let Some(at) = team.iter().position(|&other| other == ticket) {
            team.swap_remove(at);
        }
    }

    fn violation(&self) -> f64 {
        (self.violation)(&self.teams)
    }
}

#[cfg(test)]
mod tests {
    use super::NumberCondition::{Differ, Each, Together};

    #[test]
    fn what_is_beyond_a_comparison_is_counted() {
        let each = Each { least: 1, most: 3 };
        assert_eq!(each.beyond([1, 2, 3].into_iter()), 0);
        assert_eq!(each.beyond([0, 5, 3].into_iter()), 1 + 2);
        assert_eq!(Differ(2).beyond([4, 1, 3].into_iter()), 1);
        assert_eq!(Differ(2).beyond([4, 2].into_iter()), 0);
        assert_eq!(Together(4).beyond([2, 3].into_iter()), 1);
        assert_eq!(Together(5).beyond([2, 3].into_iter()), 0);
        assert_eq!(Differ(0.5).beyond([1.0, 2.0].into_iter()), 0.5);
        assert_eq!(Differ(0.5).beyond(std::iter::empty()), 0.0);
    }
}
