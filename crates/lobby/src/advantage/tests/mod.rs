mod strength;

use super::*;
use crate::games::win_model;
use evenkeel_model::{WinModel, units::UpToADay};
use proptest::prelude::*;

fn factor(question: &Advantage) -> (u8, f64) {
    let help = question.answer(0).help.unwrap();
    (help.team, (help.factor * 1e9).round() / 1e9)
}

/// The question, with strengths of 1 per 25 points above 50 where `known` has a win model.
fn asked(teams: &[(usize, f64, f64)], known: StrengthSource) -> Advantage {
    let state = |&(players, mean, score): &(usize, f64, f64)| TeamState {
        players,
        weight: players as f64 * mean,
        score,
        strength: players as f64 * (mean - 50.0) / 25.0,
    };
    Advantage {
        teams: teams.iter().map(state).collect(),
        elapsed: 0,
        left: None,
        scored: true,
        settings: AdvantageSettings::default(),
        basis: Basis {
            known,
            spread: ScoreSpread::default(),
            last: Vec::new(),
            ago: 0,
        },
    }
}

fn known() -> StrengthSource {
    StrengthSource::Strengths(WinModel {
        side: 0.0,
        ..win_model()
    })
}

/// The same question when half of twenty minutes are over.
fn at_half_time(mut game: Advantage, matches: f64, square: f64) -> Advantage {
    (game.elapsed, game.left) = (600_000, Some(600_000));
    game.basis.spread = ScoreSpread { matches, square };
    game.basis.ago = 600_000;
    game
}

#[test]
fn heads_count_as_heads() {
    for known in [StrengthSource::Weights, known()] {
        let game = asked(&[(3, 50.0, 0.0), (4, 50.0, 0.0)], known);
        assert_eq!(factor(&game), (0, (4e9_f64 / 3.0).round() / 1e9));
        assert_eq!(
            asked(&[(4, 50.0, 0.0), (4, 50.0, 0.0)], known)
                .answer(0)
                .help,
            None
        );
    }
}

#[test]
fn strength_counts_by_what_is_sure_of_it() {
    // Of the edge 4 · 0.2 · 0.5 = 0.4, known to within 2.576 · 0.1, the part 0.4 · (1 − 0.644²) counts:
    // 0.2341, which is 0.1171 of strength for each of four.
    let answer = asked(&[(4, 55.0, 0.0), (4, 50.0, 0.0)], known()).answer(0);
    let by_hand = ((0.4_f64 - 0.2576 * 0.644) / 2.0 * 1.5_f64.ln()).exp();
    assert!((answer.factor - by_hand).abs() < 1e-9, "{answer:?}");
    assert_eq!(answer.help, None, "1.049 is below the dead band");
    let (team, more) = factor(&asked(&[(4, 60.0, 0.0), (4, 50.0, 0.0)], known()));
    let by_hand = ((0.8_f64 - 0.2576 * 0.322) / 2.0 * 1.5_f64.ln()).exp();
    assert!(
        team == 1 && (more - by_hand).abs() < 1e-8,
        "{more} {by_hand}"
    );
    // Where the 99 % interval holds a half, there is none.
    let close = asked(&[(4, 52.4, 0.0), (4, 50.0, 0.0)], known()).answer(0);
    assert_eq!((close.help, close.factor), (None, 1.0));
    // One and a half times the weight, all of it known, is a factor of one and a half.
    let StrengthSource::Strengths(win_model) = known() else {
        unreachable!()
    };
    let sure = StrengthSource::Strengths(WinModel {
        deviation: 0.0,
        ..win_model
    });
    let game = asked(&[(4, 50.0, 0.0), (4, 75.0, 0.0)], sure);
    assert!((game.answer(0).factor - 1.5).abs() < 1e-9);
}

#[test]
fn a_side_that_is_surely_better_counts() {
    let StrengthSource::Strengths(win_model) = known() else {
        unreachable!()
    };
    for (side, team) in [(0.6, 1), (-0.6, 0)] {
        let known = StrengthSource::Strengths(WinModel { side, ..win_model });
        let game = asked(&[(4, 50.0, 0.0), (4, 50.0, 0.0)], known);
        assert_eq!(game.answer(0).help.map(|help| help.team), Some(team));
    }
}

#[test]
fn a_score_counts_by_how_far_such_matches_end_apart() {
    let help = |ours, theirs, matches, square| {
        let game = asked(&[(4, 50.0, ours), (4, 50.0, theirs)], known());
        at_half_time(game, matches, square).answer(0).factor
    };
    // 1:0 where matches end 3 apart, 400:300 where they end 200 apart.
    let (flag, points) = (
        help(1.0, 0.0, 50.0, 9.0),
        help(400.0, 300.0, 50.0, 40_000.0),
    );
    assert!(flag > 1.0 && flag < points, "{flag} {points}");
    assert!(help(400.0, 300.0, 50.0, 2_500.0) > 1.2);
    // Where nothing is known of such matches, both are small leads.
    assert!((1.0..1.15).contains(&help(1.0, 0.0, 0.0, 0.0)));
    assert!((1.0..1.15).contains(&help(400.0, 300.0, 0.0, 0.0)));
    // By hand: trust 0.3536, the usual difference √((50 · 9 / 2 + 2 + 2² / 16) / 51) = 2.111.
    let by_hand = (0.5_f64.powf(1.5) * 1.5_f64.ln() / ((225.0 + 2.25) / 51.0_f64).sqrt()).exp();
    assert!((flag - by_hand).abs() < 1e-9, "{flag} {by_hand}");
}

