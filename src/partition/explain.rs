//! The reasons for the teams chosen.

use std::fmt;

use super::{Candidate, Engine, Objective};
use crate::domain::counted;

/// The result if one human alone were on another team.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct WhatIf {
    /// Key of the human.
    pub who: String,
    /// Their team, counted from 0.
    pub team: u8,
    /// The other team; of several, the one that would be the most even.
    pub other: u8,
    /// The ratio that would result.
    pub ratio: f64,
    /// The gap that would result.
    pub gap: f64,
}

/// The reasons for a pick as plain data; [`Display`](fmt::Display) writes them in lines.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct Explanation {
    /// What the candidates are ranked by.
    pub objective: Objective,
    /// What team 0's side is worth.
    pub handicap: f64,
    /// The algorithm that found the candidates.
    pub engine: Engine,
    /// Whether no legal split with these parties is more even than the candidates.
    pub exact: bool,
    /// What no legal split's evenness exceeds.
    pub bound: f64,
    /// Legal combinations that the candidates are the best of.
    pub considered: u128,
    /// Candidates that the pick was made from.
    pub candidates: usize,
    /// The candidate that was picked.
    pub pick: Candidate,
    /// The candidate of the highest quality beside it.
    pub runner_up: Option<Candidate>,
    /// The ratio of the current teams, when those are legal.
    pub current_ratio: Option<f64>,
    /// The gap of the current teams, when those are legal.
    pub current_gap: Option<f64>,
    /// Parties that were given up, by their members' keys.
    pub given_up: Vec<Vec<String>>,
    /// The best evenness without any party, where parties cost enough for it to matter.
    pub ratio_without_parties: Option<f64>,
    /// For each human, in the caller's order, the result if they alone were on another team.
    pub what_if: Vec<WhatIf>,
}

impl Explanation {
    /// The ratio, and the gap where that counts.
    fn figures(&self, ratio: f64, gap: f64) -> String {
        match self.objective {
            Objective::Ratio => format!("ratio {ratio:.6}"),
            Objective::Gap => format!("gap {gap:.6}, ratio {ratio:.6}"),
        }
    }

    /// One line on the whole candidate, one on each term that says or costs something.
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
                "objective gap: {gap:.6}, team 0's side being worth {handicap:.6}"
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
