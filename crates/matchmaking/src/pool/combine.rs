//! Combinations: what a match is like (its band of levels, its mode, its map), so that several hard rules hold in any
//! match of the tickets that fit, and the players whom these rules demand.
//!
//! The fullest come first. Among those that are full enough, the seed of the round draws.
//!
//! A demand says how many players of a kind the hard rules need on each team, such as one captain. Where the tickets
//! have too few of them, no match of these tickets meets the rules, so no search is needed.

use evenkeel_model::{Stream, StreamPurpose, seeded_hash};

use super::Pool;
use crate::{bits::Bits, draw::exponential, rules::RuleScope};

/// The most combinations that are kept after each rule.
const KEEP: usize = 16;

/// The number of tickets with which a combination is full enough: a search looks at no more of them.
pub(crate) const ENOUGH: usize = 512;

/// A choice for each hard rule that has any.
#[derive(Clone, Debug)]
pub(crate) struct Combination {
    /// The free tickets that fit, the seed among them.
    pub tickets: Bits,
    /// Number of those tickets.
    pub count: usize,
    /// The word that a rule picks for the match, by the rule's place.
    pub picks: Vec<(usize, u32)>,
    /// How likely it is to be drawn, beside others with as many tickets.
    weight: f64,
    /// Its place among those that are as full, as it was drawn: the lowest first.
    tie_break_key: f64,
}

/// The combinations for one ticket, and how the candidates became fewer.
#[derive(Clone, Debug)]
pub(crate) struct Combinations {
    /// Those that are full enough in the order in which they were drawn, then the fullest first.
    pub all: Vec<Combination>,
    /// The places of the rules that hold in any match of the chosen tickets.
    pub decided_rules: Vec<usize>,
    /// For each of those rules, the most tickets that fit by it and by all rules before it.
    pub narrowed: Vec<(usize, usize)>,
}

impl Pool<'_> {
    /// The combinations for a match with `seed` and of `free` tickets. `random` is the seed of the draw.
    pub fn combinations(&self, seed: u32, free: &Bits, waited: f64, random: u64) -> Combinations {
        let mut combined = Combinations {
            all: vec![Combination {
                tickets: free.clone(),
                count: free.len(),
                picks: Vec::new(),
                weight: 1.0,
                tie_break_key: 0.0,
            }],
            decided_rules: Vec::new(),
            narrowed: Vec::new(),
        };
        let random = seeded_hash(random, seed.to_le_bytes());
        let mut stream = Stream::new(random, StreamPurpose::Picks);
        let rules = self.queue.rules().iter().zip(&self.prepared).enumerate();
        for (at, (rule, prepared)) in rules.filter(|(_, (rule, _))| rule.hard) {
            let Some(choices) = prepared.choices(seed, rule.limit(waited, 0)) else {
                continue;
            };
            let likelihood = |choice: &RuleScope<'_>| {
                let word = choice.word;
                word.map_or(1.0, |word| self.likelihood(at, word, [seed].into_iter()))
            };
            let weights: Vec<f64> = choices.iter().map(likelihood).collect();
            combined.all = narrow(&combined.all, &choices, &weights, at, &mut stream);
            combined.decided_rules.push(at);
            let most = combined
                .all
                .iter()
                .map(|combination| combination.count)
                .max();
            combined.narrowed.push((at, most.unwrap_or(0)));
        }
        combined.all.sort_by(|one, other| {
            let fuller = other.count.min(ENOUGH).cmp(&one.count.min(ENOUGH));
            fuller.then(one.tie_break_key.total_cmp(&other.tie_break_key))
        });
        combined
    }
}

/// A combination with a choice.
struct Narrowed {
    count: usize,
    weight: f64,
    tie_break_key: f64,
    /// The places of the combination and of the choice.
    of: (usize, usize),
}

