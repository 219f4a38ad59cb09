//! What was learned, as rows: rulings, performances, weights, divisions, the persons behind them, and notices of corrections.
//!
//! [`Learned`] replaces these rows, and does not depend on how they are made.

pub(in crate::store) mod notices;
pub(in crate::store) mod persons;
pub(in crate::store) mod read;
pub(in crate::store) mod rewrite;
pub(in crate::store) mod spool;

use std::borrow::Cow;

use evenkeel_model::worded;
use serde::{Deserialize, Serialize};

use super::{RowSpool, Store, db::columns};
use crate::model::{Causes, PlayerKey, Rank, Timestamp, WeightEntry};

/// What was learned.
#[derive(Clone, Copy, Debug)]
pub struct Learned<'a>(&'a Store);

impl Store {
    /// What was learned.
    pub fn learned(&self) -> Learned<'_> {
        Learned(self)
    }
}

columns! {
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
        /// Number of rated matches behind the weight.
        pub games: u32,
        /// How many of these the player's team has won.
        pub wins: u32,
        /// The end of the latest of these matches.
        pub last_seen: Timestamp,
        /// Whether the operator has set the weight.
        pub is_pinned: bool,
    }
}

/// New weights.
#[derive(Clone, Debug, Default)]
pub struct NewWeights {
    /// What the derived tables were made from when they had the weights to which these are added; `None` if these are all.
    pub since: Option<DerivedFrom>,
    /// The weights that are new, or others than before.
    pub rows: Vec<WeightRow>,
    /// Rulesets and players without a weight now.
    pub gone: Vec<(String, PlayerKey)>,
    /// Players who have another name in all rulesets.
    pub names: Vec<(PlayerKey, String)>,
    /// Of each ruleset with other divisions: its key, and the weights at which the progress in each is 0 and 1.
    pub spans: Vec<(String, Vec<(f64, f64)>)>,
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
    pub rulings: RowSpool<RulingRow>,
    /// The weights that differ.
    pub weights: NewWeights,
    /// The divisions, the lowest first.
    pub divisions: Vec<DivisionRow>,
    /// The instants at which seasons begin, in any order.
    pub seasons: Vec<Timestamp>,
    /// What was corrected, so that players whose weights it moves get a notice.
    pub recount: Recount,
}

impl DerivedRows {
    /// With at most this many rulings and weights, one transaction writes them.
    const FEW: usize = 128;

    /// Whether they are so few that one transaction writes them, unless they are all.
    pub fn is_few(&self) -> bool {
        self.rulings.is_few(Self::FEW) && self.weights.rows.len() <= Self::FEW
    }
}

worded! {
    /// What was corrected.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum RecountCause {
        /// Matches were made void.
        Void = "void",
        /// Void matches were made valid again.
        Valid = "valid",
        /// An identity counts as another one.
        Merge = "merge",
        /// An identity counts as itself again.
        Split = "split",
        /// Players start at other weights.
        StartWeight = "start-weight",
        /// A log contains other matches than it did when it was read before.
        Log = "log",
        /// The settings are others, or the version of the program.
        Settings = "settings",
        /// A match arrived late.
        LateMatch = "late-match",
    }
}

/// What was corrected since the derived tables were written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Correction {
    /// Nothing: all new matches came in order.
    #[default]
    None,
    /// Late matches, if some are among the new ones.
    IfLate,
    /// This.
    Known(RecountCause),
}

/// What is needed to write notices.
#[derive(Clone, Copy, Debug, Default)]
pub struct Recount {
    /// What was corrected.
    pub correction: Correction,
    /// The time now.
    pub at: Timestamp,
    /// The number of changes of players and matches with which the rows were made. If it is another one by now, somebody
    /// may have been forgotten, whom no notice may name.
    pub changes: i64,
}

/// A notice: the weight of a player as it was counted before a correction, and as it was counted after it.
#[derive(Clone, Debug, PartialEq)]
pub struct RecountRow {
    /// The key of the ruleset.
    pub ruleset: String,
    /// When it was counted again.
    pub at: Timestamp,
    /// What was corrected; `None` if a newer version has noted it.
    pub cause: Option<RecountCause>,
    /// The weight before.
    pub then: f64,
    /// The weight after.
    pub now: f64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_read_back() {
        for cause in RecountCause::ALL {
            assert_eq!(RecountCause::parse(cause.as_str()), Some(cause));
        }
        assert_eq!(RecountCause::LateMatch.as_str(), "late-match");
        assert_eq!(RecountCause::parse(""), None);
    }
}
