//! What is assumed of a player who is new to a rating pool: by the statistics of their first game, by what games of
//! other rulesets say about them, and by the weight at which an operator lets them start.
//!
//! One victory reveals little about one player among eight. Points, kills, deaths and captures
//! reveal more, if they matter in the game. A ridge regression learns this from the history: it
//! predicts the strength that a player has after ten games from their first game. Each case is
//! predicted before the regression learns from it. Newcomers start at the mean unless these
//! predictions have been clearly better than the mean.
//!
//! What is known from elsewhere is a Gaussian N(m, v), relative to a newcomer. The prior keeps the part ρ of the
//! distance m, and is less sure: N(ρ·m, ρ²·v + (1 − ρ²)·τ²), where τ is the rating system's deviation of somebody of
//! whom nothing is known. With ρ = 1 it is what is known, and with ρ = 0 it is a newcomer. If an operator has stated at which weight the player starts,
//! that is in the place of the newcomer.
//!
//! ρ is learned from the players who are in both. When a player has [`SETTLED`] games in the rating pool, what these say
//! by themselves is compared with what was known: ρ is the slope of a regression through the origin. It begins with
//! [`PART`], as if some players had shown it.
//!
//! A ruleset that has the same game type and more mutators than another takes over what is known there as it is.

use std::{collections::BTreeMap, sync::Arc};

use evenkeel_model::{PlayerKey, weight::StartWeight, win_model::UNITS};
use serde::{Deserialize, Serialize};

use super::People;
use crate::{Player, RatedGame, Strength, player_map::PlayerMap, system::Scale};

/// Points, kills, deaths and captures per minute, each divided by the game's mean, minus 1.
pub(super) type Features = [f64; WIDTH];

const WIDTH: usize = 4;
/// The number of games after which a player's strength is used as the target of the regression.
pub(super) const SETTLED: u32 = 10;
/// The ridge penalty. It pulls each coefficient towards 0 as much as this many typical games
/// without any effect would.
const RIDGE: f64 = 5.0;
/// The number of cases from which on the regression is used.
const CASES: f64 = 30.0;
/// The largest squared error, relative to that of the mean, at which the regression is used.
const BETTER: f64 = 0.9;
/// The largest feature: everything from three times the mean on counts alike, so features are from
/// −1 to 2.
const MOST: f64 = 2.0;

/// The regression of one ruleset.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Newcomers {
    /// Σ x·xᵀ + ridge, and Σ x·(y minus the mean at the time).
    squares: [Features; WIDTH],
    products: Features,
    /// Σ y, and the number of cases.
    sum: f64,
    cases: f64,
    /// Sums of squared prediction errors before learning: of the regression, and of the mean.
    errors: f64,
    errors_of_mean: f64,
    /// Σ of the variances of the target strengths.
    variances: f64,
}

impl Default for Newcomers {
    fn default() -> Self {
        let mut squares = [[0.0; WIDTH]; WIDTH];
        for (i, row) in squares.iter_mut().enumerate() {
            row[i] = RIDGE;
        }
        Self {
            squares,
            products: [0.0; WIDTH],
            sum: 0.0,
            cases: 0.0,
            errors: 0.0,
            errors_of_mean: 0.0,
            variances: 0.0,
        }
    }
}

impl Newcomers {
    /// A player's features in a game; `None` if they have no tally in it.
    pub(super) fn features(game: &RatedGame, player: Player) -> Option<Features> {
        let own = game.tallies.iter().find(|t| t.player == player)?;
        let mut features = [0.0; WIDTH];
        for (k, feature) in features.iter_mut().enumerate() {
            let rates = game.tallies.iter().map(|t| t.rates()[k]);
            let mean = rates.sum::<f64>() / game.tallies.len() as f64;
            if mean > 0.0 {
                *feature = (own.rates()[k] / mean - 1.0).clamp(-1.0, MOST);
            } // else all rates are 0, and so is the feature
        }
        Some(features)
    }

