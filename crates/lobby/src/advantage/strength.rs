//! How much stronger one team is than another because of its players, as the logarithm of a factor.

use serde::{Deserialize, Serialize};

use super::{TeamState, formula::log};
use evenkeel_model::{Outlook, TeamLoad};

/// Half the width of a 99 % interval, in standard deviations. Measured with 2,000 histories of
/// twelve equally strong players and 20 divisions into six against six after each: with this
/// interval, ADVANTAGE helps in 9 of the 40,000 divisions; with one of 95 % (1.96), in 69.
/// (`cargo test --release --test large -- --ignored --nocapture equals`)
const SURE: f64 = 2.576;

/// ln 1.5: a player who is one unit of strength above an average newcomer counts as one and a half of them.
pub(super) const LN_PER_UNIT: f64 = 0.405_465_108_108_164_4;

/// What predicts which team is stronger.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Known {
    /// The weights: no rating system has learned anything that predicts a chance.
    Weights,
    /// The players' strengths, and how the rating system turns them into chances.
    Strengths(Outlook),
}

/// How much stronger one team is than another, as the logarithms of two factors.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Stronger {
    /// The factor by the number of its players.
    pub(super) heads: f64,
    /// The factor by how strong its players and its side of the map are.
    pub(super) players: f64,
}

impl Known {
    /// How much stronger `one` is than `other`; both have players. `side` is 1 if the side of the map
    /// that the outlook has learned is that of `one`, −1 if it is that of `other`, and 0 if it is neither.
    ///
    /// Of the edge that the rating system predicts, only the [`sure_part`] counts. Divided by the
    /// number of players of the weaker team, it is the strength that each of them lacks. The scale
    /// of the weights turns that strength into a factor.
    pub(super) fn stronger(&self, one: &TeamState, other: &TeamState, side: f64) -> Stronger {
        let heads = log(one.players as f64) - log(other.players as f64);
        let Self::Strengths(outlook) = self else {
            let all = log(one.weight) - log(other.weight);
            return Stronger {
                heads,
                players: all - heads,
            };
        };
        let load = |team: &TeamState| TeamLoad {
            heads: team.players,
            strength: team.strength,
        };
        let edge = outlook.edge_of_players(load(one), load(other)) + side * outlook.side;
        let sure = sure_part(edge.abs(), SURE * outlook.doubt);
        let weaker = if edge > 0.0 { other } else { one };
        let per_player =
            outlook.per_strength_at(one.players + other.players) * weaker.players as f64;
        let each = sure / per_player / outlook.unit;
        Stronger {
            heads,
            players: libm::copysign(each * LN_PER_UNIT, edge),
        }
    }
}

/// The part of `edge` that counts. `margin` is half the width of the interval of the edge; both are
/// at least 0.
///
/// If the interval contains 0, an even game, nothing counts. A larger edge is reduced by the share
/// `(margin / edge)²` (Breiman 1995, "Better subset selection using the nonnegative garrote"). So
/// help begins at 0, and an edge far beyond doubt counts almost whole.
fn sure_part(edge: f64, margin: f64) -> f64 {
    if edge <= margin {
        return 0.0;
    }
    let doubtful = margin / edge;
    edge * (1.0 - doubtful * doubtful)
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
