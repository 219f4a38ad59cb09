//! `evenkeel demo`: its output is true and reproducible, and the database that it leaves can be
//! served.

use std::{
    fs,
    path::Path,
    process::{Command, Stdio},
};

use crate::common::process::{self, Process, printed, wait};
use tempfile::TempDir;

/// The binary, with its temporary files in the folder `tmp` below `folder`.
fn evenkeel(folder: &Path) -> Command {
    let mut command = process::evenkeel(folder);
    let tmp = folder.join("tmp");
    command.env("TMPDIR", &tmp).env("TMP", &tmp);
    // `cargo test` sets it, as `cargo run` does.
    command.env_remove("CARGO_PKG_NAME");
    command
}

fn run(folder: &Path, args: &[&str]) -> (i32, String, String) {
    printed(evenkeel(folder).args(args).output().unwrap())
}

fn folder() -> TempDir {
    let folder = TempDir::new().unwrap();
    fs::create_dir(folder.path().join("tmp")).unwrap();
    folder
}

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    let name = |entry: std::io::Result<fs::DirEntry>| entry.unwrap().file_name();
    let mut names: Vec<String> = entries
        .map(|entry| name(entry).into_string().unwrap())
        .collect();
    names.sort();
    names
}

/// The cells of the tables in a text, of the rows with `columns` columns.
fn rows(text: &str, columns: usize) -> Vec<Vec<&str>> {
    let lines = text.lines().filter(|line| line.starts_with('│'));
    let cells = lines.map(|line| {
        let cells = line.trim_matches('│').split('┆');
        cells.map(str::trim).collect::<Vec<_>>()
    });
    cells.filter(|row| row.len() == columns).collect()
}

#[test]
fn demo_learns_picks_explains_and_predicts() {
    let folder = folder();
    let (code, out, err) = run(folder.path(), &["demo"]);
    assert_eq!((code, err.as_str()), (0, ""));
    assert!(out.lines().all(|line| line.chars().count() <= 100), "{out}");

    let leaders = rows(&out, 6);
    assert_eq!(leaders.len(), 1 + 14, "a head and every bot: {out}");
    let number = |cell: &str| cell.parse::<f64>().unwrap();
    let weights: Vec<f64> = leaders[1..].iter().map(|row| number(row[2])).collect();
    assert!(weights.is_sorted_by(|a, b| a >= b), "{weights:?}");
    let skill = |rows: &[Vec<&str>]| rows.iter().map(|row| number(row[5])).sum::<f64>();
    assert_eq!(skill(&leaders[1..6]), 22.0, "the five best by skill lead");
    assert_eq!(skill(&leaders[12..15]), 3.0, "the three worst are last");

    let teams = rows(&out, 4);
    let (sums, players) = teams[1..].split_last().unwrap();
    assert_eq!(players.len(), 4);
    let (one, other) = (number(sums[1]), number(sums[3]));
    // The ratio is that of strengths, which differ from weights by what the last matches of others say.
    let ratio = one.min(other) / one.max(other);
    let (_, told) = out.split_once("a ratio of ").unwrap();
    let told = number(told.split_once(".\n").unwrap().0);
    assert!((told - ratio).abs() < 0.01, "{ratio} {out}");
    let percent = |before: &str| -> f64 {
        let (_, from) = out.split_once(before).unwrap();
        number(from.trim_start().split_once(" %").unwrap().0)
    };
    let (picked, best) = (
        percent("gives team 0 a chance of"),
        percent("stronger team has\n  a chance of"),
    );
    let stronger = picked.max(100.0 - picked);
    assert!(stronger <= best.max(50.0) + 2.5, "{picked} {best}"); // two points, rounded
    assert!(percent("\n  stronger team") > stronger + 10.0, "{out}");
    for (name, weight) in [(0, 1), (2, 3)] {
        for player in players {
            let row = leaders.iter().find(|row| row[1] == player[name]).unwrap();
            assert_eq!(row[2], player[weight]);
        }
    }

    let forecast = rows(&out, 3);
    let right = |cell: &str| number(cell.split_once(" of 30").unwrap().0);
    assert!(right(forecast[1][1]) > right(forecast[1][2]), "{out}");
    assert_eq!(forecast[2][2], "0.693");
    assert!(number(forecast[2][1]) < 0.693, "{out}");
    assert!(out.contains("\n  evenkeel serve\n"), "{out}");
    let mut started_by_cargo = evenkeel(folder.path());
    started_by_cargo
        .arg("demo")
        .env("CARGO_PKG_NAME", "evenkeel");
    let by_cargo = String::from_utf8(started_by_cargo.output().unwrap().stdout).unwrap();
    assert!(by_cargo.contains("\n  cargo run -- serve\n"), "{by_cargo}");

    assert_eq!(run(folder.path(), &["demo"]).1, out, "always the same");
    assert_eq!(names(folder.path()), ["tmp"], "nothing is left");
    assert!(names(&folder.path().join("tmp")).is_empty());
}

