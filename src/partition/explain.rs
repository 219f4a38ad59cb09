//! The explanation of the chosen teams.

use std::fmt;

use super::{Candidate, Engine, Figures, Objective};
use crate::domain::{chance_of_weaker, counted};

/// The result if only one human changed teams.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct WhatIf {
    /// Key of the human.
    pub who: String,
    /// Their team, counted from 0.
    pub team: u8,
    /// The other team; with more than two teams, the one that gives the most even split.
    pub other: u8,
    /// How even the teams would be.
    #[serde(flatten)]
    pub figures: Figures,
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
    /// How even the current teams are, when those are legal.
    pub current: Option<Figures>,
    /// The parties that were given up, each as its members' keys.
    pub given_up: Vec<Vec<String>>,
    /// The best evenness without keeping any party; `None` if it was not needed to decide which
    /// parties to keep.
    pub without_parties: Option<f64>,
    /// For each human, in the caller's order, the result if they alone were on another team.
    pub what_if: Vec<WhatIf>,
}

impl Explanation {
    /// Formats how even teams are by the objective: the chance before the ratio.
    fn figures(&self, figures: &Figures) -> String {
        let Figures { ratio, gap, .. } = figures;
        match (self.objective, figures.chance) {
            (Objective::Ratio, _) => format!("ratio {ratio:.6}"),
            (Objective::Chance, Some(chance)) => {
                format!("chance of team 0 {chance:.6}, ratio {ratio:.6}")
            }
            (Objective::Chance, None) => format!("gap {gap:.6}, ratio {ratio:.6}"),
        }
    }

    /// Formats an evenness: the ratio, or the chance of the weaker team.
    fn evenness(&self, evenness: f64) -> String {
        match (self.objective, self.pick.figures.chance) {
            (Objective::Ratio, _) => format!("ratio {evenness:.6}"),
            (Objective::Chance, Some(_)) => {
                format!(
                    "chance of the weaker team {:.6}",
                    chance_of_weaker(evenness)
                )
            }
            (Objective::Chance, None) => format!("evenness {evenness:.6}"),
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
            probability,
            ..
        } = candidate;
        writeln!(
            f,
            "{what}: {}, cost {cost:.4}, quality {quality:.6}, probability of this pick {:.2} %",
            self.figures(&candidate.figures),
            probability * 100.0
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
        let figures = &self.pick.figures;
        match self.objective {
            Objective::Ratio => write!(f, "ratio {:.6}, of ", figures.ratio)?,
            Objective::Chance => {
                writeln!(f, "{}", self.figures(figures))?;
                write!(f, "{}, of ", self.evenness(figures.evenness))?;
            }
        }
        let bound = match (self.objective, figures.chance) {
            (Objective::Chance, Some(_)) => chance_of_weaker(self.bound),
            _ => self.bound,
        };
        writeln!(
            f,
            "at most {bound:.6} ({proof}); engine {}, {}, {}",
            self.engine,
            counted(self.considered, "combination"),
            counted(self.candidates, "candidate")
        )?;
        self.describe(f, "picked", &self.pick)?;
        if let Some(other) = &self.runner_up {
            self.describe(f, "runner-up", other)?;
        }
        if let Some(current) = &self.current {
            writeln!(f, "current teams: {}", self.figures(current))?;
        }
        for party in &self.given_up {
            writeln!(f, "party given up: {}", party.join(", "))?;
        }
        if let Some(evenness) = self.without_parties {
            writeln!(f, "without parties: {}", self.evenness(evenness))?;
        }
        for what in &self.what_if {
            let (who, other) = (&what.who, what.other);
            let figures = self.figures(&what.figures);
            writeln!(f, "with {who} on team {other} instead: {figures}")?;
        }
        Ok(())
    }
}
