//! The whole history, for evaluating rating systems.

use super::{Learning, LearningError, scales::todays_overrides};
use crate::{
    domain::MatchRecord,
    store::{Cursor, OperatorOverrides, Stored},
};

/// Number of matches read per query.
const CHUNK: u32 = 512;

impl Learning {
    /// Reads every stored match in (end time, fingerprint) order, except for those that an operator has made
    /// void. Players that an operator merged appear under one identity.
    pub async fn matches(&self) -> Result<Vec<MatchRecord>, LearningError> {
        let all = self.stored_matches().await?;
        Ok(all.into_iter().map(|stored| stored.record).collect())
    }

    /// Reads the same matches, with their ids in the store.
    pub async fn stored_matches(&self) -> Result<Vec<Stored>, LearningError> {
        self.matches_after(Cursor::START).await
    }

    /// The operator's overrides, with all weights on today's scale.
    pub async fn overrides(&self) -> Result<OperatorOverrides, LearningError> {
        let stored = self.store.overrides().await?;
        let system = self.settings.history.rating.system.name();
        Ok(todays_overrides(stored, system))
    }

    /// Reads the matches after a position.
    pub(super) async fn matches_after(
        &self,
        mut cursor: Cursor,
    ) -> Result<Vec<Stored>, LearningError> {
        let overrides = self.store.overrides().await?;
        let counts_as = overrides.merged.into_iter().collect();
        let mut all = Vec::new();
        loop {
            let (matches, next) = self.store.matches(cursor, CHUNK).await?;
            if matches.is_empty() {
                return Ok(all);
            }
            cursor = next;
            let valid = |stored: &Stored| !overrides.void.contains(&stored.id);
            for mut stored in matches.into_iter().filter(valid) {
                stored.record.merge_players(&counts_as);
                all.push(stored);
            }
        }
    }
}
