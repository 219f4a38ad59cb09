//! The binary as an operator uses it: commands, their output, and their exit codes.

use std::{fs, path::Path};

use assert_cmd::Command;
use evenkeel::config::{START, all_keys};
use tempfile::TempDir;

use crate::common::process::{self, run, run_with};

const CTF: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/tests/fixtures/openarena/ctf-014.log"
);
const OTHER: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/tests/fixtures/openarena/ctf-017.log"
);

fn evenkeel(folder: &Path) -> Command {
    Command::from_std(process::evenkeel(folder))
}

fn folder() -> TempDir {
    TempDir::new().unwrap()
}

#[test]
fn ingest_takes_a_folder_and_names_what_it_skips() {
    let folder = folder();
    let logs = folder.path().join("logs");
    std::fs::create_dir(&logs).unwrap();
    std::fs::copy(CTF, logs.join("games.log")).unwrap();
    std::fs::write(logs.join("notes.txt"), "no log\n").unwrap();
    let cod = "  0:00 InitGame: \\g_gametype\\war\\gamename\\Call of Duty 4\n\
               \u{20} 0:01 nonsense\n 0x:1 nonsense\u{7}\n  0:02 ShutdownGame:\n";
    std::fs::write(logs.join("cod.log"), cod).unwrap();
    let (code, out, err) = run(folder.path(), &["ingest", "logs", "--verbose"]);
    assert_eq!(code, 0, "{err}");
    assert!(out.contains("skipped: unsupported ┆ 1"), "{out}");
    for line in [
        "logs/cod.log:1-3: a game is skipped: Call of Duty is not supported",
        "logs/cod.log:3: the line does not begin with a time:  0x:1 nonsense\u{fffd}",
        "logs/notes.txt: not a log of any known format",
    ] {
        assert!(err.contains(line), "{line}: {err}");
    }
    let (code, _, err) = run(folder.path(), &["ingest", "missing"]);
    assert!(code != 0 && err.contains("missing: "), "{err}");
}

#[test]
fn ingest_says_why_nothing_was_found() {
    let folder = folder();
    let cod = |games: u32| -> String {
        let game = |at| {
            format!(
                "  {at}:00 InitGame: \\g_gametype\\tdm\\gamename\\PT6MP\n  {at}:02 ShutdownGame:\n"
            )
        };
        (0..games).map(game).collect()
    };
    let l4d2 = "L 03/21/2024 - 12:00:00: Loading map \"c1m1_hotel\"\n\
                L 03/21/2024 - 12:00:12: \"ann<1><STEAM_0:0:11><>\" joined team \"Survivor\"\n\
                L 03/21/2024 - 12:20:05: Log file closed\n";
    let console = "InitGame: \\g_gametype\\4\\gamename\\baseoa\nClientConnect: 0\nClientBegin: 0\n";
    let teeworlds = "[5e6d2f0c][game]: start round type='DM' teamplay='0'\n\
                     [5e6d2f0d][game]: team_join player='0:ann' team=0\n";
    for (name, log, code, why) in [
        (
            "l4d2.log",
            l4d2.to_owned(),
            0,
            "no game was found: the file has the format source",
        ),
        (
            "cod.log",
            cod(50),
            0,
            "1-1: a game is skipped: Call of Duty is not supported",
        ),
        (
            "cod.log",
            cod(50),
            0,
            "49 more games that are not supported",
        ),
        (
            "console.log",
            console.to_owned(),
            4,
            "its lines have no times",
        ),
        (
            "teeworlds.log",
            teeworlds.to_owned(),
            4,
            "a log of Teeworlds 0.6",
        ),
    ] {
        std::fs::write(folder.path().join(name), log).unwrap();
        let (exit, _, err) = run(folder.path(), &["ingest", name]);
        assert_eq!(exit, code, "{name}: {err}");
        assert!(err.contains(name) && err.contains(why), "{why}: {err}");
        assert!(err.lines().count() <= 2, "{err}");
    }
}

#[test]
fn ingest_says_which_folder_has_no_log() {
    let folder = folder();
    for name in ["none", "notes", "logs"] {
        std::fs::create_dir(folder.path().join(name)).unwrap();
    }
    std::fs::write(folder.path().join("notes/a.txt"), "\n no log\n").unwrap();
    std::fs::write(folder.path().join("notes/b.txt"), "").unwrap();
    std::fs::copy(CTF, folder.path().join("logs/games.log")).unwrap();
    let (code, out, err) = run(folder.path(), &["ingest", "none", "notes", "logs"]);
    assert_eq!(code, 4, "{err}");
    for line in [
        "none: there is no log in this folder",
        "notes: there is no log in this folder",
        "notes/a.txt: not a log of any known format",
        "; it begins with: no log",
        "notes/b.txt: the file is empty",
    ] {
        assert!(err.contains(line), "{line}: {err}");
    }
    assert!(!err.contains("evenkeel: logs"), "{err}");
    assert!(out.contains("rated               ┆ 1"), "{out}");
}

