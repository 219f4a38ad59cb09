//! The level of weights: in closed worlds 50 is the mean of those who play, and nobody stands at a limit.

use std::{collections::BTreeMap, thread};

use evenkeel::{
    model::{Kind, Rulebook, Ruleset, fingerprint::Fingerprint, rulebook::RulebookSpec},
    rating::history::{Fold, Settings},
};

use crate::common::worlds::{Score, World};

/// The weights of the regulars of a world after some of its matches.
struct Level {
    mean: f64,
    lowest: f64,
    highest: f64,
}

/// How far weights were from their targets after each match, from the players' 20th match on.
#[derive(Default)]
struct Gap {
    sum: f64,
    count: f64,
}

fn level(fold: &Fold, ruleset: &Ruleset, regulars: usize) -> Level {
    let weight = |number| {
        let known = fold.best_weight(ruleset, Kind::Human, &World::regular(number));
        known.map_or(50.0, |(weight, _)| weight.weight)
    };
    let weights: Vec<f64> = (0..regulars).map(weight).collect();
    Level {
        mean: weights.iter().sum::<f64>() / regulars as f64,
        lowest: weights.iter().copied().fold(f64::INFINITY, f64::min),
        highest: weights.iter().copied().fold(f64::NEG_INFINITY, f64::max),
    }
}

/// The levels of a world after each of these numbers of matches, and the gap.
fn played(world: World, at: &[usize]) -> (Vec<Level>, f64) {
    let rulebook = Rulebook::new(&RulebookSpec::default()).unwrap();
    let mut fold = Fold::new(&rulebook, Settings::default());
    let ruleset = rulebook.ruleset::<&str>("t.ctf", &[]);
    let (mut levels, mut gap, mut games) = (Vec::new(), Gap::default(), BTreeMap::new());
    for (number, record) in world.play().matches.iter().enumerate() {
        fold.push(record, Fingerprint::of(record)).unwrap();
        for participant in &record.participants {
            let id = participant.key.id.clone();
            let games = games.entry(id.clone()).or_insert(0);
            *games += 1;
            let (own, _) = fold.best_weight(&ruleset, Kind::Human, &id).unwrap();
            if *games >= 20 {
                gap.sum += (own.weight - own.target()).abs();
                gap.count += 1.0;
            }
        }
        if at.contains(&(number + 1)) {
            levels.push(level(&fold, &ruleset, world.regulars));
        }
    }
    (levels, gap.sum / gap.count)
}

fn check(world: World, at: &[usize]) {
    let (levels, gap) = played(world, at);
    for Level {
        mean,
        lowest,
        highest,
    } in levels
    {
        assert!((48.0..=52.0).contains(&mean), "{world:?}: {mean}");
        assert!(
            lowest > 0.5 && highest < 99.5,
            "{world:?}: {lowest} {highest}"
        );
    }
    assert!(gap < 0.5, "{world:?}: {gap}");
}

#[test]
fn in_a_closed_world_fifty_is_the_mean_and_nobody_stands_at_a_limit() {
    let score = |seed: u64| Score::ALL[seed as usize % 3];
    thread::scope(|all| {
        for spread in [0.5, 1.0] {
            all.spawn(move || {
                for seed in 1..=6 {
                    check(
                        World::closed(seed, 2_000, spread, score(seed)),
                        &[300, 2_000],
                    );
                    for other in [seed + 1, seed + 2] {
                        check(World::closed(seed, 300, spread, score(other)), &[300]);
                    }
                }
            });
        }
    });
}
