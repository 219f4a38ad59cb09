//! What an operator fixes about players, and what the matches say of one.

use std::collections::BTreeSet;

use async_trait::async_trait;

use super::StoreError;
use crate::domain::{PlayerKey, Timestamp};

/// A name that a player played under.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NameSeen {
    /// The name.
    pub name: String,
    /// Number of matches played under it.
    pub matches: u32,
    /// The start of the first of them.
    pub first: Timestamp,
    /// The end of the last of them.
    pub last: Timestamp,
}

/// What an operator has fixed about players.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct OperatorOverrides {
    /// Identities that count as another one: (identity, the one it counts as).
    pub merged: Vec<(PlayerKey, PlayerKey)>,
    /// Players with a fixed weight, 0 to 100.
    pub pinned: Vec<(PlayerKey, f64)>,
    /// Ids of the matches that are void: kept, and not rated.
    pub void: BTreeSet<i64>,
    /// Number of changes so far that make weights wrong which were derived before: to the overrides, and
    /// to matches that were on disk already.
    pub changes: i64,
}

/// Operators and players.
#[async_trait]
pub trait Players: Send + Sync {
    /// All overrides.
    ///
    /// # Errors
    /// The database's.
    async fn overrides(&self) -> Result<OperatorOverrides, StoreError>;

    /// Makes `player` count as `into` in all matches, with every identity that counts as `player`.
    ///
    /// # Errors
    /// The database's.
    async fn merge_player(&self, player: &PlayerKey, into: &PlayerKey) -> Result<(), StoreError>;

    /// Makes `player` count as themselves again. Returns whether they counted as another.
    ///
    /// # Errors
    /// The database's.
    async fn split_player(&self, player: &PlayerKey) -> Result<bool, StoreError>;

    /// Fixes a weight, or with `None` lets it be learned again.
    ///
    /// # Errors
    /// The database's.
    async fn pin_weight(&self, player: &PlayerKey, to: Option<f64>) -> Result<(), StoreError>;

    /// Makes matches void, or with `false` valid again. Returns how many of them were not so before; ids of no
    /// match count as none.
    ///
    /// # Errors
    /// The database's.
    async fn set_void(&self, matches: &[i64], void: bool) -> Result<u64, StoreError>;

    /// The ids of the matches of a player, under all identities that count as them, that ended at `since` or
    /// later, in order of time.
    ///
    /// # Errors
    /// The database's.
    async fn matches_of(
        &self,
        player: &PlayerKey,
        since: Timestamp,
    ) -> Result<Vec<i64>, StoreError>;

    /// Removes identity and names of a player from all matches and every other table, and those of all
    /// identities that count as them. The matches stay and keep their fingerprints: their logs, read
    /// again, are duplicates. Returns the number of matches.
    ///
    /// # Errors
    /// The database's.
    async fn forget_player(&self, player: &PlayerKey) -> Result<u64, StoreError>;

    /// The names a player played under, the last one first. Empty if nobody of that identity played.
    ///
    /// # Errors
    /// The database's.
    async fn names(&self, player: &PlayerKey) -> Result<Vec<NameSeen>, StoreError>;
}
