//! `scoreboard`: Sector's Edge's pubPower, the mean scoreboard position over the last matches.
//!
//! Positions are counted from the bottom over all players of a match: the last of n gets 1/n of the
//! maximum, the first gets all of it; players with equal points share the mean of their positions.
//! In Sector's Edge, the maximum depends on the mode (6, 16 or 24), because powers are compared
//! within one mode only. As a weight, a position is a percentage of the maximum.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use evenkeel_model::WinModel;

use super::{
    Player, PlayerMap, RatedGame, Scale, Strength, System, Tally,
    slope::{Slope, edge, edges},
};
use evenkeel_model::units::Count;

/// The earlier matches that an uncertain prior counts as.
const EARLIER: f64 = 4.0;

/// Settings of the `scoreboard` formula.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Settings {
    /// How many of a player's last matches count, 1 or more.
    #[serde(rename = "scoreboard_window")]
    pub window: Count<1, 1_000>,
}

/// 50 matches, as in Sector's Edge.
impl Default for Settings {
    fn default() -> Self {
        Self {
            window: const { Count::of(50) },
        }
    }
}

/// The `scoreboard` system: each player's mean position.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Scoreboard {
    settings: Settings,
    /// Positions in percent, newest first, at most `window` per player.
    positions: PlayerMap<VecDeque<f64>>,
    slope: Slope,
}

impl Scoreboard {
    /// A system without any games.
    pub fn new(settings: Settings) -> Self {
        Self {
            settings,
            positions: PlayerMap::default(),
            slope: Slope::default(),
        }
    }

    fn weight(&self, player: Player) -> Option<f64> {
        let positions = self.positions.get(player)?;
        Some(positions.iter().sum::<f64>() / positions.len() as f64)
    }
}

/// The position in percent of each tally; `None` for a player without points.
fn positions(tallies: &[Tally]) -> Vec<Option<f64>> {
    let mut points: Vec<f64> = tallies.iter().filter_map(|t| t.points).collect();
    points.sort_by(f64::total_cmp);
    let position = |own: f64| {
        let below = points.partition_point(|p| *p < own);
        let up_to = points.partition_point(|p| *p <= own);
        // The mean of the positions from `below + 1` to `up_to`.
        100.0 * (below + 1 + up_to) as f64 / 2.0 / points.len() as f64
    };
    tallies.iter().map(|t| t.points.map(position)).collect()
}

impl System for Scoreboard {
    fn beats(&self, game: &RatedGame, a: usize, b: usize) -> f64 {
        self.slope.chance(edge(game, a, b, |p| self.weight(p)))
    }

    fn update(&mut self, game: &RatedGame) {
        let edges = edges(game, |p| self.weight(p));
        self.slope.learn(&edges);
        for (tally, position) in game.tallies.iter().zip(positions(&game.tallies)) {
            if let (true, Some(position)) = (tally.learns, position) {
                let positions = self.positions.enter(tally.player, VecDeque::new);
                positions.push_front(position);
                positions.truncate(self.settings.window.as_usize());
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

    /// The prior counts as a few earlier matches with this position.
    fn start(&mut self, player: Player, prior: Strength) {
        let matches = libm::round(EARLIER * self.scale().times_uncertain(prior)) as usize;
        let matches = matches.min(self.settings.window.as_usize());
        let position = (50.0 + prior.mean).clamp(0.0, 100.0);
        self.positions
            .set(player, std::iter::repeat_n(position, matches).collect());
    }

    fn new_season(&mut self, keep: f64) {
        for position in self.positions.values_mut().flatten() {
            *position = 50.0 + keep * (*position - 50.0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tallies(points: &[Option<f64>]) -> Vec<Tally> {
        let tally = |(i, points): (u32, &Option<f64>)| Tally {
            points: *points,
            ..Tally::new(Player(i))
        };
        (0..).zip(points).map(tally).collect()
    }

    #[test]
    fn positions_count_from_the_lowest_points() {
        let points = [Some(7.0), None, Some(-1.0), Some(3.0), Some(3.0)];
        let expected = [Some(100.0), None, Some(25.0), Some(62.5), Some(62.5)];
        assert_eq!(positions(&tallies(&points)), expected);
    }

    #[test]
    fn a_prior_counts_as_earlier_matches() {
        let mut system = Scoreboard::new(Settings::default());
        let prior = Strength {
            mean: 10.0,
            deviation: 22.5,
        };
        system.start(Player(0), prior);
        assert_eq!(system.weight(Player(0)), Some(60.0));
        let mut game = RatedGame::new(vec![]);
        game.tallies = tallies(&[Some(9.0), Some(0.0)]);
        system.update(&game);
        assert_eq!(system.weight(Player(0)), Some((4.0 * 60.0 + 100.0) / 5.0));
    }

    #[test]
    fn the_mean_of_the_last_matches() {
        let mut system = Scoreboard::new(Settings {
            window: Count::of(2),
        });
        let mut game = RatedGame::default();
        for points in [[9.0, 0.0], [0.0, 9.0], [9.0, 0.0]] {
            game.tallies = tallies(&points.map(Some));
            system.update(&game);
        }
        assert_eq!(system.weight(Player(0)), Some(75.0));
        assert_eq!(system.weight(Player(1)), Some(75.0));
        assert_eq!(system.weight(Player(2)), None);
    }
}
