//! The formula of ADVANTAGE: how much stronger a team is because of its players and its score, as the logarithm of a
//! factor; and its chance with the score.
//!
//! ```text
//! left      l = time left / length, 0.02 to 1
//! before    z = Φ⁻¹(the chance without the score)
//! chance    Φ((lead / σ + l · z) / √l)                 σ: the usual difference of the final scores
//! ```
//!
//! This is H. Stern's model of scores as a Brownian motion (1994), as in the formula of ADVANTAGE. At the start, the
//! chance is the one without the score. Strengths count for the time that is left, and the lead for all of it.
//! `docs/internals/figures.md` has what this gains on recorded matches.

use evenkeel_model::{
    WinModel,
    record::UNTIMED_MILLIS,
    win_model::{TeamLoad, cdf, quantile},
};
use serde::{Deserialize, Serialize};

use super::{Advantage, Assistance, Help, TeamState};

/// Half the width of a 99 % interval, in standard deviations. Measured with 2,000 histories of
/// twelve equally strong players and 20 divisions into six against six after each: with this
/// interval, ADVANTAGE helps in 9 of the 40,000 divisions; with one of 95 % (1.96), in 69.
/// (`cargo test --release --test large -- --ignored --nocapture equals`)
const SURE: f64 = 2.576;

/// ln 1.5: a player who is one unit of strength above an average newcomer counts as one and a half of them.
const LN_PER_UNIT: f64 = 0.405_465_108_108_164_4;

/// What predicts which team is stronger.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum StrengthSource {
    /// The weights: no rating system has learned anything that predicts a chance.
    Weights,
    /// The players' strengths, and how the rating system turns them into chances.
    Strengths(WinModel),
}

/// How much stronger one team is than another, as the logarithms of two factors.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Stronger {
    /// The factor by the number of its players.
    pub(super) heads: f64,
    /// The factor by how strong its players and its side of the map are.
    pub(super) players: f64,
}

