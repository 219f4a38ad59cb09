//! The last comparison of rating systems.

use serde::{Deserialize, Serialize};

use super::Learned;
use crate::{
    model::Timestamp,
    store::{StoreError, sql::state},
};

/// A comparison of rating systems, as it is stored.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SystemsRow {
    /// The key of the settings with which it was made.
    pub settings: String,
    /// The number of matches that there were.
    pub matches: i64,
    /// When the comparison was made.
    pub computed_at: Timestamp,
    /// The comparison, as JSON.
    pub report: String,
}

/// The state that has the last comparison, as JSON.
const SYSTEMS: &str = "systems";

impl Learned<'_> {
    /// The last comparison of rating systems, if there is one.
    pub async fn systems_report(self) -> Result<Option<SystemsRow>, StoreError> {
        let mut connection = self.0.pages.acquire().await?;
        let stored = state::text(&mut connection, SYSTEMS).await?;
        let read = |row: String| {
            serde_json::from_str(&row).map_err(|_| StoreError::BadValue(SYSTEMS.to_owned()))
        };
        stored.map(read).transpose()
    }

    /// Replaces the last comparison of rating systems.
    pub async fn store_systems_report(self, row: &SystemsRow) -> Result<(), StoreError> {
        let mut tx = self.0.begin().await?;
        let text = serde_json::to_string(row);
        let text = text.map_err(|error| StoreError::BadValue(error.to_string()))?;
        state::set(&mut tx, SYSTEMS, None, Some(&text)).await?;
        tx.commit().await
    }
}
