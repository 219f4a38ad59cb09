//! What a fold tells of a player, and of a lineup.

use super::curve::soft;
use evenkeel_model::{Outlook, PlayerKey, Rank, RoleWeights, Ruleset, Timestamp};

/// The weight of one player under one ruleset.
#[derive(Clone, Debug, PartialEq)]
pub struct Weight<'a> {
    /// The ruleset from whose games it was learned.
    pub ruleset: &'a Ruleset,
    /// The player: kind (human or bot) and id.
    pub key: &'a PlayerKey,
    /// The name in their latest match.
    pub name: &'a str,
    /// 0 to 100; 50 for the average seat of the ruleset. Only the player's own games move it, and never against
    /// their result.
    pub weight: f64,
    /// The standard deviation after the player's last game, in points of the weight. 0 in systems without deviations.
    pub deviation: f64,
    /// The strength, minus a newcomer's, in the rating system's unit. The sum over a team is the team's strength.
    pub strength: f64,
    /// The strength in points: 50 for the average seat of the ruleset, without ends. A weight of 50 and a strength of 53
    /// say that the player is expected to rise.
    pub points: f64,
    /// The standard deviation of the strength, in the unit of `strength`; 0 in systems without deviations.
    pub doubt: f64,
    /// The division under this ruleset; `None` without divisions, for bots, and while the player is
    /// calibrating.
    pub rank: Option<Rank>,
    /// The strengths on each side and as a commander, in points.
    pub roles: RoleWeights,
    /// Number of rated games that the player was in.
    pub games: u32,
    /// How many of these the team has won that the player was on for longest.
    pub wins: u32,
    /// The end of the first rated game that the player was in.
    pub first_seen: Timestamp,
    /// The end of the last rated game that the player was in.
    pub last_seen: Timestamp,
    /// Time played in rated games, in hours.
    pub hours: f64,
}

impl Weight<'_> {
    /// The weight to which the player's results move it: the strength in points, with soft ends.
    pub fn target(&self) -> f64 {
        soft(self.points)
    }
}

/// The prediction of a ruleset's rating system for a lineup of two teams, with its inputs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LineupReading {
    /// Turns strengths into a chance in games like this one.
    pub outlook: Outlook,
    /// The edge of the first team; the outlook turns it into the chance that the system predicts.
    pub edge: f64,
    /// The sum of each team's strengths, in the unit of [`Weight::strength`], including what players
    /// of one party add to each other.
    pub strengths: [f64; 2],
}