#[test]
fn ingest_learns_once_and_the_weights_can_be_listed() {
    let folder = folder();
    let (code, out, err) = run(folder.path(), &["ingest", CTF, OTHER]);
    // Each log ends in a game without an end.
    let skipped = "a game is skipped: the log does not contain the end of this game";
    let zone = "its dates state no time zone and count as UTC; --time-zone NAME sets another";
    assert_eq!((code, err.lines().count()), (0, 3), "{err}");
    let mut lines = err.lines();
    assert!(
        lines.all(|line| line.ends_with(skipped) || line.ends_with(zone)),
        "{err}"
    );
    for row in [
        "found               ┆ 4",
        "rated               ┆ 2",
        "skipped: unfinished ┆ 2",
        "duplicates          ┆ 0",
    ] {
        assert!(out.contains(row), "{row}: {out}");
    }
    let (_, out, _) = run(folder.path(), &["ingest", CTF]);
    assert!(out.contains("duplicates          ┆ 1"), "{out}");
    let (code, out, _) = run(
        folder.path(),
        &["weights", "--game", "BASEOA.ctf", "--bots"],
    );
    assert_eq!(code, 0);
    assert!(out.contains("baseoa.ctf") && out.contains("Sarge"), "{out}");
    let (_, out, _) = run(folder.path(), &["weights", "--game", "baseoa.ctf"]);
    assert!(
        out.starts_with(
            "no humans have a weight under baseoa.ctf; 10 bots have: add --bots\n  ruleset with weights: baseoa.ctf"
        ),
        "{out}"
    );
}

#[test]
fn weights_as_json_and_csv() {
    let folder = folder();
    run(folder.path(), &["ingest", CTF]);
    let list = |how: &str| {
        run(
            folder.path(),
            &["weights", "--game", "baseoa.ctf", "--bots", how],
        )
        .1
    };
    let json: serde_json::Value = serde_json::from_str(&list("--json")).unwrap();
    let rows = json["players"].as_array().unwrap();
    assert_eq!(rows.len(), 8);
    let weights: Vec<f64> = rows
        .iter()
        .map(|row| row["weight"].as_f64().unwrap())
        .collect();
    assert!(weights.is_sorted_by(|a, b| a >= b));
    assert_eq!(
        (&rows[0]["standing"], &rows[0]["games"]),
        (&"placing".into(), &1.into())
    );
    let csv = list("--csv");
    let mut lines = csv.lines();
    assert_eq!(
        lines.next(),
        Some("place,name,id,weight,deviation,games,last_seen")
    );
    assert_eq!(lines.count(), 8);
    let (_, empty, _) = run(folder.path(), &["weights", "--game", "x", "--csv"]);
    assert_eq!(empty, "place,name,id,weight,deviation,games,last_seen\n");
    let (_, empty, _) = run(folder.path(), &["weights", "--game", "x", "--json"]);
    let empty: serde_json::Value = serde_json::from_str(&empty).unwrap();
    assert_eq!(empty["players"], serde_json::json!([]));
    assert_eq!(empty["ruleset"], "x");
    // Ten points of weight on one side of a 4 v 4, with the default rating system.
    let worth = empty["ten_points"].as_f64().unwrap();
    assert!((worth - 0.609).abs() < 0.001, "{worth}");
}

#[test]
fn what_is_no_log_is_an_error_and_the_rest_is_still_read() {
    let folder = folder();
    fs::write(folder.path().join("empty"), "").unwrap();
    fs::write(folder.path().join("settings"), "[package]\n").unwrap();
    let (code, out, err) = run(
        folder.path(),
        &["ingest", "settings", "empty", "missing", CTF],
    );
    assert_eq!(code, 4);
    assert!(out.contains("rated               ┆ 1"), "{out}");
    assert_eq!(
        err.matches("not a log of any known format (idtech3, ut2004, ")
            .count(),
        1,
        "{err}"
    );
    assert!(err.contains("; it begins with: [package]\n"), "{err}");
    assert!(err.contains("empty: the file is empty\n"), "{err}");
    assert!(err.contains("missing: No such file"), "{err}");
}

#[test]
fn a_malformed_line_is_named_and_not_fatal() {
    let folder = folder();
    let mut log = fs::read_to_string(CTF).unwrap();
    log.insert_str(log.find('\n').unwrap() + 1, "garbage without a time\n");
    fs::write(folder.path().join("games.log"), log).unwrap();
    let (code, out, err) = run(folder.path(), &["ingest", "games.log"]);
    assert_eq!(code, 0);
    assert!(err.starts_with("games.log:2: "), "{err}");
    assert!(
        out.contains("malformed lines     ┆ 1") && out.contains("rated               ┆ 1"),
        "{out}"
    );
}

