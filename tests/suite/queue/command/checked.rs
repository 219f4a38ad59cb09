//! A checker in Python, which shares nothing with the program, judges the matches of `evenkeel queue
//! match`: those of the shipped queues, and those of random small queues with rules of every type.

use std::{fs, path::Path, process::Command as Plain};

use serde_json::{Value, json};
use tempfile::TempDir;

use super::{PICKUP, RANKED, WOTB, queue};
use crate::common::draw::Draw;

const CHECKER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/suite/queue/checker.py");

/// Runs the checker on the tickets of the folder; returns whether it accepts the matches, and what it
/// printed. `None` without Python.
fn checked(folder: &Path, config: &str, name: &str, matches: &str) -> Option<(bool, String)> {
    fs::write(folder.join("matches.jsonl"), matches).unwrap();
    let files = ["tickets.jsonl", "matches.jsonl"];
    let run = Plain::new("python3")
        .current_dir(folder)
        .args([CHECKER, config, name])
        .args(files)
        .output();
    let output = match run {
        Ok(output) => output,
        Err(error) => {
            eprintln!("skipped: python3 cannot be run: {error}");
            return None;
        }
    };
    let errors = String::from_utf8_lossy(&output.stderr);
    if errors.contains("No module named 'tomllib'") {
        eprintln!("skipped: this Python is older than 3.11");
        return None;
    }
    assert_eq!(errors, "");
    Some((
        output.status.success(),
        String::from_utf8(output.stdout).unwrap(),
    ))
}

#[test]
fn an_independent_checker_accepts_every_match() {
    for (name, shape, count, seed) in [
        ("regular", "popular", "500", "1"),
        ("regular", "popular", "60", "2"),
        ("regular", "seats", "500", "4"),
        ("rated", "popular", "400", "3"),
    ] {
        let folder = TempDir::new().unwrap();
        let load = [
            "load",
            "--shape",
            shape,
            "--tickets",
            count,
            "--seed",
            seed,
            "--waited",
            "90",
        ];
        let rated: &[&str] = if name == "rated" { &["--rated"] } else { &[] };
        let (code, tickets, err) = queue(folder.path(), &[&load[..], rated].concat());
        assert_eq!(code, 0, "{err}");
        fs::write(folder.path().join("tickets.jsonl"), tickets).unwrap();
        let call = [
            "match",
            "tickets.jsonl",
            "--queue",
            name,
            "--config",
            WOTB,
            "--json",
            "--effort",
            "2",
        ];
        let (code, one, err) = queue(folder.path(), &call);
        assert_eq!((code, err.as_str()), (0, ""));
        let (_, two, _) = queue(folder.path(), &[&call[..], &["--threads", "3"]].concat());
        assert_eq!(one, two, "the number of threads changes nothing");
        let Some((accepted, report)) = checked(folder.path(), WOTB, name, &one) else {
            return;
        };
        assert!(accepted && !report.starts_with("0 matches"), "{report}");
        for (wrong, why) in [
            (exchanged(&one), "is on teams {0, 1}"),
            (twice(&one), "its players are not those"),
        ] {
            let (accepted, report) = checked(folder.path(), WOTB, name, &wrong).unwrap();
            assert!(!accepted && report.contains(why), "{why}: {report}");
        }
    }
}

