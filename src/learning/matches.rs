//! The whole history, for evaluating rating systems.

use super::{Learning, LearningError};
use crate::{domain::MatchRecord, store::Cursor};

/// Number of matches read per query.
const CHUNK: u32 = 512;

impl Learning {
    /// Reads every stored match in (end time, fingerprint) order. Players that an operator merged
    /// appear under one identity.
    ///
    /// # Errors
    /// Fails if the database does.
    pub async fn matches(&self) -> Result<Vec<MatchRecord>, LearningError> {
        let counts_as = self.store.overrides().await?.merged.into_iter().collect();
        let (mut all, mut cursor) = (Vec::new(), Cursor::START);
        loop {
            let (matches, next) = self.store.matches(cursor, CHUNK).await?;
            if matches.is_empty() {
                return Ok(all);
            }
            cursor = next;
            for mut stored in matches {
                stored.record.merge_players(&counts_as);
                all.push(stored.record);
            }
        }
    }
}
