//! The chance model of a snapshot: as plain data, what a decision needs to predict who wins with
//! the players who are present.

use serde::{Deserialize, Serialize};

use crate::domain::{Outlook, units::Factor};

/// How strong all players of a snapshot are, and how strengths become chances. Strengths are in the
/// rating system's unit; a newcomer's is 0.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ChanceModel {
    /// Turns the teams' strengths into a chance.
    pub outlook: Outlook,
    /// The strength of each human, in the snapshot's order, without what their party adds.
    pub humans: Vec<f64>,
    /// The strength of each bot, in the snapshot's order.
    pub bots: Vec<f64>,
    /// The expected strength of the next bot to be added.
    pub next_bot: f64,
    /// The standard deviation of each human's strength, in the snapshot's order.
    pub doubts: Vec<f64>,
    /// What parties of 2, 3 and so on count as a multiple of their weights, as far as the outlook has not learned it from
    /// matches; see [`Outlook::befriended`].
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub party_multiplier: Vec<Factor>,
}

impl ChanceModel {
    /// Whether the model has a strength for each of so many humans and bots, and all numbers are finite.
    pub(super) fn is_sound(&self, humans: usize, bots: usize) -> bool {
        let strengths = self.humans.iter().chain(&self.bots).chain(&self.doubts);
        self.outlook.is_sound()
            && self.humans.len() == humans
            && self.bots.len() == bots
            && self.doubts.len() == humans
            && strengths.chain([&self.next_bot]).all(|s| s.is_finite())
    }
}
