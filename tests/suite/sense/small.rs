//! Small things that an operator would call right: commands that name what is wrong, and nothing lost unnoticed.

use std::{
    fs,
    path::Path,
    time::{Duration, Instant},
};

use serde_json::Value;
use tempfile::TempDir;
use tokio::{
    io::AsyncWriteExt,
    time::{sleep, timeout},
};

use crate::common::{
    Daemon,
    process::{run, run_with},
    until,
};

/// A published history of two v two, in which the player with the lower number mostly wins.
fn history(matches: u32) -> Vec<String> {
    let row = |n: u32| {
        let (a, b) = (n % 5, (n + 1 + n % 3) % 5);
        let y = u32::from((a < b) != n.is_multiple_of(7));
        let t = 1_000_000 + n * 9_000;
        format!(r#"{{"t":{t},"game":"x","teams":[["p{a}","q"],["p{b}","r"]],"y":{y}}}"#)
    };
    (0..matches).map(row).collect()
}

fn write(folder: &Path, name: &str, lines: &[String]) {
    fs::write(folder.join(name), lines.join("\n") + "\n").unwrap();
}

/// The rows of the first history's first table, without the time each system took.
fn rows(json: &str) -> Vec<Value> {
    let json: Value = serde_json::from_str(json).unwrap();
    let mut rows = json[0]["all"].as_array().unwrap().clone();
    for row in &mut rows {
        row.as_object_mut().unwrap().remove("micros_per_match");
    }
    rows
}

#[test]
fn evaluate_sorts_a_history_that_is_out_of_order_and_says_so() {
    let folder = TempDir::new().unwrap();
    let mut lines = history(60);
    write(folder.path(), "sorted.jsonl", &lines);
    lines.swap(10, 50);
    lines[20..40].reverse();
    write(folder.path(), "mixed.jsonl", &lines);
    let evaluate = |name: &str| {
        let args = [
            "evaluate", name, "--json", "--system", "elo", "--system", "joint",
        ];
        run(folder.path(), &args)
    };
    let (code, sorted, err) = evaluate("sorted.jsonl");
    assert_eq!((code, err.as_str()), (0, ""));
    let (code, mixed, err) = evaluate("mixed.jsonl");
    assert_eq!(code, 0);
    assert_eq!(rows(&sorted), rows(&mixed));
    assert!(err.contains("mixed.jsonl: not in order of time: "), "{err}");
    assert!(err.contains("all are sorted"), "{err}");
}

#[test]
fn evaluate_names_malformed_lines_as_ingest_does() {
    let folder = TempDir::new().unwrap();
    let mut lines = history(30);
    lines[7] = r#"{"t":7,"game":"x","teams":[["a"],["b"]],"y":0.7}"#.to_owned();
    write(folder.path(), "past.jsonl", &lines);
    let (code, _, evaluated) = run(
        folder.path(),
        &["evaluate", "past.jsonl", "--system", "elo"],
    );
    assert_eq!(code, 0);
    assert!(
        evaluated.contains("past.jsonl:8: y must be 1, 0.5 or 0"),
        "{evaluated}"
    );
    let (_, _, ingested) = run(folder.path(), &["ingest", "past.jsonl"]);
    assert_eq!(evaluated, ingested);
}

#[test]
fn evaluate_writes_the_predictions_that_its_table_measures() {
    let folder = TempDir::new().unwrap();
    write(folder.path(), "past.jsonl", &history(60));
    for exchange in [&[][..], &["--exchange", "7"]] {
        let mut args = vec!["evaluate", "past.jsonl", "--json", "--predictions", "p.csv"];
        args.extend(exchange);
        let (code, out, err) = run(folder.path(), &args);
        assert_eq!((code, err.as_str()), (0, ""));
        let mut csv = csv::Reader::from_path(folder.path().join("p.csv")).unwrap();
        let heads: Vec<String> = csv.headers().unwrap().iter().map(str::to_owned).collect();
        assert_eq!(
            heads,
            ["history", "match", "ended", "system", "chance", "outcome"]
        );
        let lines: Vec<csv::StringRecord> = csv.records().map(Result::unwrap).collect();
        for row in rows(&out) {
            let own = lines.iter().filter(|line| line[3] == row["system"]);
            let losses = own.map(|line| {
                let chance: f64 = line[4].parse().unwrap();
                // Whatever was exchanged: the first team is the file's.
                let n: u32 = line[1].parse::<u32>().unwrap() - 1;
                let y = u32::from((n % 5 < (n + 1 + n % 3) % 5) != n.is_multiple_of(7));
                assert_eq!(line[5], y.to_string());
                -(if y == 1 { chance } else { 1.0 - chance }).ln()
            });
            let losses: Vec<f64> = losses.collect();
            assert_eq!(losses.len(), 48);
            let mean = losses.iter().sum::<f64>() / 48.0;
            assert!(
                (mean - row["log_loss"].as_f64().unwrap()).abs() < 1e-9,
                "{row}"
            );
        }
    }
}

#[test]
fn evaluate_exchanges_the_teams_of_one_file_alone() {
    let folder = TempDir::new().unwrap();
    write(folder.path(), "a.jsonl", &history(60));
    write(folder.path(), "b.jsonl", &history(60));
    let evaluate = |args: &[&str]| {
        let mut all = vec![
            "evaluate",
            "a.jsonl",
            "b.jsonl",
            "--json",
            "--system",
            "elo",
            "--against",
            "elo",
        ];
        all.extend(args);
        let (code, out, err) = run(folder.path(), &all);
        assert_eq!((code, err.as_str()), (0, ""));
        let json: Value = serde_json::from_str(&out).unwrap();
        let base = |at: usize| json[at]["all"][0]["log_loss"].as_f64().unwrap();
        (base(0), base(1))
    };
    let (plain, _) = evaluate(&[]);
    let (first, second) = evaluate(&["--exchange", "a.jsonl=3"]);
    assert!(first != plain && second == plain);
    let both = evaluate(&["--exchange", "3"]);
    assert_eq!(both, (first, first));
    let own = evaluate(&["--exchange", "3", "--exchange", "b.jsonl=4"]);
    assert!(own.0 == first && own.1 != first);
    let args = ["evaluate", "a.jsonl", "--exchange", "c.jsonl=4"];
    let (code, _, err) = run(folder.path(), &args);
    assert_eq!(code, 4);
    assert!(err.contains("c.jsonl: this file is not evaluated"), "{err}");
}

#[test]
fn evaluate_says_what_fifty_per_cent_means() {
    let folder = TempDir::new().unwrap();
    // Nobody plays twice.
    let row = |n: u32| {
        let t = 1_000_000 + n * 9_000;
        format!(
            r#"{{"t":{t},"game":"x","teams":[["a{n}"],["b{n}"]],"y":{}}}"#,
            n % 2
        )
    };
    write(
        folder.path(),
        "past.jsonl",
        &(0..40).map(row).collect::<Vec<_>>(),
    );
    let args = [
        "evaluate",
        "past.jsonl",
        "--exchange",
        "1",
        "--system",
        "joint",
    ];
    let (code, out, _) = run(folder.path(), &args);
    assert_eq!(code, 0);
    assert!(
        out.contains("50.0 % and 0.6931 are the figures of a coin"),
        "{out}"
    );
    let (_, help, _) = run(folder.path(), &["evaluate", "--help"]);
    assert!(help.contains("predicted no better than a coin"), "{help}");
}

#[test]
fn identical_lines_are_reported_and_dropped_where_they_have_a_time_of_day() {
    let folder = TempDir::new().unwrap();
    let row = |t: u32| format!(r#"{{"t":{t},"game":"x","teams":[["a","b"],["c","d"]],"y":1}}"#);
    let lines = [
        row(86_400),
        row(86_400),
        row(90_000),
        row(90_000),
        row(172_800),
        row(90_000),
    ];
    write(folder.path(), "past.jsonl", &lines);
    let (code, out, err) = run(folder.path(), &["ingest", "past.jsonl"]);
    assert_eq!(code, 0);
    for line in [
        "past.jsonl:2: the line is the same as line 1; it is kept, since it has no time of day",
        "past.jsonl:4: the line is the same as line 3 and is dropped",
        "past.jsonl:6: the line is the same as line 3 and is dropped",
    ] {
        assert!(err.contains(line), "{line}: {err}");
    }
    for row in [
        "rated                 ┆ 4",
        "duplicates            ┆ 2",
        "identical lines, kept ┆ 1",
    ] {
        assert!(out.contains(row), "{row}: {out}");
    }
    let (_, out, evaluated) = run(
        folder.path(),
        &["evaluate", "past.jsonl", "--system", "elo"],
    );
    assert!(out.contains("past.jsonl: 4 matches"), "{out}");
    assert!(evaluated.starts_with(&err), "{evaluated}");
}

#[test]
fn a_player_on_both_teams_at_once_is_refused_with_a_reason() {
    let folder = TempDir::new().unwrap();
    let match_ = |stays: &str| {
        format!(
            r#"{{"evenkeel":1,"start":0,"end":600000,"game":"x","scores":[1,0],"players":[{{"id":"a","stays":[{stays}]}},{{"id":"b","team":1}}]}}"#
        )
    };
    let lines = [
        r#"{"t":90000,"game":"x","teams":[["a","b"],["a","c"]],"y":1}"#.to_owned(),
        r#"{"t":90000,"game":"x","teams":[["a","b"],["a","c"]],"w":[[0.5,1],[0.25,1]],"y":1}"#
            .to_owned(),
        match_(r#"{"team":0,"from":0,"to":400000},{"team":1,"from":300000,"to":600000}"#),
        match_(r#"{"team":0,"from":0,"to":300000},{"team":1,"from":300000,"to":600000}"#),
    ];
    write(folder.path(), "past.jsonl", &lines);
    let (code, out, err) = run(folder.path(), &["ingest", "past.jsonl"]);
    assert_eq!(code, 0);
    let expected = "past.jsonl:1: a player is on both teams at once, or on one team twice\n\
                    past.jsonl:3: a player is on two teams at once\n";
    assert_eq!(err, expected);
    assert!(out.contains("found           ┆ 2"), "{out}");
    // What was stored can be exported and read again.
    let (_, exported, _) = run(folder.path(), &["export"]);
    fs::write(folder.path().join("out.jsonl"), exported).unwrap();
    let (_, out, err) = run(folder.path(), &["ingest", "out.jsonl"]);
    assert_eq!(err, "");
    assert!(out.contains("duplicates      ┆ 2"), "{out}");
}

#[test]
fn weights_without_a_game_lists_the_rulesets_and_takes_the_names_it_prints() {
    let folder = TempDir::new().unwrap();
    let match_ = |n: u32, game: &str, mutator: &str| {
        let (start, end) = (n * 700_000, n * 700_000 + 600_000);
        format!(
            r#"{{"evenkeel":1,"start":{start},"end":{end},"game":"{game}","mutators":["{mutator}"],"scores":[1,0],"players":[{{"id":"a","team":0}},{{"id":"b","team":1}}]}}"#
        )
    };
    let lines = [match_(1, "abc", "InstaGib"), match_(2, "a+b", "x.Arena")];
    write(folder.path(), "past.jsonl", &lines);
    assert_eq!(
        run(folder.path(), &["weights"]).0,
        5,
        "there is no database"
    );
    run(folder.path(), &["ingest", "past.jsonl"]);
    let (code, out, err) = run(folder.path(), &["weights"]);
    assert_eq!((code, err.as_str()), (0, ""));
    let names: Vec<&str> = out
        .lines()
        .map(|line| line.strip_prefix("  ruleset with weights: ").unwrap())
        .collect();
    assert_eq!(names, [r"a\+b+x.arena", "abc+instagib"]);
    for name in &names {
        let (code, out, _) = run(folder.path(), &["weights", "--game", name]);
        assert_eq!(code, 0);
        assert!(
            out.starts_with(&format!("{name}\n")) && out.contains("│     - ┆ a "),
            "{out}"
        );
    }
    let args = ["weights", "--game", "ABC", "--mutator", "instagib"];
    assert!(run(folder.path(), &args).1.starts_with("abc+instagib\n"));
    let (_, json, _) = run(folder.path(), &["weights", "--json"]);
    let json: Vec<String> = serde_json::from_str(&json).unwrap();
    assert_eq!(json, names);
    let (_, csv, _) = run(folder.path(), &["weights", "--csv"]);
    assert_eq!(csv, format!("ruleset\n{}\n{}\n", names[0], names[1]));
}

const LIST: &str = "90 ann\n70 ben\n60 cat\n40 dan\n30 eve\n";

#[test]
fn balance_leaves_bots_out_where_there_are_none() {
    let folder = TempDir::new().unwrap();
    fs::write(folder.path().join("off.toml"), "[lobby]\nbots = false\n").unwrap();
    fs::write(folder.path().join("few.toml"), "[lobby]\nmin_humans = 6\n").unwrap();
    let balance = |more: &[&str]| {
        let mut args = vec!["balance", "--seed", "1", "--json", "--top", "1"];
        args.extend(["--objective", "ratio"]);
        args.extend(more);
        let (code, out, err) = run_with(folder.path(), &args, LIST);
        assert_eq!((code, err.as_str()), (0, ""));
        let json: Value = serde_json::from_str(&out).unwrap();
        let bots = |team: usize| json["teams"][team]["bots"].as_u64().unwrap();
        (bots(0) + bots(1), json["ratio"].as_f64().unwrap())
    };
    assert!(balance(&[]).0 > 0);
    for without in [
        &["--no-bots"][..],
        &["--config", "off.toml"],
        &["--config", "few.toml"],
    ] {
        // 90 + 60 against 70 + 40 + 30 is the best of the five.
        assert_eq!(balance(without), (0, 140.0 / 150.0), "{without:?}");
    }
    let (_, out, _) = run_with(folder.path(), &["balance", "--no-bots"], LIST);
    assert!(
        out.contains("and 0 bots") && !out.contains("1 bot"),
        "{out}"
    );
}

#[test]
fn balance_grants_wishes_offline_as_in_a_game_and_says_what_it_could_not_grant() {
    let folder = tempfile::tempdir().unwrap();
    let four = "50 a\n50 b\n50 c\n50 d\n";
    let balance = |flags: &[&str]| {
        let flags = [&["balance", "--no-bots", "--seed", "1"], flags].concat();
        run_with(folder.path(), &flags, four)
    };
    for (flags, said) in [
        (&["--party", "a,b,c"][..], "the party of a, b, c is torn"),
        (
            &["--pin", "a=0", "--pin", "b=0", "--pin", "c=0"],
            "unequal numbers of humans: 3 to 1",
        ),
        (
            &["--pin", "a=0", "--pin", "b=1", "--party", "a,b"],
            "the party of a, b is torn",
        ),
    ] {
        let (code, out, err) = balance(flags);
        assert_eq!((code, err.as_str()), (0, ""), "{flags:?}");
        assert!(out.contains(said), "{flags:?}: {out}");
        let (code, out, _) = balance(&[flags, &["--json"]].concat());
        assert_eq!(code, 0, "{flags:?}");
        let json: Value = serde_json::from_str(&out).unwrap();
        assert!(json["relaxed"][0].as_str().unwrap().contains(said), "{out}");
    }
    let (_, out, _) = balance(&["--pin", "a=0", "--pin", "b=0", "--pin", "c=0"]);
    assert!(out.contains("without the pins: ratio 1.000000"), "{out}");
    // Only a pin to a team that does not exist is an error.
    for flags in [&["--pin", "a=2"][..], &["--teams", "1"], &["--teams", "9"]] {
        let (code, _, err) = balance(flags);
        assert!(code != 0 && !err.is_empty(), "{flags:?}");
    }
    let (code, out, _) = balance(&["--party", "a,b"]);
    assert!(code == 0 && !out.contains("torn"), "{out}");
}

#[test]
fn balance_of_nobody_is_an_error() {
    let folder = TempDir::new().unwrap();
    for (format, text) in [
        ("list", ""),
        ("list", "# nobody\n\n"),
        ("toml", "teams = 3"),
        ("json", "{}"),
    ] {
        let (code, out, err) = run_with(folder.path(), &["balance", "--format", format], text);
        assert_eq!((code, out.as_str()), (4, ""), "{text}");
        assert!(err.contains("there are no players in it"), "{err}");
    }
}

#[test]
fn an_infinite_power_with_all_factors_0_takes_the_most_even_teams() {
    let folder = TempDir::new().unwrap();
    let mut state = 1_u32;
    let mut random = |below: u32| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 8) % below
    };
    for objective in ["ratio", "chance"] {
        for _ in 0..4 {
            let weights: Vec<u32> = (0..7).map(|_| 1 + random(100)).collect();
            let list: String = weights
                .iter()
                .enumerate()
                .map(|(n, w)| format!("{w} p{n}\n"))
                .collect();
            let args = [
                "balance",
                "--objective",
                objective,
                "--no-bots",
                "--factor",
                "all=0",
                "--power",
                "inf",
                "--json",
            ];
            let (code, out, err) = run_with(folder.path(), &args, &list);
            assert_eq!((code, err.as_str()), (0, ""));
            let json: Value = serde_json::from_str(&out).unwrap();
            let all: u32 = weights.iter().sum();
            let legal = (0_u32..128).filter(|split| matches!(split.count_ones(), 3 | 4));
            let ratios = legal.map(|split| {
                let one: u32 = (0..7)
                    .filter(|n| split >> n & 1 == 1)
                    .map(|n| weights[n])
                    .sum();
                f64::from(one.min(all - one)) / f64::from(one.max(all - one))
            });
            let best = ratios.fold(0.0, f64::max);
            if objective == "chance" {
                let candidates = json["solution"]["candidates"].as_array().unwrap();
                let chances = candidates
                    .iter()
                    .map(|split| split["chance"].as_f64().unwrap());
                let nearest = chances
                    .map(|chance| (chance - 0.5).abs())
                    .fold(0.5, f64::min);
                let chance = json["chance"].as_f64().unwrap();
                assert!((chance - 0.5).abs() <= nearest + 1e-9, "{weights:?} {out}");
                continue;
            }
            assert!(
                (json["ratio"].as_f64().unwrap() - best).abs() < 1e-9,
                "{weights:?} {objective} {best} {out}"
            );
        }
    }
}

#[tokio::test]
async fn start_in_play_is_refused_and_the_score_stays() {
    let daemon = Daemon::start("[rating]\nmin_seconds = 0").await;
    let mut client = daemon.client().await;
    client
        .tell("GAME ctf\nJOIN a team=0\nJOIN b team=1\nSTART\nSCORE 1\nSCORE 1\n")
        .await;
    assert_eq!(
        client.ask("START\n").await,
        "ERROR not-allowed play has begun; send END or GAME first"
    );
    let ended = client.ask("END\n").await;
    assert!(ended.starts_with("END 1 "), "{ended}");
    let matches = daemon.service.learning().matches().await.unwrap();
    assert_eq!(matches[0].scores, [0.0, 2.0]);
    // After END, play can begin once more.
    client.tell("START\nSCORE 0\n").await;
    assert!(client.ask("END\n").await.starts_with("END "));
}

#[tokio::test]
async fn bots_never_asks_for_more_than_the_roster_holds() {
    let daemon = Daemon::start("[lobby]\nmax_roster = 8").await;
    let mut client = daemon.client().await;
    client
        .tell("GAME ctf\nMAP m 2 32\nMINPLAYERS 32\nJOIN a team=0\nJOIN b team=1\nJOIN c team=1\n")
        .await;
    assert_eq!(client.ask("BOTS\n").await, "BOTS 8 3 2");
    client.tell("GAME dm\nMINPLAYERS 32\nJOIN a\n").await;
    assert_eq!(client.ask("BOTS\n").await, "BOTS 8 7");
}

#[tokio::test]
async fn kills_by_the_world_do_not_close_the_connection() {
    let daemon = Daemon::start("[server]\nmax_errors = 3").await;
    let mut client = daemon.client().await;
    client
        .tell("GAME ctf\nJOIN a team=0\nJOIN b team=1\nSTART\n")
        .await;
    let strangers = "KILL world a\nKILL a lava\nKILL \"\" a\nKILL a \"\"\nKILL - a\nKILL \" \" a\n";
    for _ in 0..20 {
        client.send(strangers).await;
        for _ in strangers.lines() {
            assert_eq!(
                client.line().await,
                "ERROR unknown-player not in the roster"
            );
        }
    }
    assert_eq!(client.ask("PING\n").await, "PONG");
    let replies = client.talk("KILL a\nPOINTS x 1\nX\n").await;
    assert!(
        replies.ends_with("ERROR too-many-errors 3 errors since the last GAME\n"),
        "{replies}"
    );
}

#[tokio::test]
async fn one_error_is_one_error() {
    let daemon = Daemon::start("[server]\nmax_errors = 1").await;
    let replies = daemon.client().await.talk("X\n").await;
    assert!(
        replies.ends_with("ERROR too-many-errors 1 error since the last GAME\n"),
        "{replies}"
    );
}

#[test]
fn one_candidate_is_the_best() {
    let folder = TempDir::new().unwrap();
    let args = ["balance", "--top", "1", "--seed", "1"];
    let (_, out, _) = run_with(folder.path(), &args, LIST);
    assert!(out.contains(", the best (exact, "), "{out}");
    let args = ["balance", "--top", "3", "--seed", "1"];
    let (_, out, _) = run_with(folder.path(), &args, LIST);
    assert!(out.contains(", one of the 3 best (exact, "), "{out}");
}

#[tokio::test]
async fn blank_lines_do_not_keep_a_connection_open() {
    let daemon = Daemon::start("[server]\nidle_seconds = 1").await;
    let mut client = daemon.client().await;
    assert_eq!(client.ask("PING\n").await, "PONG");
    let began = Instant::now();
    let blank = async {
        while client.stream.get_mut().write_all(b"\n \r\n").await.is_ok() {
            sleep(Duration::from_millis(50)).await;
        }
    };
    timeout(Duration::from_secs(20), blank).await.unwrap();
    assert!(began.elapsed() >= Duration::from_millis(900));
}

/// A match of ten minutes in the interchange format, of the game type abc.
fn match_line(n: u32, red: [&str; 2], blue: [&str; 2], scores: [u32; 2]) -> String {
    let (start, end) = (n * 700_000, n * 700_000 + 600_000);
    let players = |team: usize, ids: [&str; 2]| {
        let one = |id: &str| format!(r#"{{"id":"{id}","team":{team}}}"#);
        ids.map(one).join(",")
    };
    format!(
        r#"{{"evenkeel":1,"start":{start},"end":{end},"game":"abc","map":"m","server":"s","scores":[{},{}],"players":[{},{}]}}"#,
        scores[0],
        scores[1],
        players(0, red),
        players(1, blue)
    )
}

/// Twelve matches; in every third one the player "cheat" wins high. Those and the others.
fn with_cheat() -> (Vec<String>, Vec<String>) {
    let line = |n: u32| match n % 3 {
        0 => match_line(n, ["cheat", "a"], ["b", "c"], [9, 0]),
        1 => match_line(n, ["a", "b"], ["c", "d"], [3, 1]),
        _ => match_line(n, ["a", "d"], ["b", "c"], [n % 2, 1]),
    };
    let cheated = (0..12).filter(|n| n % 3 == 0).map(line).collect();
    (cheated, (0..12).filter(|n| n % 3 != 0).map(line).collect())
}

fn csv_of(folder: &Path) -> String {
    let (code, out, err) = run(folder, &["weights", "--game", "abc", "--csv"]);
    assert_eq!((code, err.as_str()), (0, ""));
    out
}

#[test]
fn void_matches_are_kept_and_not_rated() {
    let (cheated, fair) = with_cheat();
    let (one, other) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    write(one.path(), "all.jsonl", &[cheated, fair.clone()].concat());
    write(other.path(), "fair.jsonl", &fair);
    run(one.path(), &["ingest", "all.jsonl"]);
    run(other.path(), &["ingest", "fair.jsonl"]);
    let (all, expected) = (csv_of(one.path()), csv_of(other.path()));
    assert_ne!(all, expected);

    let (code, out, err) = run(one.path(), &["match", "void", "--player", "cheat"]);
    assert_eq!(
        (code, err.as_str(), out.as_str()),
        (0, "", "4 matches are void\n")
    );
    assert_eq!(csv_of(one.path()), expected);
    assert!(!expected.contains("cheat"));
    let (_, out, _) = run(one.path(), &["evaluate", "--system", "elo"]);
    assert!(out.contains("the stored matches: 8 matches"), "{out}");
    let (_, out, _) = run(one.path(), &["match", "show", "1"]);
    for part in [
        "match 1: abc on m, s, ",
        "9:0, team 0 won",
        "not rated: void",
        "┆ cheat ",
        "won",
        "lost",
    ] {
        assert!(out.contains(part), "{part}: {out}");
    }
    // They stay void when all is derived anew, and when their log is read once more; and they are exported.
    run(one.path(), &["rebuild"]);
    assert_eq!(csv_of(one.path()), expected);
    let (_, out, _) = run(one.path(), &["ingest", "all.jsonl"]);
    assert!(out.contains("duplicates      ┆ 12"), "{out}");
    assert_eq!(csv_of(one.path()), expected);
    assert_eq!(run(one.path(), &["export"]).1.lines().count(), 12);

    let (_, out, _) = run(one.path(), &["match", "unvoid", "--player", "cheat"]);
    assert_eq!(out, "4 matches are valid again\n");
    assert_eq!(csv_of(one.path()), all);
    let (_, out, _) = run(one.path(), &["match", "show", "1"]);
    assert!(out.contains("\nrated\n"), "{out}");
}

#[test]
fn matches_are_void_one_by_one_or_from_a_date_on() {
    let (cheated, _) = with_cheat();
    let folder = TempDir::new().unwrap();
    write(folder.path(), "all.jsonl", &cheated);
    run(folder.path(), &["ingest", "all.jsonl"]);
    let run_ok = |args: &[&str]| {
        let (code, out, err) = run(folder.path(), args);
        (code, format!("{out}{err}"))
    };
    assert_eq!(
        run_ok(&["match", "void", "2"]),
        (0, "1 match is void\n".into())
    );
    let again = "1 match is void\n1 match was void before\n";
    assert_eq!(run_ok(&["match", "void", "1", "2"]), (0, again.into()));
    assert_eq!(
        run_ok(&["match", "unvoid", "1", "2"]).1,
        "2 matches are valid again\n"
    );
    assert_eq!(
        run_ok(&["match", "unvoid", "2"]).1,
        "0 matches are valid again\n1 match was valid before\n"
    );
    // Matches 0, 3, 6 and 9 end 600, 2700, 4800 and 6900 seconds after 1970 began.
    let from = [
        "match",
        "void",
        "--player",
        "cheat",
        "--from",
        "1970-01-01T01:20:00",
    ];
    assert_eq!(run_ok(&from).1, "2 matches are void\n");
    // A date selects among a player's matches, not among ids.
    let (code, why) = run_ok(&["match", "void", "2", "--from", "1970-01-01"]);
    assert!(code == 2 && why.contains("cannot be used with"), "{why}");
    assert_eq!(
        run_ok(&["match", "void", "99"]),
        (4, "evenkeel: there is no match 99\n".into())
    );
    assert_eq!(run_ok(&["match", "show", "99"]).0, 4);
    let (code, why) = run_ok(&["match", "void", "--player", "nobody"]);
    assert!(
        code == 4 && why.contains("human nobody has played in none of the matches"),
        "{why}"
    );
    assert_eq!(run_ok(&["match", "void"]).0, 2);
}

/// The commands wait until the daemon has learned, so it needs a thread beside theirs.
#[tokio::test(flavor = "multi_thread")]
async fn a_running_daemon_sees_that_matches_are_void() {
    let daemon = Daemon::start("").await;
    let learning = daemon.service.learning().clone();
    let polling = tokio::spawn(async move { learning.keep_up_to_date().await });
    let folder = daemon.folder.path();
    let (cheated, fair) = with_cheat();
    write(folder, "all.jsonl", &[cheated, fair].concat());
    let with_db = |args: &[&str]| {
        let mut all = args.to_vec();
        all.extend(["--db", "test.db"]);
        let (code, _, err) = run(folder, &all);
        assert_eq!((code, err.as_str()), (0, ""));
    };
    with_db(&["ingest", "all.jsonl"]);
    let mut client = daemon.client().await;
    client.tell("GAME abc\n").await;
    // An unknown player has the short reply, without a weight.
    until(async || client.ask("PLAYER cheat\n").await != "PLAYER cheat").await;
    with_db(&["match", "void", "--player", "cheat"]);
    let began = Instant::now();
    until(async || client.ask("PLAYER cheat\n").await == "PLAYER cheat").await;
    assert!(
        began.elapsed() < Duration::from_secs(5),
        "{:?}",
        began.elapsed()
    );
    polling.abort();
}

#[tokio::test]
async fn player_history_tells_who_won_and_who_lost() {
    let folder = TempDir::new().unwrap();
    let stays = r#"{"id":"c","stays":[{"team":0,"from":0,"to":100000},{"team":1,"from":100000,"to":600000}]}"#;
    let changed =
        match_line(1, ["a", "b"], ["c", "d"], [2, 1]).replace(r#"{"id":"c","team":1}"#, stays);
    let lines = [
        changed,
        match_line(2, ["a", "b"], ["c", "d"], [1, 1]),
        match_line(3, ["a", "b"], ["c", "d"], [0, 1]),
    ];
    write(folder.path(), "all.jsonl", &lines);
    run(folder.path(), &["ingest", "all.jsonl"]);
    run(folder.path(), &["match", "void", "3"]);
    let url = format!("sqlite:{}", folder.path().join("evenkeel.db").display());
    let pool = sqlx::SqlitePool::connect(&url).await.unwrap();
    type Row = (String, i64, String, Option<String>);
    let query =
        "SELECT player, match_id, outcome, unrated FROM player_history WHERE player IN ('a', 'c')";
    let rows: Vec<Row> = sqlx::query_as(query).fetch_all(&pool).await.unwrap();
    let row = |player: &str, id, outcome: &str, unrated: Option<&str>| {
        (
            player.to_owned(),
            id,
            outcome.to_owned(),
            unrated.map(str::to_owned),
        )
    };
    assert_eq!(
        rows,
        [
            row("a", 1, "won", None),
            row("c", 1, "lost", None),
            row("a", 2, "draw", None),
            row("c", 2, "draw", None),
            row("a", 3, "lost", Some("void")),
            row("c", 3, "won", Some("void")),
        ]
    );
}
