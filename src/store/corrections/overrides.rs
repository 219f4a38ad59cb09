//! The operator's overrides on players, and the names that players used.

use std::collections::BTreeSet;

use crate::{
    domain::{ClanTags, PlayerKey, StartWeight, Timestamp},
    store::{RecountCause, db::columns},
};

columns! {
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
}

columns! {
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
    /// Ids of void matches, which are stored and not rated.
    pub void: BTreeSet<i64>,
    /// Number of changes so far that made derived weights outdated: changes of overrides, and of
    /// matches on disk.
    pub changes: i64,
    /// The number of the last of them that forgot a player.
    pub forgotten: i64,
    /// The number of the last of them that corrected history, and what it was; `None` if none has.
    pub corrected: Option<(i64, RecountCause)>,
}

impl OperatorOverrides {
    /// The same where names have no tags of clans: what is set for a name with tags is set for its player; what is set for
    /// the name without them comes last, and counts.
    pub fn without_tags(mut self, tags: &ClanTags) -> Self {
        without_tags(&mut self.pinned, tags);
        without_tags(&mut self.starts, tags);
        self
    }
}

fn without_tags<T>(set: &mut Vec<(PlayerKey, T)>, tags: &ClanTags) {
    let bare = |(key, value): (PlayerKey, T)| match tags.without(key.kind, &key.id) {
        Some(bare) => (false, (bare, value)),
        None => (true, (key, value)),
    };
    let mut all: Vec<_> = std::mem::take(set).into_iter().map(bare).collect();
    all.sort_by_key(|(is_own, _)| *is_own);
    set.extend(all.into_iter().map(|(_, one)| one));
}
