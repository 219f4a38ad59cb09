//! Data derived from the matches: rulings, weights, and a checkpoint of the learned state.

use std::sync::Arc;

use async_trait::async_trait;

use super::{Cursor, Lease, StoreError};
use crate::domain::{Kind, PlayerKey, Rank, RoleWeights, Timestamp};

/// The weight of one player under one ruleset.
#[derive(Clone, Debug, PartialEq)]
pub struct WeightRow {
    /// The key of the ruleset.
    pub ruleset: String,
    /// The player: kind (human or bot) and id.
    pub key: PlayerKey,
    /// The name in the player's latest match.
    pub name: String,
    /// The weight, 0 to 100; 50 is an average newcomer.
    pub weight: f64,
    /// The number of the scale that the weight is on, which `learning` gives; 0 if it was not noted.
    pub scale: u8,
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

/// The ruling on one match: whether it is rated, and what its participants did.
#[derive(Clone, Debug, PartialEq)]
pub struct RulingRow {
    /// The id of the match.
    pub match_id: i64,
    /// The key of the ruleset that the match belongs to.
    pub ruleset: String,
    /// The code of the reason if the match is not rated; `None` if it is rated.
    pub unrated: Option<&'static str>,
    /// When the match ended.
    pub ended_at: Timestamp,
    /// The chance that team 0 wins, as predicted from earlier matches; `None` without two teams.
    pub chance: Option<f64>,
    /// What each participant did, with the seat; empty if the match is not rated.
    pub performances: Vec<(usize, Performance)>,
}

/// What a player did in a rated match.
#[derive(Clone, Debug, PartialEq)]
pub struct Performance {
    /// The identity that the match counts for.
    pub key: PlayerKey,
    /// The team that the player was on for longest; `None` in a game without teams.
    pub team: Option<u8>,
    /// 1 if that team won, 0 if another did, 0.5 for a draw; `None` without a result.
    pub result: Option<f64>,
    /// The weight after the match, and its deviation; `None` if no match has changed it yet.
    pub after: Option<(f64, f64)>,
    /// Points scored by the player's teams while they were on them; kills in a game without teams.
    pub points_for: f64,
    /// Points scored against the player's teams while they were on them; deaths in a game without
    /// teams.
    pub points_against: f64,
}

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

/// New content for the derived tables.
#[derive(Clone, Debug)]
pub struct DerivedRows {
    /// The input that the rows were made from.
    pub from: DerivedFrom,
    /// Rulings on all matches, or only on those that the tables do not contain yet.
    pub rulings: Vec<RulingRow>,
    /// The weights of all players under all rulesets, ordered by ruleset and then by player.
    pub weights: Arc<Vec<WeightRow>>,
    /// The divisions, the lowest first.
    pub divisions: Vec<DivisionRow>,
    /// The instants at which seasons begin, in any order.
    pub seasons: Vec<Timestamp>,
}

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
    /// The length of the state.
    pub bytes: i64,
}

/// Access to the derived tables.
#[async_trait]
pub trait Derived: Send + Sync {
    /// The input that the derived tables were made from; `None` if they have never been written.
    ///
    /// # Errors
    /// Fails if the database does.
    async fn derived_from(&self) -> Result<Option<DerivedFrom>, StoreError>;

    /// The keys of all rulesets that have weights, sorted.
    ///
    /// # Errors
    /// Fails if the database does.
    async fn rulesets(&self) -> Result<Vec<String>, StoreError>;

    /// The weights of one ruleset and kind, highest first.
    ///
    /// # Errors
    /// Fails if the database does.
    async fn weights(&self, ruleset: &str, kind: Kind) -> Result<Vec<WeightRow>, StoreError>;

    /// The weights of one player, ordered by ruleset.
    ///
    /// # Errors
    /// Fails if the database does.
    async fn weights_of(&self, player: &PlayerKey) -> Result<Vec<WeightRow>, StoreError>;

    /// The divisions with which the derived tables were made, the lowest first.
    ///
    /// # Errors
    /// Fails if the database does.
    async fn divisions(&self) -> Result<Vec<DivisionRow>, StoreError>;

    /// For each of these matches, in no particular order: the code of the reason why it is not
    /// rated, or `None` if it is rated.
    ///
    /// # Errors
    /// Fails if the database does.
    async fn rulings(&self, ids: &[i64]) -> Result<Vec<Option<String>>, StoreError>;

    /// Replaces the derived tables in one transaction. If `all` is set, the given rulings replace
    /// those on disk, and the checkpoints are deleted. Otherwise each of them replaces the one on the same match, and
    /// the others stay; ids are in no order, because a match of a queue has its id before it is played.
    ///
    /// Returns `false` and changes nothing if the tables are newer than the new rows: if those were not made from all
    /// matches, and the tables were, or with `all`, were made from more. Without `all`, also if the tables were made
    /// with other settings.
    ///
    /// Of the weights, only those are written that differ from the last call of this process,
    /// unless another process has written since.
    ///
    /// # Errors
    /// Fails if the database does, or if the lease is lost.
    async fn replace_derived(
        &self,
        derived: &DerivedRows,
        all: bool,
        lease: Option<&Lease>,
    ) -> Result<bool, StoreError>;

    /// The stored checkpoints, the one of the most matches first.
    ///
    /// # Errors
    /// Fails if the database does.
    async fn checkpoints(&self) -> Result<Vec<CheckpointRow>, StoreError>;

    /// The state of the checkpoint of so many matches; `None` if there is none.
    ///
    /// # Errors
    /// Fails if the database does.
    async fn checkpoint(&self, matches: i64) -> Result<Option<Vec<u8>>, StoreError>;

    /// Stores checkpoints, each with its state, and deletes all others but those of `kept` matches, in one
    /// transaction.
    ///
    /// # Errors
    /// Fails if the database does, or if the lease is lost.
    async fn store_checkpoints(
        &self,
        new: &[(CheckpointRow, Vec<u8>)],
        kept: &[i64],
        lease: Option<&Lease>,
    ) -> Result<(), StoreError>;
}
