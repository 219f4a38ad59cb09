//! Signatures: which tickets mirror each other.

use std::collections::HashMap;

use crate::{
    people::People,
    rules::{PreparedRule, Share, Symbols},
};

/// A small number for each ticket. Two tickets have the same if one makes up for the other, when
/// they are on different teams: they have the same number of players, and add the same values to
/// their teams, by the rules that compare teams.
#[derive(Debug)]
pub(crate) struct Signatures {
    of: Vec<u32>,
    count: usize,
}

impl Signatures {
    /// The signatures by those of the rules that mirror.
    pub fn of(people: &People, prepared: &[&dyn PreparedRule]) -> Self {
        let mut known = HashMap::new();
        let signature = |ticket: u32| {
            let mut keys = vec![people.size(ticket) as u64];
            let mirrors = prepared.iter().filter_map(|rule| rule.mirror(ticket));
            for mirror in mirrors {
                keys.push(mirror.keys.len() as u64);
                keys.extend(mirror.keys);
            }
            let next = known.len() as u32;
            *known.entry(keys).or_insert(next)
        };
        let of = (0..people.tickets() as u32).map(signature).collect();
        Self {
            of,
            count: known.len(),
        }
    }

    /// The signatures by the values that hard rules count and limit, whatever the limits are.
    pub fn of_limited(people: &People, rules: &[&dyn PreparedRule]) -> Self {
        let symbols = rules.iter().filter_map(|rule| match rule.share(1, 0.0) {
            Some((symbols, Share::Limited { .. })) => Some(symbols),
            _ => None,
        });
        let symbols: Vec<&Symbols> = symbols.collect();
        let mut known: HashMap<Vec<&[u32]>, u32> = HashMap::new();
        let signature = |ticket: u32| {
            let own = symbols.iter().map(|symbols| symbols.of_ticket(ticket));
            let next = known.len() as u32;
            *known.entry(own.collect()).or_insert(next)
        };
        let of = (0..people.tickets() as u32).map(signature).collect();
        Self {
            of,
            count: known.len(),
        }
    }

    /// The signature of a ticket.
    pub fn get(&self, ticket: u32) -> u32 {
        self.of[ticket as usize]
    }

    /// Number of different signatures.
    pub fn count(&self) -> usize {
        self.count
    }
}
