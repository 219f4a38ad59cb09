//! How much stronger a team is, and its chance with the score.

use proptest::prelude::*;

use super::super::*;

#[test]
fn whoever_cannot_lose_by_the_weights_is_the_favourite_from_the_first_second_on() {
    let [sure, hopeless] = [1.0, 0.0].map(|before| SPREAD.chance(before, at(0.0, 0.0, 0)));
    assert!((sure - 0.999).abs() < 1e-9, "{sure}");
    assert!((hopeless - 0.001).abs() < 1e-9, "{hopeless}");
    // A great lead in the last minute turns it.
    assert!(SPREAD.chance(1.0, at(0.0, 20.0, 590)) < 0.01);
}

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