#[test]
fn what_the_demo_keeps_serves() {
    let folder = folder();
    let (code, out, err) = run(folder.path(), &["demo", "--keep", "a/try"]);
    assert_eq!((code, err.as_str()), (0, ""));
    let kept = folder.path().join("a/try");
    assert_eq!(names(&kept), ["evenkeel.db", "evenkeel.toml"]);
    assert!(names(&folder.path().join("tmp")).is_empty());
    let (_, from) = out.split_once("  evenkeel serve --dir ").unwrap();
    let dir = from.lines().next().unwrap();
    let path = fs::canonicalize(&kept).unwrap();
    assert_eq!(fs::canonicalize(dir).unwrap(), path);
    let config = path.join("evenkeel.toml");
    let config = config.to_str().unwrap();
    let (code, _, err) = run(folder.path(), &["config", "check", config]);
    assert_eq!((code, err.as_str()), (0, ""));
    // The folder is all that a command needs.
    let (code, listed, err) = run(folder.path(), &["match", "list", "--dir", "a/try"]);
    assert_eq!((code, err.as_str()), (0, ""));
    assert!(listed.contains("baseoa.ctf"), "{listed}");
    let why = ["player", "why", "Jenna", "--bot", "--dir", "a/try"];
    let (_, why, _) = run(folder.path(), &why);
    let page = include_str!("../../../docs/how-to/players.md").replace("\n> ", " ");
    let sentences = why.lines().skip(2).take_while(|line| !line.is_empty());
    for sentence in sentences {
        assert!(
            page.contains(sentence),
            "docs/how-to/players.md: {sentence}"
        );
    }

    let daemon = Process::start_with(folder.path(), &[("EVENKEEL_CONFIG", config)]);
    let ask = |lines: &str| daemon.ask(lines);
    assert!(out.contains("\n  http://127.0.0.1:7998/\n"), "{out}");
    // Runs the command that the demo prints.
    let (_, from) = out.split_once("printf '").unwrap();
    let (asked, _) = from.split_once('\'').unwrap();
    let answer = ask(&asked.replace("\\n", "\n"));
    let answers: Vec<&str> = answer.lines().collect();
    assert_eq!(answers.len(), 3, "{answer}");
    assert!(answers[0].starts_with("BOT Sarge 77."), "{answer}");
    assert!(answers[1].starts_with("BOT Jenna 14."), "{answer}");
    assert!(answers[2].ends_with(" 14"), "{answer}");

    // The documentation shows this database.
    let readme = readme();
    let (_, from) = readme.split_once("$ printf '").unwrap();
    let (asked, from) = from.split_once("' | nc").unwrap();
    let shown = from.lines().skip(1).take_while(|line| !line.is_empty());
    let shown: String = shown.map(|line| line.trim().to_owned() + "\n").collect();
    assert_eq!(ask(&asked.replace("\\n", "\n")), shown, "README.md");
    let page = include_str!("../../../docs/reference/protocol.md");
    let sides = |first: &str| {
        let (_, session) = page.split_once(first).unwrap();
        let (session, _) = session.split_once("```").unwrap();
        let session = format!("{first}{session}");
        let side = |mark: &str| {
            let lines = session.lines().filter_map(|line| line.strip_prefix(mark));
            lines.map(|line| format!("{line}\n")).collect::<String>()
        };
        (side("> "), side("< "))
    };
    let (asked, shown) = sides("> HELLO ps37 bots=yes");
    assert_eq!(ask(&asked), shown, "docs/reference/protocol.md");
    // The example of wishes leaves out most lines of EXPLAIN.
    let (asked, shown) = sides("> GAME ctf");
    let answer = ask(&asked);
    let mut answer = answer.lines();
    for line in shown.lines() {
        assert!(answer.any(|answer| answer == line), "missing: {line}");
    }
    drop(daemon);
    let weights = [
        "weights",
        "--config",
        config,
        "--game",
        "baseoa.ctf",
        "--bots",
        "--csv",
    ];
    let (_, list, _) = run(folder.path(), &weights);
    let head: Vec<&str> = list.lines().take(4).collect();
    let page = include_str!("../../../docs/how-to/players.md");
    assert!(
        page.contains(&head.join("\n")),
        "docs/how-to/players.md: {list}"
    );
}

