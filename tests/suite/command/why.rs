//! `player why`: what a weight follows from is said, and it is true of the rating system in force.

use std::{fmt::Write as _, fs, path::Path};

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::common::process;

/// Bob wins four matches of one ruleset, and then loses six of eight matches of another one. In all of them he makes
/// fewer points than the others.
fn league() -> TempDir {
    let folder = TempDir::new().unwrap();
    let mut text = String::new();
    for number in 0..12 {
        let (game, bob_wins) = match number {
            0..4 => ("tdm", true),
            _ => ("ctf", number >= 10),
        };
        let scores = if bob_wins { [5, 3] } else { [2, 5] };
        let names = ["bob", "ann", "cid", "dan"];
        let players = names.iter().enumerate().map(|(seat, name)| {
            json!({"id": format!("g{seat}"), "name": name, "team": seat / 2, "points": 10 + seat})
        });
        let line = json!({
            "evenkeel": 1,
            "start": format!("2026-11-{:02}T15:00:00Z", number + 1),
            "end": format!("2026-11-{:02}T15:10:00Z", number + 1),
            "game": game, "map": "one", "scores": scores, "players": players.collect::<Vec<_>>(),
        });
        writeln!(text, "{line}").unwrap();
    }
    fs::write(folder.path().join("matches.jsonl"), text).unwrap();
    run(folder.path(), &["ingest", "matches.jsonl"]);
    folder
}

fn run(folder: &Path, args: &[&str]) -> String {
    let output = process::evenkeel(folder).args(args).output().unwrap();
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{args:?}: {error}");
    String::from_utf8(output.stdout).unwrap()
}

fn why(folder: &Path, args: &[&str]) -> Value {
    let out = run(
        folder,
        &[&["player", "why", "bob", "--json"], args].concat(),
    );
    serde_json::from_str(&out).unwrap()
}

fn sentences(rating: &Value) -> Vec<String> {
    let sentences = rating["sentences"].as_array().unwrap().iter();
    sentences
        .map(|one| one.as_str().unwrap().to_owned())
        .collect()
}

#[test]
fn the_facts_are_those_of_the_matches_and_the_weights() {
    let folder = league();
    let all = why(folder.path(), &[]);
    assert_eq!(all["id"], "g0");
    let ratings = all["ratings"].as_array().unwrap();
    assert_eq!(ratings.len(), 2);
    let ctf = &ratings[0];
    assert_eq!((&ctf["ruleset"], &ctf["games"]), (&"ctf".into(), &8.into()));
    assert_eq!(ctf["system"], "joint");
    // The weight, as it is listed.
    let shown: Value =
        serde_json::from_str(&run(folder.path(), &["player", "show", "g0", "--json"])).unwrap();
    let weights = shown["weights"].as_array().unwrap();
    let listed = weights.iter().find(|row| row["ruleset"] == "ctf").unwrap();
    let weight = ctf["weight"].as_f64().unwrap();
    assert_eq!(listed["weight"], (weight * 1_000.0).round() / 1_000.0);
    // The changes add up to the difference of the weights, and the forecasts are those of the matches.
    let matches = ctf["matches"].as_array().unwrap();
    assert_eq!(matches.len(), 8);
    let number = |one: &Value, key: &str| one[key].as_f64().unwrap();
    assert_eq!(number(&matches[0], "weight"), number(ctf, "weight"));
    let changes: f64 = matches.iter().map(|one| number(one, "change")).sum();
    let moved = number(&matches[0], "weight") - number(&matches[7], "weight_before");
    assert!((changes - moved).abs() < 1e-9, "{changes} {moved}");
    for two in matches.windows(2) {
        assert_eq!(two[0]["weight_before"], two[1]["weight"]);
    }
    for one in matches {
        let (result, change) = (number(one, "result"), number(one, "change"));
        assert!((result - 0.5) * change >= 0.0, "{one}");
        let cause = one["cause"].as_str().unwrap();
        assert!(
            cause.starts_with(if result > 0.5 { "won" } else { "lost" }),
            "{one}"
        );
        let id = one["id"].to_string();
        let shown = run(folder.path(), &["match", "show", &id, "--json"]);
        let shown: Value = serde_json::from_str(&shown).unwrap();
        assert_eq!(shown["forecast"], one["forecast"], "bob is on team 0");
        assert_eq!(shown["players"][0]["points"], one["points"]);
    }
    assert_eq!(matches[0]["points_of_others"], 12.0);
    assert_eq!(
        ctf["earlier"][0],
        json!({"ruleset": "tdm", "games": 4, "weight": number(&ctf["earlier"][0], "weight"), "is_near": false})
    );
}

