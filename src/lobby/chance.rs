//! The chance model of a snapshot: as plain data, what a decision needs to predict who wins with
//! the players who are present.

use serde::{Deserialize, Serialize};

use super::Snapshot;
use crate::domain::{Outlook, TeamLoad};

/// How strong all players of a snapshot are, and how strengths become chances. Strengths are in the
/// rating system's unit; a newcomer's is 0.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ChanceModel {
    /// Turns the teams' strengths into a chance.
    pub outlook: Outlook,
    /// The strength of each human, in the snapshot's order, with what their party adds.
    pub humans: Vec<f64>,
    /// The strength of each bot, in the snapshot's order.
    pub bots: Vec<f64>,
    /// The expected strength of the next bot to be added.
    pub next_bot: f64,
}

impl ChanceModel {
    /// Whether the model has a strength for each human and bot of the snapshot, and all numbers are
    /// finite.
    pub(super) fn is_sound(&self, snapshot: &Snapshot) -> bool {
        let strengths = self.humans.iter().chain(&self.bots);
        self.outlook.is_sound()
            && self.humans.len() == snapshot.humans.len()
            && self.bots.len() == snapshot.bots.len()
            && strengths.chain([&self.next_bot]).all(|s| s.is_finite())
    }
}

/// The edge of the strongest team over the weakest in a game between these two alone; at least 0.
/// The side of the map counts only in a game of two teams. O(teams²).
pub(super) fn largest_edge(outlook: &Outlook, teams: &[TeamLoad]) -> f64 {
    if let &[one, other] = teams {
        return (outlook.edge(one, other) + outlook.side).abs();
    }
    let pairs = (0..teams.len()).flat_map(|a| (0..a).map(move |b| (a, b)));
    let edges = pairs.map(|(a, b)| outlook.edge(teams[a], teams[b]).abs());
    edges.fold(0.0, f64::max)
}

/// The chance of the weaker of two teams that are this even, 0 to 1/2.
pub(super) fn chance_of_weaker(evenness: f64) -> f64 {
    evenness / (1.0 + evenness)
}
