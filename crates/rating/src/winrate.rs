//! `winrate`: the share of a player's games that they won, a baseline of the World of Tanks Blitz
//! balancer.
//!
//! A tie counts as half a victory, and a part of a game as that part. Nothing is added to the counts of
//! a newcomer, so that the weight of one with one game is 0, 50 or 100. Of whom more is known, that counts as
//! a few earlier games.

use serde::{Deserialize, Serialize};

use evenkeel_model::WinModel;

use super::{
    Player, PlayerMap, RatedGame, Scale, Strength, System,
    slope::{Slope, edge, edges},
};

/// The number of earlier games that an uncertain prior counts as: the share of victories in them has about
/// its deviation.
const EARLIER: f64 = 4.0;

/// A player's games.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
struct Victories {
    won: f64,
    games: f64,
}

impl Victories {
    fn weight(&self) -> f64 {
        match self.games > 0.0 {
            true => 100.0 * self.won / self.games,
            false => 50.0,
        }
    }
}

/// The `winrate` system: games won and games played.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct WinRate {
    players: PlayerMap<Victories>,
    slope: Slope,
}

impl WinRate {
    /// A system without any games.
    pub fn new() -> Self {
        Self::default()
    }

    fn weight(&self, player: Player) -> Option<f64> {
        self.players.get(player).map(Victories::weight)
    }
}

impl System for WinRate {
    fn beats(&self, game: &RatedGame, a: usize, b: usize) -> f64 {
        self.slope.chance(edge(game, a, b, |p| self.weight(p)))
    }

    fn update(&mut self, game: &RatedGame) {
        let edges = edges(game, |p| self.weight(p));
        self.slope.learn(&edges);
        for seat in game.seats().iter().filter(|seat| seat.learns) {
            if let Some(victory) = game.victory(usize::from(seat.team)) {
                let known = self.players.enter(seat.player, Victories::default);
                known.won += seat.share * victory;
                known.games += seat.share;
            }
        }
    }

    fn strength(&self, player: Player) -> Option<Strength> {
        self.weight(player).map(Strength::exact)
    }

    fn win_model(&self, game: &RatedGame) -> WinModel {
        self.slope.win_model(game)
    }

    fn scale(&self) -> Scale {
        Scale::Weights
    }

    /// The prior counts as earlier games with this share of victories.
    fn start(&mut self, player: Player, prior: Strength) {
        let games = EARLIER * self.scale().times_uncertain(prior);
        let share = ((50.0 + prior.mean) / 100.0).clamp(0.0, 1.0);
        let won = games * share;
        self.players.set(player, Victories { won, games });
    }

    /// Adds games of which half were won, as many as move the rate towards a half by as much.
    fn new_season(&mut self, keep: f64) {
        for known in self.players.values_mut() {
            known.won = 0.5 * known.games + keep * (known.won - 0.5 * known.games);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Seat, testing::game};

    #[test]
    fn the_rate_by_hand() {
        let mut system = WinRate::new();
        assert_eq!(system.weight(Player(0)), None);
        for places in [[0, 1], [0, 1], [0, 0], [1, 0]] {
            system.update(&game(&[&[1.0], &[1.0]], &places));
        }
        // Two and a half of four, and one and a half of four.
        assert_eq!(system.weight(Player(0)), Some(62.5));
        assert_eq!(system.weight(Player(1)), Some(37.5));
        system.new_season(0.5);
        assert_eq!(system.weight(Player(0)), Some(56.25));
    }

    #[test]
    fn a_prior_counts_as_earlier_games() {
        let mut system = WinRate::new();
        let prior = |mean, deviation| Strength { mean, deviation };
        system.start(Player(0), prior(30.0, 11.25));
        system.start(Player(0), prior(30.0, 22.5));
        system.start(Player(1), prior(90.0, 11.25));
        assert!((system.weight(Player(0)).unwrap() - 80.0).abs() < 1e-12);
        assert_eq!(system.weight(Player(1)), Some(100.0), "the most there is");
        system.update(&game(&[&[1.0], &[1.0]], &[0, 1]));
        // 3.2 of four and one of one; all of sixteen and none of one.
        assert!((system.weight(Player(0)).unwrap() - 84.0).abs() < 1e-12);
        assert!((system.weight(Player(1)).unwrap() - 1_600.0 / 17.0).abs() < 1e-12);
    }

    #[test]
    fn parts_of_a_game_count_as_parts() {
        let seat = |player, team, share| Seat {
            share,
            ..Seat::new(Player(player), team)
        };
        let mut game = RatedGame::new(vec![seat(0, 0, 0.75), seat(0, 1, 0.25), seat(1, 1, 1.0)]);
        game.places = vec![0, 1];
        let mut system = WinRate::new();
        system.update(&game);
        assert_eq!(system.weight(Player(0)), Some(75.0));
    }

    #[test]
    fn chances_follow_the_rates() {
        let mut system = WinRate::new();
        let duel = game(&[&[1.0], &[1.0]], &[0, 1]);
        assert_eq!(system.beats(&duel, 0, 1), 0.5);
        for place in [0, 0, 0, 1].into_iter().cycle().take(400) {
            system.update(&game(&[&[1.0], &[1.0]], &[place, 1 - place]));
        }
        let chance = system.beats(&duel, 0, 1);
        assert!((chance - 0.75).abs() < 0.05, "{chance}");
    }
}