    /// Learns from a player with this first game and this strength after [`SETTLED`] games.
    pub(super) fn learn(&mut self, features: &Features, strength: Strength) {
        let beyond = strength.mean - self.sum / self.cases.max(1.0);
        let error = beyond - self.beyond(features);
        self.errors += error * error;
        self.errors_of_mean += beyond * beyond;
        self.variances += strength.variance();
        self.cases += 1.0;
        self.sum += strength.mean;
        for (i, x) in features.iter().enumerate() {
            self.products[i] += x * beyond;
            for (j, y) in features.iter().enumerate() {
                self.squares[i][j] += x * y;
            }
        }
    }

    /// Whether the regression has predicted clearly better than the mean, in enough cases.
    pub(super) fn believed(&self) -> bool {
        self.cases >= CASES && self.errors < BETTER * self.errors_of_mean
    }

    /// The strength beyond a newcomer's that a first game indicates, as an observation to be
    /// combined with the player's estimate. `None` while the mean predicts as well.
    ///
    /// The variance of strengths is t, and r once the first game is known. The observation that
    /// reduces the variance of a Gaussian from t to r has precision 1/r − 1/t, and its value is
    /// t/(t − r) times the resulting mean. It carries no information if r = t.
    pub(super) fn predict(&self, features: &Features) -> Option<Strength> {
        let left = (self.errors + self.variances) / self.cases.max(1.0);
        let all = (self.errors_of_mean + self.variances) / self.cases.max(1.0);
        self.believed().then(|| Strength {
            mean: self.beyond(features) * all / (all - left),
            deviation: libm::sqrt(left * all / (all - left)),
        })
    }

    /// The expected strength beyond the mean, by the regression.
    fn beyond(&self, features: &Features) -> f64 {
        let coefficients = solve(self.squares, self.products);
        coefficients.iter().zip(features).map(|(c, x)| c * x).sum()
    }
}

/// Solves a·x = b by Gaussian elimination; `a` is positive definite and needs no pivoting.
fn solve(mut a: [Features; WIDTH], mut b: Features) -> Features {
    for k in 0..WIDTH {
        let (pivot, known) = (a[k], b[k]);
        for (row, right) in a.iter_mut().zip(&mut b).skip(k + 1) {
            let factor = row[k] / pivot[k];
            for (cell, above) in row.iter_mut().zip(pivot) {
                *cell -= factor * above;
            }
            *right -= factor * known;
        }
    }
    for k in (0..WIDTH).rev() {
        let rest: f64 = (k + 1..WIDTH).map(|j| a[k][j] * b[j]).sum();
        b[k] = (b[k] - rest) / a[k][k];
    }
    b
}

/// The part of what is known from other rulesets that counts before anything is learned about it: a player who is
/// strong in one game type is often, but not always, strong in another.
pub const PART: f64 = 0.5;
/// How much [`PART`] counts: as much as ten players with a usual distance from a newcomer, each of whom weighs a
/// third.
const CAUTION: f64 = 10.0 / 3.0;
/// For systems without deviations: the games after which a player's own games say as much as the prior.
const EQUAL: f64 = 20.0;

/// What is known of a player elsewhere, relative to a newcomer.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct KnownElsewhere {
    pub strength: Strength,
    /// The weight, if it is from games whose weights count as they are, see [`Level::is_near`](super::Level).
    pub near: Option<f64>,
}

/// The prior of a player, until enough games of their own are compared with it.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Adopted {
    known: Strength,
    /// The weight, if that counts as it is. Then there is no part to learn.
    near: Option<f64>,
    /// What the prior would be without it.
    unknown: Strength,
    /// The prior as the rating system has taken it.
    prior: Strength,
}

/// The priors of one rating pool, and what is learned about their part.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Elsewhere {
    /// Σ w·x·y and Σ w·x², in units of [`spread`].
    products: f64,
    squares: f64,
    adopted: PlayerMap<Adopted>,
}

impl Default for Elsewhere {
    fn default() -> Self {
        Self {
            products: PART * CAUTION,
            squares: CAUTION,
            adopted: PlayerMap::default(),
        }
    }
}

