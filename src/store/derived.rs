//! Data derived from the matches: rulings, weights, and a checkpoint of the learned state.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use super::{Cursor, Recount, Spool};
use crate::domain::{Causes, PlayerKey, PointScale, Rank, RoleWeights, Timestamp, WeightEntry};
use crate::store::db::columns;

/// The weight of one player under one ruleset.
#[derive(Clone, Debug, PartialEq)]
pub struct WeightRow {
    /// The key of the ruleset.
    pub ruleset: String,
    /// The player: kind (human or bot) and id.
    pub key: PlayerKey,
    /// The name in the player's latest match.
    pub name: String,
    /// The weight, 0 to 100; 50 is the average seat.
    pub weight: f64,
    /// The standard deviation in units of the weight; 0 if the rating system has none.
    pub deviation: f64,
    /// The division that was reached; `None` for bots, while the player is calibrating, and without
    /// divisions.
    pub rank: Option<Rank>,
    /// The weights on each side and as a commander; none of them if the weight is pinned.
    pub roles: RoleWeights,
    /// Number of rated matches behind the weight.
    pub games: u32,
    /// The end of the latest of these matches.
    pub last_seen: Timestamp,
}

/// What the weight of one player under one ruleset is computed from.
#[derive(Clone, Debug, PartialEq)]
pub struct PartRow {
    /// The key of the ruleset.
    pub ruleset: String,
    /// The player: kind (human or bot) and id.
    pub key: PlayerKey,
    /// The name in the player's latest match.
    pub name: String,
    /// The weight, 0 to 100.
    pub weight: f64,
    /// The player's own part of the strength.
    pub own: f64,
    /// The same on each side.
    pub sides: Option<[f64; 2]>,
    /// The same as a commander.
    pub commander: Option<f64>,
    /// The factors on the effects of the ruleset; `None` if the weight stands as it is, without a strength.
    pub factors: Option<[f64; 3]>,
    /// The standard deviation in units of the weight.
    pub deviation: f64,
    /// The standard deviation of the strength, in its unit.
    pub doubt: f64,
    /// The division that was reached.
    pub division: Option<u8>,
    /// The progress in it; only for a weight as it stands.
    pub progress: Option<f64>,
    /// Number of rated matches behind the weight.
    pub games: u32,
    /// The end of the latest of these matches.
    pub last_seen: Timestamp,
}

/// A weight as it stands.
impl From<WeightRow> for PartRow {
    fn from(row: WeightRow) -> Self {
        Self {
            ruleset: row.ruleset,
            key: row.key,
            name: row.name,
            weight: row.weight,
            own: row.weight,
            sides: row.roles.sides,
            commander: row.roles.commander,
            factors: None,
            deviation: row.deviation,
            doubt: 0.0,
            division: row.rank.map(|rank| rank.division),
            progress: row.rank.map(|rank| rank.progress),
            games: row.games,
            last_seen: row.last_seen,
        }
    }
}

/// What the weights of all players of a ruleset have in common. All numbers are finite.
#[derive(Clone, Debug, PartialEq)]
pub struct SharesRow {
    /// The key of the ruleset.
    pub ruleset: String,
    /// The effects on which players have factors.
    pub effects: [f64; 3],
    /// Where strengths lie in points; `None` if strengths are weights.
    pub scale: Option<PointScale>,
    /// The points of weight in a unit.
    pub points: f64,
    /// Of each division, the weights at which its progress is 0 and 1.
    pub divisions: Vec<(f64, f64)>,
}

/// New weights.
#[derive(Clone, Debug, Default)]
pub struct NewWeights {
    /// What the derived tables were made from when they had the weights to which these are added; `None` if these are all.
    pub since: Option<DerivedFrom>,
    /// The weights of players who are new to their ruleset or have another name.
    pub named: Vec<PartRow>,
    /// Other weights that differ.
    pub changed: Vec<PartRow>,
    /// What has changed in rulesets. A ruleset with new weights is among them.
    pub shares: Vec<SharesRow>,
}

columns! {
    /// A division, with the settings that views need.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct DivisionRow {
        /// The name that players see.
        pub name: String,
        /// Days without a match after which the displayed division falls.
        pub decay_after_days: u32,
        /// The number of further days in which it falls by one division; 0 if it never falls.
        pub decay_days: u32,
    }
}

/// The ruling on one match: whether it is rated, and what its participants did.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RulingRow {
    /// The match that is ruled on.
    pub match_id: i64,
    /// The key of the ruleset that the match belongs to.
    pub ruleset: String,
    /// The code of the reason if the match is not rated; `None` if it is rated.
    pub unrated: Option<Cow<'static, str>>,
    /// When the match ended.
    pub ended_at: Timestamp,
    /// The chance that team 0 wins, as predicted from earlier matches; `None` without two teams.
    pub chance: Option<f64>,
    /// What may have made it one-sided; `None` if it is not rated or has no teams.
    pub causes: Option<Causes>,
    /// What each participant did, with the seat; empty if the match is not rated.
    pub performances: Vec<(usize, Performance)>,
}

/// What a player did in a rated match.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Performance {
    /// The identity that the match counts for.
    pub key: PlayerKey,
    /// The team that the player was on for longest; `None` in a game without teams.
    pub team: Option<u8>,
    /// 1 if that team won, 0 if another did, 0.5 for a draw; `None` without a result.
    pub result: Option<f64>,
    /// What the match has entered into the player's account; `None` if it does not count for the player.
    pub entry: Option<WeightEntry>,
    /// Points scored by the player's teams while they were on them; kills in a game without teams.
    pub points_for: f64,
    /// Points scored against the player's teams while they were on them; deaths in a game without
    /// teams.
    pub points_against: f64,
}

columns! {
    /// The input that the derived tables were made from.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct DerivedFrom {
        /// Number of matches, rated or not.
        pub matches: i64,
        /// The highest id among the matches.
        pub last_match: i64,
        /// The key of the settings and the operator's overrides; different settings have different
        /// keys.
        pub settings: String,
    }
}

/// New content for the derived tables.
#[derive(Debug)]
pub struct DerivedRows {
    /// The input that the rows were made from.
    pub from: DerivedFrom,
    /// Rulings on all matches, or only on those that the tables do not contain yet.
    pub rulings: Spool<RulingRow>,
    /// The weights; `None` if they are written later.
    pub weights: Option<NewWeights>,
    /// The divisions, the lowest first.
    pub divisions: Vec<DivisionRow>,
    /// The instants at which seasons begin, in any order.
    pub seasons: Vec<Timestamp>,
    /// What was corrected, so that players whose weights it moves get a notice.
    pub recount: Recount,
}

columns! {
    /// A stored checkpoint, without the learned state itself.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct CheckpointRow {
        /// Number of matches folded; no other checkpoint has the same.
        pub matches: i64,
        /// The highest id among these matches.
        pub last_match: i64,
        /// The position after the last of them.
        pub cursor: Cursor,
        /// The key of the settings and overrides that the state was learned with.
        pub settings: String,
        /// The length of its pieces together.
        pub bytes: i64,
    }
}

/// The SHA-256 hash of a piece: up to 128 KiB of a learned state.
pub type PieceHash = [u8; 32];

/// A checkpoint whose pieces are on disk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewCheckpoint {
    /// What distinguishes it from others.
    pub row: CheckpointRow,
    /// What is not in pieces.
    pub head: Vec<u8>,
    /// The pieces of the learned state, in order.
    pub pieces: Vec<PieceHash>,
}
