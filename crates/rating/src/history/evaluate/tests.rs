//! The evaluation on simulated histories whose true strengths are known.

use evenkeel_model::{
    Kind, MatchRecord, Outcome, Participant, PlayerKey, Presence, Rulebook, RulebookSpec, Span,
    Timestamp,
};
use rand::{RngExt, SeedableRng, rngs::ChaCha8Rng};

use super::*;
use crate::{
    self as rating, SystemName,
    history::{Settings, SystemComparison},
};

fn rulebook() -> Rulebook {
    Rulebook::new(&RulebookSpec::default()).unwrap()
}

/// Two against two out of eight players, of whom those with lower numbers are stronger; `edge`
/// helps side 0.
fn history(matches: usize, strength: f64, edge: f64) -> Vec<MatchRecord> {
    let mut random = ChaCha8Rng::seed_from_u64(5);
    let one = |number: usize| {
        let mut pool: Vec<u32> = (0..8).collect();
        let drawn = [(); 4].map(|()| pool.swap_remove(random.random_range(0..pool.len())));
        let worth = |p: u32| (3.5 - f64::from(p)) / 3.5;
        let sum = worth(drawn[0]) + worth(drawn[1]) - worth(drawn[2]) - worth(drawn[3]);
        let won = random.random_bool(rating::normal::cdf(strength * sum + edge));
        let start = Timestamp(1_000_000 * number as i64);
        MatchRecord {
            server: String::new(),
            start,
            end: start.plus_millis(600_000),
            clock: None,
            untimed: false,
            client: String::new(),
            unscored: false,
            logged_as: None,
            map: "m".into(),
            game_type: "ctf".into(),
            mode: String::new(),
            mutators: vec![],
            scores: vec![0.0, 0.0],
            participants: drawn.iter().enumerate().map(participant).collect(),
            events: vec![],
            outcome: Outcome::Won(u8::from(!won)),
        }
    };
    (0..matches).map(one).collect()
}

fn participant((place, number): (usize, &u32)) -> Participant {
    Participant {
        key: PlayerKey {
            kind: Kind::Human,
            id: number.to_string(),
        },
        name: String::new(),
        presence: vec![Presence {
            team: u8::from(place >= 2),
            span: Span {
                from: 0,
                to: 600_000,
            },
        }],
        points: None,
        kills: 0,
        deaths: 0,
        roles: vec![],
        party: None,
        left: None,
    }
}

fn run(matches: &[MatchRecord], plan: &EvaluationPlan) -> Evaluation {
    let mut now = 0.0;
    let mut timer = || {
        now += 1.0;
        now
    };
    let mut done = 0;
    let settings = Settings::default();
    let result = evaluate(
        matches.iter(),
        matches.len(),
        &rulebook(),
        &settings,
        plan,
        &mut timer,
        &mut |n| done = n,
    );
    assert_eq!((done, result.matches), (matches.len(), matches.len()));
    result
}

#[test]
fn systems_beat_the_base_rate_where_players_differ() {
    let evaluation = run(&history(600, 1.0, 0.0), &EvaluationPlan::default());
    let table = evaluation.table(None, Subset::All, Some(SystemName::Joint));
    assert_eq!(table.len(), 1 + SystemName::ALL.len());
    let joint = table[1].metrics.log_loss;
    for line in &table {
        assert_eq!(line.metrics.matches, 480);
        let loss = line.metrics.log_loss;
        if line.system == Some(SystemName::Scoreboard) {
            let coin = std::f64::consts::LN_2; // there are no scoreboards
            assert!((loss - coin).abs() < 1e-12);
        } else if line.system.is_some() {
            assert!(loss < table[0].metrics.log_loss - 0.05, "{line:?}");
            assert!(joint <= loss + 0.02, "{line:?}");
        }
    }
    let interval = table[0].against.unwrap();
    assert!(
        interval.low > 0.0,
        "the base rate is surely worse: {interval:?}"
    );
    let (best, _) = evaluation.best(&evaluation.rulesets[0]).unwrap();
    assert_eq!(
        best,
        SystemName::Joint,
        "480 matches are too few for another"
    );
    assert_eq!(evaluation.seconds, vec![600.0; SystemName::ALL.len()]);
}

