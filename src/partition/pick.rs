//! From the K best to one.

use super::{Factors, Settings, Terms, balance::Evenness, instance::Instance};
use crate::domain::{Stream, StreamPurpose};

/// A split that may be picked.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct Candidate {
    /// Each human's team, in the caller's order.
    pub team_of: Vec<u8>,
    /// The smallest of the teams' sums over the largest.
    pub ratio: f64,
    /// The largest less the smallest, team 0's counting the handicap.
    pub gap: f64,
    /// What the candidates are ranked by, 0 to 1: the ratio, or by
    /// [`Objective::Gap`](super::Objective::Gap) what it would be with this gap between two average
    /// teams.
    pub evenness: f64,
    /// Its blemishes, term by term.
    pub terms: Terms,
    /// The cost of each.
    pub costs: Terms,
    /// The sum of the costs.
    pub cost: f64,
    /// evenness × e^−cost: 0 to 1, and the evenness itself while nothing costs anything.
    pub quality: f64,
    /// The probability that it is picked, 0 to 1.
    pub chance: f64,
}

impl Candidate {
    /// A split with its balance and terms, not yet picked from.
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

/// Sets every candidate's chance, and picks one by `seed`; 0 when there is none.
pub(super) fn pick(candidates: &mut [Candidate], settings: &Settings, seed: u64) -> usize {
    let mut logs: Vec<f64> = candidates.iter().map(Candidate::log_quality).collect();
    let mut best = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    if best == f64::NEG_INFINITY {
        // No evenness above 0: let the cost decide.
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
        // Past the end, rounding leaves the last one that had a chance.
        if drawn >= 0.0 && candidate.chance > 0.0 {
            picked = index;
        }
        drawn -= candidate.chance;
    }
    picked
}
