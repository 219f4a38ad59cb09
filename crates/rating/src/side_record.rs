//! F(side, map, size) of `hive`: the log odds of how often a side has won.

use std::{cmp::Ordering, collections::BTreeMap};

use serde::{Deserialize, Serialize};

use super::{RatedGame, game::score};

/// The counts from which F(side, map, size) is computed: how often side 0 won.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct SideRecord {
    sides: BTreeMap<u32, Tried>,
    maps: BTreeMap<(u32, u32, bool), Tried>,
}

#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
struct Tried {
    won: f64,
    games: f64,
}

impl Tried {
    /// The rate of victories, with `PRIOR` imaginary games at the rate `expected` added.
    fn rate(&self, expected: f64) -> f64 {
        /// The number of imaginary games. After as many real games, record and `expected` count the
        /// same.
        const PRIOR: f64 = 10.0;
        (self.won + PRIOR * expected) / (self.games + PRIOR)
    }

    fn add(&mut self, result: Ordering) {
        self.won += score(result);
        self.games += 1.0;
    }
}

/// A game with more players than this counts as a large one, as in the published example.
const LARGE: f64 = 16.0;
impl SideRecord {
    fn key(game: &RatedGame) -> (u32, u32, bool) {
        (game.ruleset, game.map, game.shares() > LARGE)
    }

    /// Log odds of team `a` against team `b` from sides and map alone; 0 in a game without sides.
    pub fn log_odds(&self, game: &RatedGame, a: usize, b: usize) -> f64 {
        if !game.sides || game.teams() != 2 {
            return 0.0;
        }
        let tried = |found: Option<&Tried>| found.copied().unwrap_or_default();
        let side = tried(self.sides.get(&game.ruleset)).rate(0.5);
        let rate = tried(self.maps.get(&Self::key(game))).rate(side);
        let log_odds = libm::log(rate / (1.0 - rate));
        if a < b { log_odds } else { -log_odds }
    }

    /// Adds the result of a game to the record; a game without sides changes nothing.
    pub fn add(&mut self, game: &RatedGame, a: usize, b: usize, result: Ordering) {
        if game.sides && game.teams() == 2 {
            let result = if a < b { result } else { result.reverse() };
            self.sides.entry(game.ruleset).or_default().add(result);
            self.maps.entry(Self::key(game)).or_default().add(result);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Player, Seat};

    #[test]
    fn a_large_game_has_many_at_a_time() {
        // Twenty sat on one chair each after the other, two at a time: a game of two.
        let seat = |i: u32| Seat {
            share: 0.1,
            ..Seat::new(Player(i), (i % 2) as u16)
        };
        let game = RatedGame::new((0..20).map(seat).collect());
        assert!(!SideRecord::key(&game).2);
        let all = |i: u32| Seat::new(Player(i), (i % 2) as u16);
        assert!(SideRecord::key(&RatedGame::new((0..18).map(all).collect())).2);
        assert!(!SideRecord::key(&RatedGame::new((0..16).map(all).collect())).2);
    }
}