#[test]
fn servers_are_told_apart_and_undated_logs_take_the_given_date() {
    let folder = folder();
    run(folder.path(), &["ingest", CTF]);
    let (_, out, _) = run(folder.path(), &["ingest", "--server", "two", CTF]);
    assert!(
        out.contains("rated               ┆ 1"),
        "another server, another match: {out}"
    );
    let undated: String = fs::read_to_string(CTF)
        .unwrap()
        .lines()
        .map(|line| line.split("\\g_timestamp\\").next().unwrap().to_owned() + "\n")
        .collect();
    fs::write(folder.path().join("undated.log"), &undated).unwrap();
    fs::write(folder.path().join("copy.log"), &undated).unwrap();
    let db = ["--db", "undated.db"];
    let ingest = |file| {
        run(
            folder.path(),
            &["ingest", db[0], db[1], "--date", "2001-02-03", file],
        )
        .1
    };
    assert!(ingest("undated.log").contains("rated               ┆ 1"));
    assert!(ingest("copy.log").contains("duplicates          ┆ 1"));
    let (_, out, _) = run(
        folder.path(),
        &[
            "weights",
            db[0],
            db[1],
            "--game",
            "baseoa.ctf",
            "--bots",
            "--csv",
        ],
    );
    assert!(out.contains("2001-02-03T00:"), "{out}");
    let (code, _, err) = run(folder.path(), &["ingest", "--date", "yesterday", CTF]);
    assert_eq!(code, 2);
    assert!(err.contains("expected a date such as"), "{err}");
}

#[test]
fn rebuild_says_what_it_went_through_and_changes_nothing() {
    let folder = folder();
    run(folder.path(), &["ingest", CTF, OTHER]);
    let list = || {
        run(
            folder.path(),
            &["weights", "--game", "baseoa.ctf", "--bots", "--json"],
        )
        .1
    };
    let before = list();
    let (code, out, _) = run(folder.path(), &["rebuild"]);
    assert_eq!(code, 0);
    assert!(
        out.ends_with("weights from 2 matches, 2 of them rated\n"),
        "{out}"
    );
    assert_eq!(list(), before);
}

#[test]
fn the_configuration_is_one_source() {
    let folder = folder();
    let (code, start, _) = run(folder.path(), &["config", "default"]);
    assert_eq!((code, start.as_str()), (0, START));
    let (code, all, _) = run(folder.path(), &["config", "default", "--all"]);
    assert_eq!((code, all.as_str()), (0, all_keys().as_str()));
    assert!(all.starts_with(include_str!("../../../config/evenkeel.toml")));
    for text in [start, all] {
        fs::write(folder.path().join("mine.toml"), text).unwrap();
        let (code, out, _) = run(folder.path(), &["config", "check", "mine.toml"]);
        assert_eq!((code, out.as_str()), (0, "mine.toml: valid\n"));
    }
    fs::write(
        folder.path().join("bad.toml"),
        "[rating]\nwindow = 30\nhalflife = 3\n",
    )
    .unwrap();
    for args in [
        &["config", "check", "bad.toml"][..],
        &["weights", "--game", "x", "--config", "bad.toml"],
    ] {
        let (code, out, err) = run(folder.path(), args);
        assert_eq!((code, out.as_str()), (3, ""));
        assert_eq!(
            err,
            "evenkeel: bad.toml: line 3: unknown key rating.halflife, did you mean half_life?\n"
        );
    }
    fs::write(folder.path().join("log.toml"), "[log]\nfilter = 'a=b=c'\n").unwrap();
    assert_eq!(run(folder.path(), &["config", "check", "log.toml"]).0, 3);
}

#[test]
fn a_preset_is_a_valid_file_and_the_names_are_listed() {
    let folder = folder();
    let names = [
        "tf2",
        "openarena",
        "ut2004",
        "quake3",
        "urbanterror",
        "xonotic",
        "nexuiz",
        "teeworlds",
        "counter-strike",
        "tfc",
        "ut99",
        "pickup",
    ];
    for name in names {
        let (code, out, _) = run(folder.path(), &["config", "preset", name]);
        assert_eq!(code, 0);
        let file = format!("{name}.toml");
        fs::write(folder.path().join(&file), out).unwrap();
        let (code, out, _) = run(folder.path(), &["config", "check", &file]);
        assert_eq!((code, out), (0, format!("{file}: valid\n")));
    }
    let (code, out, _) = run(folder.path(), &["config", "preset"]);
    let listed = out.lines().map(|line| line.split(' ').next().unwrap());
    assert_eq!((code, listed.collect::<Vec<_>>()), (0, names.to_vec()));
    let (code, out, err) = run(folder.path(), &["config", "preset", "quake"]);
    assert_eq!((code, out.as_str()), (2, ""));
    assert!(names.iter().all(|name| err.contains(name)), "{err}");
    let (code, out, _) = run(folder.path(), &["queue", "check", "pickup.toml"]);
    assert_eq!(code, 0, "{out}");
}

