//! The solution: the candidates and the pick among them, as data. [`Display`](std::fmt::Display) explains it.

use super::{Candidate, Engine, Figures, Objective, Wishes};

/// The chosen teams and their explanation.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct Solution {
    /// Each human's team, counted from 0, in the caller's order.
    pub team_of: Vec<u8>,
    /// Number of bots to add to each team.
    pub bots: Vec<usize>,
    /// Each team's weight, bots included; a kept party counts its multiple.
    pub sums: Vec<f64>,
    /// The smallest sum over the largest, 0 to 1; 1 if all are 0.
    pub ratio: f64,
    /// The largest sum minus the smallest, with the handicap added to team 0's.
    pub gap: f64,
    /// The chance that team 0 wins, 0 to 1; `None` without strengths, and for more than two teams.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub chance: Option<f64>,
    /// The evenness from which on a split may be picked.
    #[serde(skip)]
    pub least: f64,
    /// Whether it is proven that no legal split with these parties is more even than the best
    /// candidate.
    pub exact: bool,
    /// An upper bound on the evenness of any legal split; equal to the best candidate's if `exact`.
    pub bound: f64,
    /// The algorithm that found the candidates.
    pub engine: Engine,
    /// Number of legal combinations that the engine considered.
    pub considered: u128,
    /// The splits that the pick was made from, most even first.
    pub candidates: Vec<Candidate>,
    /// Index of the candidate that was picked.
    pub picked: usize,
    /// Whether it was picked because these teams are there already.
    #[serde(skip)]
    pub kept: bool,
    /// For each human, in the caller's order, the result if they alone were on another team.
    pub trials: Vec<WhatIf>,
    /// What candidates are ranked by: the ratio, or the chance to win.
    pub objective: Objective,
    /// Whether the chances of more than two teams decide, each of which has one against each other.
    pub of_pairs: bool,
    /// Whether the weights are amounts that whoever asks has stated, so that the sums are the reason.
    pub amounts: bool,
    /// Whether some candidates are less even than those that count as equal, so that nobody is always on the same side of
    /// the map.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub drawn: bool,
    /// How even the current teams are, when those are legal.
    pub current: Option<Figures>,
    /// The parties that were given up, each as its members' keys.
    pub given_up: Vec<Vec<String>>,
    /// The best evenness without keeping any party; `None` if it was not needed to decide which
    /// parties to keep.
    pub without_parties: Option<f64>,
    /// What became of the wishes for a team; `None` if nobody had one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wishes: Option<Wishes>,
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

impl Solution {
    /// The candidate that was picked.
    pub fn pick(&self) -> &Candidate {
        &self.candidates[self.picked]
    }

    /// The candidate with the highest quality beside the pick; `None` if there is no other.
    pub fn runner_up(&self) -> Option<&Candidate> {
        let others = self.candidates.iter().enumerate();
        let others = others.filter(|(at, _)| *at != self.picked);
        let best = others.max_by(|(_, a), (_, b)| a.log_quality().total_cmp(&b.log_quality()));
        best.map(|(_, candidate)| candidate)
    }
}