/// The variance with which strengths are measured, so that players are compared in the same way in all systems.
fn spread(scale: Scale) -> f64 {
    let deviation = Scale::UNCERTAIN * scale.unit();
    deviation * deviation
}

impl Elsewhere {
    /// ρ, 0 to 1.
    fn part(&self) -> f64 {
        (self.products / self.squares).clamp(0.0, 1.0)
    }

    /// The prior of a player of whom this is known; `unknown` is the prior without it.
    pub(super) fn prior(&self, known: KnownElsewhere, unknown: Strength) -> Strength {
        match known.near {
            Some(_) => known.strength,
            None => known.strength.faded(self.part(), unknown),
        }
    }

    /// Notes the prior of a player as the rating system has taken it, to compare it later.
    pub(super) fn note(
        &mut self,
        player: Player,
        known: KnownElsewhere,
        unknown: Strength,
        prior: Strength,
    ) {
        let adopted = Adopted {
            known: known.strength,
            near: known.near,
            unknown,
            prior,
        };
        self.adopted.set(player, adopted);
    }

    /// Whether a player's strength began with what is known elsewhere, and the weight that was taken over as it is; kept
    /// until both are compared with games of their own.
    pub(super) fn of(&self, player: Player) -> Option<Option<f64>> {
        self.adopted.get(player).map(|own| own.near)
    }

    /// Compares what was known of a player with the estimate after [`SETTLED`] games of their own.
    pub(super) fn compare(&mut self, player: Player, after: Strength, scale: Scale) {
        let adopted = self.adopted.remove(player);
        let Some(adopted) = adopted.filter(|own| own.near.is_none()) else {
            return;
        };
        let spread = spread(scale);
        let Some(own) = own_games(adopted.prior, after, spread) else {
            return;
        };
        let most = UNITS * scale.unit(); // beyond it, all weights are 0 or 100
        let known = adopted.known.mean - adopted.unknown.mean;
        let shown = (own.mean - adopted.unknown.mean).clamp(-most, most);
        let weight = spread / (spread + own.variance());
        self.products += weight * known * shown / spread;
        self.squares += weight * known * known / spread;
    }
}

/// What a player's [`SETTLED`] own games say by themselves: the estimate after them without the prior. `None` if they
/// have not made the estimate surer.
fn own_games(prior: Strength, after: Strength, spread: f64) -> Option<Strength> {
    if after.deviation > 0.0 {
        let precision = 1.0 / after.variance() - 1.0 / prior.variance();
        let sum = after.mean / after.variance() - prior.mean / prior.variance();
        let surer = precision.is_finite() && precision > 0.0;
        return surer.then(|| Strength {
            mean: sum / precision,
            deviation: libm::sqrt(1.0 / precision),
        });
    }
    let games = f64::from(SETTLED);
    let moved = games / (games + EQUAL);
    Some(Strength {
        mean: prior.mean + (after.mean - prior.mean) / moved,
        deviation: libm::sqrt(spread * EQUAL / games),
    })
}

/// The start weights of players, by key.
#[derive(Clone, Debug, Default)]
pub(super) struct Starts(Arc<BTreeMap<PlayerKey, StartWeight>>);

/// The start weights of players, by number; `people` are all players.
#[derive(Clone, Copy, Debug)]
pub(super) struct StartsByNumber<'a> {
    starts: &'a Starts,
    people: &'a People,
}

impl Starts {
    pub(super) fn new(by_key: BTreeMap<PlayerKey, StartWeight>) -> Self {
        Self(Arc::new(by_key))
    }

    /// The start weights by the numbers of these players.
    pub(super) fn among<'a>(&'a self, people: &'a People) -> StartsByNumber<'a> {
        StartsByNumber {
            starts: self,
            people,
        }
    }
}

impl StartsByNumber<'_> {
    /// The start weight of a player.
    pub(super) fn of(self, player: Player) -> Option<StartWeight> {
        let person = self.people.get(player)?;
        self.starts.0.get(&person.key).copied()
    }
}