#[test]
fn flags_win_over_the_environment_and_that_over_the_file() {
    let folder = folder();
    fs::write(
        folder.path().join("c.toml"),
        "[store]\ndatabase = 'file.db'\n",
    )
    .unwrap();
    let ingest = |env: &[(&str, &str)], flags: &[&str]| {
        let mut command = evenkeel(folder.path());
        command
            .args(["ingest", "--config", "c.toml"])
            .args(flags)
            .arg(CTF)
            .envs(env.iter().copied());
        command.assert().success();
    };
    ingest(&[], &[]);
    ingest(&[("EVENKEEL_STORE_DATABASE", "key.db")], &[]);
    ingest(
        &[
            ("EVENKEEL_STORE_DATABASE", "no.db"),
            ("EVENKEEL_DB", "env.db"),
        ],
        &[],
    );
    ingest(&[("EVENKEEL_DB", "no.db")], &["--db", "flag.db"]);
    for db in ["file.db", "key.db", "env.db", "flag.db"] {
        assert!(folder.path().join(db).exists(), "{db}");
    }
    assert!(!folder.path().join("no.db").exists());
    let mut command = evenkeel(folder.path());
    command
        .args(["rebuild", "--db", "flag.db"])
        .env("EVENKEEL_RATING_WINDOW", "zero");
    let output = command.output().unwrap();
    assert_eq!(output.status.code(), Some(3));
    assert!(
        output
            .stderr
            .starts_with(b"evenkeel: EVENKEEL_RATING_WINDOW: ")
    );
}

/// The players of the example on the page about balancing in UT2004.
const PAGE: &str = "5 Boring John\n3 Silly Billy\n2 Slartibartfast\n7 Chewbacca\n23 Ignoramus\n92 Riddick\n\
    93 Luke Skywalker\n95 Darth Vader\n27 Peter Griffin\n56 Roger\n28 Annoying Git\n99 Cheat\n1 Lame\n\
    23 Twonk\n83 Foogilicious\n41 Flunk Basket\n49 Jack O'Neill\n";

#[test]
fn balance_prints_both_teams_with_bots_and_sums() {
    let folder = folder();
    let args = [
        "balance",
        "--min",
        "6",
        "--max",
        "12",
        "--target",
        "8",
        "--bot-weight",
        "20",
        "--seed",
        "1",
    ];
    let (code, out, err) = run_with(folder.path(), &args, PAGE);
    assert_eq!((code, err.as_str()), (0, ""));
    for name in PAGE.lines().map(|line| line.split_once(' ').unwrap().1) {
        assert_eq!(
            out.matches(&format!(" {name} ")).count(),
            1,
            "{name}: {out}"
        );
    }
    assert!(
        out.contains("team 0") && out.contains("team 1") && out.contains("1 bot of 20"),
        "{out}"
    );
    assert!(
        out.contains("sum: 9 players and 0 bots") && out.contains("sum: 8 players and 1 bot"),
        "{out}"
    );
    assert!(out.ends_with("seed 1\n"), "{out}");
    assert_eq!(
        run_with(folder.path(), &args, PAGE).1,
        out,
        "the same seed, the same teams"
    );
    fs::write(folder.path().join("players"), PAGE).unwrap();
    let from_file: Vec<&str> = [&["balance", "players"], &args[1..]].concat();
    assert_eq!(run(folder.path(), &from_file).1, out);
}

#[test]
fn balance_as_json_tells_everything() {
    let folder = folder();
    let (code, out, _) = run_with(
        folder.path(),
        &["balance", "--json", "--top", "5", "--target", "0"],
        PAGE,
    );
    assert_eq!(code, 0);
    let json: serde_json::Value = serde_json::from_str(&out).unwrap();
    assert!(json["seed"].as_u64().is_some());
    let teams = json["teams"].as_array().unwrap();
    let sums: Vec<f64> = teams
        .iter()
        .map(|team| team["sum"].as_f64().unwrap())
        .collect();
    let ratio = json["ratio"].as_f64().unwrap();
    assert!((ratio - sums[0].min(sums[1]) / sums[0].max(sums[1])).abs() < 1e-12);
    for team in teams {
        let players = team["players"].as_array().unwrap();
        let sum: f64 = players.iter().map(|p| p["weight"].as_f64().unwrap()).sum();
        let bots = team["bots"].as_f64().unwrap() * team["bot_weight"].as_f64().unwrap();
        assert!((team["sum"].as_f64().unwrap() - sum - bots).abs() < 1e-6);
    }
    assert_eq!(json["solution"]["candidates"].as_array().unwrap().len(), 5);
}

