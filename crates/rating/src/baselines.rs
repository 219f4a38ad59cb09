//! Rating systems that keep a simple number of each player, such as a share of victories, and have no model of a game: the
//! two baselines of the World of Tanks Blitz balancer, and Sector's Edge's pubPower. The slope of a logistic regression
//! makes chances of the numbers.
//!
//! `plain-points`: plus one point for each victory and minus one for each defeat. The strength of the opponents does not
//! matter, and the points are not divided by the number of games: with the same share of victories, a player with more games
//! has more points. A part of a game counts as that part.
//!
//! `winrate`: the share of a player's games that they won. A tie counts as half a victory, and a part of a game as that
//! part. Nothing is added to the counts of a newcomer, so that the weight of one with one game is 0, 50 or 100. Of whom more
//! is known, that counts as a few earlier games.
//!
//! `scoreboard`: the mean scoreboard position over the last matches. Positions are counted from the bottom over all
//! players of a match: the last of n gets 1/n of the maximum, the first gets all of it; players with equal points share the
//! mean of their positions. In Sector's Edge, the maximum depends on the mode (6, 16 or 24), because powers are compared
//! within one mode only. As a weight, a position is a percentage of the maximum.

use std::collections::VecDeque;

use evenkeel_model::{
    WinModel,
    units::Count,
    win_model::{Crowding, Link},
};
use serde::{Deserialize, Serialize};

use super::{
    Player, RatedGame, Strength, System,
    game::{Tally, TeamPair, score},
    joint::columns,
    normal,
    player_map::PlayerMap,
    system::Scale,
};

/// The number of earlier games that an uncertain prior counts as: the share of victories in them has about
/// its deviation.
const EARLIER: f64 = 4.0;
/// The unit of weights of `plain-points`, see [`Scale`].
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

/// How much stronger team `a` is than team `b` by these weights: the difference of their Σ (weight
/// − 50), divided by 50 · √(n/2), which is the noise of a match of n players.
pub(crate) fn edge(
    game: &RatedGame,
    a: usize,
    b: usize,
    weight: impl Fn(Player) -> Option<f64>,
) -> f64 {
    let (mut sum, mut shares) = (0.0, 0.0);
    for (team, sign) in [(a, 1.0), (b, -1.0)] {
        for seat in game.team(team) {
            let above = weight(seat.player).unwrap_or(50.0) / 50.0 - 1.0;
            sum += sign * seat.share * above;
            shares += seat.share;
        }
    }
    sum * columns::unit(shares)
}

/// The pairs of a game, each with the [`edge`] of its first team.
pub(crate) fn edges(
    game: &RatedGame,
    weight: impl Fn(Player) -> Option<f64>,
) -> Vec<(f64, TeamPair)> {
    let pairs = game.neighbours().into_iter();
    pairs
        .map(|pair| (edge(game, pair.a, pair.b, &weight), pair))
        .collect()
}

/// The posterior of the one coefficient b of a logistic regression, chance = 1/(1 + e^(−b·x)), as a
/// Gaussian. Each game is one step of Newton's method (the extended Kalman filter).
///
/// It converts strengths that are not log odds to chances, so that all systems can be compared.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Slope {
    mean: f64,
    variance: f64,
}

/// Mean 1, deviation 1: in a duel of the extremes, 100 against 0, the stronger wins seven of eight.
impl Default for Slope {
    fn default() -> Self {
        Self {
            mean: 1.0,
            variance: 1.0,
        }
    }
}

impl Slope {
    /// The chance at difference `x`, with the uncertainty of the slope included (MacKay's
    /// approximation).
    pub(crate) fn chance(&self, x: f64) -> f64 {
        let spread = std::f64::consts::PI / 8.0 * self.variance * x * x;
        normal::logistic(self.mean * x / libm::sqrt(1.0 + spread))
    }

    /// Turns weights, less 50, into a chance, without the uncertainty of the slope itself.
    pub(crate) fn win_model(&self, game: &RatedGame) -> WinModel {
        let players = game.shares().max(1.0);
        let per_strength = self.mean * columns::unit(players) / 50.0;
        WinModel::of_strengths(Link::Logistic, per_strength, players, Crowding::Root, 25.0)
    }

    /// Learns from the pairs of a game, each with its difference. All are compared with the slope before it.
    pub(crate) fn learn(&mut self, pairs: &[(f64, TeamPair)]) {
        let before = *self;
        let chance = |x: f64| normal::logistic(before.mean * x);
        let information = pairs.iter().map(|&(x, pair)| {
            let p = chance(x);
            p * (1.0 - p) * x * x * pair.weight
        });
        self.variance /= 1.0 + before.variance * information.sum::<f64>();
        for &(x, pair) in pairs {
            self.mean += self.variance * x * (score(pair.result) - chance(x)) * pair.weight;
        }
        self.mean = self.mean.max(0.0); // a higher weight never lowers the chance
    }
}

#[cfg(test)]
mod tests {
    use std::cmp::Ordering;

    use super::*;
    use crate::{
        Seat,
        testing::{game, strengths},
    };

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

    #[test]
    fn it_finds_the_slope() {
        let mut slope = Slope::default();
        assert!(slope.chance(2.0) > 0.7);
        // Three of four games won at a difference of 1: b = ln 3.
        for _ in 0..2_000 {
            for result in [
                Ordering::Less,
                Ordering::Less,
                Ordering::Greater,
                Ordering::Less,
            ] {
                slope.learn(&[(1.0, TeamPair::of(0, 1, result))]);
            }
        }
        assert!(
            (slope.chance(1.0) - 0.75).abs() < 0.01,
            "{}",
            slope.chance(1.0)
        );
        assert_eq!(slope.chance(0.0), 0.5);
    }
}
