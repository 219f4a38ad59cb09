//! How to choose: which engine, how many candidates, and what each blemish costs.

use std::{fmt, time::Duration};

use super::Factors;
use crate::domain::units::{Amount, ChoiceExponent, Count, Factor, Megabytes, Share};

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
    /// A small gap between these sums, team 0's counting the handicap, too. In the configuration and
    /// in stored decisions it is `chance`; version 0.1 stored `gap`.
    ///
    /// Where the chance to win is monotone in that, its most even splits are those whose chance is
    /// nearest to one half. With teams of the same size and no handicap it agrees with the ratio.
    #[serde(rename = "chance", alias = "gap")]
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
pub const MAX_TOP: u32 = 4096;

/// How long a caller's clock should let a run take, unless its owner says otherwise.
pub const DEFAULT_TIME: Duration = Duration::from_millis(250);

/// How to choose among the splits of a [`Problem`](super::Problem).
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Settings {
    /// Force this engine. `None` chooses by measured size, which never changes an exact answer.
    #[serde(default)]
    pub engine: Option<Engine>,
    /// What the candidates are ranked by.
    pub objective: Objective,
    /// The most even candidates, from which one is picked.
    pub top: Count<1, MAX_TOP>,
    /// What one unit of each term costs. All 0 leaves the evenness alone to decide.
    pub factors: Factors,
    /// The pick's probability is proportional to quality^power; infinite picks the best.
    pub power: ChoiceExponent,
    /// How much evenness keeping every party together may cost.
    pub party_budget: Share,
    /// What a kept party of 2, 3, … weighs, as a multiple of its members' sum; the last one serves all
    /// larger parties, and none at all means 1.
    pub party_multiplier: Vec<Factor>,
    /// The most memory to use for lists of sums.
    pub memory_mb: Megabytes<1, 4_096>,
}

impl Default for Settings {
    /// The factors are such that 1 % of ratio weighs as much as a repeated line-up, or as the whole
    /// range of weights between the teams' best players; an avoided pair weighs five times that.
    fn default() -> Self {
        Self {
            engine: None,
            objective: Objective::Ratio,
            top: const { Count::of(20) },
            factors: Factors {
                ratio_gap: const { Amount::of(100.0) },
                best_gap: const { Amount::of(1.0) },
                spread_gap: const { Amount::of(1.0) },
                broken_parties: const { Amount::of(2.0) },
                avoided_pairs: const { Amount::of(5.0) },
                moved: const { Amount::of(0.05) },
                repeated: const { Amount::of(1.0) },
            },
            power: const { ChoiceExponent::of(1.0) },
            party_budget: const { Share::of(0.05) },
            party_multiplier: Vec::new(),
            memory_mb: const { Megabytes::of(256) },
        }
    }
}

impl Settings {
    /// What a kept party of `size` weighs, as a multiple of its members' sum.
    pub(super) fn multiplier(&self, size: usize) -> f64 {
        let entry = size
            .saturating_sub(2)
            .min(self.party_multiplier.len().max(1) - 1);
        match self.party_multiplier.get(entry) {
            Some(multiplier) if size >= 2 => multiplier.get(),
            _ => 1.0,
        }
    }
}