impl StrengthSource {
    /// How much stronger `one` is than `other`; both have players. `side` is 1 if the side of the map
    /// that the win model has learned is that of `one`, −1 if it is that of `other`, and 0 if it is neither.
    ///
    /// Of the edge that the rating system predicts, only the [`sure_part`] counts. Divided by the
    /// number of players of the weaker team, it is the strength that each of them lacks. The scale
    /// of the weights turns that strength into a factor.
    pub(super) fn stronger(&self, one: &TeamState, other: &TeamState, side: f64) -> Stronger {
        let heads = log(one.players as f64) - log(other.players as f64);
        let Self::Strengths(win_model) = self else {
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
        let edge = win_model.edge_of_players(load(one), load(other)) + side * win_model.side;
        let sure = sure_part(edge.abs(), SURE * win_model.deviation);
        let weaker = if edge > 0.0 { other } else { one };
        let per_player =
            win_model.per_strength_at(one.players + other.players) * weaker.players as f64;
        let each = sure / per_player / win_model.unit;
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

impl Advantage {
    /// The teams that have players.
    fn playing(&self) -> impl Iterator<Item = usize> {
        (0..self.teams.len()).filter(|&team| self.teams[team].players > 0)
    }

    /// Each playing team's share of the sum of `value`; equal shares if the sum is 0.
    fn shares(&self, value: impl Fn(&TeamState) -> f64) -> Vec<f64> {
        let sum: f64 = self.playing().map(|team| value(&self.teams[team])).sum();
        let equal = 1.0 / self.playing().count().max(1) as f64;
        let share = |team: &TeamState| match team.players {
            0 => 0.0,
            _ if sum > 0.0 => value(team) / sum,
            _ => equal,
        };
        self.teams.iter().map(share).collect()
    }

    /// Trust in the scores, 0 to 1.
    fn trust(&self) -> f64 {
        match self.scored {
            true => libm::pow(self.done(), self.settings.trust.get()),
            false => 0.0,
        }
    }

    /// The help for a factor whose logarithm is `gap`, within the cap and the dead band.
    fn target(&self, team: u8, gap: f64) -> Option<Help> {
        let factor = libm::exp(gap).min(self.settings.max.get());
        (factor > 1.0 && factor >= self.settings.dead_band.get()).then_some(Help { team, factor })
    }

    /// The help to give now.
    pub(super) fn assist(&self) -> Assistance {
        let basis = &self.basis;
        let trust = self.trust();
        let wanted = self.by_score(trust);
        let step = log(self.settings.slew.get()) * (basis.ago as f64 / 60_000.0);
        let slewed = wanted.iter().enumerate().map(|(team, &wanted)| {
            let last = basis.last.get(team).copied().unwrap_or(0.0);
            // Two teams move apart at twice the speed of one.
            last + (wanted - last).clamp(-step / 2.0, step / 2.0)
        });
        let by_score: Vec<f64> = slewed.collect();
        let (team, parts) = self.weakest(trust, &by_score);
        let (to, target) = self.weakest(trust, &wanted);
        let gap = parts.iter().sum::<f64>();
        Assistance {
            help: self.target(team, gap),
            target: self.target(to, target.iter().sum()),
            prior: self.shares(|team| team.weight.max(0.0)),
            trust,
            factor: libm::exp(gap),
            by_score,
            parts,
        }
    }

    /// For each team, the logarithm of the factor by which its score makes it stronger. It depends
    /// on the lead over the mean score of the teams that play.
    fn by_score(&self, trust: f64) -> Vec<f64> {
        let playing = self.playing().count().max(1) as f64;
        let scores = || self.playing().map(|team| self.teams[team].score);
        let mean = scores().sum::<f64>() / playing;
        // For two teams this is the sum of their scores; each leads the mean by half the
        // difference.
        let sum = 2.0 * scores().map(f64::abs).sum::<f64>() / playing;
        let score = |team: &TeamState| match team.players {
            0 => 0.0,
            _ => {
                trust
                    * self
                        .basis
                        .spread
                        .stronger(team.score - mean, sum, self.done())
            }
        };
        self.teams.iter().map(score).collect()
    }

    /// Finds the pair of teams with the largest factor of one over the other. Returns the weaker of
    /// the two and the logarithms of the three parts of that factor: heads, players, score.
    /// O(teams²).
    fn weakest(&self, trust: f64, by_score: &[f64]) -> (u8, [f64; 3]) {
        let two = self.teams.len() == 2;
        let pairs = self
            .playing()
            .flat_map(|one| self.playing().map(move |other| (one, other)));
        let factors = pairs
            .filter(|(one, other)| one != other)
            .map(|(one, other)| {
                let side = match (two, one) {
                    (false, _) => 0.0,
                    (true, 0) => 1.0,
                    (true, _) => -1.0,
                };
                let stronger =
                    self.basis
                        .known
                        .stronger(&self.teams[one], &self.teams[other], side);
                let score = by_score[one] - by_score[other];
                let parts = [stronger.heads, (1.0 - trust) * stronger.players, score];
                (other as u8, parts)
            });
        let sum = |parts: &[f64; 3]| parts.iter().sum::<f64>();
        let most = factors.reduce(|a, b| if sum(&b.1) > sum(&a.1) { b } else { a });
        most.unwrap_or((0, [0.0; 3]))
    }

    /// The share of the game that is over, 0 to 1.
    fn done(&self) -> f64 {
        let length = match self.left {
            Some(left) => self.elapsed.saturating_add(left),
            None => self.settings.usual_seconds.millis(),
        };
        match length {
            0 => 0.0,
            _ => (self.elapsed as f64 / length as f64).min(1.0),
        }
    }
}

/// ln of an amount, or of 1e-9 if it is smaller.
pub(super) fn log(amount: f64) -> f64 {
    libm::log(amount.max(1e-9))
}

/// The guess that is made from the present score counts as much as this many matches.
const GUESSES: f64 = 1.0;

/// How far apart the final scores of matches under a ruleset are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ScoreSpread {
    /// Number of matches learned from, older ones counting less.
    pub matches: f64,
    /// The mean square of the difference between two teams' scores in them.
    pub square: f64,
}

impl ScoreSpread {
    /// The usual difference between two scores after the share `done` of the game, 0 to 1. `sum` is the sum of both.
    ///
    /// When the share c of a game is over, the scores of equal teams are √c times as far apart as
    /// at its end (Stern, "A Brownian motion model for the progress of sports scores", 1994).
    pub(crate) fn usual(&self, sum: f64, done: f64) -> f64 {
        let guess = sum.max(0.0) + 1.0;
        // The number of single goals is a Poisson variable, whose variance is its mean. If points
        // come in tens or hundreds, a standard deviation of a quarter of the sum is a better guess.
        let guess = guess + guess * guess / 16.0;
        let all = self.matches * self.square * done.clamp(0.0, 1.0) + GUESSES * guess;
        libm::sqrt(all / (self.matches + GUESSES))
    }

    /// The logarithm of the factor by which a team is stronger if it leads by `lead` after the share
    /// `done` of the game, 0 to 1. `sum` is the sum of both teams' scores. A lead of the usual size counts as much as
    /// weights of 75 against weights of 50.
    pub(super) fn stronger(&self, lead: f64, sum: f64, done: f64) -> f64 {
        LN_PER_UNIT * lead / self.usual(sum, done)
    }
}

/// The least part of a game that is left. What comes after the stated end (overtime, a late message) can still change the
/// result. Without a limit, the first goal in overtime would be certain to win.
const LEAST_LEFT: f64 = 0.02;

/// A chance without the score is kept this far from 0 and 1.
const LEAST_CHANCE: f64 = 0.001;

/// The score and the time of a running game between two teams.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ScoreSoFar {
    /// The score of the first team and of the second one.
    pub scores: [f64; 2],
    /// The time that is left, in milliseconds.
    pub left: u64,
    /// The length of a whole game, in milliseconds ([`usual_length`]).
    pub length: u64,
}

impl ScoreSpread {
    /// The chance of the first team with the score, 0 to 1; a draw is half a win. `before` is its chance without the
    /// score.
    pub fn chance(&self, before: f64, so_far: ScoreSoFar) -> f64 {
        let [one, other] = so_far.scores;
        let usual = self.usual(one.abs() + other.abs(), 1.0);
        let left = so_far.left_part();
        let before = quantile(before.clamp(LEAST_CHANCE, 1.0 - LEAST_CHANCE));
        let chance = cdf(((one - other) / usual + left * before) / libm::sqrt(left));
        // Scores that are no numbers must not make a chance that is none.
        if chance.is_finite() { chance } else { 0.5 }
    }
}

impl ScoreSoFar {
    /// The part of the game that is left.
    fn left_part(self) -> f64 {
        let length = self.length.max(1) as f64;
        (self.left as f64 / length).clamp(LEAST_LEFT, 1.0)
    }
}

/// The time after which a game is over whose end is not stated: nine in ten of the matches with these lengths were.
/// 20 minutes without any match. Lengths are in milliseconds.
pub fn usual_length(lengths: &mut [u64]) -> u64 {
    lengths.sort_unstable();
    let place = (lengths.len() * 9).div_ceil(10);
    let length = place.checked_sub(1).and_then(|at| lengths.get(at));
    length.map_or(UNTIMED_MILLIS, |&length| length.max(1))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

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

    const SPREAD: ScoreSpread = ScoreSpread {
        matches: 40.0,
        square: 9.0,
    };

    fn at(one: f64, other: f64, elapsed: u64) -> ScoreSoFar {
        ScoreSoFar {
            scores: [one, other],
            left: 600 - elapsed.min(600),
            length: 600,
        }
    }

    #[test]
    fn a_game_begins_with_the_chance_of_the_strengths() {
        for before in [0.1, 0.5, 0.77] {
            assert!((SPREAD.chance(before, at(0.0, 0.0, 0)) - before).abs() < 1e-9);
        }
    }

    #[test]
    fn the_same_lead_counts_more_as_the_end_comes_closer() {
        let chances = [0, 300, 500, 590].map(|elapsed| SPREAD.chance(0.4, at(2.0, 1.0, elapsed)));
        assert!(chances.is_sorted(), "{chances:?}");
        assert!(chances[0] > 0.4 && chances[3] > 0.95, "{chances:?}");
        let level = [0, 300, 590].map(|elapsed| SPREAD.chance(0.8, at(1.0, 1.0, elapsed)));
        assert!(level.is_sorted_by(|a, b| a > b), "{level:?}");
        assert!((level[2] - 0.5).abs() < 0.06, "level at the end: {level:?}");
    }

    #[test]
    fn the_formula_is_as_computed_by_hand() {
        // σ² = (40·9 + (3 + 1) + 4²/16) / 41 = 365/41 with the guess from the score; half is left.
        let sigma = (365.0_f64 / 41.0).sqrt();
        let wanted = cdf((1.0 / sigma) / 0.5_f64.sqrt());
        assert!((SPREAD.chance(0.5, at(2.0, 1.0, 300)) - wanted).abs() < 1e-12);
    }

    #[test]
    fn nine_in_ten_games_are_over_at_the_usual_length() {
        assert_eq!(usual_length(&mut []), UNTIMED_MILLIS);
        assert_eq!(usual_length(&mut [7]), 7);
        assert_eq!(usual_length(&mut [0]), 1);
        let mut ten = [10, 3, 2, 4, 5, 6, 7, 8, 9, 1];
        assert_eq!(usual_length(&mut ten), 9);
    }

    proptest! {
        #[test]
        fn the_two_chances_add_up_to_one_and_more_goals_are_better(
            before in 0.0..=1.0, one in -50.0..50.0, other in -50.0..50.0, elapsed in 0_u64..1_000,
        ) {
            let chance = SPREAD.chance(before, at(one, other, elapsed));
            let opposite = SPREAD.chance(1.0 - before, at(other, one, elapsed));
            prop_assert!((0.0..=1.0).contains(&chance));
            prop_assert!((chance + opposite - 1.0).abs() < 1e-6);
        }

        #[test]
        fn any_input_gives_a_chance(
            before in proptest::num::f64::ANY, one in proptest::num::f64::ANY, left: u64, length: u64,
        ) {
            let so_far = ScoreSoFar { scores: [one, 0.0], left, length };
            let before = if before.is_nan() { 0.5 } else { before };
            prop_assert!((0.0..=1.0).contains(&SPREAD.chance(before, so_far)));
        }
    }
}
