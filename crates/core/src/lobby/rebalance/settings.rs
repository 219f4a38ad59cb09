//! The settings of REBALANCE.

use serde::{Deserialize, Serialize};

use crate::domain::units::{Count, MaxDifference, Seconds, Share, UpToADay};

/// Settings of REBALANCE. Evenness is the chance of the weaker team over that of the stronger, or the
/// ratio of their weights, depending on `[balance] objective`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RebalanceSettings {
    /// The most moves to advise at once; a swap counts as two.
    pub max_moves: Count<0, 16>,
    /// The evenness at which the teams are even enough.
    pub enough: Share,
    /// The evenness that each move must gain if no plan makes the teams even enough.
    pub min_gain: Share,
    /// How long a human who was moved is not moved again.
    pub cooldown_seconds: UpToADay,
    /// Whether only the humans who joined a team last may be moved: as many per team as `max_moves`.
    pub newest_first: bool,
    /// Whether the top third of each team, by points, must stay.
    pub spare_top: bool,
    /// By how many humans a team may exceed another. A larger difference that already exists may
    /// remain, but not grow.
    pub max_difference: MaxDifference,
    /// How long players are asked for volunteers before one is moved, if the game server can ask; 0 for not at all.
    pub ask_seconds: Seconds<0, 600>,
}

impl Default for RebalanceSettings {
    /// Four moves are two swaps. At an evenness of 0.95, about 1 / 1.05, ADVANTAGE gives no help either.
    /// Moves annoy players, so each must gain a hundredth of evenness, and no human is moved twice within
    /// five minutes. The difference in humans is that of BALANCE.
    fn default() -> Self {
        Self {
            max_moves: const { Count::of(4) },
            enough: const { Share::of(0.95) },
            min_gain: const { Share::of(0.01) },
            cooldown_seconds: const { UpToADay::of(300) },
            newest_first: false,
            spare_top: false,
            max_difference: const { MaxDifference::of(1) },
            ask_seconds: const { Seconds::of(0) },
        }
    }
}
