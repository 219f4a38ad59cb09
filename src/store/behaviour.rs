//! What game servers report about players' behaviour.

use async_trait::async_trait;

use super::StoreError;
use crate::domain::behaviour::BehaviourDay;

/// All reports that are stored.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BehaviourRows {
    /// The version of the reports: it grows with every change of them.
    pub version: i64,
    /// The reports, by player, reporter and day.
    pub days: Vec<BehaviourDay>,
    /// Merged humans, as pairs: an identity, and the identity that it counts as.
    pub merged: Vec<(String, String)>,
}

/// Reports to add to the entries of their days, which stay within the limit of a day.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BehaviourReport {
    /// The points to add, by player, reporter and day.
    pub days: Vec<BehaviourDay>,
    /// The most points of an entry, in either direction.
    pub day_limit: f64,
    /// The first day whose entries still count: those of earlier days are deleted.
    pub since: i64,
}

/// Access to the reports about players' behaviour.
#[async_trait]
pub trait BehaviourReports: Send + Sync {
    /// Adds reports, and deletes entries that no longer count. All of it or nothing. Returns the version
    /// after the change.
    ///
    /// # Errors
    /// Fails if the database does.
    async fn report_behaviour(&self, report: &BehaviourReport) -> Result<i64, StoreError>;

    /// All reports.
    ///
    /// # Errors
    /// Fails if the database does, or if it contains a value that no version of Evenkeel writes.
    async fn behaviour(&self) -> Result<BehaviourRows, StoreError>;

    /// The version of the reports, which grows with every change of them and of merged players.
    ///
    /// # Errors
    /// Fails if the database does.
    async fn behaviour_version(&self) -> Result<i64, StoreError>;
}
