//! What the rules pick for a match, such as its map: one of the words that all its players share. The seed of
//! the round draws, so whoever shares several maps plays all of them in turn.
//!
//! This comes after the search. Whatever is picked, the same tickets have a match.

use std::collections::BTreeMap;

use crate::{
    domain::{Stream, StreamPurpose, seeded_hash},
    matchmaking::{pool::Pool, search::MatchProposal},
};

/// The draws of a round.
pub(super) struct Picks<'p> {
    pub pool: &'p Pool<'p>,
    seed: u64,
}

impl<'p> Picks<'p> {
    /// The draws that follow from the seed of a round.
    pub fn new(pool: &'p Pool<'p>, seed: u64) -> Self {
        let seed = seeded_hash(seed, *b"picks");
        Self { pool, seed }
    }

    /// What each hard rule that picks something picks for a match, by the name of that.
    pub fn draw(&self, found: &MatchProposal) -> BTreeMap<String, String> {
        let oldest = found.tickets().min().unwrap_or(0);
        let seed = seeded_hash(self.seed, oldest.to_le_bytes());
        let mut stream = Stream::new(seed, StreamPurpose::Picks);
        let people = &self.pool.people;
        let rules = self.pool.queue.rules().iter().enumerate();
        let picks = rules
            .filter(|(_, rule)| rule.hard)
            .filter_map(|(at, rule)| {
                let name = rule.picks.clone()?;
                let words = rule.rule.words(people, &found.teams);
                let weight = |word: &u32| self.pool.likelihood(at, *word, found.tickets());
                let weights: Vec<f64> = words.iter().map(weight).collect();
                let word = words.get(drawn(&weights, &mut stream))?;
                Some((name, people.word(*word).to_owned()))
            });
        picks.collect()
    }
}

/// A place in the list, each with a probability in proportion to its weight; all the same where no weight is
/// above 0.
fn drawn(weights: &[f64], stream: &mut Stream) -> usize {
    let sum: f64 = weights.iter().sum();
    if sum <= 0.0 {
        return stream.index(weights.len());
    }
    let mut left = sum * stream.unit();
    let mut last = 0;
    for (at, weight) in weights
        .iter()
        .enumerate()
        .filter(|(_, weight)| **weight > 0.0)
    {
        last = at;
        left -= weight;
        if left < 0.0 {
            break;
        }
    }
    last
}
