//! The explanation of the chosen teams.

use std::fmt;

use super::{Candidate, Engine, Objective};
use crate::domain::counted;

/// The result if only one human changed teams.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct WhatIf {
    /// Key of the human.
    pub who: String,
    /// Their team, counted from 0.
    pub team: u8,
    /// The other team; with more than two teams, the one that gives the most even split.
    pub other: u8,
    /// The ratio that would result.
    pub ratio: f64,
    /// The gap that would result.
    pub gap: f64,
}

/// The explanation of a pick as plain data; [`Display`](fmt::Display) formats it as lines.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct Explanation {
    /// What candidates are ranked by: the ratio or the gap.
    pub objective: Objective,
    /// What team 0's side is worth, in the unit of the weights.
    pub handicap: f64,
    /// The algorithm that found the candidates.
    pub engine: Engine,
    /// Whether it is proven that no legal split with these parties is more even.
    pub exact: bool,
    /// An upper bound on the evenness of any legal split, 0 to 1.
    pub bound: f64,
    /// Number of legal combinations that the engine considered.
    pub considered: u128,
    /// Number of candidates that the pick was made from.
    pub candidates: usize,
    /// The candidate that was picked.
    pub pick: Candidate,
    /// The candidate with the highest quality other than the pick; `None` if there is no other.
    pub runner_up: Option<Candidate>,
    /// The ratio of the current teams, when those are legal.
    pub current_ratio: Option<f64>,
    /// The gap of the current teams, when those are legal.
    pub current_gap: Option<f64>,
    /// The parties that were given up, each as its members' keys.
    pub given_up: Vec<Vec<String>>,
    /// The best evenness without keeping any party; `None` if it was not needed to decide which
    /// parties to keep.
    pub ratio_without_parties: Option<f64>,
    /// For each human, in the caller's order, the result if they alone were on another team.
    pub what_if: Vec<WhatIf>,
}

impl Explanation {
    /// Formats the ratio, and by [`Objective::Gap`] the gap before it.
    fn figures(&self, ratio: f64, gap: f64) -> String {
        match self.objective {
            Objective::Ratio => format!("ratio {ratio:.6}"),
            Objective::Gap => format!("gap {gap:.6}, ratio {ratio:.6}"),
        }
    }

    /// Writes one line for the candidate, and one for each term that is not 0 or costs something.
    fn describe(
        &self,
        f: &mut fmt::Formatter<'_>,
        what: &str,
        candidate: &Candidate,
    ) -> fmt::Result {
        let Candidate {
            cost,
            quality,
            chance,
            ..
        } = candidate;
        writeln!(
            f,
            "{what}: {}, cost {cost:.4}, quality {quality:.6}, chance {:.2} %",
            self.figures(candidate.ratio, candidate.gap),
            chance * 100.0
        )?;
        for ((name, value), (_, cost)) in candidate
            .terms
            .named()
            .into_iter()
            .zip(candidate.costs.named())
        {
            if value > 0.0 {
                writeln!(f, "{what}: {name} {value:.6} costs {cost:.4}")?;
            }
        }
        Ok(())
    }
}

impl fmt::Display for Explanation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let proof = if self.exact {
            "exact"
        } else {
            "not proven best"
        };
        let evenness = match self.objective {
            Objective::Ratio => "ratio",
            Objective::Gap => "evenness",
        };
        if self.objective == Objective::Gap {
            let (gap, handicap) = (self.pick.gap, self.handicap);
            writeln!(
                f,
                "objective gap: {gap:.6}; team 0's side is worth {handicap:.6}"
            )?;
        }
        writeln!(
            f,
            "{evenness} {:.6}, of at most {:.6} ({proof}); engine {}, {}, {}",
            self.pick.evenness,
            self.bound,
            self.engine,
            counted(self.considered, "combination"),
            counted(self.candidates, "candidate")
        )?;
        self.describe(f, "picked", &self.pick)?;
        if let Some(other) = &self.runner_up {
            self.describe(f, "runner-up", other)?;
        }
        if let (Some(ratio), Some(gap)) = (self.current_ratio, self.current_gap) {
            writeln!(f, "current teams: {}", self.figures(ratio, gap))?;
        }
        for party in &self.given_up {
            writeln!(f, "party given up: {}", party.join(", "))?;
        }
        if let Some(ratio) = self.ratio_without_parties {
            writeln!(f, "without parties: {evenness} {ratio:.6}")?;
        }
        for what in &self.what_if {
            let (who, other) = (&what.who, what.other);
            let figures = self.figures(what.ratio, what.gap);
            writeln!(f, "with {who} on team {other} instead: {figures}")?;
        }
        Ok(())
    }
}
