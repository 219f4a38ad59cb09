//! What is derived from the matches: rulings, weights, and a checkpoint of the learned state.

use async_trait::async_trait;

use super::StoreError;
use crate::domain::{Kind, PlayerKey, Timestamp};

/// The weight of one player under one ruleset.
#[derive(Clone, Debug, PartialEq)]
pub struct WeightRow {
    /// The key of the ruleset.
    pub ruleset: String,
    /// The player.
    pub key: PlayerKey,
    /// The name they last played under.
    pub name: String,
    /// 0 to 100; 50 is an average newcomer.
    pub weight: f64,
    /// Its standard deviation, in units of the weight; 0 if the rating system keeps none.
    pub deviation: f64,
    /// Number of rated matches it rests on.
    pub games: u32,
    /// The end of the last of them.
    pub last_seen: Timestamp,
}

/// Whether one match is rated, and what its participants did in it.
#[derive(Clone, Debug, PartialEq)]
pub struct RulingRow {
    /// Id of the match.
    pub match_id: i64,
    /// The ruleset it was played under.
    pub ruleset: String,
    /// The code of the reason why it is not rated; `None` if it is.
    pub unrated: Option<&'static str>,
    /// What the participants did, by seat; empty if it is not rated.
    pub performances: Vec<(usize, Performance)>,
}

/// Points scored by and against a player's team while they were on it; kills and deaths in a game
/// without teams.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Performance {
    /// Points scored.
    pub points_for: f64,
    /// Points conceded.
    pub points_against: f64,
}

/// What the derived tables were made from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DerivedFrom {
    /// Number of matches.
    pub matches: i64,
    /// The highest id among them.
    pub last_match: i64,
    /// A key of the configuration and the operator's overrides: other settings, another key.
    pub settings: String,
}

/// New content for the derived tables.
#[derive(Clone, Debug)]
pub struct DerivedRows {
    /// What it was made from.
    pub from: DerivedFrom,
    /// Rulings on the matches that the tables do not know yet, or on all.
    pub rulings: Vec<RulingRow>,
    /// All weights.
    pub weights: Vec<WeightRow>,
}

/// The derived tables.
#[async_trait]
pub trait Derived: Send + Sync {
    /// What the derived tables were made from; `None` if they never were.
    ///
    /// # Errors
    /// The database's.
    async fn derived_from(&self) -> Result<Option<DerivedFrom>, StoreError>;

    /// The keys of all rulesets with a weight, sorted.
    ///
    /// # Errors
    /// The database's.
    async fn rulesets(&self) -> Result<Vec<String>, StoreError>;

    /// The weights of one ruleset and kind, highest first.
    ///
    /// # Errors
    /// The database's.
    async fn weights(&self, ruleset: &str, kind: Kind) -> Result<Vec<WeightRow>, StoreError>;

    /// The weights of one player in all rulesets, by ruleset.
    ///
    /// # Errors
    /// The database's.
    async fn weights_of(&self, player: &PlayerKey) -> Result<Vec<WeightRow>, StoreError>;

    /// For each of these matches, in no particular order: the code of the reason why it is not rated, or
    /// `None` if it is.
    ///
    /// # Errors
    /// The database's.
    async fn rulings(&self, ids: &[i64]) -> Result<Vec<Option<String>>, StoreError>;

    /// Replaces the derived tables in one transaction. With `all` the rulings given replace those on
    /// disk. Without, they are added: a ruling depends on its match and the configuration alone, so
    /// those on disk stay true as long as the configuration is the same. If it is not, this changes
    /// nothing and returns `false`.
    ///
    /// # Errors
    /// The database's.
    async fn replace_derived(&self, derived: &DerivedRows, all: bool) -> Result<bool, StoreError>;

    /// The checkpoint that was stored last, if any.
    ///
    /// # Errors
    /// The database's.
    async fn checkpoint(&self) -> Result<Option<Vec<u8>>, StoreError>;

    /// Stores a checkpoint in the place of the last one. `None` deletes it.
    ///
    /// # Errors
    /// The database's.
    async fn store_checkpoint(&self, state: Option<&[u8]>) -> Result<(), StoreError>;
}