/// The prior of a start weight whose strength above a newcomer's is `mean`. With twice the deviation, the first
/// matches move an uncertain one four times as far.
pub(super) fn prior(start: StartWeight, mean: f64, scale: Scale) -> Strength {
    let share = match start.uncertain {
        true => Scale::UNCERTAIN,
        false => Scale::SURE,
    };
    let deviation = share * scale.unit();
    Strength { mean, deviation }
}

#[cfg(test)]
mod tests {
    use rand::{RngExt, SeedableRng, rngs::ChaCha8Rng};

    use super::*;
    use crate::game::Tally;

    fn learned(slope: f64) -> Newcomers {
        let mut random = ChaCha8Rng::seed_from_u64(2);
        let mut newcomers = Newcomers::default();
        for _ in 0..1_000 {
            let features = [(); WIDTH].map(|()| random.random_range(-1.0..1.0));
            let noise = random.random_range(-0.3..0.3);
            let strength = Strength {
                mean: 0.5 + slope * features[1] + noise,
                deviation: 0.1,
            };
            newcomers.learn(&features, strength);
        }
        newcomers
    }

    #[test]
    fn from_three_times_the_mean_on_all_counts_are_alike() {
        let beside_seven_with_one_kill = |kills: f64| {
            let tally = |player: u32| Tally {
                kills: if player == 0 { kills } else { 1.0 },
                minutes: 10.0,
                ..Tally::new(Player(player))
            };
            let mut game = RatedGame::new(Vec::new());
            game.tallies = (0..8).map(tally).collect();
            Newcomers::features(&game, Player(0)).unwrap()[1]
        };
        assert_eq!(beside_seven_with_one_kill(0.0), -1.0);
        assert!(beside_seven_with_one_kill(1.0).abs() < 1e-12);
        assert!((beside_seven_with_one_kill(2.0) - (16.0 / 9.0 - 1.0)).abs() < 1e-12);
        for many in [5.0, 20.0, 500.0] {
            assert_eq!(beside_seven_with_one_kill(many), 2.0, "{many}");
        }
    }

    #[test]
    fn what_tells_something_moves_the_prior_to_what_is_expected() {
        let predicted = learned(0.8).predict(&[0.0, 0.5, 0.0, 0.0]).unwrap();
        // Strengths have variance 0.8²/3 + 0.6²/12 + 0.1²; the last two remain unexplained.
        let (all, left) = (0.64 / 3.0 + 0.03 + 0.01, 0.03 + 0.01);
        let part = all / (all + predicted.variance());
        assert!((part * predicted.mean - 0.4).abs() < 0.05, "{predicted:?}");
        assert!(((1.0 - part) * all - left).abs() < 0.01, "{predicted:?}");
    }

    #[test]
    fn what_tells_nothing_is_not_believed() {
        assert_eq!(learned(0.0).predict(&[0.0, 0.5, 0.0, 0.0]), None);
        assert_eq!(Newcomers::default().predict(&[1.0; WIDTH]), None);
        let mut silent = Newcomers::default(); // games without statistics
        for i in 0..1_000 {
            let strength = Strength {
                mean: f64::from(i % 7),
                deviation: 0.1,
            };
            silent.learn(&[0.0; WIDTH], strength);
        }
        assert_eq!(silent.predict(&[0.0; WIDTH]), None);
    }

    #[test]
    fn equations_are_solved() {
        let mut a = [[1.0; WIDTH]; WIDTH];
        (0..WIDTH).for_each(|i| a[i][i] = 2.0 + i as f64);
        let x = [1.0, -2.0, 3.0, 0.5];
        let b = a.map(|row| row.iter().zip(x).map(|(a, x)| a * x).sum());
        let solved = solve(a, b);
        assert!(
            solved.iter().zip(x).all(|(s, x)| (s - x).abs() < 1e-12),
            "{solved:?}"
        );
    }