#[test]
fn the_checker_accepts_the_matches_of_restricted_queues() {
    let folder = TempDir::new().unwrap();
    let mut random = 7_u64;
    let mut draw = |below: u64| {
        random = random
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (random >> 33) % below
    };
    let ticket = |n: u32| {
        let (games, days, points) = (draw(45), draw(20), draw(60) as i64 - 55);
        let (division, boost, weight) = (draw(4), draw(8) / 6, 30 + draw(40));
        format!(
            r#"{{"ticket":"t{n}","waited":{n},"players":[{{"id":"p{n}","boost":{boost},"@weight":{weight},"@games":{games},"@known_since":{days},"@behaviour":{points},"@division":{division}}}]}}"#
        )
    };
    let ranked: Vec<String> = (0..300).map(ticket).collect();
    let plain = |line: &String| {
        let mut line: Value = serde_json::from_str(line).unwrap();
        line["players"][0].as_object_mut().unwrap().remove("boost");
        line.to_string()
    };
    let newcomers: Vec<String> = ranked.iter().map(plain).collect();
    for (name, lines, of, wrong) in [
        ("ranked", &ranked, "experience", 3),
        ("newcomers", &newcomers, "newcomers", 25),
    ] {
        fs::write(folder.path().join("tickets.jsonl"), lines.join("\n")).unwrap();
        let call = [
            "match",
            "tickets.jsonl",
            "--queue",
            name,
            "--config",
            RANKED,
            "--json",
        ];
        let (code, out, err) = queue(folder.path(), &call);
        assert_eq!((code, err.as_str()), (0, ""));
        let Some((accepted, report)) = checked(folder.path(), RANKED, name, &out) else {
            return;
        };
        assert!(accepted && !report.starts_with("0 matches"), "{report}");
        let left = format!("{of}: the ticket itself cannot meet it: players must have at ");
        assert!(out.contains(&left), "{out}");
        // The same matches, when one of their players has other games.
        let first: Value = serde_json::from_str(out.lines().next().unwrap()).unwrap();
        let number: usize = first["tickets"][0].as_str().unwrap()[1..].parse().unwrap();
        let mut changed = lines.clone();
        let mut line: Value = serde_json::from_str(&changed[number]).unwrap();
        line["players"][0]["@games"] = wrong.into();
        changed[number] = line.to_string();
        fs::write(folder.path().join("tickets.jsonl"), changed.join("\n")).unwrap();
        let (accepted, report) = checked(folder.path(), RANKED, name, &out).unwrap();
        let why = format!("{of}: p{number} has {wrong}");
        assert!(!accepted && report.contains(&why), "{report}");
    }
}

/// The lines with a player of each team of the first match exchanged, so that a party
/// is torn.
fn exchanged(lines: &str) -> String {
    changed(lines, |teams| {
        let all =
            (0..teams[0].len()).flat_map(|one| (0..teams[1].len()).map(move |other| (one, other)));
        let party = |player: &str| player.ends_with(".1");
        let (one, other) = all
            .into_iter()
            .find(|&(one, other)| party(&teams[0][one]) != party(&teams[1][other]))
            .expect("no match with a party");
        let player = teams[0][one].clone();
        teams[0][one] = std::mem::replace(&mut teams[1][other], player);
    })
}

/// The lines with a player of the first match in it twice.
fn twice(lines: &str) -> String {
    changed(lines, |teams| teams[0][0] = teams[1][0].clone())
}

fn changed(lines: &str, change: impl Fn(&mut Vec<Vec<String>>)) -> String {
    let mut done = false;
    let line = |text: &str| {
        let mut line: Value = serde_json::from_str(text).unwrap();
        if !done && text.contains(".1\"") && line.get("teams").is_some() {
            let mut teams: Vec<Vec<String>> =
                serde_json::from_value(line["teams"].clone()).unwrap();
            change(&mut teams);
            line["teams"] = serde_json::to_value(teams).unwrap();
            done = true;
        }
        line.to_string() + "\n"
    };
    let changed = lines.lines().map(line).collect();
    assert!(done, "no match with a party");
    changed
}

/// The tickets of a shipped pick-up queue, with everything that its rules look at.
fn pickup_tickets(draw: &mut Draw, count: usize) -> String {
    let mut lines = String::new();
    for ticket in 0..count {
        let player = |draw: &mut Draw, at: usize| {
            let ids = |draw: &mut Draw, most: usize| -> Vec<String> {
                (0..draw.below(most))
                    .map(|_| format!("{}.0", draw.below(count)))
                    .collect()
            };
            json!({
                "id": format!("{ticket}.{at}"),
                "@weight": 20.0 + 60.0 * draw.unit(),
                "@met": ids(draw, 9),
                "avoid": ids(draw, 12),
            })
        };
        let players: Vec<Value> = (0..1 + draw.below(3)).map(|at| player(draw, at)).collect();
        let waited = 400.0 * draw.unit();
        let line = json!({"ticket": format!("t{ticket}"), "waited": waited, "players": players});
        lines += &format!("{line}\n");
    }
    lines
}

