//! Waiting for opponents is no play, in any format: a match with waiting is the same as the match without it, but for its
//! dates.

use evenkeel::{ingest::LogItem, model::MatchRecord};

use crate::read;

const MINUTE: u64 = 60;

/// The only match of a log, with its play alone.
fn played(format: &str, log: &str) -> MatchRecord {
    let mut matches = read(format, log.as_bytes())
        .into_iter()
        .filter_map(|item| match item {
            LogItem::Match(record) => Some(*record),
            _ => None,
        });
    let (first, more) = (matches.next(), matches.next());
    assert_eq!(more, None);
    first
        .unwrap_or_else(|| panic!("no match in {log}"))
        .played()
}

/// A log of two against two: `ann` is there from the start, and the others come after `wait` seconds. Red wins after
/// eight minutes, and then the losers leave `rest` seconds before the end.
type Log = fn(wait: u64, rest: u64) -> String;

fn id_tech_3(wait: u64, rest: u64) -> String {
    let mut log = String::new();
    let mut say = |at: u64, line: &str| log += &format!("{:>3}:{:02} {line}\n", at / 60, at % 60);
    say(
        0,
        r"InitGame: \mapname\m\gamename\baseoa\g_gametype\4\g_timestamp\2026-11-20 14:54:02",
    );
    let mut join = |at, client: usize, team| {
        let name = ["ann", "bob", "cid", "dan"][client];
        say(at, &format!(r"ClientConnect: {client}"));
        say(
            at,
            &format!(r"ClientUserinfoChanged: {client} n\{name}\t\{team}\id\{name}{name}"),
        );
        say(at, &format!("ClientBegin: {client}"));
    };
    join(0, 0, 1);
    // What happens to somebody who waits is no play.
    if wait > 0 {
        let fell = "Kill: 1022 0 19: <world> killed ann by MOD_FALLING";
        say(wait / 2, fell);
    }
    let mut join = |at, client: usize, team| {
        let name = ["ann", "bob", "cid", "dan"][client];
        say(at, &format!(r"ClientConnect: {client}"));
        say(
            at,
            &format!(r"ClientUserinfoChanged: {client} n\{name}\t\{team}\id\{name}{name}"),
        );
        say(at, &format!("ClientBegin: {client}"));
    };
    join(wait, 1, 1);
    join(wait, 2, 2);
    join(wait, 3, 2);
    for minute in 1..=4 {
        say(
            wait + 2 * minute * MINUTE - 60,
            "Kill: 0 2 10: ann killed cid by MOD_RAILGUN",
        );
        say(
            wait + 2 * minute * MINUTE,
            "CTF: 0 2 1: ann captured the BLUE flag!",
        );
    }
    let left = wait + 8 * MINUTE + 1;
    if rest > 0 {
        say(left, "ClientDisconnect: 2");
        say(left, "ClientDisconnect: 3");
        let fell = "Kill: 1022 1 19: <world> killed bob by MOD_FALLING";
        say(left + rest / 2, fell);
    }
    say(left + rest, "Exit: Timelimit hit.");
    say(left + rest, "red:4  blue:0");
    say(left + rest + 10, "ShutdownGame:");
    log
}

