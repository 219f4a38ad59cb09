//! Assesses whether the teams of a game are balanced.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::{GapUnit, Powers, Situation};
use evenkeel_model::{chance_of_weaker, counted, worded};
use evenkeel_partition::TeamSums;

/// Whether the teams are balanced, and why.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Assessment {
    /// No human needs to move, for this reason.
    Balanced(Calm),
    /// A human of the stronger team should move.
    Unbalanced {
        /// The team that is too strong.
        strong: u8,
        /// The team that is too weak.
        weak: u8,
        /// Why the teams are unbalanced.
        cause: Cause,
    },
}

worded! {
    /// Why no human needs to move.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
    #[serde(rename_all = "kebab-case")]
    pub enum Calm {
        /// The operator has turned auto-balance off.
        Off = "auto-balance is off",
        /// In this game type the players choose their teams themselves.
        Tournament = "the game is a tournament",
        /// The remaining time of play is less than the rules require.
        NearlyOver = "too little play time is left",
        /// The teams' sizes are nearly equal.
        LikeSizes = "nearly equal sizes",
        /// The teams' powers are nearly equal.
        LikePowers = "nearly equal powers",
        /// The chances to win are nearly equal.
        LikeChances = "nearly equal chances",
    }
}

/// Why teams are unbalanced.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Cause {
    /// By size: the number of players on the larger and on the smaller team.
    Sizes(usize, usize),
    /// By power: that of the stronger and of the weaker team.
    Powers(f64, f64),
    /// By the chances to win: that of the stronger and of the weaker team.
    Chances(f64, f64),
}

impl Situation {
    pub(super) fn powers(&self) -> Powers {
        Powers::of(self)
    }

    /// Whether the teams are balanced.
    pub fn assess(&self) -> Assessment {
        self.judge(&self.powers())
    }

    /// Checks the exceptions first, in the order in which Sector's Edge lists them; then sizes,
    /// then power. With more than two teams, compares the largest with the smallest, or the
    /// strongest with the weakest.
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
        let sizes = powers.sizes();
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
        if rules.are_apart(most - fewest) || most > fewest && rules.lopsided.0.iter().any(lopsided)
        {
            return Assessment::Unbalanced {
                strong: large,
                weak: small,
                cause: Cause::Sizes(most, fewest),
            };
        }
        let teams = &powers.teams;
        let ahead = teams.ahead_now();
        let (strong, most) = extreme(ahead.iter().copied(), |a, b| a > b);
        let (weak, least) = extreme(ahead.iter().copied(), |a, b| a < b);
        match (self.is_too_strong(teams, strong, weak), teams.by_chance()) {
            (false, true) => Assessment::Balanced(Calm::LikeChances),
            (false, false) => Assessment::Balanced(Calm::LikePowers),
            (true, by_chance) => Assessment::Unbalanced {
                strong,
                weak,
                cause: match chance_of_weaker(teams.evenness_now()) {
                    little if by_chance => Cause::Chances(1.0 - little, little),
                    _ => Cause::Powers(most, least),
                },
            },
        }
    }

    /// Whether one team is too strong for another one: by its power, or where chances decide by its edge. A share is that
    /// by which its odds exceed even ones then; points are those by which its players' weights exceed the others'.
    pub(super) fn is_too_strong(&self, teams: &TeamSums, strong: u8, weak: u8) -> bool {
        let ahead = teams.ahead_now();
        let [most, least] = [strong, weak].map(|team| ahead[usize::from(team)]);
        let (edge, gap) = (most - least, self.rules.gap.get());
        match (teams.outlook(), self.rules.gap_of) {
            _ if strong == weak => false,
            (None, _) => self.rules.is_gap(most, least),
            (Some(outlook), GapUnit::Share) => outlook.link.evenness(edge) * (1.0 + gap) < 1.0,
            (Some(outlook), GapUnit::Points) => {
                let per_strength = outlook.per_strength_at(teams.players());
                edge >= per_strength * outlook.range() * gap / 100.0
            }
        }
    }
}

/// The first team whose value is extreme, and that value: no other value is `beyond` it.
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
        write!(
            f,
            "unbalanced: team {strong} is too strong for team {weak}, "
        )?;
        match cause {
            Cause::Sizes(many, few) => write!(f, "{} to {few}", counted(*many, "player")),
            Cause::Powers(much, little) => write!(f, "power {much:.3} to {little:.3}"),
            Cause::Chances(much, little) => write!(f, "chances {much:.3} to {little:.3}"),
        }
    }
}
