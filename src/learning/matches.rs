//! The whole history, for evaluating rating systems.

use super::{Learning, LearningError};
use crate::{
    model::{CountsAs, MatchRecord},
    store::{Cursor, OperatorOverrides, Stored},
};

/// Number of matches read per query.
const CHUNK: u32 = 512;

impl Learning {
    /// Reads every stored match in (end time, fingerprint) order, except for those that an operator has made
    /// void. Players that an operator merged appear under one identity.
    pub async fn matches(&self) -> Result<Vec<MatchRecord>, LearningError> {
        self.matches_after(Cursor::START).await
    }

    /// Passes on the same matches, with their ids in the store: some at a time are in memory. Stops at the first error.
    pub async fn each_match<E: From<LearningError>>(
        &self,
        each: impl FnMut(Stored) -> Result<(), E>,
    ) -> Result<(), E> {
        self.each_match_after(Cursor::START, each).await
    }

    /// The operator's overrides.
    pub async fn overrides(&self) -> Result<OperatorOverrides, LearningError> {
        let stored = self.store.corrections().overrides().await?;
        Ok(stored.without_tags(&self.settings.tags))
    }

    /// Reads the matches after a position.
    pub(super) async fn matches_after(
        &self,
        cursor: Cursor,
    ) -> Result<Vec<MatchRecord>, LearningError> {
        let mut all = Vec::new();
        let add = |stored: Stored| {
            all.push(stored.record);
            Ok::<(), LearningError>(())
        };
        self.each_match_after(cursor, add).await?;
        Ok(all)
    }

    async fn each_match_after<E: From<LearningError>>(
        &self,
        mut cursor: Cursor,
        mut each: impl FnMut(Stored) -> Result<(), E>,
    ) -> Result<(), E> {
        let overrides = self
            .store
            .corrections()
            .overrides()
            .await
            .map_err(LearningError::from)?;
        let counts_as = CountsAs::new(overrides.merged, &self.settings.tags);
        loop {
            let read = self.store.matches().after(cursor, CHUNK).await;
            let (matches, next) = read.map_err(LearningError::from)?;
            if matches.is_empty() {
                return Ok(());
            }
            cursor = next;
            let valid = |stored: &Stored| !overrides.void.contains(&stored.id);
            for mut stored in matches.into_iter().filter(valid) {
                stored.record.merge_players(&counts_as);
                each(stored)?;
            }
        }
    }
}
