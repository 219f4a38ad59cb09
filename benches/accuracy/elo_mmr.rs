//! Elo-MMR: Ebtekar and Liu, "Elo-MMR: A Rating System for Massive Multiplayer Competitions" (2021),
//! with logistic performances (algorithms 1 to 3) and the defaults of the authors' program.
//!
//! The paper has single contestants. Here a team's performance is the sum of its players', and a
//! player's performance is the team's, less what the others are expected to add. With one player in
//! each team, that is the paper's.

use crate::peers::{Game, Peer, assert_published};

// The defaults: a newcomer's rating, the deviation that is approached after many contests, and the
// weight of a contest.
const MEAN: f64 = 1500.0;
const SIGMA: f64 = 350.0;
const LIMIT: f64 = 80.0;
const WEIGHT: f64 = 0.2;
/// ρ: how fast old performances become a part of the normal one.
const TRANSFER: f64 = 1.0;
/// The most performances that are kept apart; older ones weigh less than a thousandth.
const KEPT: usize = 200;

/// The variance of a performance around the skill.
const PERFORMANCE: f64 = (1.0 + 1.0 / WEIGHT) * LIMIT * LIMIT;
/// The variance that each contest adds to a skill.
const DRIFT: f64 = WEIGHT * LIMIT * LIMIT;

/// A mean and a variance.
type Moments = (f64, f64);

/// A past performance, which has a logistic distribution around the skill.
#[derive(Clone, Copy, Debug)]
struct Performance {
    mean: f64,
    variance: f64,
    scale: f64,
    /// How much it counts: the inverse of its variance at first, and less from match to match.
    weight: f64,
}

/// A player: a normal distribution times those of past performances.
#[derive(Clone, Debug)]
struct Player {
    mean: f64,
    weight: f64,
    past: Vec<Performance>,
    skill: Moments,
}

impl Player {
    const NEW: Self = Self {
        mean: MEAN,
        weight: 1.0 / (SIGMA * SIGMA),
        past: Vec::new(),
        skill: (MEAN, SIGMA * SIGMA),
    };

    /// Drifts between two contests: algorithm 2.
    fn drift(&mut self) {
        let (mean, variance) = self.skill;
        let kept = variance / (variance + DRIFT);
        let stays = kept.powf(TRANSFER);
        let past: f64 = self.past.iter().map(|p| p.weight).sum();
        let (own, moved) = (stays * self.weight, (1.0 - stays) * (self.weight + past));
        self.mean = (own * self.mean + moved * mean) / (own + moved);
        self.weight = kept * (own + moved);
        for one in &mut self.past {
            one.weight *= kept * stays;
        }
        self.skill.1 = variance + DRIFT;
    }

    /// Learns from a performance: algorithm 3.
    fn perform(&mut self, (mean, variance): Moments) {
        if self.past.len() >= KEPT {
            let old = self.past.remove(0);
            let sum = self.weight + old.weight;
            self.mean = (self.weight * self.mean + old.weight * old.mean) / sum;
            self.weight = sum;
        }
        self.past.push(Performance {
            mean,
            variance,
            scale: scale(variance),
            weight: 1.0 / variance,
        });
        let most_likely = solve(&|x| {
            let mut slope = self.weight * (x - self.mean);
            for one in &self.past {
                // The slope of the logistic log density, times what is left of the weight.
                let left = one.weight * one.variance;
                slope += left / one.scale * ((x - one.mean) / (2.0 * one.scale)).tanh();
            }
            slope
        });
        self.skill = (most_likely, 1.0 / (1.0 / self.skill.1 + 1.0 / variance));
    }
}

/// The scale of the logistic distribution with this variance.
fn scale(variance: f64) -> f64 {
    (3.0 * variance).sqrt() / std::f64::consts::PI
}

/// Where an increasing function is 0, by bisection between the bounds of the authors' program, far
/// beyond any rating.
fn solve(f: &dyn Fn(f64) -> f64) -> f64 {
    let (mut low, mut high) = (-60_000.0, 60_000.0);
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        match f(middle) > 0.0 {
            true => high = middle,
            false => low = middle,
        }
    }
    0.5 * (low + high)
}

