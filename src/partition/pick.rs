//! Picks one of the K best splits.

use super::{Factors, Settings, Terms, balance::Evenness, instance::Instance};
use crate::domain::{Stream, StreamPurpose};

/// A split that can be picked, with its costs.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct Candidate {
    /// Each human's team, in the caller's order.
    pub team_of: Vec<u8>,
    /// The smallest of the teams' sums over the largest, 0 to 1.
    pub ratio: f64,
    /// The largest sum minus the smallest, with the handicap added to team 0's.
    pub gap: f64,
    /// The number by which candidates are ranked, 0 to 1: the ratio or, with
    /// [`Objective::Gap`](super::Objective::Gap), the ratio that two average teams with this gap
    /// would have.
    pub evenness: f64,
    /// The value of each term, before its factor.
    pub terms: Terms,
    /// The cost of each term: value times factor.
    pub costs: Terms,
    /// The sum of the costs.
    pub cost: f64,
    /// evenness × e^−cost, 0 to 1; equal to the evenness if nothing costs anything.
    pub quality: f64,
    /// The probability that it is picked, 0 to 1.
    pub chance: f64,
}

impl Candidate {
    /// A candidate with a chance of 0, which [`pick`] sets.
    pub(super) fn new(
        instance: &Instance,
        team_of: Vec<u8>,
        balance: Evenness,
        terms: Terms,
        factors: &Factors,
    ) -> Self {
        let tally = instance.tally(&team_of);
        let costs = terms.times(factors);
        let cost = costs.total();
        let evenness = balance.evenness();
        let quality = evenness * libm::exp(-cost);
        Self {
            team_of,
            ratio: tally.ratio(),
            gap: tally.gap(instance),
            evenness,
            terms,
            costs,
            cost,
            quality,
            chance: 0.0,
        }
    }

    /// The quality's logarithm, which also orders candidates whose quality rounds to 0.
    pub(super) fn log_quality(&self) -> f64 {
        libm::log(self.evenness) - self.cost
    }
}

/// Sets the chance of every candidate, and picks one by `seed`. Returns its index; 0 if there are
/// none.
pub(super) fn pick(candidates: &mut [Candidate], settings: &Settings, seed: u64) -> usize {
    let mut logs: Vec<f64> = candidates.iter().map(Candidate::log_quality).collect();
    let mut best = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    if best == f64::NEG_INFINITY {
        // No candidate has an evenness above 0: decide by cost.
        logs = candidates.iter().map(|candidate| -candidate.cost).collect();
        best = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    }
    let weigh = |log: f64| match settings.power.get() {
        _ if log == best => 1.0,
        power if power.is_infinite() => 0.0,
        0.0 => 1.0,
        power => libm::exp(power * (log - best)),
    };
    let total: f64 = logs.iter().map(|&log| weigh(log)).sum();
    let mut drawn = Stream::new(seed, StreamPurpose::Pick).unit();
    let mut picked = 0;
    for (index, (candidate, &log)) in candidates.iter_mut().zip(&logs).enumerate() {
        candidate.chance = weigh(log) / total;
        // Rounding can leave `drawn` above 0 at the end: keep the last candidate that has a chance.
        if drawn >= 0.0 && candidate.chance > 0.0 {
            picked = index;
        }
        drawn -= candidate.chance;
    }
    picked
}
