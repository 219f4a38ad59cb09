//! The settings of learning.

use crate::{
    domain::{RulebookSpec, behaviour::BehaviourSettings},
    history,
};

/// How weights are learned. Weights that were learned with other settings are derived again.
#[derive(Clone, Debug, serde::Serialize)]
pub struct Settings {
    /// Which games share their weights.
    pub rulebook: RulebookSpec,
    /// Which matches are rated, and by which rating system.
    pub history: history::Settings,
    /// How reports about behaviour count. No weight depends on it.
    #[serde(skip)]
    pub behaviour: BehaviourSettings,
}