#[test]
fn balance_takes_every_part_of_the_problem() {
    let folder = folder();
    let args = [
        "balance",
        "--party",
        "Cheat,Darth Vader",
        "--pin",
        "Lame=1",
        "--avoid",
        "Roger,Riddick",
        "--wish",
        "Roger=1",
        "--wish-budget",
        "0.1",
        "--seed",
        "4",
        "--power",
        "inf",
        "--max-difference",
        "off",
        "--explain",
        "--party-budget",
        "1",
    ];
    let (code, out, err) = run_with(folder.path(), &args, PAGE);
    assert_eq!((code, err.as_str()), (0, ""));
    let (zero, one) = out.split_once("team 1").unwrap();
    let team = |name: &str| usize::from(!zero.contains(&format!(" {name} ")));
    assert_eq!(team("Cheat"), team("Darth Vader"));
    assert_ne!(team("Roger"), team("Riddick"));
    assert_eq!((team("Lame"), team("Roger")), (1, 1));
    assert!(one.contains("wishes for a team: 1 of 1 granted"), "{out}");
    assert!(
        one.contains("runner-up") && one.contains("with Lame on team 0 instead: ratio 0."),
        "{one}"
    );
    let toml = "bot_weight = 10.0\n[[players]]\nname = 'a'\nweight = 1.0\n[[players]]\nname = 'b'\nweight = 2.0\n";
    fs::write(folder.path().join("lobby.toml"), toml).unwrap();
    let (code, out, _) = run(folder.path(), &["balance", "lobby.toml", "--target", "4"]);
    assert_eq!(code, 0);
    assert!(out.contains("1 bot of 10"), "{out}");
}

#[test]
fn the_lobby_file_of_the_documentation_works() {
    let folder = folder();
    let page = include_str!("../../../docs/how-to/balance-a-list.md");
    let (_, from) = page.split_once("```toml\n").unwrap();
    let (lobby, _) = from.split_once("```").unwrap();
    fs::write(folder.path().join("lobby.toml"), lobby).unwrap();
    let (code, out, err) = run(folder.path(), &["balance", "lobby.toml", "--seed", "1"]);
    assert_eq!((code, err.as_str()), (0, ""));
    assert!(
        out.contains("Riddick") && out.contains("2 bots of 20"),
        "{out}"
    );
}

#[test]
fn balance_goes_by_the_sums_and_by_the_chance_to_win_on_request() {
    let folder = folder();
    let balance = |more: &[&str], list: &str| {
        let args = [&["balance", "--no-bots", "--seed", "1", "--top", "1"], more].concat();
        let (code, out, err) = run_with(folder.path(), &args, list);
        assert_eq!((code, err.as_str()), (0, ""));
        out
    };
    let line = |out: &str, start: &str| {
        let line = out.lines().find(|line| line.starts_with(start));
        line.unwrap_or_else(|| panic!("{start}: {out}")).to_owned()
    };
    // Of three against two, the sums take 90 + 60 against 140. By chances, 3 to 2 is odds of one and a half.
    let five = "90 ann\n70 ben\n60 cat\n40 dan\n30 eve\n";
    fs::write(
        folder.path().join("chance.toml"),
        "[balance]\nobjective = 'chance'\n",
    )
    .unwrap();
    for more in [
        &[][..],
        &["--objective", "ratio"],
        &["--config", "chance.toml"],
    ] {
        let by_sums = balance(&[more, &["--explain"]].concat(), five);
        let sums = line(&by_sums, "the sums of the stated weights decide: ");
        assert!(
            sums.ends_with("150 to 140") || sums.ends_with("140 to 150"),
            "{sums}"
        );
        line(&by_sums, "ratio 0.933333, the best");
        assert!(!by_sums.contains("chance"), "{by_sums}");
        let json: serde_json::Value =
            serde_json::from_str(&balance(&[more, &["--json"]].concat(), five)).unwrap();
        assert!(json.as_object().unwrap().contains_key("chance") && json["chance"].is_null());
    }
    let by_chance = balance(&["--objective", "chance", "--explain"], five);
    let first = line(&by_chance, "chance of team 0 to win 0.");
    assert!(
        first.contains(", ratio ") && first.ends_with(", seed 1"),
        "{first}"
    );
    line(&by_chance, "chance of the weaker team 0.");
    assert!(
        by_chance.contains("probability of this pick 100.00 %"),
        "{by_chance}"
    );
    let json = balance(&["--objective", "chance", "--json"], five);
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    let chance = json["chance"].as_f64().unwrap();
    assert!((0.4..0.6).contains(&chance), "{chance}");
    fs::write(
        folder.path().join("points.toml"),
        "[rating]\nsystem = 'presence'\n",
    )
    .unwrap();
    line(
        &balance(&["--config", "points.toml", "--objective", "chance"], five),
        "ratio 0.933333, the best",
    );
    let elo = balance(&[], "1600 ann\n1500 ben\n1450 cat\n1400 dan\n");
    line(&elo, "ratio 0.983333, the best"); // 2950 against 3000
}

