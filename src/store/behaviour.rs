//! What game servers report about players' behaviour.

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
