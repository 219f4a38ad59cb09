//! The players' strengths in the unit of the rating system.

use serde::{Deserialize, Serialize};

use super::party_factor;
use crate::domain::{Outlook, units::Factor};

/// The strengths of the players of a problem, and how they become chances. They are in the rating
/// system's unit; a newcomer's is 0. Unlike weights, they have no limits.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Strengths {
    /// Turns the teams' strengths into a chance.
    pub outlook: Outlook,
    /// The strength of each human, in the order of the problem, without what their party adds.
    pub humans: Vec<f64>,
    /// The mean strength of the bots that fill up the teams.
    pub bot: f64,
    /// The sum of the strengths of the bots that are on each team; empty if there are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub bots_there: Vec<f64>,
    /// The standard deviation of each human's strength, in the order of the problem; empty if they are not known.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub doubts: Vec<f64>,
    /// What parties of 2, 3, … members count as a multiple of their members' weights, as far as the
    /// outlook has not learned it from matches; see [`Outlook::befriended`].
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub party_multiplier: Vec<Factor>,
}

impl Strengths {
    /// Whether there is a strength for each of `humans`, none or one for the bots on each of `teams`, and all numbers
    /// are finite.
    pub(super) fn is_sound(&self, humans: usize, teams: usize) -> bool {
        let numbers = self
            .humans
            .iter()
            .chain(&self.bots_there)
            .chain(&self.doubts);
        [0, humans].contains(&self.doubts.len())
            && [0, teams].contains(&self.bots_there.len())
            && self.humans.len() == humans
            && self.outlook.is_sound()
            && numbers.chain([&self.bot]).all(|s| s.abs() <= 1e12)
    }

    /// The strength of humans who are together on a team: one human, or the members of one party.
    pub(super) fn together(&self, members: impl Iterator<Item = usize> + Clone) -> f64 {
        let size = members.clone().count();
        let friends = size.saturating_sub(1);
        let multiplier = party_factor(&self.party_multiplier, size);
        let of = |member: usize| {
            let alone = self.humans[member];
            alone + self.outlook.befriended(alone, friends, multiplier)
        };
        members.map(of).sum()
    }
}
