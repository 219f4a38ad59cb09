//! The answer of BALANCE.

use serde::{Deserialize, Serialize};

use crate::partition::Explanation;

/// The teams that BALANCE chose.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct BalanceAnswer {
    /// Each human's team, in JOIN order; empty if the question was refused.
    pub team_of: Vec<u8>,
    /// The smaller team's weight over the larger's, 0 to 1, as BALANCE replies it.
    pub ratio: f64,
    /// The chance that team 0 wins, 0 to 1, as BALANCE replies it; `None` if it does not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub chance: Option<f64>,
    /// Whether the deadline ended the search early. The answer then depends on the machine's speed,
    /// and a replay may choose other teams.
    pub cut_short: bool,
    /// Why no teams could be chosen. Only a question that was edited by hand can be refused.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refused: Option<String>,
    /// Whether the answer keeps the teams that the last BALANCE chose.
    #[serde(skip)]
    pub(super) kept: bool,
    /// The best evenness without pins, if the pins make the teams uneven.
    #[serde(skip)]
    pub(super) without_pins: Option<f64>,
    /// The explanation. It is not stored, because a replay computes it again.
    #[serde(skip)]
    pub(super) explanation: Option<Box<Explanation>>,
}

impl BalanceAnswer {
    /// Why these teams; `None` for a stored answer.
    pub fn explanation(&self) -> Option<&Explanation> {
        self.explanation.as_deref()
    }
}

/// Two answers are equal if they choose the same teams.
impl PartialEq for BalanceAnswer {
    fn eq(&self, other: &Self) -> bool {
        self.team_of == other.team_of
    }
}