/// The names of a folder's files that must not change, with their contents.
fn contents(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let files = names(folder).into_iter();
    let files = files.filter(|name| !name.starts_with("evenkeel.db-")); // SQLite's own
    files
        .map(|name| (name.clone(), fs::read(folder.join(name)).unwrap()))
        .collect()
}

#[test]
fn a_kept_folder_can_be_copied_and_moved() {
    let folder = folder();
    let path = |name: &str| folder.path().join(name);
    let (code, out, err) = run(folder.path(), &["demo", "--keep", "my first"]);
    assert_eq!((code, err.as_str()), (0, ""));
    let shown = format!("serve --dir '{}'\n", path("my first").display());
    assert!(out.contains(&shown), "{out}");
    fs::create_dir(path("copy")).unwrap();
    for name in ["evenkeel.db", "evenkeel.toml"] {
        fs::copy(path("my first").join(name), path("copy").join(name)).unwrap();
    }
    let before = contents(&path("my first"));
    let void = |flag: &str, place: &str| run(folder.path(), &["match", "void", "1", flag, place]);
    for (flag, place) in [("--dir", "copy"), ("--config", "copy/evenkeel.toml")] {
        let (code, _, err) = void(flag, place);
        assert_eq!(code, 0, "{err}");
        assert!(
            contents(&path("my first")) == before,
            "the original is as it was"
        );
        let (code, ..) = run(folder.path(), &["match", "unvoid", "1", flag, place]);
        assert_eq!(code, 0);
    }
    fs::rename(path("my first"), path("moved")).unwrap();
    let (code, listed, err) = run(folder.path(), &["match", "list", "--dir", "moved"]);
    assert_eq!((code, err.as_str()), (0, ""));
    assert!(listed.contains("baseoa.ctf"), "{listed}");
}