#[test]
fn seven_weak_players_are_nearly_even_by_chance_and_the_four_are_ahead() {
    let folder = folder();
    for weight in [0, 27, 50, 73, 100] {
        let list: String = (0..7).map(|n| format!("{weight} p{n}\n")).collect();
        let args = ["balance", "--no-bots", "--objective", "chance", "--json"];
        let (code, out, _) = run_with(folder.path(), &args, &list);
        assert_eq!(code, 0);
        let json: serde_json::Value = serde_json::from_str(&out).unwrap();
        let first = json["teams"][0]["players"].as_array().unwrap().len();
        let chance = json["chance"].as_f64().unwrap();
        let of_four = if first == 4 { chance } else { 1.0 - chance };
        assert!(of_four > 0.55, "{weight}: {of_four}");
        if weight <= 50 {
            assert!(of_four < 0.58, "{weight}: {of_four}");
        }
    }
}

#[test]
fn balance_says_what_a_party_counts() {
    let folder = folder();
    let args = [
        "balance",
        "--no-bots",
        "--seed",
        "1",
        "--top",
        "1",
        "--party",
        "a,b",
        "--party-multiplier",
        "1.2",
        "--party-budget",
        "1",
        "--explain",
    ];
    let list = "20 a\n12 b\n19 c\n19 d\n";
    let (code, out, err) = run_with(folder.path(), &args, list);
    assert_eq!((code, err.as_str()), (0, ""));
    assert!(out.contains("more: a, b together, times 1.2"), "{out}");
    assert!(out.contains("38.4") && out.contains("6.4"), "{out}");
    let (_, json, _) = run_with(folder.path(), &[&args[..], &["--json"]].concat(), list);
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    let parties: Vec<_> = json["teams"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|team| team.get("parties"))
        .collect();
    let [party] = parties[..] else {
        panic!("{json}")
    };
    assert_eq!(party[0]["players"], serde_json::json!(["a", "b"]));
    assert_eq!(party[0]["multiplier"], 1.2);
    assert!((party[0]["more"].as_f64().unwrap() - 6.4).abs() < 1e-9);
}

#[test]
fn balance_names_what_is_wrong() {
    let folder = folder();
    let fault = |args: &[&str], stdin: &str| {
        let (code, out, err) = run_with(folder.path(), &[&["balance"], args].concat(), stdin);
        assert_eq!((code, out.as_str()), (4, ""), "{err}");
        err
    };
    assert_eq!(
        fault(&[], "5 a\nx b\n"),
        "evenkeel: -: line 2: the weight is no number\n"
    );
    for weight in ["-5", "nan", "inf", "-inf", "1e999"] {
        let error = fault(&[], &format!("6 b\n\n{weight} a\n"));
        let start = "evenkeel: -: line 3: the weight must be a finite number of at least 0, not ";
        assert!(error.starts_with(start), "{error}");
        let toml = format!("[[players]]\nname = 'a'\nweight = {weight}");
        if weight != "1e999" {
            let error = fault(&["--format", "toml"], &toml);
            assert!(
                error.contains("-: a: the weight must be a finite number"),
                "{error}"
            );
        }
    }
    let error = fault(&["--objective", "chance"], "50 a\n100.5 b\n");
    assert!(
        error.contains("line 2: the weight must be 0 to 100"),
        "{error}"
    );
    assert!(fault(&["--pin", "z=0"], "5 a\n").contains("there is no player z"));
    assert!(fault(&["--pin", "a"], "5 a\n").contains("expected NAME=TEAM"));
    assert!(fault(&["--top", "0"], "5 a\n").contains("top"));
    assert!(fault(&["--teams", "9"], "5 a\n").contains('9'));
    assert!(fault(&["--factor", "luck=1"], "5 a\n").contains("there is no term luck"));
    assert!(fault(&["missing"], "").contains("No such file"));
}

#[test]
fn an_operator_says_who_somebody_is_and_what_they_weigh() {
    let folder = folder();
    run(folder.path(), &["ingest", CTF, OTHER]);
    let weights = || {
        run(
            folder.path(),
            &["weights", "--game", "baseoa.ctf", "--bots", "--csv"],
        )
        .1
    };
    let player = |args: &[&str]| run(folder.path(), &[&["player"], args].concat());
    let before = weights();
    let (code, out, _) = player(&["show", "Sarge", "--bot"]);
    assert_eq!(code, 0);
    assert!(
        out.starts_with("bot Sarge\n") && out.contains("baseoa.ctf"),
        "{out}"
    );
    assert_eq!(player(&["show", "Nobody"]).0, 4);

    let (code, out, _) = player(&["merge", "Sarge", "Grunt", "--bot"]);
    assert_eq!((code, out.as_str()), (0, "Sarge counts as Grunt now\n"));
    let id = |line: &str| line.split(',').nth(2).unwrap().to_owned();
    let ids = || weights().lines().map(id).collect::<Vec<_>>();
    assert!(!ids().contains(&"Sarge".to_owned()) && ids().contains(&"Grunt".to_owned()));
    assert!(
        player(&["show", "Sarge", "--bot"])
            .1
            .contains("counts as Grunt")
    );
    assert_eq!(player(&["merge", "Sarge", "Sarge", "--bot"]).0, 4);
    assert_eq!(player(&["split", "Sarge", "--bot"]).0, 0);
    assert_eq!(player(&["split", "Sarge", "--bot"]).0, 4);
    assert_eq!(weights(), before, "as if nothing had been");

    assert_eq!(player(&["pin-weight", "Sarge", "12.5", "--bot"]).0, 0);
    assert!(
        weights().contains(",Sarge,Sarge,12.5,0.0,"),
        "{}",
        weights()
    );
    assert_eq!(player(&["pin-weight", "Sarge", "101", "--bot"]).0, 2);
    assert_eq!(player(&["pin-weight", "Sarge", "off", "--bot"]).0, 0);
    assert_eq!(weights(), before);

    let (code, out, _) = player(&["forget", "Sarge", "--bot"]);
    assert_eq!((code, out.contains("forgotten in ")), (0, true), "{out}");
    assert!(!weights().contains("Sarge"));
    assert_eq!(player(&["show", "Sarge", "--bot"]).0, 4);
    let (_, out, _) = run(folder.path(), &["ingest", CTF, OTHER]);
    assert!(
        out.contains("duplicates          ┆ 2"),
        "the matches stayed: {out}"
    );
    // To forget a player forgets the identities that were merged into theirs.
    assert_eq!(player(&["merge", "Neko", "Grunt", "--bot"]).0, 0);
    assert_eq!(player(&["forget", "Grunt", "--bot"]).0, 0);
    let left = weights();
    assert!(!left.contains("Neko") && !left.contains("Grunt"), "{left}");
    assert_eq!(player(&["show", "Neko", "--bot"]).0, 4);
}

