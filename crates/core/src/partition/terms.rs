//! The terms of a split's cost: what is undesirable about it, in numbers.

use serde::{Deserialize, Serialize};

use crate::domain::units::Amount;

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
    /// [`ProblemSpec::doubt`](super::ProblemSpec::doubt), evenness that is allowed costs nothing.
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
