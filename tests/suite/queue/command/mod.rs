//! `evenkeel queue` as an organiser uses it.

mod checked;
mod maps;

use std::{fs, path::Path};

use serde_json::Value;
use tempfile::TempDir;

use crate::common::process::run;

const WOTB: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/config/queues/wotb.toml");
const PICKUP: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/config/queues/pickup.toml");
const RANKED: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/config/queues/ranked.toml");

/// Runs `evenkeel queue` in `folder`; returns the exit code, stdout and stderr.
fn queue(folder: &Path, args: &[&str]) -> (i32, String, String) {
    run(folder, &[&["queue"], args].concat())
}

#[test]
fn a_match_is_a_line_with_all_that_a_server_needs() {
    let folder = TempDir::new().unwrap();
    let ticket = |n: u32| {
        let weight = f64::from(n) * 7.0;
        format!(
            r#"{{"ticket":"t{n}","waited":{n},"players":[{{"id":"p{n}","@weight":{weight}}}]}}"#
        )
    };
    let lines: Vec<String> = (0..12).map(ticket).collect();
    fs::write(folder.path().join("t.jsonl"), lines.join("\n")).unwrap();
    let call = ["match", "t.jsonl", "--queue", "pickup", "--config", PICKUP];
    let (code, out, err) = queue(folder.path(), &call);
    assert_eq!(code, 0, "{err}");
    assert!(err.starts_with("1 matches with 10 of 12 players"), "{err}");
    let lines: Vec<Value> = out
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(lines.len(), 3, "{out}");
    let keys: Vec<&String> = lines[0].as_object().unwrap().keys().collect();
    assert_eq!(
        keys,
        ["map", "match", "mode", "penalty", "teams", "tickets"]
    );
    assert_eq!(
        (lines[0]["match"].as_u64(), &lines[0]["map"]),
        (Some(1), &Value::Null)
    );
    assert_eq!(lines[0]["tickets"].as_array().unwrap().len(), 10);
    let tickets = lines[0]["tickets"].to_string();
    assert!(tickets.contains("\"t11\""), "the oldest plays: {tickets}");
    assert!(
        !lines[1]["left"].is_null() && lines[1]["reason"].as_str().unwrap().contains("candidates")
    );
}

#[test]
fn what_is_wrong_is_named_with_its_line() {
    let folder = TempDir::new().unwrap();
    let run_bytes = |tickets: &[u8], name: &str| {
        fs::write(folder.path().join("t.jsonl"), tickets).unwrap();
        let (code, _, err) = queue(
            folder.path(),
            &["match", "t.jsonl", "--queue", name, "--config", PICKUP],
        );
        assert_eq!(code, 4, "{err}");
        err
    };
    let run = |tickets: &str, name: &str| run_bytes(tickets.as_bytes(), name);
    let good = r#"{"ticket":"a","players":[{"id":"p"}]}"#;
    assert!(run(good, "nosuch").contains("no queue nosuch"));
    let cut = run(&format!("{good}\n\n{{\n"), "pickup");
    assert!(
        cut.contains("t.jsonl: line 3: column 1: EOF while parsing"),
        "{cut}"
    );
    let extra = run(&format!("{good}\n{good}x"), "pickup");
    assert!(
        extra.contains("line 2: column 38: trailing characters"),
        "{extra}"
    );
    let bytes = [good.as_bytes(), b"\n", b"{\"ticket\":\"\xff\"}\n"].concat();
    let latin = run_bytes(&bytes, "pickup");
    assert!(
        latin.contains("t.jsonl: line 2: not UTF-8 from byte 12 of the line on"),
        "{latin}"
    );
    assert!(
        run(&format!("{good}\n{good}"), "pickup").contains("line 2: there is another ticket a")
    );
    let other = good.replace("\"a\"", "\"b\"");
    assert!(run(&format!("{good}\n{other}"), "pickup").contains("line 2: p is in another ticket"));
    let unknown = r#"{"ticket":"a","players":[{"id":"p","tier":3}]}"#;
    assert!(run(unknown, "pickup").contains("line 1: p: the queue has no attribute tier"));
    let number = r#"{"ticket":"a","players":[{"id":"p","@weight":"x"}]}"#;
    assert!(run(number, "pickup").contains("line 1: @weight must be a finite number"));
    let misspelt = r#"{"ticket":"a","players":[{"id":"p","@wieght":70}]}"#;
    assert!(run(misspelt, "pickup").contains("line 1: there is no attribute @wieght"));
    let null = r#"{"ticket":"a","players":[{"id":"p","avoid":null}]}"#;
    assert!(run(null, "pickup").contains(": an attribute must be true, false, a number"));
    let (code, _, _) = queue(
        folder.path(),
        &["match", "none", "--queue", "pickup", "--config", PICKUP],
    );
    assert_eq!(code, 4);
}

