//! The operator's overrides on players, and the names that players used.

use std::collections::BTreeSet;

use async_trait::async_trait;

use super::StoreError;
use crate::domain::{Kind, PlayerKey, StartWeight, Timestamp};

/// A name that a player has used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NameSeen {
    /// The name as the game sent it.
    pub name: String,
    /// Number of matches under this name.
    pub matches: u32,
    /// The start of the first of these matches.
    pub first: Timestamp,
    /// The end of the last of these matches.
    pub last: Timestamp,
}

/// A player whom a search has found, under the identity that their matches count for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundPlayer {
    /// The identity of the player.
    pub key: PlayerKey,
    /// The public handle; `None` without rated matches.
    pub handle: Option<String>,
    /// The latest name, as the game sent it.
    pub name: String,
    /// Number of rated matches in all rulesets.
    pub games: i64,
    /// The end of the last rated match; `None` without any.
    pub last_seen: Option<Timestamp>,
}

/// The operator's overrides on players.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct OperatorOverrides {
    /// Merged identities, as pairs: an identity, and the identity that it counts as.
    pub merged: Vec<(PlayerKey, PlayerKey)>,
    /// Players with a fixed weight, 0 to 100.
    pub pinned: Vec<(PlayerKey, f64)>,
    /// Players whose weight starts elsewhere than at 50.
    pub starts: Vec<(PlayerKey, StartWeight)>,
    /// Those of the pinned players whose weight was set on the [scale](crate::domain::UNITS) of versions before 0.2.
    pub former_pinned: BTreeSet<PlayerKey>,
    /// The same of the start weights.
    pub former_starts: BTreeSet<PlayerKey>,
    /// Ids of void matches, which are stored and not rated.
    pub void: BTreeSet<i64>,
    /// Number of changes so far that made derived weights outdated: changes of overrides, and of
    /// matches on disk.
    pub changes: i64,
}

/// Access to overrides and players' names.
#[async_trait]
pub trait Players: Send + Sync {
    /// The overrides on all players.
    ///
    /// # Errors
    /// Fails if the database does.
    async fn overrides(&self) -> Result<OperatorOverrides, StoreError>;

    /// Makes `player`, and every identity that counts as `player`, count as `into` in all matches.
    ///
    /// # Errors
    /// Fails if the database does.
    async fn merge_player(&self, player: &PlayerKey, into: &PlayerKey) -> Result<(), StoreError>;

    /// Makes `player` count as itself again. Returns whether it counted as another identity.
    ///
    /// # Errors
    /// Fails if the database does.
    async fn split_player(&self, player: &PlayerKey) -> Result<bool, StoreError>;

    /// Fixes a player's weight, 0 to 100; `None` lets the matches decide again.
    ///
    /// # Errors
    /// Fails if the database does.
    async fn pin_weight(&self, player: &PlayerKey, to: Option<f64>) -> Result<(), StoreError>;

    /// Sets the weights at which players start; `None` lets a player start as a newcomer again. All of it
    /// or nothing.
    ///
    /// # Errors
    /// Fails if the database does.
    async fn set_start_weights(
        &self,
        starts: &[(PlayerKey, Option<StartWeight>)],
    ) -> Result<(), StoreError>;

    /// Makes matches void, or with `false` valid again. Returns the number of matches that this
    /// changes; ignores ids that no match has.
    ///
    /// # Errors
    /// Fails if the database does.
    async fn set_void(&self, matches: &[i64], void: bool) -> Result<u64, StoreError>;

    /// The ids of the matches of a player, under all identities that count as them, that ended at
    /// `since` or later, in order of time.
    ///
    /// # Errors
    /// Fails if the database does.
    async fn matches_of(
        &self,
        player: &PlayerKey,
        since: Timestamp,
    ) -> Result<Vec<i64>, StoreError>;

    /// Removes the identity and the names of a player, and of all identities that count as them,
    /// from all matches and other tables. The matches stay and keep their fingerprints, so that
    /// reading their logs again adds nothing. Returns the number of matches that contain the
    /// player.
    ///
    /// # Errors
    /// Fails if the database does. If a chunk of archived matches is damaged, the player is removed from all tables,
    /// and nobody reads the identity any more; [`finish_forgetting`](super::MatchArchive::finish_forgetting) removes
    /// it from the chunks once they are whole.
    async fn forget_player(&self, player: &PlayerKey) -> Result<u64, StoreError>;

    /// Notes that a player is forgotten now: games that have begun before are recorded without the player.
    ///
    /// # Errors
    /// Fails if the database does.
    async fn forget_in_running_games(
        &self,
        player: &PlayerKey,
        now: Timestamp,
    ) -> Result<(), StoreError>;

    /// Removes the notes of [`forget_in_running_games`](Self::forget_in_running_games) that are older than `before`.
    ///
    /// # Errors
    /// Fails if the database does.
    async fn drop_forgets(&self, before: Timestamp) -> Result<(), StoreError>;

    /// Everybody who is in a stored match, in no particular order. Of those who are only in archived matches,
    /// only those with a rated one.
    ///
    /// # Errors
    /// Fails if the database does.
    async fn participants(&self) -> Result<Vec<PlayerKey>, StoreError>;

    /// The names that a player has used, the latest first; empty if the player has no matches.
    ///
    /// # Errors
    /// Fails if the database does.
    async fn names(&self, player: &PlayerKey) -> Result<Vec<NameSeen>, StoreError>;

    /// Players with this text in a name, in an identity or in one that was merged into theirs, or as their handle; those
    /// with most matches first. Colour codes and the case of letters do not matter. With a kind, only that. The names
    /// in archived matches are not searched, except for each player's latest one.
    ///
    /// # Errors
    /// Fails if the database does.
    async fn find_players(
        &self,
        text: &str,
        kind: Option<Kind>,
        limit: i64,
    ) -> Result<Vec<FoundPlayer>, StoreError>;
}
