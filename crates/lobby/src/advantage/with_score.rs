//! The chance of a running game between two teams, with its score.
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

use super::ScoreSpread;
use evenkeel_model::{UNTIMED_MILLIS, normal};

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
        let before = normal::quantile(before.clamp(LEAST_CHANCE, 1.0 - LEAST_CHANCE));
        let chance = normal::cdf(((one - other) / usual + left * before) / libm::sqrt(left));
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
        let wanted = normal::cdf((1.0 / sigma) / 0.5_f64.sqrt());
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
