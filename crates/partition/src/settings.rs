//! Settings of the search: the engine, the number of candidates, and the cost of each term.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use evenkeel_model::{
    units::{Amount, ChoiceExponent, Count, Factor, Megabytes, Share},
    worded,
};

worded! {
    /// A search algorithm of this room.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
    #[serde(rename_all = "lowercase")]
    pub enum Engine {
        /// Two teams: every combination, in an order that changes one bit per step.
        Exhaustive = "exhaustive",
        /// Two teams: sorts the subset sums of two halves and joins them.
        Meet = "meet",
        /// More than two teams: branch and bound.
        Branch = "branch",
        /// Any number of teams and humans: improves a split until a budget is used; not exact.
        Search = "search",
    }
}

worded! {
    /// The quantity by which splits are compared.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
    #[serde(rename_all = "lowercase")]
    pub enum Objective {
        /// Maximises the ratio of the smallest team's sum to the largest's.
        #[default]
        Ratio = "ratio",
        /// Minimises the gap between the smallest and the largest sum, with the handicap added to team
        /// 0's.
        ///
        /// If the chance to win depends on the gap alone, the most even splits are those with chances
        /// nearest to one half. With teams of equal size and no handicap both objectives agree.
        Chance = "chance",
    }
}

/// When teams that are there already are picked, whatever else the pick would be. Each has the team of every human;
/// limits and pins must allow them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Stay {
    /// As any others.
    #[default]
    Never,
    /// If they are as even as those that would be picked instead, and break no more wishes.
    IfAsGood(Vec<u8>),
    /// In any case.
    Always(Vec<u8>),
}

impl Stay {
    /// The teams.
    pub fn teams(&self) -> Option<&[u8]> {
        match self {
            Self::Never => None,
            Self::IfAsGood(teams) | Self::Always(teams) => Some(teams),
        }
    }
}

/// The largest value of [`Settings::top`].
pub const MAX_TOP: u32 = 4096;

/// The time limit that callers use unless the operator configures another.
pub const DEFAULT_TIME: Duration = Duration::from_millis(250);

/// How to choose among the splits of a [`Problem`](super::Problem).
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Settings {
    /// Forces this engine. `None` chooses by estimated effort, which never changes an exact answer.
    #[serde(default)]
    pub engine: Option<Engine>,
    /// Tries every combination instead, without optimisation: the oracle of the tests.
    #[cfg(test)]
    #[serde(skip)]
    pub naively: bool,
    /// The quantity by which candidates are ranked.
    pub objective: Objective,
    /// How many of the most even splits are candidates for the pick.
    pub top: Count<1, MAX_TOP>,
    /// The cost of one unit of each term. If all are 0, evenness alone decides.
    pub factors: Factors,
    /// The probability of a pick is proportional to quality^power. Infinity picks the best.
    pub power: ChoiceExponent,
    /// How much evenness keeping all parties together may cost.
    pub party_budget: Share,
    /// How much of the weaker team's chance to win all satisfied wishes for a team may cost together. Each is worth as
    /// much as its factor says.
    pub wish_budget: Share,
    /// The weight of a kept party of 2, 3, … members, as a multiple of their sum. The last entry
    /// applies to larger parties, too; an empty list means 1.
    pub party_multiplier: Vec<Factor>,
    /// Picks the candidate with this place by quality, from 0, and begins anew after the last; `None` picks by the seed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wanted: Option<u32>,
    /// When teams that are there already are picked. It follows from the question, and is not stored.
    #[serde(skip)]
    pub stay: Stay,
    /// The most memory for lists of sums.
    pub memory_mb: Megabytes<1, 4_096>,
}

impl Default for Settings {
    /// With these factors, 1 % of ratio costs as much as repeating the last game's teams, or as a
    /// difference of the whole range of weights between the teams' best players. An avoided pair
    /// costs five times that. It costs three times that to leave the weaker side of the map to those
    /// who had it in the last game. Splits in which newcomers are more than one apart are hardly ever
    /// picked if there are others as even; a team with all that is uncertain about the players costs half as
    /// much as a newcomer too many. A wish for a team is worth as much as chances may differ that count as equal.
    fn default() -> Self {
        Self {
            engine: None,
            #[cfg(test)]
            naively: false,
            objective: Objective::Ratio,
            top: const { Count::of(20) },
            factors: Factors::USUAL,
            power: const { ChoiceExponent::of(1.0) },
            party_budget: const { Share::of(0.05) },
            wish_budget: const { Share::of(0.03) },
            party_multiplier: Vec::new(),
            wanted: None,
            stay: Stay::Never,
            memory_mb: const { Megabytes::of(256) },
        }
    }
}