#[test]
fn the_check_finds_what_cannot_be_meant() {
    let folder = TempDir::new().unwrap();
    for file in [WOTB, PICKUP, RANKED] {
        let (code, out, err) = queue(folder.path(), &["check", file]);
        assert_eq!(code, 0, "{err}");
        assert!(
            out.lines().count() == 2 && out.matches(", 0 findings").count() == 2,
            "{out}"
        );
    }
    let text = "[queue.q]\nteams = 2\nsize = 5\nruleset = 'x'\nattributes = { kind = 'enum a b' }\n\
                rule = [{ name = 'few', rule = 'at-most-each', of = 'kind', at_most = 2, hard = true }]\n";
    fs::write(folder.path().join("bad.toml"), text).unwrap();
    let (code, out, _) = queue(folder.path(), &["check", "bad.toml"]);
    assert_eq!(code, 1);
    assert!(
        out.contains("contradiction: few: 2 values with at most 2 players each"),
        "{out}"
    );
}

/// Runs a simulation of 200 players for 36 seconds, and returns its JSON.
fn simulated(folder: &Path, args: &[&str]) -> Value {
    let call = [
        "simulate", "--queue", "regular", "--config", WOTB, "--online", "200", "--battle", "30",
        "--hours", "0.01", "--json",
    ];
    let (code, out, err) = queue(folder, &[&call[..], args].concat());
    assert_eq!((code, err.as_str()), (0, ""));
    serde_json::from_str(&out).unwrap()
}

#[test]
fn a_simulation_depends_on_the_seed_and_not_on_the_threads() {
    let folder = TempDir::new().unwrap();
    let mut one = simulated(folder.path(), &["--svg", "plots"]);
    let mut two = simulated(folder.path(), &["--threads", "2"]);
    for (outcome, threads) in [(&mut one, 1), (&mut two, 2)] {
        let search = outcome.as_object_mut().unwrap().remove("search").unwrap();
        assert_eq!(search["threads"], threads);
        assert!(search["cpu_per_second"].as_f64().unwrap() > 0.0);
    }
    assert_eq!(one, two);
    let other = simulated(folder.path(), &["--seed", "2"]);
    assert_ne!(one["tickets"], other["tickets"]);
    let count = |name: &str| one["tickets"][name].as_u64().unwrap();
    let ends = ["matched", "cancelled", "declined", "expired", "left"].map(count);
    assert_eq!(count("queued"), ends.iter().sum::<u64>());
    assert!(count("matched") > 60, "{}", one["tickets"]);
    for rule in one["rules"].as_array().unwrap() {
        assert_eq!(
            (&rule["hard"], &rule["violated"]),
            (&Value::Bool(true), &Value::from(0))
        );
    }
    for name in ["waits.svg", "categories.svg"] {
        let plot = fs::read_to_string(folder.path().join("plots").join(name)).unwrap();
        assert!(
            plot.starts_with("<svg") && plot.contains("1 player"),
            "{name}"
        );
    }
}

#[test]
fn a_simulation_prints_who_waits_longest() {
    let folder = TempDir::new().unwrap();
    let call = [
        "simulate", "--queue", "pickup", "--config", PICKUP, "--online", "80",
    ];
    let (code, out, err) = queue(folder.path(), &[&call[..], &["--battle", "600"]].concat());
    assert_eq!(code, 0, "{err}");
    for text in [
        "queue pickup: 80 players online for 3600 s",
        "2 players",
        "strength, tenth 10",
        "even chances",
    ] {
        assert!(out.contains(text), "{text}: {out}");
    }
    for (args, text) in [
        (
            &["--queue", "nosuch", "--config", PICKUP][..],
            "no queue nosuch",
        ),
        (
            &[
                "--queue", "pickup", "--config", PICKUP, "--pairs", "0.9", "--threes", "0.2",
            ],
            "at most 1 together",
        ),
        (
            &["--queue", "pickup", "--config", PICKUP, "--online", "0"],
            "--online",
        ),
        (
            &["--queue", "pickup", "--config", PICKUP, "--loaded", "NaN"],
            "must be 0 to 1",
        ),
        (
            &["--queue", "pickup", "--config", PICKUP, "--hours", "25"],
            "must be 0.001 to 24",
        ),
    ] {
        let (code, _, err) = queue(folder.path(), &[&["simulate"][..], args].concat());
        assert!(code != 0 && err.contains(text), "{args:?}: {err}");
    }
}