#[test]
fn sides_are_learned_unless_teams_are_exchanged() {
    let matches = history(600, 0.0, 0.7);
    let joint = |plan: &EvaluationPlan| {
        let table = run(&matches, plan).table(None, Subset::All, None);
        (table[0].metrics.log_loss, table[1].metrics.log_loss)
    };
    let (base, own) = joint(&EvaluationPlan::default());
    assert!(base < 0.6 && own < base + 0.02, "{base} {own}");
    let exchanged = EvaluationPlan {
        exchange: Some(3),
        ..EvaluationPlan::default()
    };
    let (base, own) = joint(&exchanged);
    assert!(base > 0.68 && own > 0.68, "{base} {own}");
}

#[test]
fn only_who_has_played_enough_is_experienced() {
    let evaluation = run(&history(100, 1.0, 0.0), &EvaluationPlan::default());
    let count = |subset| evaluation.table(None, subset, None)[0].metrics.matches;
    assert_eq!(count(Subset::All), 80);
    assert!(count(Subset::Experienced) > 60 && count(Subset::Experienced) <= 80);
    let strict = EvaluationPlan {
        experience: 1_000,
        ..EvaluationPlan::default()
    };
    let none = run(&history(100, 1.0, 0.0), &strict);
    assert_eq!(
        none.table(None, Subset::Experienced, None)[0]
            .metrics
            .matches,
        0
    );
}

#[test]
fn unrated_and_undecided_matches_are_counted_apart() {
    let mut matches = history(10, 1.0, 0.0);
    matches[8].outcome = Outcome::Draw;
    matches[9].end = matches[9].start;
    let evaluation = run(&matches, &EvaluationPlan::default());
    assert_eq!((evaluation.unrated, evaluation.undecided), (1, 1));
    assert_eq!(
        evaluation.table(None, Subset::All, None)[0].metrics.matches,
        6
    );
}

fn begun_anew(matches: &[MatchRecord], every: usize) -> FreshPlayers {
    let plan = EvaluationPlan {
        systems: vec![SystemName::Joint],
        ..EvaluationPlan::default()
    };
    let mut seen = 0;
    let mut progress = |done| seen = done;
    let settings = Settings::default();
    let fresh = fresh(
        matches.iter(),
        every,
        &rulebook(),
        &settings,
        &plan,
        &mut progress,
    );
    assert_eq!(seen, steps(matches.len(), every));
    fresh
}

#[test]
fn fresh_starts_show_when_a_system_begins_to_beat_a_coin() {
    let of = |strength| begun_anew(&history(1_000, strength, 0.0), 200).table()[1].clone();
    let (clear, none) = (of(2.5), of(0.0));
    assert_eq!(clear.system, Some(SystemName::Joint));
    let after = clear.beats_coin_after.unwrap();
    assert!(after <= 50, "{clear:?}");
    assert_eq!(none.beats_coin_after, None, "{none:?}");
    let first = clear.first.map(Option::unwrap);
    assert_eq!(first.map(|f| f.starts), [5, 5, 5]);
    let losses = first.map(|f| f.log_loss);
    assert!(losses.is_sorted_by(|a, b| a > b), "{losses:?}");
    assert_eq!(first[2].comparison(), SystemComparison::Better);
}

#[test]
fn a_fresh_start_knows_nothing_of_what_came_before() {
    let matches = history(400, 2.0, 0.0);
    let both = begun_anew(&matches, 200);
    let alone = begun_anew(&matches[200..], 200);
    assert_eq!((both.starts, alone.starts), (2, 1));
    for (both, alone) in both.beside_coin.iter().zip(&alone.beside_coin) {
        assert_eq!(both[1], alone[0]);
    }
}

#[test]
fn a_short_history_has_only_the_columns_that_it_fills() {
    let columns = |matches: usize| {
        let lines = begun_anew(&history(matches, 1.0, 0.0), 200).table();
        lines[1].first.map(|first| first.map_or(0, |f| f.starts))
    };
    assert_eq!(columns(0), [0, 0, 0]);
    assert_eq!(columns(49), [0, 0, 0]);
    assert_eq!(columns(120), [1, 1, 0]);
    assert_eq!(columns(260), [2, 1, 1]);
}

#[test]
fn few_matches_are_not_compared() {
    let line = |matches| SystemLine {
        system: None,
        metrics: Metrics {
            matches,
            ..Metrics::default()
        },
        against: Some(Interval {
            low: 0.1,
            high: 0.2,
        }),
    };
    assert_eq!(line(FEWEST_COMPARED - 1).comparison(), None);
    assert_eq!(
        line(FEWEST_COMPARED).comparison(),
        Some(SystemComparison::Worse)
    );
}