#[test]
fn the_sentences_are_printed_and_name_what_came_from_elsewhere() {
    let folder = league();
    let ctf = &why(folder.path(), &["--game", "ctf"])["ratings"][0];
    let said = sentences(ctf);
    assert_eq!(said.len(), 5, "{said:?}");
    let text = run(folder.path(), &["player", "why", "bob"]);
    assert!(text.starts_with("human g0 under ctf\n"), "{text}");
    assert!(said.iter().all(|one| text.contains(one)), "{text}");
    assert!(text.ends_with("with --game: tdm\n"), "{text}");
    let matches = ctf["matches"].as_array().unwrap().iter();
    let expected: f64 = matches.map(|one| one["forecast"].as_f64().unwrap()).sum();
    let results = format!(
        "In the last 8 matches, the player's teams were expected to win {expected:.1} and won 2"
    );
    assert!(said[1].starts_with(&results), "{}", said[1]);
    assert!(said[3].contains("10.0 points a match, the others in the same matches 12.0"));
    assert!(
        said[4].contains("4 matches under tdm (weight "),
        "{}",
        said[4]
    );
    let tdm = sentences(&why(folder.path(), &["--game", "tdm"])["ratings"][0]);
    assert!(
        tdm[4].starts_with("Nothing comes from elsewhere"),
        "{}",
        tdm[4]
    );
    // What operators set is named, and another identity of the player is the player.
    run(folder.path(), &["player", "start-weight", "bob", "60"]);
    run(folder.path(), &["player", "merge", "dan", "bob"]);
    let said = sentences(&why(folder.path(), &["--game", "ctf"])["ratings"][0]);
    assert!(said[4].contains("let the player start at 60"), "{said:?}");
    assert!(said[5].contains("1 other identity counts"), "{said:?}");
    let dan = run(folder.path(), &["player", "why", "g3"]);
    assert!(dan.starts_with("human g0 under "), "{dan}");
    run(folder.path(), &["player", "pin-weight", "bob", "33"]);
    let said = sentences(&why(folder.path(), &["--game", "ctf"])["ratings"][0]);
    assert!(
        said[0].starts_with("An operator has fixed the weight at 33:"),
        "{said:?}"
    );
    let text = run(folder.path(), &["player", "why", "bob"]);
    assert!(text.contains("pinned; beneath it: lost"), "{text}");
    run(folder.path(), &["player", "pin-weight", "bob", "off"]);
    let text = run(folder.path(), &["player", "why", "bob"]);
    assert!(text.contains("lost") && !text.contains("pinned"), "{text}");
}

#[test]
fn nothing_is_said_of_a_system_that_is_not_in_force() {
    let folder = league();
    fs::write(
        folder.path().join("own.toml"),
        "[rating]\nsystem = 'winrate'\n",
    )
    .unwrap();
    let own = ["--config", "own.toml"];
    let other = &why(folder.path(), &own)["ratings"][0];
    assert_eq!(other["system"], Value::Null, "the weights are by joint");
    assert!(!sentences(other).join(" ").contains("share of matches won"));
    run(folder.path(), &["rebuild", "--config", "own.toml"]);
    let won = &why(folder.path(), &own)["ratings"][0];
    assert_eq!(won["system"], "winrate");
    let said = sentences(won).join(" ");
    assert!(
        said.contains("share of matches won") && !said.contains("speaks for"),
        "{said}"
    );
    assert_eq!(why(folder.path(), &[])["ratings"][0]["system"], Value::Null);
}

#[test]
fn who_has_no_rated_match_is_named() {
    let folder = league();
    for (args, part) in [
        (
            &["player", "why", "zoe"][..],
            "no stored match has a human with the identity zoe",
        ),
        (
            &["player", "why", "bob", "--game", "x"],
            "human g0 has no rated match under x",
        ),
    ] {
        let output = process::evenkeel(folder.path())
            .args(args)
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(4));
        let error = String::from_utf8(output.stderr).unwrap();
        assert!(error.contains(part), "{error}");
    }
}
