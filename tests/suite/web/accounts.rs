//! What the pages of players say of their weights, computed again from what matches have entered, by a script that shares
//! nothing with the program.

use std::{fmt::Write as _, fs, path::Path, process::Command, time::Instant};

use serde_json::json;

use crate::common::{
    http::Pages,
    process::{configured, evenkeel},
};

/// The players who were in all matches between regulars, and how many others there are.
const REGULARS: usize = 8;
const OTHERS: usize = 992;
/// More matches than a page reads.
const OF_REGULARS: usize = 310;
/// In how many matches each of the others was.
const ROUNDS: usize = 3;
/// Elo learns from a thousand players in no time; and one visitor reads all pages.
const CONFIG: &str = "[rating]\nsystem = 'elo'\n[web]\nrequests_per_second = 0\n";

/// Matches of four against four: a thing of chance with draws, in which some play better than others.
fn write_history(file: &Path) {
    let mut state = 60_u64;
    let mut random = move || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize
    };
    let mut text = String::new();
    let mut minute = 0;
    let mut add = |players: &[usize], random: &mut dyn FnMut() -> usize| {
        let strength = |team: usize| -> usize {
            let own = players.iter().skip(4 * team).take(4);
            own.map(|player| player % 7).sum()
        };
        let scores = [0, 1].map(|team| (strength(team) + random() % 12) / 4);
        let seats = players.iter().enumerate().map(|(seat, player)| {
            json!({"id": format!("p{player}"), "name": format!("n{player}"), "team": seat / 4})
        });
        minute += 20;
        let at = |minute: usize| {
            let (day, minute) = (minute / 1_440, minute % 1_440);
            format!(
                "2026-{:02}-{:02}T{:02}:{:02}:00Z",
                1 + day / 28,
                1 + day % 28,
                minute / 60,
                minute % 60
            )
        };
        let line = json!({
            "evenkeel": 1, "start": at(minute), "end": at(minute + 10), "game": "ctf", "map": "one",
            "scores": scores, "players": seats.collect::<Vec<_>>(),
        });
        writeln!(text, "{line}").unwrap();
    };
    for _ in 0..OF_REGULARS {
        let mut players: Vec<usize> = (0..REGULARS).collect();
        (1..REGULARS)
            .rev()
            .for_each(|at| players.swap(at, random() % (at + 1)));
        add(&players, &mut random);
    }
    for _ in 0..ROUNDS {
        let mut players: Vec<usize> = (REGULARS..REGULARS + OTHERS).collect();
        (1..OTHERS)
            .rev()
            .for_each(|at| players.swap(at, random() % (at + 1)));
        players.chunks(8).for_each(|lobby| add(lobby, &mut random));
    }
    fs::write(file, text).unwrap();
}

#[test]
fn a_thousand_pages_agree_with_what_matches_have_entered() {
    let Ok(version) = Command::new("python3").arg("--version").output() else {
        println!("skipped: there is no python3");
        return;
    };
    assert!(version.status.success(), "{version:?}");
    let folder = configured(CONFIG);
    let config = ("EVENKEEL_CONFIG", "evenkeel.toml");
    let began = Instant::now();
    write_history(&folder.path().join("matches.jsonl"));
    for words in [
        &["ingest", "matches.jsonl"][..],
        &["player", "pin-weight", "p3", "12.5"],
    ] {
        let mut command = evenkeel(folder.path());
        let output = command.args(words).envs([config]).output().unwrap();
        assert!(output.status.success(), "{words:?}: {output:?}");
    }
    println!("ingested after {:.1} s", began.elapsed().as_secs_f64());
    let pages = Pages::start(folder.path(), &[config]);
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/suite/web/accounts.py");
    let run = Command::new("python3")
        .args([Path::new(script), &folder.path().join("evenkeel.db")])
        .args([&pages.address.to_string(), "ctf", "p3"])
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&run.stdout);
    let errors = String::from_utf8_lossy(&run.stderr);
    println!("{said}after {:.1} s", began.elapsed().as_secs_f64());
    assert!(run.status.success(), "{said}{errors}");
}