#[test]
fn evaluate_compares_the_systems() {
    let folder = folder();
    let row = |n: u32, y: u32| {
        let (a, b) = (n % 3, (n + 1 + n / 3 % 2) % 3);
        format!(
            "{{\"t\":{},\"game\":\"x\",\"teams\":[[\"p{a}\",\"q\"],[\"p{b}\",\"r\"]],\"y\":{y}}}\n",
            n * 9_000
        )
    };
    let history: String = (0..60)
        .map(|n| row(n, u32::from(n % 3 < (n + 1 + n / 3 % 2) % 3)))
        .collect();
    fs::write(folder.path().join("past.jsonl"), history).unwrap();
    let args = [
        "evaluate",
        "past.jsonl",
        "--json",
        "--plot",
        "plot.svg",
        "--exchange",
        "1",
    ];
    let (code, out, err) = run(folder.path(), &args);
    assert_eq!((code, err.as_str()), (0, ""));
    let json: serde_json::Value = serde_json::from_str(&out).unwrap();
    let rows = json[0]["all"].as_array().unwrap();
    assert_eq!(
        (rows[0]["system"].as_str(), rows[0]["matches"].as_u64()),
        (Some("base rate"), Some(48))
    );
    let loss = |name: &str| {
        let row = rows.iter().find(|row| row["system"] == name).unwrap();
        row["log_loss"].as_f64().unwrap()
    };
    assert!(loss("joint") < loss("base rate"), "{out}");
    assert_eq!(json[0]["confidence"], 0.95);
    for row in rows {
        let ends = [0, 1].map(|end| row["against"][end].as_f64().unwrap());
        let comparison = match ends {
            _ if row["system"] == "joint" => None,
            [low, _] if low > 0.0 => Some("worse"),
            [_, high] if high < 0.0 => Some("better"),
            _ => Some("level"),
        };
        assert_eq!(row["comparison"].as_str(), comparison, "{row}");
    }
    let worse = rows.iter().filter(|row| row["comparison"] == "worse");
    let worse = worse.filter(|row| row["system"] != "base rate").count();
    let summary = json[0]["summary"].as_str().unwrap();
    let counts = format!("joint is better than {worse} of 11 systems");
    assert!(worse > 0 && summary.contains(&counts), "{summary}");
    let svg = fs::read_to_string(folder.path().join("plot.svg")).unwrap();
    assert!(svg.starts_with("<svg") && svg.contains("<circle"), "{svg}");
    let (_, out, _) = run(
        folder.path(),
        &[
            "evaluate",
            "past.jsonl",
            "--system",
            "elo",
            "--against",
            "elo",
        ],
    );
    assert!(out.contains("│ elo ") && !out.contains("glicko2"), "{out}");
    let alone = "\nelo has nothing to be compared with.\n";
    assert!(out.contains(alone) && out.contains("beside elo"), "{out}");
    let fresh = |more: &[&str]| {
        let args = ["evaluate", "past.jsonl", "--system", "elo"];
        run(folder.path(), &[&args, more].concat())
    };
    let (_, out, _) = fresh(&["--fresh"]);
    let head =
        "past.jsonl: 60 matches, begun anew every 200: 1 start; a coin has a log loss of 0.6931\n";
    assert!(out.starts_with(head), "{out}");
    assert!(out.contains("first 50 (of 1 start)"), "{out}");
    assert!(out.contains("│ elo ") && !out.contains("joint"), "{out}");
    let (_, out, _) = fresh(&["--fresh=10", "--json"]);
    let json: serde_json::Value = serde_json::from_str(&out).unwrap();
    assert_eq!(
        (json[0]["starts"].as_u64(), json[0]["every"].as_u64()),
        (Some(6), Some(10))
    );
    let first = &json[0]["systems"][1]["first"];
    assert_eq!(first.as_array().unwrap().len(), 1, "{first}");
    assert_eq!(
        (first[0]["matches"].as_u64(), first[0]["starts"].as_u64()),
        (Some(50), Some(2))
    );
    let (code, _, err) = fresh(&["--fresh", "--against", "joint"]);
    assert!(code != 0 && err.contains("cannot be used with"), "{err}");
    run(folder.path(), &["ingest", "past.jsonl"]);
    assert!(
        run(folder.path(), &["evaluate"])
            .1
            .contains("the stored matches: 60 matches")
    );
}

