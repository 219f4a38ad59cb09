//! Picks one of the K best splits.

use super::{
    Settings,
    settings::{Factors, Terms},
};
use evenkeel_model::random::{Stream, StreamPurpose};

/// A split that can be picked, with its costs.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct Candidate {
    /// Each human's team, in the caller's order.
    pub team_of: Vec<u8>,
    /// How even the teams are.
    #[serde(flatten)]
    pub figures: Figures,
    /// The value of each term, before its factor.
    pub terms: Terms,
    /// The cost of each term: value times factor.
    pub costs: Terms,
    /// The sum of the costs.
    pub cost: f64,
    /// evenness × e^−cost, 0 to 1; equal to the evenness if nothing costs anything.
    pub quality: f64,
    /// The probability that it is picked, 0 to 1.
    pub probability: f64,
}

/// How even the teams of a split are.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct Figures {
    /// The smallest of the teams' weights over the largest, 0 to 1.
    pub ratio: f64,
    /// The largest sum minus the smallest, with the handicap added to team 0's. Sums are those of
    /// strengths if there are any, otherwise of weights.
    pub gap: f64,
    /// The number by which candidates are ranked, 0 to 1: the ratio, or the chance of the weaker team
    /// divided by that of the stronger one; with [`Objective::Chance`](super::settings::Objective::Chance) and no
    /// strengths, the ratio that two average teams with this gap would have.
    pub evenness: f64,
    /// The chance that team 0 wins, 0 to 1; `None` without strengths, and for more than two teams.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub chance: Option<f64>,
}

/// The result if only one human changed teams.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct WhatIf {
    /// Id of the human.
    pub who: String,
    /// Their team, counted from 0.
    pub team: u8,
    /// The other team; with more than two teams, the one that gives the most even split.
    pub other: u8,
    /// How even the teams would be.
    #[serde(flatten)]
    pub figures: Figures,
}

impl Candidate {
    /// A candidate with a probability of 0, which [`pick`] sets.
    pub(super) fn new(team_of: Vec<u8>, figures: Figures, terms: Terms, factors: &Factors) -> Self {
        let costs = terms.times(factors);
        let cost = costs.total();
        Self {
            team_of,
            figures,
            terms,
            costs,
            cost,
            quality: figures.evenness * libm::exp(-cost),
            probability: 0.0,
        }
    }

    /// The quality's logarithm, which also orders candidates whose quality rounds to 0.
    pub(super) fn log_quality(&self) -> f64 {
        libm::log(self.figures.evenness) - self.cost
    }
}

/// Sets the probability of every candidate, and picks one by `seed`. Returns its index; 0 if there are
/// none.
pub(super) fn pick(candidates: &mut [Candidate], settings: &Settings, seed: u64) -> usize {
    let mut logs: Vec<f64> = candidates.iter().map(Candidate::log_quality).collect();
    let mut best = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    if best == f64::NEG_INFINITY {
        // No candidate has an evenness above 0: decide by cost.
        logs = candidates.iter().map(|candidate| -candidate.cost).collect();
        best = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    }
    if let Some(wanted) = settings.wanted {
        return pick_by_place(candidates, &logs, wanted);
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
        candidate.probability = weigh(log) / total;
        // Rounding can leave `drawn` above 0 at the end: keep the last candidate that can be picked.
        if drawn >= 0.0 && candidate.probability > 0.0 {
            picked = index;
        }
        drawn -= candidate.probability;
    }
    picked
}

/// Picks this candidate, which may be one of the list already. Returns its index.
pub(super) fn pick_this(candidates: &mut Vec<Candidate>, this: Candidate) -> usize {
    let known = candidates
        .iter()
        .position(|one| one.team_of == this.team_of);
    let picked = known.unwrap_or_else(|| {
        let evenness = this.figures.evenness;
        let place = candidates.partition_point(|one| one.figures.evenness >= evenness);
        candidates.insert(place, this);
        place
    });
    only(candidates, picked);
    picked
}

/// Makes one candidate certain.
fn only(candidates: &mut [Candidate], picked: usize) {
    for (at, candidate) in candidates.iter_mut().enumerate() {
        candidate.probability = if at == picked { 1.0 } else { 0.0 };
    }
}

/// Picks the candidate that comes after `wanted` better ones; those that are as good keep their order.
fn pick_by_place(candidates: &mut [Candidate], logs: &[f64], wanted: u32) -> usize {
    let mut order: Vec<usize> = (0..candidates.len()).collect();
    order.sort_by(|a, b| logs[*b].total_cmp(&logs[*a]));
    let place = wanted as usize % order.len().max(1);
    let picked = order.get(place).copied().unwrap_or(0);
    only(candidates, picked);
    picked
}