#[test]
fn the_checker_computes_each_penalty_that_is_printed() {
    let folder = TempDir::new().unwrap();
    let tickets = pickup_tickets(&mut Draw(1), 40);
    fs::write(folder.path().join("tickets.jsonl"), tickets).unwrap();
    let call = [
        "match",
        "tickets.jsonl",
        "--queue",
        "pickup",
        "--config",
        PICKUP,
        "--json",
    ];
    let (code, lines, err) = queue(folder.path(), &call);
    assert_eq!((code, err.as_str()), (0, ""));
    let Some((accepted, report)) = checked(folder.path(), PICKUP, "pickup", &lines) else {
        return;
    };
    assert!(
        accepted && !report.contains(" 0 with a penalty"),
        "{report}"
    );
    let first: Value = serde_json::from_str(lines.lines().next().unwrap()).unwrap();
    let printed = format!("\"penalty\":{}", first["penalty"]);
    for (penalty, why) in [("0.25", "is computed"), ("700.0", "is accepted")] {
        let wrong = lines.replacen(&printed, &format!("\"penalty\":{penalty}"), 1);
        let (accepted, report) = checked(folder.path(), PICKUP, "pickup", &wrong).unwrap();
        assert!(!accepted && report.contains(why), "{report}");
    }
}

/// Every type of rules. A rule is drawn with its keys, and may be hard, soft or squared.
const RULES: [&str; 17] = [
    r#"rule = "full""#,
    r#"rule = "spread"
of = "tier"
at_most = 1
relax = [[40, 2]]"#,
    r#"rule = "spread"
of = "rating"
at_most = 0.5
within = "team"
parties = "exempt""#,
    r#"rule = "mirror"
of = "kind""#,
    r#"rule = "mirror-parties"
of = "tier""#,
    r#"rule = "at-most-each"
of = "kind"
at_most = 1
relax = [[30, 2]]"#,
    r#"rule = "at-most-each"
of = "kind"
at_most = 1
counted_by = "tier"
from = 2"#,
    r#"rule = "differ-each"
of = "kind"
at_most = 1"#,
    r#"rule = "common"
of = "maps"
picks = "map""#,
    r#"rule = "common"
of = "ping"
at_most = 60
picks = "region""#,
    r#"rule = "ceiling"
of = "tier"
ceiling = "cap""#,
    r#"rule = "alike"
of = "kind"
asked_by = "same""#,
    r#"rule = "gap"
of = "rating"
at_most = 0.3
relax = [[50, 0.6]]"#,
    r#"rule = "gap"
of = "ping.eu"
by = "max"
at_most = 30"#,
    r#"rule = "chance"
at_most = 0.02"#,
    r#"rule = "apart"
of = "avoid"
side = "with""#,
    r#"rule = "has"
of = "maps"
value = "a"
at_least = 1
at_most = 2"#,
];

/// A queue with up to six random rules.
fn random_queue(draw: &mut Draw) -> String {
    let size = 1 + draw.below(3);
    let mut text = format!(
        "[queue.q]\nteams = {}\nsize = {size}\nruleset = \"x\"\n",
        2 + draw.below(4) / 3
    );
    if size > 1 && draw.below(2) == 0 {
        text += &format!("smaller = [[20, {}]]\n", size - 1);
    }
    if draw.below(2) == 0 {
        text += "accept = { start = 0.5, per_second = 0.05, max = 3.0 }\n";
    }
    text += "[queue.q.attributes]\ntier = \"int 1..3\"\nkind = \"enum a b c = c\"\nmaps = \"set\"\n\
             ping = \"map num\"\ncap = \"int 1..3 = 3\"\nsame = \"flag\"\nrating = \"num\"\navoid = \"set\"\n";
    let mut rules: Vec<&str> = RULES.to_vec();
    draw.shuffle(&mut rules);
    let count = 1 + draw.below(6);
    for (at, rule) in rules.into_iter().take(count).enumerate() {
        text += &format!("[[queue.q.rule]]\nname = \"{at}\"\n{rule}\n");
        text += match draw.below(4) {
            0 => "hard = true\n",
            1 => "weight = 2.5\nsquare = true\n",
            2 => "weight = 0.7\n",
            _ => "",
        };
    }
    text
}

