//! The last comparison of rating systems.

use crate::{
    domain::Timestamp,
    store::{Store, StoreError, db::*},
};

columns! {
    /// A comparison of rating systems, as it is stored.
    #[derive(Clone, Debug, PartialEq, Eq)]
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
}

impl Store {
    /// The last comparison of rating systems, if there is one.
    pub async fn systems_report(&self) -> Result<Option<SystemsRow>, StoreError> {
        let query = tuple("SELECT * FROM systems_report");
        query.fetch_optional(&self.pages).await
    }

    /// Replaces the last comparison of rating systems.
    pub async fn store_systems_report(&self, row: &SystemsRow) -> Result<(), StoreError> {
        let mut tx = self.begin().await?;
        let query = sql(
            "INSERT INTO systems_report (id, settings, matches, computed_at, report)
             VALUES (1, $1, $2, $3, $4)
             ON CONFLICT (id) DO UPDATE SET settings = excluded.settings, matches = excluded.matches,
                 computed_at = excluded.computed_at, report = excluded.report",
        );
        let own = values![&row.settings, row.matches, row.computed_at, &row.report];
        query.bind_all(own).execute(&mut tx).await?;
        // No weights change, so the tasks that wait for commits are not woken.
        tx.commit().await
    }
}
