//! Whole-history rating: Coulom, "Whole-History Rating: A Bayesian Rating System for Players of
//! Time-Varying Strength" (2008). A player has a rating on each day with a match, and the ratings of
//! consecutive days differ as in a Wiener process. Newton's method finds the most likely ratings given
//! all matches up to now.
//!
//! The paper has single players. A team's rating is the sum of its players' here, as in Coulom,
//! "Computing Elo Ratings of Move Patterns in the Game of Go" (2007), where strengths multiply.

use crate::peers::{Game, Peer, assert_published, whole_game};

/// The variance of the change in a day in Elo², which is the paper's best for games of Go.
const DAILY: f64 = 14.0;
/// Elo points in a rating, which is the logarithm of a strength.
const ELO: f64 = 400.0 / std::f64::consts::LN_10;
/// Whenever a history has grown by this part, so many iterations over all players follow. After each
/// match, there is one for its players, as in the paper.
const GROWTH: usize = 100;
const ITERATIONS: usize = 3;
/// The longest step of an iteration.
const STEP: f64 = 2.0;

/// A player's day.
#[derive(Clone, Debug)]
struct Day {
    number: i64,
    rating: f64,
    /// The matches of the day, each with the player's team.
    matches: Vec<(usize, usize)>,
}

/// A match: the players of the teams with the numbers of their days, and 1, 0.5 or 0 for the first team.
#[derive(Clone, Debug)]
struct Played {
    teams: [Vec<(usize, usize)>; 2],
    result: f64,
}

/// Whole-history rating.
#[derive(Debug)]
pub struct WholeHistory {
    /// The variance of the change in a day.
    daily: f64,
    players: Vec<Vec<Day>>,
    matches: Vec<Played>,
    /// The number of matches at the last iterations over all players.
    fitted: usize,
}

impl WholeHistory {
    pub fn new() -> Self {
        Self::with_daily(DAILY)
    }

    fn with_daily(elo: f64) -> Self {
        Self {
            daily: elo / (ELO * ELO),
            players: Vec::new(),
            matches: Vec::new(),
            fitted: 0,
        }
    }

    /// The rating of a player's last day; 0 for a new player, whose prior has its mode there.
    pub fn rating(&self, player: usize) -> f64 {
        let last = self.players.get(player).and_then(|days| days.last());
        last.map_or(0.0, |day| day.rating)
    }

    /// The number of the player's day, which is a new one if needed.
    fn enter(&mut self, player: usize, number: i64) -> usize {
        let rating = self.rating(player);
        let most = self.players.len().max(player + 1);
        self.players.resize(most, Vec::new());
        let days = &mut self.players[player];
        if days.last().is_none_or(|day| day.number < number) {
            days.push(Day {
                number,
                rating,
                matches: Vec::new(),
            });
        }
        days.len() - 1
    }

    /// The slope and the curvature of the log likelihood of a player's matches of a day.
    fn slope(&self, day: &Day) -> (f64, f64) {
        let (mut slope, mut curvature) = (0.0, 0.0);
        for &(number, team) in &day.matches {
            let Played { teams, result } = &self.matches[number];
            let sum = |team: usize| -> f64 {
                let ratings = teams[team]
                    .iter()
                    .map(|&(p, at)| self.players[p][at].rating);
                ratings.sum()
            };
            let chance = logistic(sum(team) - sum(1 - team));
            let won = if team == 0 { *result } else { 1.0 - result };
            slope += won - chance;
            curvature -= chance * (1.0 - chance);
        }
        (slope, curvature)
    }

    /// One step of Newton's method for the ratings of one player. The matrix has three diagonals.
    fn step(&mut self, player: usize) {
        let days = &self.players[player];
        let count = days.len();
        let mut slopes: Vec<f64> = Vec::with_capacity(count);
        let mut diagonal: Vec<f64> = Vec::with_capacity(count);
        for day in days {
            let (slope, curvature) = self.slope(day);
            slopes.push(slope);
            diagonal.push(curvature);
        }
        // The prior: a virtual victory and a virtual defeat against a rating of 0 on the first day.
        let chance = logistic(days[0].rating);
        slopes[0] += 1.0 - 2.0 * chance;
        diagonal[0] -= 2.0 * chance * (1.0 - chance);
        let mut beside = Vec::with_capacity(count);
        for at in 1..count {
            let (one, other) = (&days[at - 1], &days[at]);
            let stiff = 1.0 / (self.daily * (other.number - one.number) as f64);
            let apart = stiff * (other.rating - one.rating);
            slopes[at - 1] += apart;
            slopes[at] -= apart;
            diagonal[at - 1] -= stiff;
            diagonal[at] -= stiff;
            beside.push(stiff);
        }
        for at in 1..count {
            let factor = beside[at - 1] / diagonal[at - 1];
            diagonal[at] -= factor * beside[at - 1];
            slopes[at] -= factor * slopes[at - 1];
        }
        let mut next = 0.0;
        for at in (0..count).rev() {
            let above = beside.get(at).map_or(0.0, |beside| beside * next);
            next = (slopes[at] - above) / diagonal[at];
            slopes[at] = next;
        }
        for (day, step) in self.players[player].iter_mut().zip(slopes) {
            day.rating -= step.clamp(-STEP, STEP);
        }
    }

    fn iterate(&mut self) {
        for player in 0..self.players.len() {
            if !self.players[player].is_empty() {
                self.step(player);
            }
        }
    }
}

impl Peer for WholeHistory {
    fn chance(&self, game: &Game) -> f64 {
        let sum = |team| -> f64 { game.present(team).iter().map(|p| self.rating(*p)).sum() };
        logistic(sum(0) - sum(1))
    }

    /// A tie is half a victory and half a defeat.
    fn learn(&mut self, game: &Game) {
        let number = self.matches.len();
        let teams = [0, 1].map(|team| {
            let mut seats = Vec::new();
            for player in game.present(team) {
                let at = self.enter(player, game.day);
                self.players[player][at].matches.push((number, team));
                seats.push((player, at));
            }
            seats
        });
        let seats = teams.concat();
        let result = game.result;
        self.matches.push(Played { teams, result });
        seats.iter().for_each(|&(player, _)| self.step(player));
        if self.matches.len() > self.fitted + self.fitted / GROWTH {
            (0..ITERATIONS).for_each(|_| self.iterate());
            self.fitted = self.matches.len();
        }
    }
}

fn logistic(x: f64) -> f64 {
    1.0 / (1.0 + (-x).exp())
}

/// The example of the package `whole_history_rating`, whose variance is 300 Elo² a day: one player wins
/// on the first day, the other one on the second and third day, and twice on the fourth.
pub fn check() {
    let mut whr = WholeHistory::with_daily(300.0);
    for (day, result) in [(1, 1.0), (2, 0.0), (3, 0.0), (4, 0.0), (4, 0.0)] {
        whr.learn(&whole_game([&[0], &[1]], day, result));
    }
    (0..50).for_each(|_| whr.iterate());
    for (at, published) in [92.0, 94.0, 95.0, 96.0].into_iter().enumerate() {
        let elo = |player: usize| ELO * whr.players[player][at].rating;
        assert_published("Shusaku", elo(0), -published, 0);
        assert_published("Shusai", elo(1), published, 0);
    }
}