    #[test]
    fn features_are_relative_to_the_game() {
        let mut game = RatedGame::default();
        let tally = |player, points, kills, minutes| Tally {
            points: Some(points),
            kills,
            minutes,
            ..Tally::new(Player(player))
        };
        game.tallies = vec![tally(0, 3.0, 0.0, 1.0), tally(1, 2.0, 0.0, 2.0)];
        let features = |p| Newcomers::features(&game, Player(p));
        assert_eq!(features(0), Some([0.5, 0.0, 0.0, 0.0]));
        assert_eq!(features(1), Some([-0.5, 0.0, 0.0, 0.0]));
        assert_eq!(features(2), None);
    }

    const SCALE: Scale = Scale::Strengths {
        newcomer: 0.0,
        unit: 1.0,
    };

    fn strength(mean: f64, deviation: f64) -> Strength {
        Strength { mean, deviation }
    }

    fn nobody() -> Strength {
        Strength::prior(0.9)
    }

    fn far(mean: f64) -> KnownElsewhere {
        KnownElsewhere {
            strength: strength(mean, 0.3),
            near: None,
        }
    }

    #[test]
    fn a_prior_is_half_of_what_is_known_at_first_and_less_sure() {
        let elsewhere = Elsewhere::default();
        let prior = elsewhere.prior(far(2.0), nobody());
        assert_eq!(prior.mean, 1.0);
        let variance = 0.25 * 0.09 + 0.75 * 0.81;
        assert!((prior.variance() - variance).abs() < 1e-12);
        let near = KnownElsewhere {
            near: Some(60.0),
            ..far(2.0)
        };
        assert_eq!(elsewhere.prior(near, nobody()), near.strength);
        // Somebody whom an operator has started at 1.
        let stated = elsewhere.prior(far(2.0), strength(1.0, 0.45));
        assert_eq!(stated.mean, 1.5);
    }

    #[test]
    fn own_games_are_what_is_left_without_the_prior() {
        // Two Gaussians of the same deviation: their mean is in the middle, with half of the variance.
        let after = strength(1.5, 0.5_f64.sqrt());
        let own = own_games(strength(1.0, 1.0), after, 0.81).unwrap();
        assert!((own.mean - 2.0).abs() < 1e-9 && (own.deviation - 1.0).abs() < 1e-9);
        assert_eq!(
            own_games(strength(1.0, 1.0), strength(1.0, 1.1), 0.81),
            None
        );
        // Without deviations, ten games move the estimate a third of the way.
        let own = own_games(strength(1.0, 0.0), strength(1.5, 0.0), 0.81).unwrap();
        assert!((own.mean - 2.5).abs() < 1e-12, "{own:?}");
        assert!((own.variance() - 1.62).abs() < 1e-12);
    }

    /// The part after `players` players whose own strength is `truth` times what is known of them.
    fn part_learned(players: u32, truth: f64, deviation: f64) -> f64 {
        let mut elsewhere = Elsewhere::default();
        for number in 0..players {
            let player = Player(number);
            let known = far([-1.5, -0.5, 0.5, 1.5][number as usize % 4]);
            let prior = elsewhere.prior(known, nobody());
            let prior = strength(prior.mean, deviation * prior.deviation);
            elsewhere.note(player, known, nobody(), prior);
            let own = strength(truth * known.strength.mean, 1.0);
            let after = match deviation > 0.0 {
                true => prior.with(own),
                false => strength(prior.mean + (own.mean - prior.mean) / 3.0, 0.0),
            };
            elsewhere.compare(player, after, SCALE);
        }
        elsewhere.part()
    }

    #[test]
    fn the_part_is_learned_from_players_in_both() {
        for deviation in [1.0, 0.0] {
            assert_eq!(part_learned(0, 1.0, deviation), PART);
            assert!(
                (part_learned(3, 1.0, deviation) - PART).abs() < 0.2,
                "cautious"
            );
            for truth in [0.0, 0.3, 0.5, 0.9] {
                let part = part_learned(400, truth, deviation);
                assert!((part - truth).abs() < 0.03, "{deviation} {truth} {part}");
            }
            assert_eq!(part_learned(400, -1.0, deviation), 0.0);
            assert_eq!(part_learned(400, 2.0, deviation), 1.0);
        }
    }
}