impl Settings {
    /// The settings for stated weights, whose sums decide: of the candidates, the most even sums are picked, unless a
    /// wish is worth more. How the weights are spread over the players of a team costs nothing. If picks `vary`, because
    /// whoever asks has said among how many, they vary as otherwise.
    pub fn by_sums(self, vary: bool) -> Self {
        let nothing = const { Amount::of(0.0) };
        Self {
            objective: Objective::Ratio,
            power: match vary {
                true => self.power,
                false => const { ChoiceExponent::of(f64::INFINITY) },
            },
            factors: Factors {
                best_gap: nothing,
                spread_gap: nothing,
                ..self.factors
            },
            ..self
        }
    }

    /// The weight of a kept party of `size` members, as a multiple of their sum.
    pub fn multiplier(&self, size: usize) -> f64 {
        party_factor(&self.party_multiplier, size)
    }
}

/// The factor on the weights of a party of this size, of a list for parties of 2, 3 and so on, whose last entry holds for
/// all larger ones; 1 for a human alone, and for all if the list is empty.
pub fn party_factor(factors: &[Factor], size: usize) -> f64 {
    let last = factors.len().checked_sub(1);
    let entry = size.checked_sub(2).zip(last);
    entry.map_or(1.0, |(extra, last)| factors[extra.min(last)].get())
}

/// Makes [`Terms`] and [`Factors`] of the table of all terms: what each measures, its name, and its usual factor.
macro_rules! terms {
    ($($(#[$what:meta])* $name:ident * $factor:literal,)*) => {
        /// One number for each term: a split's value, or what it costs.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
        pub struct Terms {
            $($(#[$what])* pub $name: f64,)*
        }

        /// The cost of one unit of each of the [`Terms`]. What costs nothing is not written.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
        #[serde(default, deny_unknown_fields)]
        #[allow(missing_docs)]
        pub struct Factors {
            $(#[serde(skip_serializing_if = "is_nothing")] pub $name: Amount,)*
        }

        impl Terms {
            /// The number of terms.
            const COUNT: usize = [$(stringify!($name)),*].len();

            /// Every term with its name, in a fixed order.
            pub fn named(&self) -> [(&'static str, f64); Self::COUNT] {
                [$((stringify!($name), self.$name)),*]
            }

            /// Value times factor, for each term.
            pub(super) fn times(&self, factors: &Factors) -> Self {
                Self { $($name: self.$name * factors.$name.get(),)* }
            }
        }

        impl Factors {
            /// The factors that are used unless others are configured.
            pub(super) const USUAL: Self = Self { $($name: Amount::of($factor),)* };

            /// Every factor with its term's name, in a fixed order.
            pub fn named_mut(&mut self) -> [(&'static str, &mut Amount); Terms::COUNT] {
                [$((stringify!($name), &mut self.$name)),*]
            }
        }
    };
}

fn is_nothing(factor: &Amount) -> bool {
    factor.get() <= 0.0
}

terms! {
    /// 1 − evenness, 0 to 1. With the objective `ratio`, the evenness is the ratio. With
    /// [`ProblemSpec::equal_within`](super::ProblemSpec::equal_within), evenness that is allowed costs nothing.
    ratio_gap * 100.0,
    /// Difference of the teams' best humans, relative to the best of all, 0 to 1; by strengths,
    /// relative to the range of the weights. For a team without humans a bot counts.
    best_gap * 1.0,
    /// Difference of the teams' weakest humans, in the same measure. Where the map gives each player a part of the field,
    /// the team with the weakest one has a hole there. The shared histories do not say what that is worth.
    worst_gap * 0.0,
    /// Difference of the standard deviations of the teams' human weights, relative to the largest
    /// weight, 0 to 1/2; by strengths, relative to the range of the weights.
    spread_gap * 1.0,
    /// Number of parties that are not together.
    broken_parties * 2.0,
    /// Number of pairs on one team that should be kept apart.
    avoided_pairs * 5.0,
    /// Number of humans who have to leave their current team.
    moved * 0.05,
    /// Of the pairs that were on one team in the last game, the share that are on one team again, 0
    /// to 1.
    repeated * 1.0,
    /// Of the turns at the weaker side of the map in the last games, the share that those have had who
    /// are on the weaker side again, 0 to 1; 0 if no side is weaker.
    weak_again * 3.0,
    /// By how many more than one the teams differ in humans of whom nothing is known.
    newcomers * 10.0,
    /// Number of humans who are not on the team for which they wish.
    wishes * 0.02,
    /// By how much the teams differ in the sums of the variances of their humans' strengths, as a share of all of them,
    /// 0 to 1; 0 where no chances are compared.
    uncertain * 5.0,
}

impl Terms {
    /// The sum over all terms.
    pub(super) fn total(&self) -> f64 {
        self.named().iter().map(|(_, value)| value).sum()
    }
}
