//! The formula of version 0.1, for the decisions that it stored.

use super::*;
use crate::domain::units::UpToADay;

#[test]
fn at_first_it_is_the_ratio_of_the_weights() {
    assert_eq!(
        factor(&question(&[team(100.0, 0.0), team(110.0, 0.0)])),
        (0, 1.1)
    );
    assert_eq!(
        factor(&question(&[team(120.0, 5.0), team(100.0, 0.0)])),
        (1, 1.2)
    );
    let three = [team(100.0, 0.0), team(80.0, 0.0), team(90.0, 0.0)];
    assert_eq!(factor(&question(&three)), (1, 1.25));
}

#[test]
fn it_is_capped_and_has_a_dead_band() {
    assert_eq!(
        factor(&question(&[team(300.0, 0.0), team(100.0, 0.0)])),
        (1, 1.5)
    );
    assert_eq!(
        factor(&question(&[team(300.0, 0.0), team(0.0, 0.0)])),
        (1, 1.5)
    );
    let close = question(&[team(104.0, 0.0), team(100.0, 0.0)]).answer(0);
    assert_eq!((close.help, close.target), (None, None));
    assert!((close.factor - 1.04).abs() < 1e-12);
}

#[test]
fn a_team_without_players_takes_no_part() {
    let empty = TeamState {
        players: 0,
        ..team(0.0, 0.0)
    };
    assert_eq!(question(&[team(50.0, 0.0), empty]).answer(0).help, None);
    assert_eq!(question(&[empty, empty]).answer(0).help, None);
    let two = question(&[team(120.0, 0.0), empty, team(100.0, 0.0)]);
    assert_eq!(factor(&two), (2, 1.2));
    let weightless = question(&[team(0.0, 0.0), team(0.0, 0.0)]);
    assert_eq!(weightless.answer(0).help, None);
}

#[test]
fn the_sides_own_odds_count() {
    let mut red = team(100.0, 0.0);
    red.odds = 0.55 / 0.45;
    assert_eq!(
        factor(&question(&[red, team(100.0, 0.0)])),
        (1, (0.55f64 / 0.45 * 1e9).round() / 1e9)
    );
}

#[test]
fn trust_moves_from_the_weights_to_the_score() {
    // The weights favour team 0 by 1.2; it is losing 1 to 3, which favours team 1 by 2.
    let mut game = question(&[team(120.0, 1.0), team(100.0, 3.0)]);
    assert_eq!(factor(&game), (1, 1.2));
    game.left = Some(600_000);
    game.elapsed = 600_000;
    let half = game.answer(0);
    assert!((half.trust - 0.353_553_390_593).abs() < 1e-9);
    // ln f = (1 − τ)·ln 1.2 − τ·ln 2 = −0.1272…: now team 0 needs the help.
    let expected = (0.353_553_390_593 * 2f64.ln() - 0.646_446_609_407 * 1.2f64.ln()).exp();
    let help = half.help.unwrap();
    assert_eq!(help.team, 0);
    assert!((help.factor - expected).abs() < 1e-9, "{help:?}");
    game.left = Some(0);
    assert_eq!(factor(&game), (0, 1.5), "2, but for the cap");
    // Scores may be negative.
    game.teams = vec![team(100.0, -2.0), team(100.0, 1.0)];
    assert_eq!(game.answer(0).seen, [0.2, 0.8]);
}

#[test]
fn without_a_clock_the_usual_length_counts() {
    let mut game = question(&[team(100.0, 1.0), team(100.0, 3.0)]);
    game.elapsed = game.settings.usual_seconds.millis();
    assert_eq!(game.answer(0).trust, 1.0);
    game.elapsed *= 7;
    assert_eq!(game.answer(0).trust, 1.0);
    game.scored = false;
    assert_eq!(
        game.answer(0).trust,
        0.0,
        "0 to 0 because SCORE was never sent"
    );
    game.scored = true;
    game.settings.usual_seconds = UpToADay::of(0);
    assert_eq!(game.answer(0).trust, 0.0);
}

#[test]
fn one_teams_help_ends_before_the_others_begins() {
    let mut game = question(&[team(100.0, 0.0), team(130.0, 0.0)]);
    let last = Help {
        team: 1,
        factor: 1.1,
    };
    game.last = Some((last, 60_000));
    assert_eq!(factor(&game), (1, (1.1f64 / 1.05 * 1e9).round() / 1e9));
    game.last = Some((last, 180_000));
    assert_eq!(
        factor(&game),
        (0, (1.05f64.powi(3) / 1.1 * 1e9).round() / 1e9)
    );
    game.last = Some((last, 3_600_000));
    assert_eq!(factor(&game), (0, 1.3));
}

proptest! {
    #[test]
    fn it_stays_in_bounds_and_never_jumps(
        teams in proptest::collection::vec((0usize..3, 0.0..500.0, 0.2..5.0, -20.0..50.0), 2..=8),
        (elapsed, left, scored) in (0u64..4_000_000, proptest::option::of(0u64..4_000_000), any::<bool>()),
        last in proptest::option::of((0u8..2, 1.0..1.5, 0u64..600_000)),
    ) {
        let state = |(players, weight, odds, score)| TeamState { players, weight, odds, score, strength: 0.0 };
        let mut game = question(&teams.into_iter().map(state).collect::<Vec<_>>());
        (game.elapsed, game.left, game.scored) = (elapsed, left, scored);
        game.last = last.map(|(team, factor, ago)| (Help { team, factor }, ago));
        let answer = game.answer(0);
        for help in answer.help.into_iter().chain(answer.target) {
            prop_assert!(usize::from(help.team) < game.teams.len());
            prop_assert!(help.factor > 1.0 && help.factor <= 1.5 + 1e-9, "{:?}", help);
        }
        if let Some((last, ago)) = game.last {
            // The position on a line from help for the last team to help for any other.
            let place = |help: Option<Help>| help.map_or(0.0, |help| {
                if help.team == last.team { help.factor.ln() } else { -help.factor.ln() }
            });
            let step = (place(answer.help) - place(Some(last))).abs();
            // Help below 1.0005 counts as none, a difference of half a thousandth.
            prop_assert!(step <= 1.05f64.ln() * ago as f64 / 60_000.0 + 0.0005);
        }
    }
}
