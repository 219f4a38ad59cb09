//! What an operator asks and says about players, and the history they may judge it by.

use super::{Service, ServiceError};
use crate::{
    domain::{MatchRecord, PlayerKey},
    store::{Cursor, NameSeen, Said, WeightRow},
};

/// Matches read at once.
const CHUNK: u32 = 512;

impl Service {
    /// The names somebody was seen under, the last one first. None: nobody of that identity played.
    ///
    /// # Errors
    /// The database's.
    pub async fn names(&self, who: &PlayerKey) -> Result<Vec<NameSeen>, ServiceError> {
        Ok(self.store.names(who).await?)
    }

    /// Somebody's weights in all rulesets, as they are on disk.
    ///
    /// # Errors
    /// The database's.
    pub async fn weights_of(&self, who: &PlayerKey) -> Result<Vec<WeightRow>, ServiceError> {
        Ok(self.store.weights_of(who).await?)
    }

    /// All that an operator has said.
    ///
    /// # Errors
    /// The database's.
    pub async fn said(&self) -> Result<Said, ServiceError> {
        Ok(self.store.said().await?)
    }

    /// From now on `who` counts as `into`. Weights follow with [`Service::refresh`], as below.
    ///
    /// # Errors
    /// The database's.
    pub async fn merge_player(
        &self,
        who: &PlayerKey,
        into: &PlayerKey,
    ) -> Result<(), ServiceError> {
        Ok(self.store.merge_player(who, into).await?)
    }

    /// From now on `who` counts as themselves again. Whether they had not.
    ///
    /// # Errors
    /// The database's.
    pub async fn split_player(&self, who: &PlayerKey) -> Result<bool, ServiceError> {
        Ok(self.store.split_player(who).await?)
    }

    /// Removes somebody's identity and names from all matches. How many.
    ///
    /// # Errors
    /// The database's.
    pub async fn forget_player(&self, who: &PlayerKey) -> Result<u64, ServiceError> {
        Ok(self.store.forget_player(who).await?)
    }

    /// Fixes a weight, or lets it go.
    ///
    /// # Errors
    /// The database's.
    pub async fn pin_weight(&self, who: &PlayerKey, to: Option<f64>) -> Result<(), ServiceError> {
        Ok(self.store.pin_weight(who, to).await?)
    }

    /// Every match on disk in (end, fingerprint) order, with those merged who count as one.
    ///
    /// # Errors
    /// The database's.
    pub async fn matches(&self) -> Result<Vec<MatchRecord>, ServiceError> {
        let counts_as = self.store.said().await?.merged.into_iter().collect();
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
