//! Ties are broken at random, independently of the order of joining.

use super::*;
use crate::settings::Engine;
use std::collections::BTreeMap;

/// Whether each human is on the team of the first one.
fn mates(team_of: &[u8]) -> Vec<bool> {
    team_of.iter().map(|team| *team == team_of[0]).collect()
}

/// How often each split is among the candidates and picked, over many seeds.
fn tally(problem: &Problem, settings: &Settings, seeds: u64) -> BTreeMap<Vec<bool>, [u64; 2]> {
    let mut times = BTreeMap::<_, [u64; 2]>::new();
    for seed in 0..seeds {
        let solution = solved(problem, settings, seed);
        for candidate in &solution.candidates {
            times.entry(mates(&candidate.team_of)).or_default()[0] += 1;
        }
        times.entry(mates(&solution.team_of)).or_default()[1] += 1;
    }
    times
}

#[test]
fn splits_of_equals_are_equally_likely() {
    let problem = Problem::new(lobby(&[50.0; 8])).unwrap();
    let times = tally(&problem, &Settings::default(), 20_000);
    assert_eq!(times.len(), 35);
    let share = 20_000.0 * 20.0 / 35.0;
    assert!(
        times
            .values()
            .all(|[n, _]| (*n as f64 - share).abs() < 0.1 * share),
        "{times:?}"
    );
    // There are fewer picks: their shares vary by 4 %.
    let share = 20_000.0 / 35.0;
    assert!(
        times
            .values()
            .all(|[_, n]| (*n as f64 - share).abs() < 0.16 * share),
        "{times:?}"
    );
}

/// Splits whose sums tie although their players differ must have equal chances, too.
#[test]
fn ties_of_different_players_are_equally_likely() {
    let problem = Problem::new(lobby(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0])).unwrap();
    for engine in [Engine::Exhaustive, Engine::Meet] {
        let settings = Settings {
            engine: Some(engine),
            top: Count::of(3),
            ..Settings::default()
        };
        let times = tally(&problem, &settings, 4_000);
        // There are four ways to split 36 into 18 and 18 with four each.
        assert_eq!(times.len(), 4, "{times:?}");
        assert!(
            times.values().all(|[n, _]| (2_850..3_150).contains(n)),
            "{times:?}"
        );
    }
}

#[test]
fn three_teams_of_equals_are_equally_likely() {
    let mut spec = lobby(&[50.0; 6]);
    spec.view.teams = 3;
    let problem = Problem::new(spec).unwrap();
    let settings = Settings {
        top: Count::of(5),
        ..Settings::default()
    };
    let mut times = BTreeMap::<_, u32>::new();
    for seed in 0..3_000 {
        for candidate in solved(&problem, &settings, seed).candidates {
            let mut seen = Vec::new();
            let name = |team: &u8| {
                seen.iter()
                    .position(|known| known == team)
                    .unwrap_or_else(|| {
                        seen.push(*team);
                        seen.len() - 1
                    })
            };
            *times
                .entry(candidate.team_of.iter().map(name).collect::<Vec<_>>())
                .or_default() += 1;
        }
    }
    assert_eq!(times.len(), 15);
    assert!(
        times.values().all(|n| (900..1_100).contains(n)),
        "{times:?}"
    );
}

#[test]
fn many_equals_are_split_exactly_at_once() {
    for count in [40, 41, 128] {
        let mut spec = lobby(&vec![50.0; count]);
        spec.view.next_bot = 1.0;
        let problem = Problem::new(spec).unwrap();
        let solution = solved(&problem, &Settings::default(), 7);
        assert!(solution.exact);
        assert_eq!(solution.engine, Engine::Meet);
        let mut splits: Vec<_> = solution
            .candidates
            .iter()
            .map(|c| mates(&c.team_of))
            .collect();
        splits.sort();
        splits.dedup();
        assert_eq!(splits.len(), 20);
    }
}

/// Whole numbers have few different sums, so any lobby of them is solved exactly.
#[test]
fn many_whole_weights_are_split_exactly() {
    let weights: Vec<f64> = (0..100)
        .map(|index| f64::from(index * index % 101))
        .collect();
    let problem = Problem::new(lobby(&weights)).unwrap();
    let solution = solved(&problem, &Settings::default(), 7);
    assert_eq!(
        (solution.exact, solution.engine, solution.candidates.len()),
        (true, Engine::Meet, 20)
    );
    let total: f64 = weights.iter().sum();
    let best = (total / 2.0).floor() / (total / 2.0).ceil();
    assert!(
        solution
            .candidates
            .iter()
            .all(|candidate| candidate.figures.ratio == best)
    );
}