/// Two strong bots are on one team and two weak ones on the other.
#[test]
fn explain_agrees_with_balance_where_the_strong_bots_are_on_one_team() {
    let folder = folder();
    let (code, _, err) = run(folder.path(), &["demo", "--keep", "try"]);
    assert_eq!((code, err.as_str()), (0, ""));
    let config = folder.path().join("try/evenkeel.toml");
    let config = config.to_str().unwrap();
    let daemon = Process::start_with(folder.path(), &[("EVENKEEL_CONFIG", config)]);
    let ask = |lines: &str| daemon.ask(lines);
    let bots = "BOTJOIN Sarge 0\nBOTJOIN Grunt 0\nBOTJOIN Jenna 1\nBOTJOIN Beret 1\n";
    for seed in 0..5 {
        let humans = "JOIN a\nJOIN b\n";
        let answer = ask(&format!(
            "GAME baseoa.ctf\n{bots}{humans}BALANCE seed={seed}\nEXPLAIN\nREBALANCE seed=1\n"
        ));
        let lines: Vec<&str> = answer.lines().collect();
        let words: Vec<&str> = lines[0].split(' ').collect();
        let (ratio, chance) = (words[2], words[3]);
        let even = format!("chance of team 0 to win {chance}, ratio {ratio}");
        let whys: Vec<&str> = lines
            .iter()
            .filter_map(|line| line.strip_prefix("WHY "))
            .collect();
        assert_eq!(whys[0], even, "{answer}");
        let chance: f64 = chance.parse().unwrap();
        let weaker = format!(
            "chance of the weaker team {:.6}, of at most ",
            chance.min(1.0 - chance)
        );
        assert!(whys[1].starts_with(&weaker), "{answer}");
        let picked = whys
            .iter()
            .find(|line| line.starts_with("picked: "))
            .unwrap();
        assert!(
            picked.starts_with(&format!("picked: {even}, cost ")),
            "{answer}"
        );
        assert!(picked.contains(", probability of this pick "), "{answer}");
        // Sarge and Grunt outweigh the others by far.
        assert!(
            ratio.parse::<f64>().unwrap() < 0.9 && chance > 0.6,
            "{answer}"
        );
        let advice = lines
            .iter()
            .find(|line| line.starts_with("REBALANCE "))
            .unwrap();
        assert_eq!(advice.split(' ').nth(3), Some(ratio), "{answer}");
    }
}

fn readme() -> String {
    fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/README.md")).unwrap()
}

/// The README shows some lines of the demo, in their order.
#[test]
fn the_readme_shows_what_the_demo_prints() {
    let folder = folder();
    let out = run(folder.path(), &["demo"]).1;
    let readme = readme();
    let (_, from) = readme.split_once("```\n").unwrap();
    let (shown, _) = from.split_once("```").unwrap();
    let mut lines = out.lines();
    for line in shown.lines() {
        assert!(lines.any(|printed| printed == line), "{line}\n{out}");
    }
}

#[test]
fn the_demo_overwrites_nothing() {
    for (there, other) in [
        ("evenkeel.toml", "evenkeel.db"),
        ("evenkeel.db", "evenkeel.toml"),
    ] {
        let folder = folder();
        fs::write(folder.path().join(there), "mine").unwrap();
        let (code, out, err) = run(folder.path(), &["demo", "--keep", "."]);
        assert_eq!((code, out.as_str()), (4, ""), "{err}");
        assert!(err.contains(there) && err.contains("exists"), "{err}");
        let mine = fs::read_to_string(folder.path().join(there)).unwrap();
        assert_eq!(mine, "mine");
        assert!(!folder.path().join(other).exists());
    }
    let folder = folder();
    fs::write(folder.path().join("file"), "").unwrap();
    let (code, _, err) = run(folder.path(), &["demo", "--keep", "file"]);
    assert_eq!(code, 4, "{err}");
    assert!(err.starts_with("evenkeel: file: "), "{err}");
}

/// Starts the demo, sends it a signal once its folder is there, and returns its exit code.
///
/// The demo takes a tenth of a second: it may end before the signal arrives.
fn interrupted(folder: &Path, signal: &str) -> Option<i32> {
    let mut command = evenkeel(folder);
    let mut demo = command.arg("demo").stdout(Stdio::null()).spawn().unwrap();
    while names(&folder.join("tmp")).is_empty() && demo.try_wait().unwrap().is_none() {}
    let id = demo.id().to_string();
    let sent = Command::new("kill").args([signal, &id]).status().unwrap();
    // What has ended may be signalled until it is waited for, which `try_wait` may have done.
    assert!(sent.success() || demo.try_wait().unwrap().is_some());
    wait(&mut demo).code()
}

#[test]
fn an_interrupted_demo_leaves_nothing() {
    for signal in ["-INT", "-TERM"] {
        let folder = folder();
        let in_time = (0..200).any(|_| {
            let code = interrupted(folder.path(), signal);
            let left = names(&folder.path().join("tmp"));
            assert!(left.is_empty(), "{signal}: {left:?}");
            assert!(matches!(code, Some(0 | 130)), "{signal}: {code:?}");
            code == Some(130)
        });
        assert!(in_time, "{signal}");
    }
}
