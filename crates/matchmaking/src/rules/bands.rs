//! Bands: the tickets all of whose numbers are near each other, as the rule `spread` chooses them.

use std::borrow::Cow;

use super::{Choice, numbers::Numbers};
use crate::{bits::Bits, columns::NumberColumn, people::People};

/// The tickets of a pool by their numbers.
pub(super) struct Bands {
    /// The tickets that do not count.
    exempt: Bits,
    /// Smallest and largest number with the ticket, ascending by the smallest.
    sorted: Vec<(f64, f64, u32)>,
    /// The different smallest numbers, ascending.
    levels: Vec<f64>,
    /// The smallest number of each ticket, whether it counts or not.
    lowest: Vec<f64>,
}

/// The most bands that are tried for one ticket.
const BANDS: usize = 4;

impl Bands {
    /// `own` is what the players of each ticket add up to who count.
    pub fn new(people: &People, column: NumberColumn, own: &[Numbers]) -> Self {
        let mut exempt = Bits::empty(people.tickets());
        let mut sorted = Vec::new();
        let mut lowest = Vec::new();
        for (ticket, own) in (0..).zip(own) {
            match own.players {
                0 => exempt.insert(ticket),
                _ => sorted.push((own.least, own.most, ticket)),
            }
            let players = people.members(ticket);
            let numbers = players.map(|player| people.number(column, player));
            lowest.push(numbers.fold(f64::INFINITY, f64::min));
        }
        sorted.sort_by(|one, other| one.0.total_cmp(&other.0).then(one.2.cmp(&other.2)));
        let mut levels: Vec<f64> = sorted.iter().map(|(least, ..)| *least).collect();
        levels.dedup();
        Self {
            exempt,
            sorted,
            levels,
            lowest,
        }
    }

    /// Bands of this width in which the ticket fits, which adds `own`.
    pub fn around(&self, ticket: u32, own: Numbers, width: f64) -> Vec<Choice<'static>> {
        let starts = match own.players {
            0 => {
                let lowest = self.lowest[ticket as usize];
                let mut starts = self.starts(lowest, lowest, width);
                starts.extend([lowest + 1.0, lowest - width - 1.0]);
                starts
            }
            _ if own.most - own.least > width => Vec::new(),
            _ => self.starts(own.least, own.most, width),
        };
        let bands = starts.into_iter().map(|low| self.band(low, low + width));
        bands.collect()
    }

    /// The tickets all of whose numbers are from `low` to `high`, and those that do not count.
    fn band(&self, low: f64, high: f64) -> Choice<'static> {
        let mut tickets = self.exempt.clone();
        let from = self.sorted.partition_point(|(least, ..)| *least < low);
        let later = self.sorted.iter().skip(from);
        for &(_, most, ticket) in later.take_while(|(least, ..)| *least <= high) {
            if most <= high {
                tickets.insert(ticket);
            }
        }
        Choice {
            tickets: Cow::Owned(tickets),
            word: None,
        }
    }

    /// The lower ends of bands of this width in which a ticket with the numbers from `least` to
    /// `most` fits: those at which another ticket begins, at most [`BANDS`].
    fn starts(&self, least: f64, most: f64, width: f64) -> Vec<f64> {
        let from = self.levels.partition_point(|level| *level < most - width);
        let to = self.levels.partition_point(|level| *level <= least);
        // By rounding, `from` can be behind `to`.
        let starts = self.levels.get(from..to).unwrap_or(&[]);
        let step = starts.len().div_ceil(BANDS).max(1);
        starts.iter().rev().step_by(step).copied().collect()
    }

    /// The share of the tickets that begin within this width of the ticket, on the side where more do.
    pub fn share(&self, ticket: u32, width: f64) -> f64 {
        let lowest = self.lowest[ticket as usize];
        let below = self.crowd(lowest - width, lowest);
        let above = self.crowd(lowest, lowest + width);
        below.max(above) as f64 / self.lowest.len().max(1) as f64
    }

    /// Number of tickets that begin in the band.
    fn crowd(&self, low: f64, high: f64) -> usize {
        let from = self.sorted.partition_point(|(least, ..)| *least < low);
        let to = self.sorted.partition_point(|(least, ..)| *least <= high);
        to.saturating_sub(from)
    }
}
