//! The partitioner on real and published lobbies.

use std::path::Path;

use evenkeel::model::units::{ChoiceExponent, Share};
use evenkeel::partition::{
    GameView, HumanInGame, Problem, ProblemSpec, Settings, Solution,
    settings::{Engine, Factors},
    solve,
};
use serde_json::Value;

const LOBBIES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../shared/data/lobbies");

/// The lobbies in a file; `None` without the file.
fn lobbies(file: &str) -> Option<Vec<Value>> {
    let path = Path::new(LOBBIES).join(file);
    let Ok(text) = std::fs::read_to_string(&path) else {
        eprintln!("skipped: {} is missing", path.display());
        return None;
    };
    let value: Value = serde_json::from_str(&text).expect("JSON");
    let lobbies = value["lobbies"].as_array().expect("lobbies").clone();
    assert!(!lobbies.is_empty());
    Some(lobbies)
}

fn numbers(value: &Value) -> Vec<f64> {
    let list = value.as_array().map_or(&[][..], Vec::as_slice);
    list.iter().filter_map(Value::as_f64).collect()
}

fn indices(value: &Value) -> Vec<usize> {
    numbers(value)
        .into_iter()
        .map(|number| number as usize)
        .collect()
}

fn spec(weights: &[f64], teams: u8) -> ProblemSpec {
    let human = |(index, &weight): (usize, &f64)| HumanInGame::new(format!("p{index}"), weight);
    ProblemSpec {
        view: GameView {
            humans: weights.iter().enumerate().map(human).collect(),
            teams,
            ..GameView::default()
        },
        ..ProblemSpec::default()
    }
}

/// Solves by ratio alone.
fn best(spec: ProblemSpec, party_budget: f64) -> Solution {
    let settings = Settings {
        factors: Factors::default(),
        power: ChoiceExponent::of(f64::INFINITY),
        party_budget: Share::of(party_budget),
        ..Settings::default()
    };
    let problem = Problem::new(spec).expect("a legal lobby");
    solve(&problem, &settings, 1, &mut || false).expect("a solution")
}

/// The ratio of teams with these sums.
fn ratio(sums: &[f64]) -> f64 {
    let least = sums.iter().copied().fold(f64::MAX, f64::min);
    least / sums.iter().copied().fold(0.0, f64::max)
}

/// The ratio of two teams that add up to `total` and differ by `gap`.
fn ratio_of_gap(gap: f64, total: f64) -> f64 {
    (total - gap) / (total + gap)
}

const ROUNDING: f64 = 1e-9;

#[test]
fn no_worse_than_what_was_published() {
    let Some(lobbies) = lobbies("teiserver_lobbies.json") else {
        return;
    };
    for lobby in &lobbies {
        let id = lobby["id"].as_str().unwrap_or_default();
        let ratings = numbers(&lobby["ratings"]);
        let teams = lobby["team_count"].as_u64().expect("team_count") as u8;
        let mut spec = spec(&ratings, teams);
        let parties = lobby["parties"].as_array().expect("parties");
        spec.parties = parties.iter().map(indices).collect();
        let total: f64 = ratings.iter().sum();

        // With parties kept at any cost, and with the default budget.
        let kept = best(spec.clone(), 1.0);
        assert!(kept.exact && kept.given_up.is_empty(), "{id}");
        let usual = best(spec, 0.05);
        assert!(usual.ratio >= kept.ratio - ROUNDING, "{id}");

        if let Some(published) = lobby["published_teams"].as_array() {
            let sum = |team: &Value| indices(team).iter().map(|&player| ratings[player]).sum();
            let published: Vec<f64> = published.iter().map(sum).collect();
            assert!(
                usual.ratio >= ratio(&published) - ROUNDING,
                "{id}: {} {published:?}",
                usual.ratio
            );
        }
        // The published optimum has teams of equal size; ours differ by one if the limit permits
        // it.
        if let Some(gap) = lobby["ref_optimum_keep_parties"]["abs_sum_diff"].as_f64() {
            assert!(
                kept.ratio >= ratio_of_gap(gap, total) - 1e-4,
                "{id}: {}",
                kept.ratio
            );
        }
        if let Some(gap) = lobby["ref_optimum_equal_size"]["abs_sum_diff"].as_f64() {
            let free = usual.without_parties.unwrap_or(1.0);
            assert!(free >= ratio_of_gap(gap, total) - 1e-4, "{id}: {free}");
            assert!(
                usual.ratio >= ratio_of_gap(gap, total) - 0.05 - 1e-4,
                "{id}: {}",
                usual.ratio
            );
        }
    }
}

#[test]
fn complaints_would_have_been_heard() {
    let Some(lobbies) = lobbies("complaint_lobbies.json") else {
        return;
    };
    let mut tried = 0;
    for lobby in &lobbies {
        let id = lobby["id"].as_str().unwrap_or_default();
        let lists = ["team1", "team2", "clan", "others", "players"];
        let weights: Vec<f64> = lists
            .iter()
            .flat_map(|list| numbers(&lobby[*list]))
            .collect();
        let Some(gap) = lobby["reference"]["optimal_abs_sum_diff_equal_sizes"].as_f64() else {
            continue;
        };
        tried += 1;
        let total: f64 = weights.iter().sum();
        let solution = best(spec(&weights, 2), 0.05);
        assert!(solution.exact, "{id}");
        let wanted = ratio_of_gap(gap, total);
        assert!(
            (solution.ratio - wanted).abs() < ROUNDING,
            "{id}: {} {wanted}",
            solution.ratio
        );
        if let Some(given) = lobby["reference"]["given_abs_sum_diff"].as_f64() {
            assert!(
                solution.ratio >= ratio_of_gap(given, total) - ROUNDING,
                "{id}"
            );
        }
        // A party that costs little is kept.
        if let Some(gap) = lobby["kept_together_abs_sum_diff"].as_f64() {
            let mut spec = spec(&weights, 2);
            spec.parties = vec![(0..numbers(&lobby["clan"]).len()).collect()];
            let kept = best(spec, 0.05);
            assert!(kept.given_up.is_empty(), "{id}");
            assert!(
                (kept.ratio - ratio_of_gap(gap, total)).abs() < ROUNDING,
                "{id}"
            );
        }
    }
    assert!(tried >= 9, "{tried} lobbies");
}

/// Forty humans of a real server are split exactly, and a hundred almost evenly, at once.
#[test]
fn large_lobbies_have_an_answer() {
    let weights: Vec<f64> = (1..=100)
        .map(|index| f64::from(index).sqrt() * 10.0)
        .collect();
    let exact = best(spec(&weights[..28], 2), 0.05);
    assert_eq!((exact.exact, exact.engine), (true, Engine::Meet));
    let mut large = spec(&weights, 2);
    large.parties = (0..10)
        .map(|party| (party * 9..party * 9 + 3).collect())
        .collect();
    let good = best(large, 0.05);
    assert!(good.ratio >= 1.0 - 1e-9, "{}", good.ratio);
    assert!(good.given_up.is_empty());
}