fn team_fortress(wait: u64, rest: u64) -> String {
    let mut log = String::new();
    let mut say = |at: u64, line: &str| {
        let (hour, minute, second) = (18 + at / 3_600, at / 60 % 60, at % 60);
        log += &format!("L 01/24/2026 - {hour:02}:{minute:02}:{second:02}: {line}\n");
    };
    let player = |number: usize, team: &str| {
        let name = ["ann", "bob", "cid", "dan"][number];
        format!("\"{name}<{number}><[U:1:{number}]><{team}>\"")
    };
    say(
        0,
        r#"Log file started (file "l") (game "tf") (version "1")"#,
    );
    say(0, r#"Loading map "ctf_2fort""#);
    let mut join = |at, number, team: &str| {
        say(at, &format!("{} entered the game", player(number, "")));
        let unassigned = player(number, "Unassigned");
        say(at, &format!("{unassigned} joined team \"{team}\""));
    };
    join(0, 0, "Red");
    let start = 2;
    let mut lines = vec![(start, "World triggered \"Round_Start\"".to_owned())];
    for (number, team) in [(1, "Red"), (2, "Blue"), (3, "Blue")] {
        let at = start + wait;
        lines.push((at, format!("{} entered the game", player(number, ""))));
        let unassigned = player(number, "Unassigned");
        lines.push((at, format!("{unassigned} joined team \"{team}\"")));
    }
    let (ann, cid) = (player(0, "Red"), player(2, "Blue"));
    let fell = format!("{ann} committed suicide with \"world\"");
    if wait > 0 {
        lines.insert(1, (start + wait / 2, fell.clone()));
    }
    for minute in 1..=4 {
        let at = start + wait + 2 * minute * MINUTE;
        lines.push((at - 60, format!("{ann} killed {cid} with \"gun\"")));
        lines.push((
            at,
            format!("{ann} triggered \"flagevent\" (event \"captured\")"),
        ));
    }
    let left = start + wait + 8 * MINUTE + 1;
    for number in [2, 3].into_iter().filter(|_| rest > 0) {
        let who = player(number, "Blue");
        lines.push((left, format!("{who} disconnected (reason \"x\")")));
    }
    if rest > 0 {
        lines.push((left + rest / 2, fell));
    }
    let end = left + rest;
    lines.push((end, "World triggered \"Game_Over\" reason \"x\"".into()));
    lines.push((
        end,
        "Team \"Red\" final score \"4\" with \"2\" players".into(),
    ));
    lines.push((
        end,
        "Team \"Blue\" final score \"0\" with \"2\" players".into(),
    ));
    for (at, line) in lines {
        say(at, &line);
    }
    log
}

fn xonotic(wait: u64, rest: u64) -> String {
    let mut log = String::from(":logversion:3\n");
    let mut say = |at: u64, line: &str| {
        let (minute, second) = (at / 60, at % 60);
        log += &format!(":time:2026-01-24 18:{minute:02}:{second:02}\n{line}\n");
    };
    say(0, ":gamestart:ctf_m:7");
    say(0, ":gameinfo:mutators:LIST");
    say(0, ":gameinfo:end");
    let mut join = |at, number: usize, team| {
        let name = ["", "ann", "bob", "cid", "dan"][number];
        say(at, &format!(":join:{number}:{number}:192.0.2.1:{name}"));
        say(at, &format!(":team:{number}:{team}"));
    };
    join(0, 1, 5);
    let fell = ":kill:suicide:1:1:type=40009";
    if wait > 0 {
        say(wait / 2, fell);
    }
    let mut join = |at, number: usize, team| {
        let name = ["", "ann", "bob", "cid", "dan"][number];
        say(at, &format!(":join:{number}:{number}:192.0.2.1:{name}"));
        say(at, &format!(":team:{number}:{team}"));
    };
    join(wait, 2, 5);
    join(wait, 3, 14);
    join(wait, 4, 14);
    for minute in 1..=4 {
        say(
            wait + 2 * minute * MINUTE - 60,
            ":kill:frag:1:3:type=9:items=9",
        );
        say(wait + 2 * minute * MINUTE, ":ctf:capture:14:1");
    }
    let left = wait + 8 * MINUTE + 1;
    if rest > 0 {
        say(left, ":part:3");
        say(left, ":part:4");
        say(left + rest / 2, fell);
    }
    say(left + rest, &format!(":scores:ctf_m:{}", left + rest));
    for line in [
        ":labels:player:score!!,kills,caps",
        ":player:see-labels:9,4,4:1:5:1:ann",
        ":labels:teamscores:caps!!",
        ":teamscores:see-labels:4:5",
        ":teamscores:see-labels:0:14",
        ":end",
        ":gameover",
    ] {
        say(left + rest, line);
    }
    log
}

fn interchange(wait: u64, rest: u64) -> String {
    let (wait, play) = (wait * 1_000, (8 * MINUTE + 1) * 1_000);
    let start = 1_795_000_000_000;
    let end = wait + play + rest * 1_000;
    let player = |id: &str, team: u8, from: u64, to: u64| {
        format!(r#"{{"id":"{id}","stays":[{{"team":{team},"from":{from},"to":{to}}}]}}"#)
    };
    let left = wait + play;
    let players = [
        player("ann", 0, 0, end),
        player("bob", 0, wait, end),
        player("cid", 1, wait, left),
        player("dan", 1, wait, left),
    ];
    let goal = |minute: u64| {
        format!(
            r#"{{"at":{},"team":0,"points":1.0,"by":0}}"#,
            wait + minute * MINUTE * 1_000
        )
    };
    format!(
        r#"{{"evenkeel":1,"start":{start},"end":{},"game":"t.ctf","map":"m","scores":[4,0],"players":[{}],"events":[{}]}}"#,
        start + end,
        players.join(","),
        [2, 4, 6, 8].map(goal).join(","),
    )
}

const LOGS: [(&str, Log); 4] = [
    ("idtech3", id_tech_3),
    ("source", team_fortress),
    ("xonotic", xonotic),
    ("jsonl", interchange),
];

#[test]
fn a_match_with_waiting_is_the_match_without_it() {
    for (format, log) in LOGS {
        let plain = played(format, &log(0, 0));
        assert!(
            (480_000..484_000).contains(&plain.millis()),
            "{format}: {}",
            plain.millis()
        );
        assert_eq!(plain.scores, [4.0, 0.0], "{format}");
        for (wait, rest) in [(12 * MINUTE, 0), (0, 9 * MINUTE), (12 * MINUTE, 9 * MINUTE)] {
            let waited = played(format, &log(wait, rest));
            let moved = waited.start.0 - plain.start.0;
            assert!((moved - 1_000 * wait as i64).abs() < 10, "{format} {moved}");
            let same = MatchRecord {
                start: plain.start,
                end: plain.end,
                clock: plain.clock,
                ..waited.clone()
            };
            assert_eq!(
                waited.millis(),
                plain.millis(),
                "{format} {wait} {rest}: to the millisecond"
            );
            assert_eq!(same, plain, "{format} {wait} {rest}");
        }
    }
}

#[test]
fn the_time_of_an_empty_server_is_no_play() {
    let idle = id_tech_3(0, 0).replace("  0:00 Client", "1000:00 Client");
    let idle = idle.lines().map(|line| {
        let (clock, rest) = line.split_at(line.find(':').unwrap_or_default());
        let minute: u64 = clock.trim().parse().unwrap();
        let minute = if rest.contains("InitGame") || minute >= 1_000 {
            minute
        } else {
            minute + 1_000
        };
        format!("{minute}{rest}\n")
    });
    let idle = played("idtech3", &idle.collect::<String>());
    let plain = played("idtech3", &id_tech_3(0, 0));
    let moved = MatchRecord {
        start: plain.start,
        end: plain.end,
        ..idle.clone()
    };
    assert_eq!(moved, plain);
    assert_eq!(idle.start.0 - plain.start.0, 60_000_000);
}