/// The most likely performance of one of the contestants, given all their places: algorithm 1. The
/// variances include those of performances.
fn performance(own: usize, contestants: &[Moments], places: &[usize]) -> f64 {
    solve(&|x| {
        let term = |(&(mean, variance), place): (&Moments, &usize)| {
            let scale = scale(variance);
            let at = ((x - mean) / (2.0 * scale)).tanh();
            match place.cmp(&places[own]) {
                std::cmp::Ordering::Less => (at + 1.0) / scale,
                std::cmp::Ordering::Equal => 2.0 * at / scale,
                std::cmp::Ordering::Greater => (at - 1.0) / scale,
            }
        };
        contestants.iter().zip(places).map(term).sum()
    })
}

/// Elo-MMR.
#[derive(Debug, Default)]
pub struct EloMmr {
    players: Vec<Player>,
}

impl EloMmr {
    fn skill(&self, player: usize) -> Moments {
        self.players
            .get(player)
            .map_or(Player::NEW.skill, |p| p.skill)
    }

    /// The moments of a team's performance.
    fn team(&self, players: &[usize]) -> Moments {
        let skills = players.iter().map(|player| self.skill(*player));
        skills.fold((0.0, 0.0), |sum, (mean, variance)| {
            (sum.0 + mean, sum.1 + variance + PERFORMANCE)
        })
    }

    /// A contest of teams with these places.
    fn contest(&mut self, teams: &[Vec<usize>], places: &[usize]) {
        for &player in teams.iter().flatten() {
            let most = self.players.len().max(player + 1);
            self.players.resize(most, Player::NEW);
            self.players[player].drift();
        }
        let moments: Vec<Moments> = teams.iter().map(|team| self.team(team)).collect();
        for (team, players) in teams.iter().enumerate() {
            let reached = performance(team, &moments, places);
            let (mean, variance) = moments[team];
            for &player in players {
                let own = self.skill(player);
                let others = (mean - own.0, variance - own.1 - PERFORMANCE);
                self.players[player].perform((reached - others.0, PERFORMANCE + others.1));
            }
        }
    }
}

impl Peer for EloMmr {
    fn chance(&self, game: &Game) -> f64 {
        let [one, other] = [0, 1].map(|team| self.team(&game.present(team)));
        1.0 / (1.0 + (-(one.0 - other.0) / scale(one.1 + other.1)).exp())
    }

    fn learn(&mut self, game: &Game) {
        let teams = [0, 1].map(|team| game.present(team));
        let places = match game.result {
            1.0 => [0, 1],
            0.0 => [1, 0],
            _ => [0, 0],
        };
        self.contest(&teams, &places);
    }
}

/// The example of the package Elo-MMR-Py, which runs the authors' program: five contests of up to four
/// single players.
pub fn check() {
    let mut mmr = EloMmr::default();
    let contests: [(&[usize], &[usize]); 5] = [
        (&[0, 1, 2], &[0, 1, 2]),
        (&[0, 1, 2], &[0, 0, 2]),
        (&[0, 1, 2], &[0, 1, 1]),
        (&[3, 0, 1, 2], &[0, 1, 2, 3]),
        (&[3, 0, 1, 2], &[0, 1, 2, 3]),
    ];
    // Each player's rating and deviation after each contest.
    let published: [&[(f64, f64)]; 5] = [
        &[(1705.0, 171.0), (1500.0, 171.0), (1295.0, 171.0)],
        &[(1663.0, 130.0), (1555.0, 130.0), (1270.0, 130.0)],
        &[(1686.0, 111.0), (1500.0, 111.0), (1312.0, 111.0)],
        &[
            (1767.0, 171.0),
            (1678.0, 100.0),
            (1487.0, 100.0),
            (1291.0, 100.0),
        ],
        &[
            (1809.0, 130.0),
            (1675.0, 94.0),
            (1483.0, 94.0),
            (1279.0, 94.0),
        ],
    ];
    for ((players, places), published) in contests.into_iter().zip(published) {
        let teams: Vec<Vec<usize>> = players.iter().map(|player| vec![*player]).collect();
        mmr.contest(&teams, places);
        for (player, (mean, deviation)) in players.iter().zip(published) {
            let (got, variance) = mmr.skill(*player);
            assert_published("Elo-MMR, rating", got, *mean, 0);
            assert_published("Elo-MMR, deviation", variance.sqrt(), *deviation, 0);
        }
    }
}
