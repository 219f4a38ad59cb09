//! Whether the teams are balanced.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::{Powers, Situation};

/// What the rules say about the teams.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Assessment {
    /// Nobody needs to move.
    Balanced(Calm),
    /// Somebody of one team does.
    Unbalanced {
        /// The team that is too strong.
        strong: u8,
        /// The one that needs help.
        weak: u8,
        /// By what.
        cause: Cause,
    },
}

/// Why nobody needs to move.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Calm {
    /// Auto-balance is off.
    Off,
    /// It is a tournament.
    Tournament,
    /// Too little play is left.
    NearlyOver,
    /// The sizes are alike.
    LikeSizes,
    /// The powers are.
    LikePowers,
}

/// What makes teams unbalanced.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Cause {
    /// So many players against so few.
    Sizes(usize, usize),
    /// So much power against so little.
    Powers(f64, f64),
}

impl Situation {
    pub(super) fn powers(&self) -> Powers {
        Powers::of(&self.snapshot, &self.rules)
    }

    /// The verdict on the game as it is.
    pub fn verdict(&self) -> Assessment {
        self.judge(&self.powers())
    }

    /// The exceptions first, in the order of the page; then sizes, then power. With more than two
    /// teams the largest and the smallest are compared, or the strongest and the weakest.
    pub(super) fn judge(&self, powers: &Powers) -> Assessment {
        let rules = &self.rules;
        if !rules.on {
            return Assessment::Balanced(Calm::Off);
        }
        if self.tournament {
            return Assessment::Balanced(Calm::Tournament);
        }
        if self
            .left
            .is_some_and(|left| left < rules.quiet_end_seconds.millis())
        {
            return Assessment::Balanced(Calm::NearlyOver);
        }
        let sizes = powers.sizes.iter().copied();
        let (large, most) = extreme(sizes.clone(), |a, b| a > b);
        let (small, fewest) = extreme(sizes, |a, b| a < b);
        if rules
            .like_sizes
            .get()
            .is_some_and(|like| most - fewest <= like)
        {
            return Assessment::Balanced(Calm::LikeSizes);
        }
        let lopsided = |&(many, few): &(usize, usize)| most >= many && fewest <= few;
        if most > fewest && rules.lopsided.0.iter().any(lopsided) {
            return Assessment::Unbalanced {
                strong: large,
                weak: small,
                cause: Cause::Sizes(most, fewest),
            };
        }
        let teams = powers.teams.iter().copied();
        let (strong, most) = extreme(teams.clone(), |a, b| a > b);
        let (weak, least) = extreme(teams, |a, b| a < b);
        if strong != weak && rules.is_gap(most, least) {
            let cause = Cause::Powers(most, least);
            return Assessment::Unbalanced {
                strong,
                weak,
                cause,
            };
        }
        Assessment::Balanced(Calm::LikePowers)
    }
}

/// The first team whose value nothing goes `beyond`.
fn extreme<T: Copy + Default>(
    values: impl Iterator<Item = T>,
    beyond: impl Fn(T, T) -> bool,
) -> (u8, T) {
    let teams = (0u8..).zip(values);
    let found = teams.reduce(|best, next| if beyond(next.1, best.1) { next } else { best });
    found.unwrap_or_default()
}

impl fmt::Display for Assessment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (strong, weak, cause) = match self {
            Assessment::Balanced(calm) => return write!(f, "balanced: {calm}"),
            Assessment::Unbalanced {
                strong,
                weak,
                cause,
            } => (strong, weak, cause),
        };
        write!(f, "unbalanced: team {strong} against team {weak}, ")?;
        match cause {
            Cause::Sizes(many, few) => write!(f, "{many} players to {few}"),
            Cause::Powers(much, little) => write!(f, "power {much:.3} to {little:.3}"),
        }
    }
}

impl fmt::Display for Calm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Calm::Off => "auto-balance is off",
            Calm::Tournament => "a tournament",
            Calm::NearlyOver => "too little play is left",
            Calm::LikeSizes => "like sizes",
            Calm::LikePowers => "like powers",
        })
    }
}
