//! Rating systems beside the crate `skillratings`, in one run for comparison, and the fold and the
//! evaluation of ten thousand matches.

#![allow(clippy::unwrap_used, missing_docs)] // criterion's macros document nothing

use std::hint::black_box;

use criterion::{BatchSize, Criterion, criterion_group, criterion_main};
use evenkeel::{
    model::{
        Kind, MatchRecord, Participant, PlayerKey, Rulebook, Timestamp,
        fingerprint::Fingerprint,
        record::{Presence, Span},
        rulebook::RulebookSpec,
        win_model::cdf,
    },
    rating::history::{EvaluationPlan, Fold, Settings, evaluate},
    rating::{self, Player, RatedGame, Seat, System, SystemName},
};
use rand::{RngExt, SeedableRng, rngs::ChaCha8Rng};
use skillratings::{
    Outcomes,
    trueskill::{TrueSkillConfig, TrueSkillRating, trueskill_two_teams},
    weng_lin::{WengLinConfig, WengLinRating, weng_lin_two_teams},
};

/// Eight against eight out of this many players, and the winner.
fn lineups(players: u32, count: usize) -> Vec<(Vec<u32>, u8)> {
    let mut random = ChaCha8Rng::seed_from_u64(1);
    let mut one = || {
        let mut pool: Vec<u32> = (0..players).collect();
        let mut draw = || pool.swap_remove(random.random_range(0..pool.len()));
        let drawn: Vec<u32> = (0..16).map(|_| draw()).collect();
        // The players with lower numbers are stronger.
        let sum = |half: &[u32]| half.iter().map(|p| f64::from(*p)).sum::<f64>();
        let edge = (sum(&drawn[8..]) - sum(&drawn[..8])) / (3.0 * f64::from(players));
        let winner = u8::from(!random.random_bool(cdf(edge)));
        (drawn, winner)
    };
    (0..count).map(|_| one()).collect()
}

fn games(players: u32, count: usize) -> Vec<RatedGame> {
    let game = |(drawn, winner): (Vec<u32>, u8)| {
        let seat = |(i, p): (usize, &u32)| Seat::new(Player(*p), u16::from(i >= 8));
        let mut game = RatedGame::new(drawn.iter().enumerate().map(seat).collect());
        game.places = vec![u16::from(winner), 1 - u16::from(winner)];
        game.sides = true;
        game
    };
    lineups(players, count).into_iter().map(game).collect()
}

fn both_ways(game: &RatedGame) -> [RatedGame; 2] {
    let mut other = game.clone();
    other.places.reverse();
    [game.clone(), other]
}

fn record((number, (drawn, winner)): (usize, (Vec<u32>, u8))) -> MatchRecord {
    let start = Timestamp(1_000_000 * number as i64);
    let participant = |(i, p): (usize, &u32)| Participant {
        key: PlayerKey {
            kind: Kind::Human,
            id: format!("player {p}"),
        },
        name: format!("Player {p}"),
        presence: vec![Presence {
            team: u8::from(i >= 8),
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
    };
    let scores = vec![f64::from(1 - winner), f64::from(winner)];
    MatchRecord {
        server: String::new(),
        start,
        end: start.plus_millis(600_000),
        clock: None,
        untimed: false,
        client: String::new(),
        unscored: false,
        too_many_new: None,
        logged_as: None,
        map: format!("map {}", number % 12),
        game_type: "ctf".into(),
        mode: String::new(),
        mutators: vec![],
        outcome: MatchRecord::outcome_of(&scores),
        scores,
        participants: drawn.iter().enumerate().map(participant).collect(),
        events: vec![],
    }
}

fn rulebook() -> Rulebook {
    Rulebook::new(&RulebookSpec::default()).unwrap()
}

/// One match of eight against eight.
fn updates(c: &mut Criterion) {
    let mut group = c.benchmark_group("update 8v8");
    let fresh = [TrueSkillRating::new(); 8];
    let config = TrueSkillConfig::new();
    group.bench_function("skillratings trueskill", |b| {
        b.iter(|| trueskill_two_teams(black_box(&fresh), &fresh, &Outcomes::WIN, &config));
    });
    let fresh = [WengLinRating::new(); 8];
    let config = WengLinConfig::new();
    group.bench_function("skillratings weng-lin", |b| {
        b.iter(|| weng_lin_two_teams(black_box(&fresh), &fresh, &Outcomes::WIN, &config));
    });
    let games = games(256, 4_096);
    // As few games as stay in the cache, like the other crate's one game, each once won and once
    // lost, so that no strength becomes extreme.
    let few: Vec<RatedGame> = games[..32].iter().flat_map(both_ways).collect();
    let settings = rating::Settings::default();
    for name in [SystemName::TrueSkill, SystemName::PlackettLuce] {
        let mut system = name.build(&settings);
        let mut next = few.iter().cycle();
        group.bench_function(name.as_str(), |b| {
            b.iter(|| system.update(black_box(next.next().unwrap())));
        });
    }
    // Players with many games: the priors are settled, and all 256 are in the covariance.
    let mut system = rating::joint::Joint::new();
    games.iter().for_each(|game| system.update(game));
    let mut next = few.iter().cycle();
    group.bench_function("joint, 256 regulars", |b| {
        b.iter(|| system.update(black_box(next.next().unwrap())));
    });
    group.finish();
}

/// Ten thousand matches of 250 regulars.
fn histories(c: &mut Criterion) {
    let matches: Vec<MatchRecord> = lineups(250, 10_000)
        .into_iter()
        .enumerate()
        .map(record)
        .collect();
    let prints: Vec<Fingerprint> = matches.iter().map(Fingerprint::of).collect();
    let book = rulebook();
    let mut group = c.benchmark_group("10,000 matches");
    group.sample_size(10);
    for system in [SystemName::Joint, SystemName::Presence] {
        let settings = rating::Settings {
            system: system.into(),
            ..rating::Settings::default()
        };
        let rebuild = || {
            let mut fold = Fold::new(&book, settings);
            for (record, print) in matches.iter().zip(&prints) {
                fold.push(record, *print).unwrap();
            }
            fold.weights().map(|w| w.weight).sum::<f64>()
        };
        group.bench_function(format!("rebuild {system}"), |b| b.iter(rebuild));
    }
    let all = || {
        let plan = EvaluationPlan::default();
        let settings = Settings::default();
        evaluate(
            matches.iter(),
            matches.len(),
            &book,
            &settings,
            &plan,
            &mut || 0.0,
            &mut |_| (),
        )
    };
    group.bench_function("evaluate all systems", |b| {
        b.iter_batched(|| (), |()| all(), BatchSize::PerIteration);
    });
    group.finish();
}

criterion_group!(benches, updates, histories);
criterion_main!(benches);
