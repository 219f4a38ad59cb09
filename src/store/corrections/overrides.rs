//! The operator's overrides on players.

use std::collections::BTreeSet;

use crate::{
    model::{ClanTags, PlayerKey, StartWeight},
    store::RecountCause,
};

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