#[test]
fn auto_takes_what_evaluate_finds_best() {
    let folder = folder();
    // Three players duel in turn, and each wins after losing: after 900 matches it is clear that
    // past results predict nothing.
    let row = |n: u32| {
        let (a, b, y) = (n % 3, (n + 1) % 3, n / 3 % 2);
        let t = n * 9_000;
        format!("{{\"t\":{t},\"game\":\"x\",\"teams\":[[\"p{b}\"],[\"p{a}\"]],\"y\":{y}}}\n")
    };
    let history: String = (0..900).map(row).collect();
    fs::write(folder.path().join("past.jsonl"), history).unwrap();
    let (code, out, _) = run(folder.path(), &["evaluate", "past.jsonl", "--json"]);
    assert_eq!(code, 0);
    let json: serde_json::Value = serde_json::from_str(&out).unwrap();
    let best = json[0]["best"][0]["system"].as_str().unwrap();
    let weights = |system: &str| {
        let mut command = evenkeel(folder.path());
        command.env("EVENKEEL_RATING_SYSTEM", system);
        command.args(["ingest", "past.jsonl"]).assert().success();
        run(folder.path(), &["weights", "--game", "x", "--csv"]).1
    };
    let (auto, chosen) = (weights("auto"), weights(best));
    assert_eq!(auto, chosen);
    assert_ne!(auto, weights("joint"), "which auto begins with");
}

#[test]
fn a_simulation_refuses_what_it_cannot_play_and_leaves_nothing_behind() {
    let folder = folder();
    let short = [
        "simulate",
        "--seasons",
        "1",
        "--games",
        "4",
        "--policy",
        "random",
    ];
    let (code, table, err) = run(folder.path(), &short);
    assert_eq!(code, 0, "{err}");
    assert!(table.contains("in the world ratio"), "{table}");
    assert!(
        fs::read_dir(folder.path()).unwrap().next().is_none(),
        "its databases are elsewhere"
    );
    for bad in [
        "--games=1",
        "--spread=-1",
        "--policy=best",
        "--players=x",
        "--world=flat",
        "--sharpness=-1",
    ] {
        assert_eq!(run(folder.path(), &["simulate", bad]).0, 2, "{bad}");
    }
}

#[test]
fn help_and_version_are_printed() {
    let folder = folder();
    let (code, out, _) = run(folder.path(), &["--help"]);
    assert_eq!(code, 0);
    for command in ["serve", "ingest", "balance", "weights", "rebuild", "config"] {
        assert!(out.contains(&format!("\n  {command}")), "{out}");
    }
    assert_eq!(
        run(folder.path(), &["--version"]).1,
        format!("evenkeel {}\n", env!("CARGO_PKG_VERSION"))
    );
    assert_eq!(run(folder.path(), &["serv"]).0, 2);
}

#[test]
fn commands_that_only_read_make_no_database() {
    let folder = folder();
    for args in [&["weights", "--game", "x"][..], &["rebuild"]] {
        let (code, _, err) = run(folder.path(), args);
        assert_eq!(code, 5);
        assert_eq!(err, "evenkeel: there is no database at evenkeel.db\n");
    }
    assert!(!folder.path().join("evenkeel.db").exists());
}

#[test]
fn manual_pages_and_completions_come_from_the_command_line() {
    let folder = folder();
    let (code, page, _) = run(folder.path(), &["man"]);
    assert_eq!(code, 0);
    assert!(page.contains(".TH evenkeel 1"), "{page}");
    assert_eq!(run(folder.path(), &["man", "--write", "pages"]).0, 0);
    let pages = folder.path().join("pages");
    let page = fs::read_to_string(pages.join("evenkeel-queue-match.1")).unwrap();
    assert!(page.contains("evenkeel\\-queue\\-match"), "{page}");
    assert!(page.contains("\\-\\-queue"), "{page}");
    for shell in ["bash", "zsh", "fish"] {
        let (code, text, _) = run(folder.path(), &["completions", shell]);
        assert_eq!(code, 0);
        assert!(text.contains("sidecar"), "{shell}: {text}");
    }
}