/// Each combination with each choice: the fullest, at most [`KEEP`]. Among equal counts the stream draws, each
/// with a probability in proportion to its weight (Efraimidis and Spirakis, 2006).
fn narrow(
    all: &[Combination],
    choices: &[RuleScope<'_>],
    weights: &[f64],
    rule: usize,
    stream: &mut Stream,
) -> Vec<Combination> {
    let mut narrowed = fullest(all, choices, weights);
    for one in &mut narrowed {
        one.tie_break_key = exponential(1.0 / one.weight, stream);
    }
    narrowed.sort_by(|one, other| {
        let fuller = other.count.cmp(&one.count);
        fuller.then(one.tie_break_key.total_cmp(&other.tie_break_key))
    });
    narrowed.truncate(KEEP);
    let join = |found: Narrowed| {
        let (combination, choice) = (all.get(found.of.0)?, choices.get(found.of.1)?);
        let mut picks = combination.picks.clone();
        picks.extend(choice.word.map(|word| (rule, word)));
        Some(Combination {
            tickets: combination.tickets.and(&choice.tickets),
            count: found.count,
            picks,
            weight: found.weight,
            tie_break_key: found.tie_break_key,
        })
    };
    narrowed.into_iter().filter_map(join).collect()
}

/// The combinations with choices that are among the [`KEEP`] fullest, and those that are as full as the last of
/// them.
fn fullest(all: &[Combination], choices: &[RuleScope<'_>], weights: &[f64]) -> Vec<Narrowed> {
    let mut narrowed = Vec::with_capacity(all.len() * choices.len());
    for (at, combination) in all.iter().enumerate() {
        for (place, (choice, weight)) in choices.iter().zip(weights).enumerate() {
            narrowed.push(Narrowed {
                count: combination.tickets.len_with(&choice.tickets),
                weight: (combination.weight * weight).max(f64::MIN_POSITIVE),
                tie_break_key: 0.0,
                of: (at, place),
            });
        }
    }
    if narrowed.len() > KEEP {
        let mut counts: Vec<usize> = narrowed.iter().map(|one| one.count).collect();
        let (_, least, _) = counts.select_nth_unstable_by(KEEP - 1, |one, other| other.cmp(one));
        narrowed.retain(|one| one.count >= *least);
    }
    narrowed
}

/// What one hard rule demands of every match.
#[derive(Debug)]
pub(super) struct RuleDemand {
    /// The place of the rule.
    rule: usize,
    /// Number of players whom it demands on each team.
    each: usize,
    /// The tickets that have such players.
    suppliers: Bits,
}

/// A demand that some tickets cannot meet, whatever the teams.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Lacking {
    /// The place of the rule that demands it.
    pub rule: usize,
    /// Number of players whom the rule demands on each team.
    pub each: usize,
    /// Number of players whom it demands in a match.
    pub needed: usize,
    /// Number of such players whom the tickets can provide. Of one ticket at most `each` count, since it
    /// is on one team.
    pub provided: usize,
}

impl RuleDemand {
    /// The demands of all hard rules of a pool.
    pub fn of(pool: &Pool<'_>) -> Vec<Self> {
        let rules = pool.queue.rules().iter().zip(&pool.prepared).enumerate();
        let demanding = rules.filter(|(_, (rule, prepared))| rule.hard && prepared.demand() > 0);
        let demand = demanding.map(|(at, (_, prepared))| {
            let tickets = 0..pool.len() as u32;
            let suppliers = tickets.filter(|ticket| prepared.supply(*ticket) > 0);
            Self {
                rule: at,
                each: prepared.demand(),
                suppliers: Bits::of(&suppliers.collect::<Vec<_>>(), pool.len()),
            }
        });
        demand.collect()
    }
}

impl Pool<'_> {
    /// The first demand that these tickets cannot meet; `None` if they can meet each of them.
    ///
    /// Each team of a match has as many players as the rule demands. They come from tickets of this
    /// team alone, so the tickets of a match provide at least `needed` players as [`Lacking`] counts
    /// them. With fewer there is no match.
    pub fn lacking(&self, tickets: &Bits) -> Option<Lacking> {
        self.demands
            .iter()
            .find_map(|demand| self.lacks(demand, tickets))
    }

    fn lacks(&self, demand: &RuleDemand, tickets: &Bits) -> Option<Lacking> {
        let needed = demand.each * self.queue.settings().teams.as_usize();
        if demand.suppliers.len_with(tickets) >= needed {
            return None; // each of them provides at least one player
        }
        let prepared = self.prepared.get(demand.rule)?;
        let suppliers = demand.suppliers.and(tickets);
        let each = suppliers
            .iter()
            .map(|ticket| prepared.supply(ticket).min(demand.each));
        let provided = each.sum();
        (provided < needed).then_some(Lacking {
            rule: demand.rule,
            each: demand.each,
            needed,
            provided,
        })
    }
}
