//! How to choose: which engine, how many candidates, and what each blemish costs.

use std::{fmt, time::Duration};

use super::{ProblemError, Terms};

/// An algorithm of this room.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Engine {
    /// Every combination, no tricks: the oracle of the tests.
    Naive,
    /// Two teams: every combination, one bit changed a step.
    Exhaustive,
    /// Two teams: two halves, sorted and joined.
    Meet,
    /// Any number of teams: branch and bound.
    Branch,
    /// Any number of teams and humans: improves until a budget, and isn't exact.
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

/// What makes teams even.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Objective {
    /// A great ratio of the smallest team's sum to the largest's.
    #[default]
    Ratio,
    /// A small gap between these sums, team 0's counting the handicap, too.
    ///
    /// Where the chance to win is monotone in that, its most even splits are those whose chance is
    /// nearest to one half. With teams of the same size and no handicap it agrees with the ratio.
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

/// The most candidates that can be asked for.
pub const MAX_TOP: usize = 4096;

/// How long a caller's clock should let a run take, unless its owner says otherwise.
pub const DEFAULT_TIME: Duration = Duration::from_millis(250);

/// How to choose among the splits of a [`Problem`](super::Problem).
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Settings {
    /// Force this engine. `None` chooses by measured size, which never changes an exact answer.
    pub engine: Option<Engine>,
    /// What the candidates are ranked by.
    pub objective: Objective,
    /// The most even candidates, from which one is picked: 1 to [`MAX_TOP`].
    pub top: usize,
    /// What one unit of each term costs: finite, ≥ 0. All 0 leaves the evenness alone to decide.
    pub factors: Terms,
    /// The pick's probability is proportional to quality^power: ≥ 0, and infinite picks the best.
    #[serde(with = "maybe_infinite")]
    pub power: f64,
    /// How much evenness keeping every party together may cost: 0 to 1.
    pub party_budget: f64,
    /// What a kept party of 2, 3, … weighs, as a multiple of its members' sum (1 to 10); the last
    /// one serves all larger parties, and none at all means 1.
    pub party_multiplier: Vec<f64>,
    /// The most memory to use for lists of sums, in bytes.
    pub memory: usize,
}

/// JSON has no infinity: null stands for it.
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
    /// The factors are such that 1 % of ratio weighs as much as a repeated line-up, or as the whole
    /// range of weights between the teams' best players; an avoided pair weighs five times that.
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
    /// The first setting that is out of its range.
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

    /// What a kept party of `size` weighs, as a multiple of its members' sum.
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