#[test]
fn who_is_there_counts_at_once_and_the_score_slowly() {
    let lead = |ago| {
        let mut game = at_half_time(asked(&[(4, 50.0, 9.0), (4, 50.0, 0.0)], known()), 50.0, 9.0);
        game.basis.ago = ago;
        game
    };
    assert_eq!(lead(0).answer(0).factor, 1.0, "no time, no change");
    let minute = lead(60_000).answer(0);
    assert!((minute.factor - 1.05).abs() < 1e-9, "{minute:?}");
    // A minute later, from where it was.
    let mut next = lead(60_000);
    next.basis.last = minute.by_score;
    assert!((next.answer(0).factor - 1.05 * 1.05).abs() < 1e-9);
    next.teams[1].players = 3;
    assert!((next.answer(0).factor - 1.05 * 1.05 * 4.0 / 3.0).abs() < 1e-9);
}

#[test]
fn a_team_without_players_takes_no_part() {
    let help = |teams: &[_]| asked(teams, StrengthSource::Weights).answer(0).help;
    assert_eq!(help(&[(3, 50.0, 0.0), (0, 0.0, 0.0)]), None);
    assert_eq!(help(&[(0, 0.0, 0.0), (0, 0.0, 0.0)]), None);
    let two = [(3, 60.0, 0.0), (0, 0.0, 0.0), (3, 50.0, 0.0)];
    assert_eq!(factor(&asked(&two, StrengthSource::Weights)), (2, 1.2));
    assert_eq!(help(&[(3, 0.0, 0.0), (3, 0.0, 0.0)]), None, "no weight");
}

#[test]
fn without_a_clock_the_usual_length_counts() {
    let mut game = asked(&[(3, 50.0, 1.0), (3, 50.0, 3.0)], StrengthSource::Weights);
    let trust = |game: &Advantage| game.answer(0).trust;
    game.elapsed = game.settings.usual_seconds.millis();
    assert_eq!(trust(&game), 1.0);
    game.elapsed *= 7;
    assert_eq!(trust(&game), 1.0);
    game.scored = false;
    assert_eq!(trust(&game), 0.0, "0 to 0 because SCORE was never sent");
    game.scored = true;
    game.settings.usual_seconds = UpToADay::of(0);
    assert_eq!(trust(&game), 0.0);
}

proptest! {
    #[test]
    fn it_stays_in_bounds_and_the_score_never_jumps(
        teams in proptest::collection::vec((0usize..5, 0.0..100.0, -20.0..500.0), 2..=8),
        (elapsed, left, scored) in (0u64..4_000_000, proptest::option::of(0u64..4_000_000), any::<bool>()),
        (matches, square, ago) in (0.0..60.0, 0.0..1e6, 0u64..600_000),
        last in proptest::collection::vec(-0.5..0.5, 0..8),
        strengths in any::<bool>(),
    ) {
        let mut game = asked(&teams, if strengths { known() } else { StrengthSource::Weights });
        (game.elapsed, game.left, game.scored) = (elapsed, left, scored);
        game.basis = Basis {
            spread: ScoreSpread { matches, square },
            last: last.clone(),
            ago,
            ..game.basis
        };
        let answer = game.answer(0);
        for help in answer.help.into_iter().chain(answer.target) {
            prop_assert!(usize::from(help.team) < teams.len() && teams[usize::from(help.team)].0 > 0);
            prop_assert!(help.factor >= 1.05 && help.factor <= 1.5 + 1e-9, "{:?}", help);
        }
        let step = 1.05_f64.ln() * (ago as f64 / 60_000.0) / 2.0;
        for (team, now) in answer.by_score.iter().enumerate() {
            let before = last.get(team).copied().unwrap_or(0.0);
            prop_assert!((now - before).abs() <= step + 1e-9);
        }
        let json = serde_json::to_string(&game).unwrap();
        prop_assert_eq!(serde_json::from_str::<Advantage>(&json).unwrap().answer(0), answer);
    }

    #[test]
    fn swapped_teams_swap_the_help(
        (a, b) in ((1usize..6, 0.0..100.0, 0.0..50.0), (1usize..6, 0.0..100.0, 0.0..50.0)),
    ) {
        let one = at_half_time(asked(&[a, b], known()), 9.0, 9.0).answer(0);
        let other = at_half_time(asked(&[b, a], known()), 9.0, 9.0).answer(0);
        prop_assert!((one.factor - other.factor).abs() < 1e-9);
        if let (Some(one), Some(other)) = (one.help, other.help) {
            prop_assert_eq!(one.team, 1 - other.team);
        }
    }
}
