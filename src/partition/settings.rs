//! Settings of the search: the engine, the number of candidates, and the cost of each term.

use std::{fmt, time::Duration};

use super::{ProblemError, Terms};

/// A search algorithm of this room.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Engine {
    /// Every combination, without optimisation: the oracle of the tests.
    Naive,
    /// Two teams: every combination, in an order that changes one bit per step.
    Exhaustive,
    /// Two teams: sorts the subset sums of two halves and joins them.
    Meet,
    /// More than two teams: branch and bound.
    Branch,
    /// Any number of teams and humans: improves a split until a budget is used; not exact.
    Search,
}

impl fmt::Display for Engine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Engine::Naive => "naive",
            Engine::Exhaustive => "exhaustive",
            Engine::Meet => "meet",
            Engine::Branch => "branch",
            Engine::Search => "search",
        })
    }
}

/// The quantity by which splits are compared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Objective {
    /// Maximises the ratio of the smallest team's sum to the largest's.
    #[default]
    Ratio,
    /// Minimises the gap between the smallest and the largest sum, with the handicap added to team
    /// 0's.
    ///
    /// If the chance to win depends on the gap alone, the most even splits are those with chances
    /// nearest to one half. With teams of equal size and no handicap both objectives agree.
    Gap,
}

impl fmt::Display for Objective {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Objective::Ratio => "ratio",
            Objective::Gap => "gap",
        })
    }
}

/// The largest value of [`Settings::top`].
pub const MAX_TOP: usize = 4096;

/// The time limit that callers use unless the operator configures another.
pub const DEFAULT_TIME: Duration = Duration::from_millis(250);

/// How to choose among the splits of a [`Problem`](super::Problem).
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Settings {
    /// Forces this engine. `None` chooses by estimated effort, which never changes an exact answer.
    pub engine: Option<Engine>,
    /// The quantity by which candidates are ranked.
    pub objective: Objective,
    /// How many of the most even splits are candidates for the pick, 1 to [`MAX_TOP`].
    pub top: usize,
    /// The cost of one unit of each term, finite and at least 0. If all are 0, evenness alone
    /// decides.
    pub factors: Terms,
    /// The chance of a pick is proportional to quality^power; at least 0. Infinity picks the best.
    #[serde(with = "maybe_infinite")]
    pub power: f64,
    /// How much evenness keeping all parties together may cost, 0 to 1.
    pub party_budget: f64,
    /// The weight of a kept party of 2, 3, … members, as a multiple of their sum, 1 to 10. The last
    /// entry applies to larger parties, too; an empty list means 1.
    pub party_multiplier: Vec<f64>,
    /// The most memory for lists of sums, in bytes.
    pub memory: usize,
}

/// Serialises an infinite number as null, because JSON has no infinity.
mod maybe_infinite {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub(super) fn serialize<S: Serializer>(power: &f64, to: S) -> Result<S::Ok, S::Error> {
        power.is_finite().then_some(power).serialize(to)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<f64, D::Error> {
        Ok(Option::deserialize(from)?.unwrap_or(f64::INFINITY))
    }
}

impl Default for Settings {
    /// The factors make 1 % of ratio cost as much as a repeated lineup, or as the best players of
    /// the teams being the whole range of weights apart; an avoided pair costs five times that.
    fn default() -> Self {
        Self {
            engine: None,
            objective: Objective::Ratio,
            top: 20,
            factors: Terms {
                ratio_gap: 100.0,
                best_gap: 1.0,
                spread_gap: 1.0,
                broken_parties: 2.0,
                avoided_pairs: 5.0,
                moved: 0.05,
                repeated: 1.0,
            },
            power: 1.0,
            party_budget: 0.05,
            party_multiplier: Vec::new(),
            memory: 256 << 20,
        }
    }
}

impl Settings {
    /// # Errors
    /// Returns the first setting that is out of its range.
    pub fn check(&self) -> Result<(), ProblemError> {
        let wrong = |name, wanted| Err(ProblemError::Setting { name, wanted });
        if !(1..=MAX_TOP).contains(&self.top) {
            return wrong("top", "1 to 4096");
        }
        for (name, factor) in self.factors.named() {
            if !(factor.is_finite() && factor >= 0.0) {
                return wrong(name, "a finite number of at least 0");
            }
        }
        if self.power.is_nan() || self.power < 0.0 {
            return wrong("power", "at least 0, or infinite");
        }
        if !(0.0..=1.0).contains(&self.party_budget) {
            return wrong("party_budget", "0 to 1");
        }
        if !(self.party_multiplier.iter()).all(|m| (1.0..=10.0).contains(m)) {
            return wrong("party_multiplier", "numbers from 1 to 10");
        }
        Ok(())
    }

    /// The weight of a kept party of `size` members, as a multiple of their sum.
    pub(super) fn multiplier(&self, size: usize) -> f64 {
        let entry = size
            .saturating_sub(2)
            .min(self.party_multiplier.len().max(1) - 1);
        match self.party_multiplier.get(entry) {
            Some(&multiplier) if size >= 2 => multiplier,
            _ => 1.0,
        }
    }
}
