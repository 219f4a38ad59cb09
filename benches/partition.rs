//! All engines of the partitioner in one run, so that they can be compared.
//!
//! Random weights, bots, the 20 best candidates. `limit` uses the default limit on human counts,
//! `free` none. An engine is left out where it would take seconds.

#![allow(clippy::unwrap_used, missing_docs)] // criterion's macros document nothing

use std::{hint::black_box, time::Duration};

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use evenkeel::{
    model::{Company, Crowding, Link, SAME_CHANCE, WinModel},
    partition::{
        ChanceModel, Engine, Fill, GameView, HumanInGame, Objective, Problem, ProblemSpec,
        Settings, solve,
    },
};

/// Weights without pattern from 0 to 100 (a Weyl sequence, mixed), each with all 53 bits.
fn weights(count: usize) -> impl Iterator<Item = f64> {
    (1..=count as u64).map(|index| {
        let mut z = index.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z >> 11) as f64 / (1u64 << 53) as f64 * 100.0
    })
}

fn lobby(count: usize, max_difference: Option<usize>, parties: &[usize]) -> Problem {
    Problem::new(spec(count, max_difference, parties)).unwrap()
}

fn spec(count: usize, max_difference: Option<usize>, parties: &[usize]) -> ProblemSpec {
    let human = |(index, weight): (usize, f64)| HumanInGame::new(format!("p{index}"), weight);
    let mut next = 0..count;
    let party = |&size: &usize| next.by_ref().take(size).collect();
    ProblemSpec {
        parties: parties.iter().map(party).collect(),
        view: GameView {
            humans: weights(count).enumerate().map(human).collect(),
            fill: Fill {
                on: true,
                wish: count as u32 + 4,
                map_range: (0, 1000),
                min_humans: 0,
            },
            next_bot: 40.0,
            ..GameView::default()
        },
        max_difference,
        ..ProblemSpec::default()
    }
}

/// The same lobby, whose teams are compared by the chance to win.
fn by_chance(count: usize) -> Problem {
    let win_model = WinModel {
        link: Link::Normal,
        per_strength: 0.4,
        players: count as f64,
        crowding: Crowding::Root,
        per_head: 0.1,
        per_log_size: 0.0,
        side: 0.1,
        unit: 0.5,
        deviation: 0.2,
        company: Company::default(),
    };
    let model = ChanceModel {
        win_model,
        humans: weights(count)
            .map(|weight| (weight - 50.0) / 20.0)
            .collect(),
        bots: Vec::new(),
        next_bot: -0.5,
        deviations: Vec::new(),
        party_multiplier: Vec::new(),
    };
    let mut spec = spec(count, Some(1), &[]);
    spec.view.chance = Some(model);
    spec.equal_within = Some(SAME_CHANCE);
    Problem::new(spec).unwrap()
}

fn run(problem: &Problem, engine: Option<Engine>) -> f64 {
    let settings = Settings {
        engine,
        ..Settings::default()
    };
    let solution = solve(problem, &settings, 1, &mut || false).unwrap();
    solution.candidates[0].figures.ratio
}

fn engines(c: &mut Criterion) {
    for (name, max_difference) in [("limit", Some(1)), ("free", None)] {
        let mut group = c.benchmark_group(name);
        group
            .sample_size(10)
            .warm_up_time(Duration::from_millis(300));
        group.measurement_time(Duration::from_secs(1));
        let sizes = (12..=44).step_by(4).chain([20, 22, 23, 26]);
        let mut sizes: Vec<usize> = sizes.collect();
        sizes.sort_unstable();
        sizes.dedup();
        for count in sizes {
            let problem = lobby(count, max_difference, &[]);
            for (engine, most) in [(Engine::Exhaustive, 28), (Engine::Meet, 44)] {
                if count <= most {
                    let id = BenchmarkId::new(engine.to_string(), count);
                    group.bench_function(id, |b| b.iter(|| black_box(run(&problem, Some(engine)))));
                }
            }
        }
        group.finish();
    }
}

/// Lobbies too large for an exact answer, and the engine chosen for them.
fn large(c: &mut Criterion) {
    let mut group = c.benchmark_group("large");
    group
        .sample_size(10)
        .warm_up_time(Duration::from_millis(300));
    for (count, parties) in [
        (64, &[2, 3, 4, 2, 5, 3][..]),
        (100, &[2, 3, 4, 2, 5, 3, 2, 2, 6, 4][..]),
    ] {
        let problem = lobby(count, Some(1), parties);
        let ratio = run(&problem, None);
        assert!(ratio >= 1.0 - 1e-9, "{count} humans: ratio {ratio}");
        group.bench_function(BenchmarkId::new("auto", count), |b| {
            b.iter(|| black_box(run(&problem, None)));
        });
    }
    group.finish();
}

/// BALANCE by weights and by the chance to win, with the engine that is chosen for each size.
fn objectives(c: &mut Criterion) {
    let mut group = c.benchmark_group("objective");
    group
        .sample_size(20)
        .warm_up_time(Duration::from_millis(300));
    for count in [12, 24, 32, 40, 64, 100] {
        let ratio = lobby(count, Some(1), &[]);
        let chance = by_chance(count);
        let settings = Settings {
            objective: Objective::Chance,
            ..Settings::default()
        };
        let solved = solve(&chance, &settings, 1, &mut || false).unwrap();
        let off = solved.candidates[0].figures.chance.unwrap() - 0.5;
        assert!(off.abs() <= SAME_CHANCE, "{count} humans: {off} off");
        group.bench_function(BenchmarkId::new("ratio", count), |b| {
            b.iter(|| black_box(run(&ratio, None)));
        });
        group.bench_function(BenchmarkId::new("chance", count), |b| {
            b.iter(|| black_box(solve(&chance, &settings, 1, &mut || false).unwrap().chance));
        });
    }
    group.finish();
}

criterion_group!(benches, engines, large, objectives);
criterion_main!(benches);
