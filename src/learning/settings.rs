//! The settings of learning.

use crate::{domain::RulebookSpec, history};

/// How weights are learned. Weights that were learned with other settings are derived again.
#[derive(Clone, Debug, serde::Serialize)]
pub struct Settings {
    /// Which games share their weights.
    pub rulebook: RulebookSpec,
    /// Which matches are rated, and by which rating system.
    pub history: history::Settings,
}
