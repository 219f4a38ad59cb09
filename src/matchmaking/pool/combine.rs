//! Combinations: what a match is like (its band of levels, its mode, its map), so that several hard
//! rules hold in any match of the tickets that fit.

use super::Pool;
use crate::matchmaking::{bits::Bits, rules::Choice};

/// The most combinations that are kept after each rule.
const KEEP: usize = 16;

/// A choice for each hard rule that has any.
#[derive(Clone, Debug)]
pub(in crate::matchmaking) struct Combination {
    /// The free tickets that fit, the seed among them.
    pub tickets: Bits,
    /// Number of those tickets.
    pub count: usize,
    /// The word that a rule picks for the match, by the rule's place.
    pub picks: Vec<(usize, u32)>,
}

/// The combinations for one ticket, and how the candidates became fewer.
#[derive(Clone, Debug)]
pub(in crate::matchmaking) struct Combinations {
    /// The fullest first.
    pub all: Vec<Combination>,
    /// The places of the rules that hold in any match of the chosen tickets.
    pub settled: Vec<usize>,
    /// For each of those rules, the most tickets that fit by it and by all rules before it.
    pub narrowed: Vec<(usize, usize)>,
}

impl Pool<'_> {
    /// The combinations for a match with `seed` and of `free` tickets.
    pub fn combinations(&self, seed: u32, free: &Bits, waited: f64) -> Combinations {
        let mut combined = Combinations {
            all: vec![Combination {
                tickets: free.clone(),
                count: free.len(),
                picks: Vec::new(),
            }],
            settled: Vec::new(),
            narrowed: Vec::new(),
        };
        let rules = self.queue.rules().iter().zip(&self.bound).enumerate();
        for (at, (rule, bound)) in rules.filter(|(_, (rule, _))| rule.hard) {
            let Some(choices) = bound.choices(seed, rule.limit(waited, 0)) else {
                continue;
            };
            combined.all = narrow(&combined.all, &choices, at);
            combined.settled.push(at);
            let most = combined
                .all
                .iter()
                .map(|combination| combination.count)
                .max();
            combined.narrowed.push((at, most.unwrap_or(0)));
        }
        combined
    }
}

/// Each combination with each choice: the fullest, at most [`KEEP`].
fn narrow(all: &[Combination], choices: &[Choice<'_>], rule: usize) -> Vec<Combination> {
    let mut counts = Vec::with_capacity(all.len() * choices.len());
    for (at, combination) in all.iter().enumerate() {
        for (place, choice) in choices.iter().enumerate() {
            counts.push((combination.tickets.len_with(&choice.tickets), at, place));
        }
    }
    // Equal counts keep the order of the rules' choices.
    counts.sort_by(|one, other| {
        other
            .0
            .cmp(&one.0)
            .then((one.1, one.2).cmp(&(other.1, other.2)))
    });
    counts.truncate(KEEP);
    let join = |(count, at, place): (usize, usize, usize)| {
        let (combination, choice) = (all.get(at)?, choices.get(place)?);
        let mut picks = combination.picks.clone();
        picks.extend(choice.word.map(|word| (rule, word)));
        Some(Combination {
            tickets: combination.tickets.and(&choice.tickets),
            count,
            picks,
        })
    };
    counts.into_iter().filter_map(join).collect()
}
