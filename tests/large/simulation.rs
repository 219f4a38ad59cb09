//! `evenkeel simulate` plays whole seasons: the same from the same seed, and knowing how strong players are makes
//! games more even.

use std::{fs, path::Path};

use tempfile::TempDir;

use crate::common::process::run;

/// The JSON report of two short seasons, with these further options.
fn simulate(folder: &Path, options: &[&str]) -> String {
    let args = [
        "simulate",
        "--seasons",
        "2",
        "--games",
        "20",
        "--json",
        "--policy",
        "random",
        "--policy",
        "exact",
        "--policy",
        "known",
    ];
    let (code, out, err) = run(folder, &[&args, options].concat());
    assert_eq!(code, 0, "{err}");
    out
}

/// Fails unless games between teams picked with perfect knowledge are more even than others.
fn knowing_is_worth_something(report: &str) {
    let json: serde_json::Value = serde_json::from_str(report).unwrap();
    let of = |line: usize, what: &str| json["policies"][line][what]["mean"].as_f64().unwrap();
    let (random, known) = (0, 2);
    assert!(
        of(known, "log_loss") > of(random, "log_loss") + 0.05,
        "{report}"
    );
    assert!(
        of(known, "favourite") < of(random, "favourite") - 0.01,
        "{report}"
    );
    assert!(of(known, "log_loss") <= std::f64::consts::LN_2);
    assert_eq!(of(random, "moves_per_player_hour"), 0.0);
}

#[test]
#[ignore = "plays whole seasons: `cargo test --test large -- --ignored simulation`"]
fn a_simulation_is_repeated_by_its_seed_and_shows_what_knowing_is_worth() {
    let folder = TempDir::new().unwrap();
    let simulate = |options: &[&str]| simulate(folder.path(), options);
    let first = simulate(&["--seed", "1"]);
    assert_eq!(first, simulate(&["--seed", "1", "--world", "ratio"]));
    assert_ne!(first, simulate(&["--seed", "2"]));
    knowing_is_worth_something(&first);
    fs::write(
        folder.path().join("c.toml"),
        "[rating]\nsystem = 'presence'",
    )
    .unwrap();
    knowing_is_worth_something(&simulate(&["--config", "c.toml"]));
    fs::remove_file(folder.path().join("c.toml")).unwrap();
    assert!(
        fs::read_dir(folder.path()).unwrap().next().is_none(),
        "its databases are elsewhere"
    );
}

#[test]
#[ignore = "plays whole seasons: `cargo test --test large -- --ignored simulation`"]
fn in_the_logistic_world_a_simulation_is_another_one() {
    let folder = TempDir::new().unwrap();
    let simulate = |options: &[&str]| {
        let world = ["--world", "logistic", "--bots", "0"];
        simulate(folder.path(), &[&world, options].concat())
    };
    let first = simulate(&[]);
    assert_eq!(first, simulate(&["--sharpness", "0.42"]), "the default");
    assert_ne!(first, simulate(&["--seed", "2"]));
    knowing_is_worth_something(&first);
    let json: serde_json::Value = serde_json::from_str(&first).unwrap();
    assert_eq!(json["world"]["kind"], "logistic");
    let known = json["policies"][2]["log_loss"]["mean"].as_f64().unwrap();
    assert!(known > 0.67, "without limits of weights: {known}");
    // Where strengths decide nothing and nobody is outnumbered, every game is open.
    let equal = simulate(&["--sharpness", "0"]);
    let json: serde_json::Value = serde_json::from_str(&equal).unwrap();
    let random = json["policies"][0]["log_loss"]["mean"].as_f64().unwrap();
    assert!(random > 0.6, "{random}");
    let table = ["simulate", "--world", "logistic", "--seasons", "1"];
    let short = ["--games", "4", "--policy", "random"];
    let (_, table, _) = run(folder.path(), &[&table[..], &short].concat());
    assert!(table.contains("in the world logistic"), "{table}");
}