fn random_tickets(draw: &mut Draw) -> String {
    let count = 2 + draw.below(24);
    let mut lines = String::new();
    for ticket in 0..count {
        let players = if draw.below(4) == 0 { 2 } else { 1 };
        let players = (0..players).map(|at| {
            let mut player = json!({
                "id": format!("{ticket}.{at}"),
                "tier": 1 + draw.below(3),
                "rating": draw.unit(),
                "@weight": 30.0 + 40.0 * draw.unit(),
                "maps": (["a", "b"].iter().filter(|_| draw.below(3) > 0).collect::<Vec<_>>()),
                "ping": {"eu": draw.below(90), "us": draw.below(90)},
                "avoid": [format!("{}.0", draw.below(count))],
            });
            if draw.below(3) > 0 {
                player["kind"] = ["a", "b"][draw.below(2)].into();
            }
            if draw.below(6) == 0 {
                player["cap"] = player["tier"].clone();
            }
            if draw.below(6) == 0 {
                player["same"] = true.into();
            }
            player
        });
        let players: Vec<Value> = players.collect();
        let waited = 60.0 * draw.unit();
        let line = json!({"ticket": format!("t{ticket}"), "waited": waited, "players": players});
        lines += &format!("{line}\n");
    }
    lines
}

#[test]
fn the_checker_accepts_the_matches_of_random_queues() {
    let folder = TempDir::new().unwrap();
    let (mut matches, mut costly) = (0, 0);
    for seed in 1..=60 {
        let mut draw = Draw(seed);
        let config = random_queue(&mut draw);
        fs::write(folder.path().join("q.toml"), &config).unwrap();
        let tickets = random_tickets(&mut draw);
        fs::write(folder.path().join("tickets.jsonl"), &tickets).unwrap();
        let call = [
            "match",
            "tickets.jsonl",
            "--queue",
            "q",
            "--config",
            "q.toml",
            "--json",
        ];
        let (code, lines, err) = queue(folder.path(), &call);
        if code != 0 && err.contains("at most 1 players") {
            continue; // a party in a queue of single players
        }
        assert_eq!((code, err.as_str()), (0, ""), "{config}");
        let Some((accepted, report)) = checked(folder.path(), "q.toml", "q", &lines) else {
            return;
        };
        assert!(accepted, "seed {seed}: {report}\n{config}");
        let found = lines.lines().filter(|line| line.contains("\"penalty\""));
        matches += found.clone().count();
        costly += found
            .filter(|line| !line.contains("\"penalty\":0.0"))
            .count();
    }
    println!("{matches} matches, {costly} with a penalty");
    assert!(
        matches > 60 && costly > 20,
        "{matches} matches, {costly} with a penalty"
    );
}

#[test]
fn the_checker_names_a_rule_that_it_cannot_check() {
    let folder = TempDir::new().unwrap();
    let config =
        "[queue.q]\nteams = 2\nsize = 1\n[[queue.q.rule]]\nname = \"new\"\nrule = \"nosuch\"\n";
    fs::write(folder.path().join("q.toml"), config).unwrap();
    let tickets = "{\"ticket\":\"a\",\"players\":[{\"id\":\"p\"}]}\n{\"ticket\":\"b\",\"players\":[{\"id\":\"q\"}]}\n";
    fs::write(folder.path().join("tickets.jsonl"), tickets).unwrap();
    let matches = r#"{"match":1,"penalty":0,"teams":[["p"],["q"]],"tickets":["a","b"]}"#;
    if let Some((accepted, report)) = checked(folder.path(), "q.toml", "q", matches) {
        assert!(
            !accepted && report.contains("cannot be checked: new: unknown type nosuch"),
            "{report}"
        );
    }
}
