//! Weights as people see them: their scale, the weight that an operator expects, what a match does to a weight, and
//! the place that follows from it.

use serde::{Deserialize, Serialize};

use crate::{Timestamp, time::DAY, worded};

/// What a match has entered into a player's account.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct WeightEntry {
    /// The weight before the match, 0 to 100.
    pub before: f64,
    /// The weight after the match, 0 to 100.
    pub weight: f64,
    /// Its standard deviation; 0 in systems without deviations.
    pub deviation: f64,
    /// Why it has moved or has not; `None` in systems that keep a number of their own.
    pub cause: Option<WeightCause>,
}

impl WeightEntry {
    /// By how much the match has moved the weight.
    pub fn change(&self) -> f64 {
        self.weight - self.before
    }
}

worded! {
    /// Why a match has moved a weight, or has not.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
    #[serde(rename_all = "kebab-case")]
    pub enum WeightCause {
        /// Won: up to the strength.
        Won = "won",
        /// Won: up by the limit of the match.
        WonLimited = "won-limited",
        /// Won, by less than expected: the strength is not above the weight.
        WonHeld = "won-held",
        /// Lost: down to the strength.
        Lost = "lost",
        /// Lost: down by the limit of the match.
        LostLimited = "lost-limited",
        /// Lost, by less than expected: the strength is not below the weight.
        LostHeld = "lost-held",
        /// Drew: to the strength.
        Drew = "drew",
        /// Drew: towards the strength, by the limit of the match.
        DrewLimited = "drew-limited",
        /// Drew as the favourite: not up.
        DrewAsFavourite = "drew-as-favourite",
        /// Drew as the outsider: not down.
        DrewAsOutsider = "drew-as-outsider",
        /// As long on one team as on others.
        ChangedTeams = "changed-teams",
        /// The match has no result.
        NoResult = "no-result",
    }
}

/// Whether a player has a place among those of a ruleset. The view `leaderboard` decides it in the same way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Standing {
    /// The player has a place.
    Placed,
    /// The player has fewer matches than [`MATCHES_TO_PLACE`](Self::MATCHES_TO_PLACE), or the weight is too uncertain.
    Placing,
    /// The player had not played for [`DAYS_AWAY`](Self::DAYS_AWAY) days when the latest match was played.
    Away,
}

impl Standing {
    /// The rated matches after which a player may have a place.
    pub const MATCHES_TO_PLACE: u32 = 10;
    /// The days after which a player is away.
    pub const DAYS_AWAY: i64 = 60;
    /// The highest standard deviation of the weight with which a player may have a place.
    const MOST_UNCERTAIN: f64 = 15.0;

    /// That of a player with this weight, in a ruleset whose latest match ended at `latest`.
    pub fn of(games: u32, deviation: f64, last_seen: Timestamp, latest: Timestamp) -> Self {
        if last_seen < latest.plus_millis(-Self::DAYS_AWAY * DAY) {
            Self::Away
        } else if games < Self::MATCHES_TO_PLACE || deviation > Self::MOST_UNCERTAIN {
            Self::Placing
        } else {
            Self::Placed
        }
    }
}

/// Where the strengths of a rating system lie in points.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PointScale {
    /// The strength of the average seat, which is 50 points.
    pub average: f64,
    /// The strength of a newcomer.
    pub newcomer: f64,
    /// The unit: a sixth of the strength from 50 to 100 points.
    pub unit: f64,
}

/// The weight at which a player starts. The player's matches overrule it in time, unlike a pinned weight.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct StartWeight {
    /// The weight, 0 to 100.
    pub weight: f64,
    /// Whether the operator is not sure, so that matches overrule it about four times as fast.
    pub uncertain: bool,
}

/// A player's strengths on each side of the map and as a commander, in points: 50 is the average seat of the ruleset, and
/// a point is as much as in a weight. They are strengths, not accounts of results, so they have no ends, and matches of
/// others may move them.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct RoleWeights {
    /// On side 0 and on side 1. `None` if the rating system does not tell them apart, and for players without games on a
    /// side.
    pub sides: Option<[f64; 2]>,
    /// As a commander. `None` if the rating system does not rate commanders apart, and for players who have not
    /// commanded.
    pub commander: Option<f64>,
}

/// A player's division, and the player's progress in it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Rank {
    /// The number of the division; 0 is the lowest.
    pub division: u8,
    /// The progress in the division, 0 to 1. At 0 the player is about to fall to the division
    /// below, and at 1 to rise to the one above. In the lowest division, 0 is about the lowest
    /// weight of all players, and in the highest division, 1 is about the highest.
    pub progress: f64,
}

impl Rank {
    /// The rank as one number: the division plus the progress.
    pub fn position(self) -> f64 {
        f64::from(self.division) + self.progress
    }

    /// The rank that is `divisions` lower, but not below the start of the lowest division.
    #[must_use]
    pub fn lowered(self, divisions: f64) -> Self {
        if divisions <= 0.0 {
            return self;
        }
        let position = (self.position() - divisions).max(0.0);
        // Division 2 with progress 1 and division 3 with progress 0 are the same position; only a
        // player who was in division 3 is shown as that.
        let division = position.floor().min(f64::from(self.division));
        Self {
            division: division as u8,
            progress: position - division,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_read_back() {
        for cause in WeightCause::ALL {
            assert_eq!(WeightCause::parse(&cause.to_string()), Some(cause));
        }
        assert_eq!(WeightCause::DrewAsOutsider.as_str(), "drew-as-outsider");
        assert_eq!(WeightCause::parse(""), None);
    }

    #[test]
    fn a_rank_falls_through_the_divisions_and_stops_at_the_lowest() {
        let gold = Rank {
            division: 2,
            progress: 0.25,
        };
        assert_eq!(gold.lowered(0.0), gold);
        assert_eq!(gold.lowered(-1.0), gold);
        let rank = |division, progress| Rank { division, progress };
        assert_eq!(gold.lowered(0.5), rank(1, 0.75));
        assert_eq!(gold.lowered(2.0), rank(0, 0.25));
        assert_eq!(gold.lowered(1e9), rank(0, 0.0));
        assert_eq!(rank(1, 1.0).lowered(1e-9).division, 1, "not promoted");
    }
}
