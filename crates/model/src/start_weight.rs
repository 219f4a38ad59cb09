//! The weight that an operator expects of a player.

use serde::{Deserialize, Serialize};

/// The weight at which a player starts. The player's matches overrule it in time, unlike a pinned weight.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct StartWeight {
    /// The weight, 0 to 100.
    pub weight: f64,
    /// Whether the operator is not sure, so that matches overrule it about four times as fast.
    pub uncertain: bool,
}
