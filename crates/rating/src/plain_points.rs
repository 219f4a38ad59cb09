//! `plain-points`: plus one point for each victory and minus one for each defeat, a baseline of the World of
//! Tanks Blitz balancer.
//!
//! The strength of the opponents does not matter, and the points are not divided by the number of games:
//! with the same share of victories, a player with more games has more points. A part of a game counts as
//! that part.

use serde::{Deserialize, Serialize};

use evenkeel_model::WinModel;

use super::{
    Player, PlayerMap, RatedGame, Scale, Strength, System,
    slope::{Slope, edge, edges},
};

/// The unit of weights, see [`Scale`].
const UNIT: f64 = 10.0;
/// What a point counts where [`edge`] expects weights: it measures them in distances of 50.
const PER_POINT: f64 = 50.0 / UNIT;

/// The `plain-points` system: victories minus defeats.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct PlainPoints {
    players: PlayerMap<f64>,
    slope: Slope,
}

impl PlainPoints {
    /// A system without any games.
    pub fn new() -> Self {
        Self::default()
    }

    /// A player's points where [`edge`] expects weights.
    fn weight(&self, player: Player) -> Option<f64> {
        let points = self.players.get(player)?;
        Some(50.0 + PER_POINT * points)
    }
}

impl System for PlainPoints {
    fn beats(&self, game: &RatedGame, a: usize, b: usize) -> f64 {
        self.slope.chance(edge(game, a, b, |p| self.weight(p)))
    }

    fn update(&mut self, game: &RatedGame) {
        let edges = edges(game, |p| self.weight(p));
        self.slope.learn(&edges);
        for seat in game.seats().iter().filter(|seat| seat.learns) {
            if let Some(victory) = game.victory(usize::from(seat.team)) {
                let points = self.players.enter(seat.player, || 0.0);
                *points += seat.share * (2.0 * victory - 1.0);
            }
        }
    }

    fn strength(&self, player: Player) -> Option<Strength> {
        self.players.get(player).copied().map(Strength::exact)
    }

    fn win_model(&self, game: &RatedGame) -> WinModel {
        let by_weight = self.slope.win_model(game);
        let per_strength = PER_POINT * by_weight.per_strength;
        let WinModel {
            link,
            players,
            crowding,
            ..
        } = by_weight;
        WinModel::of_strengths(link, per_strength, players, crowding, UNIT)
    }

    fn scale(&self) -> Scale {
        Scale::Strengths {
            newcomer: 0.0,
            unit: UNIT,
        }
    }

    /// The prior counts as earlier victories less defeats.
    fn start(&mut self, player: Player, prior: Strength) {
        self.players.set(player, prior.mean);
    }

    fn new_season(&mut self, keep: f64) {
        self.players.values_mut().for_each(|points| *points *= keep);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{game, strengths};

    #[test]
    fn the_points_by_hand() {
        let mut system = PlainPoints::new();
        let half = game(&[&[0.5], &[1.0]], &[0, 1]);
        for places in [[0, 1], [0, 1], [0, 0], [1, 0]] {
            system.update(&game(&[&[1.0], &[1.0]], &places));
        }
        // Two victories, a tie and a defeat: 2 − 1.
        assert_eq!(strengths(&system, &half), [(1.0, 0.0), (-1.0, 0.0)]);
        system.update(&half);
        assert_eq!(strengths(&system, &half), [(1.5, 0.0), (-2.0, 0.0)]);
        system.new_season(0.5);
        assert_eq!(strengths(&system, &half), [(0.75, 0.0), (-1.0, 0.0)]);
    }

    #[test]
    fn the_win_model_is_the_prediction() {
        let mut system = PlainPoints::new();
        let duel = game(&[&[1.0], &[1.0]], &[0, 1]);
        (0..6).for_each(|_| system.update(&duel));
        let win_model = system.win_model(&duel);
        // Twelve points between them, of which each is worth mean · √(2/2) / 10 of log odds.
        let by_hand = win_model.link.chance(win_model.per_strength * 12.0);
        let chance = system.beats(&duel, 0, 1);
        assert!(chance > 0.6 && by_hand >= chance && by_hand < chance + 0.1);
    }
}
