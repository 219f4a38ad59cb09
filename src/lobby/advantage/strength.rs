//! The strength that a team lacks by who is on it, as the logarithm of a factor.

use serde::{Deserialize, Serialize};

use super::TeamState;
use crate::domain::{Outlook, TeamLoad};

/// Half the width of a 99 % interval in standard deviations: the same teams are looked at in game after
/// game, so that 95 % would find one in twenty of even ones uneven.
const SURE: f64 = 2.576;

/// ln 1.5: a player of the weight 75 counts as one and a half of the weight 50.
pub(super) const LN_HALFWAY: f64 = 0.405_465_108_108_164_4;

/// What is known of who is stronger.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Known {
    /// Only weights: nothing has been learned that predicts a chance.
    Weights,
    /// Strengths, and how they make chances.
    Strengths(Outlook),
}

/// By what factor one team is stronger than another, as logarithms.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Stronger {
    /// By having more players.
    pub(super) heads: f64,
    /// By having better ones, and the better side.
    pub(super) players: f64,
}

impl Known {
    /// By how much `one` is stronger than `other`; both have players. `side` is whether the outlook's
    /// side is that of `one` (1), of `other` (−1), or of neither (0).
    ///
    /// The edge that the rating system predicts counts by its [`sure_part`]. The strength of each player of
    /// the weaker team that would make up for it is turned into a factor by the scale of the weights.
    pub(super) fn stronger(&self, one: &TeamState, other: &TeamState, side: f64) -> Stronger {
        let heads = ln(one.players as f64) - ln(other.players as f64);
        let Self::Strengths(outlook) = self else {
            let all = ln(one.weight) - ln(other.weight);
            return Stronger {
                heads,
                players: all - heads,
            };
        };
        let load = |team: &TeamState| TeamLoad {
            heads: team.players,
            strength: team.strength,
        };
        let by_heads = outlook.heads(one.players, other.players);
        let edge = outlook.edge(load(one), load(other)) - by_heads + side * outlook.side;
        let sure = sure_part(edge.abs(), SURE * outlook.doubt);
        let weaker = if edge > 0.0 { other } else { one };
        let per_player =
            outlook.per_strength_at(one.players + other.players) * weaker.players as f64;
        let each = sure / per_player / outlook.halfway;
        Stronger {
            heads,
            players: libm::copysign(each * LN_HALFWAY, edge),
        }
    }
}

/// How much of an edge counts that is known to within `margin`, half the width of its interval; both
/// are at least 0.
///
/// Nothing counts where the interval holds an even game. Beyond it the edge is shrunk by the square of
/// `margin / edge` (Breiman 1995, "Better subset selection using the nonnegative garrote"), so that help
/// begins at 0 and an edge far beyond doubt counts almost whole.
fn sure_part(edge: f64, margin: f64) -> f64 {
    if edge <= margin {
        return 0.0;
    }
    let doubtful = margin / edge;
    edge * (1.0 - doubtful * doubtful)
}

/// ln of an amount, or of 1e-9 if it is smaller.
fn ln(amount: f64) -> f64 {
    libm::log(amount.max(1e-9))
}

#[cfg(test)]
mod tests {
    use super::sure_part;

    #[test]
    fn an_edge_counts_from_nothing_at_its_margin_to_almost_whole() {
        assert_eq!(sure_part(0.0, 0.0), 0.0);
        assert_eq!(sure_part(1.0, 0.0), 1.0, "no doubt at all");
        assert_eq!(sure_part(0.9, 1.0), 0.0);
        assert_eq!(sure_part(1.0, 1.0), 0.0);
        assert!(sure_part(1.001, 1.0) < 0.003, "help begins at nothing");
        assert_eq!(sure_part(2.0, 1.0), 1.5);
        assert!(sure_part(20.0, 1.0) > 19.9);
    }
}
