//! Real logs. The expected numbers were counted in the logs by other means, or are those of the
//! logs' own statistics.

use std::collections::BTreeSet;
use std::path::PathBuf;

use evenkeel::ingest::{HEAD, LogItem, Skip, by_name, detect};
use evenkeel::model::{Kind, MatchRecord, Outcome};

use crate::{FIXTURES, games, read, read_in};

/// A folder of logs that are not part of the crate; prints that the test is skipped if it is
/// missing.
pub fn shared(folder: &str) -> Option<PathBuf> {
    let path =
        PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../shared/data/logs")).join(folder);
    if path.is_dir() {
        return Some(path);
    }
    println!("skipped: no folder {}", path.display());
    None
}

/// The logs in a folder whose names have this prefix, at least one.
pub fn logs(folder: &str, prefix: &str) -> Vec<(String, Vec<u8>)> {
    let Some(folder) = shared(folder) else {
        return Vec::new();
    };
    let mut found = Vec::new();
    for entry in folder.read_dir().unwrap() {
        let name = entry.as_ref().unwrap().file_name().into_string().unwrap();
        if name.starts_with(prefix) && name.ends_with(".log") {
            found.push((name, std::fs::read(entry.unwrap().path()).unwrap()));
        }
    }
    assert!(!found.is_empty(), "no logs in {}", folder.display());
    found.sort();
    found
}

pub fn log(folder: &str, name: &str) -> Option<Vec<u8>> {
    logs(folder, name).pop().map(|(_, bytes)| bytes)
}

pub fn skips(items: &[LogItem]) -> Vec<(u64, &'static str)> {
    let skips = items.iter().filter_map(|item| match item {
        LogItem::Skipped { line, reason, .. } => Some((*line, reason.code())),
        _ => None,
    });
    skips.collect()
}

pub fn malformed(items: &[LogItem]) -> Vec<u64> {
    let lines = items.iter().filter_map(|item| match item {
        LogItem::Malformed { line, .. } => Some(*line),
        _ => None,
    });
    lines.collect()
}

/// Names, kills, deaths and points of the players who were on a team for the whole game.
fn table(game: &MatchRecord, team: u8) -> Vec<(&str, u32, u32, Option<f64>)> {
    let on = game.participants.iter().filter(|p| {
        let [stay] = p.presence[..] else {
            panic!("{p:?}")
        };
        // All players join within the first second, each on a line of their own.
        stay.team == team && stay.span.from < 20 && stay.span.to == game.millis()
    });
    on.map(|p| (p.name.as_str(), p.kills, p.deaths, p.points))
        .collect()
}

#[test]
fn the_logs_that_come_with_the_crate() {
    let matches = FIXTURES.map(|log| {
        let items = read("idtech3", log);
        assert_eq!((skips(&items).len(), malformed(&items)), (1, vec![]));
        games(items).pop().unwrap()
    });
    let [one, two] = &matches;
    assert_eq!(
        (one.map.as_str(), &one.scores[..], one.outcome),
        ("ctf_gate1", &[0.0, 5.0][..], Outcome::Won(1))
    );
    assert_eq!(
        table(one, 0),
        [
            ("Beret", 0, 11, Some(0.0)),
            ("Gargoyle", 0, 13, Some(0.0)),
            ("Major", 9, 4, Some(11.0)),
            ("Penguin", 2, 13, Some(2.0))
        ]
    );
    assert_eq!(
        table(one, 1),
        [
            ("Rai", 6, 4, Some(15.0)),
            ("Liz", 6, 3, Some(22.0)),
            ("Sarge", 13, 1, Some(30.0)),
            ("Grunt", 15, 3, Some(29.0))
        ]
    );
    let captures = |game: &MatchRecord| {
        let by = |event: Option<u32>| game.participants[event.unwrap() as usize].name.clone();
        let changes = game
            .events
            .iter()
            .map(|e| (e.at / 1_000, e.team, e.points, by(e.by)));
        changes.collect::<Vec<_>>()
    };
    let capture = |at, team, by: &str| (at, team, 1.0, by.to_owned());
    assert_eq!(
        captures(one),
        [
            capture(53, 1, "Grunt"),
            capture(71, 1, "Liz"),
            capture(159, 1, "Sarge"),
            capture(178, 1, "Liz"),
            capture(212, 1, "Rai")
        ]
    );
    assert_eq!(
        captures(two),
        [
            capture(66, 0, "Major"),
            capture(83, 0, "Major"),
            capture(162, 0, "Neko"),
            capture(175, 0, "Rai"),
            capture(193, 0, "Beret")
        ]
    );
    for game in &matches {
        assert_eq!(
            (game.game_type.as_str(), game.mutators.len()),
            ("baseoa.ctf", 0)
        );
        assert_eq!((game.server.as_str(), game.clock), ("here", None));
        assert!(
            game.participants
                .iter()
                .all(|p| p.key.kind == Kind::Bot && p.key.id == p.name)
        );
    }
}

#[test]
fn sixty_capture_the_flag_games_as_their_lineups_say() {
    let Some(lineups) = shared("openarena") else {
        return;
    };
    let lineups = std::fs::read_to_string(lineups.join("lineups.jsonl")).unwrap();
    let mut seen = 0;
    for line in lineups.lines() {
        let lineup: serde_json::Value = serde_json::from_str(line).unwrap();
        let name = lineup["log"].as_str().unwrap();
        let items = read("idtech3", &log("openarena", name).unwrap());
        assert!(malformed(&items).is_empty(), "{name}");
        assert!(
            skips(&items).iter().all(|(_, why)| *why == "unfinished"),
            "{name}"
        );
        let matches = games(items);
        let [game] = &matches[..] else {
            panic!("{name}: {} games", matches.len())
        };
        assert_eq!(game.map, lineup["map"].as_str().unwrap(), "{name}");
        assert_eq!(
            (game.game_type.as_str(), game.mutators.len()),
            ("baseoa.ctf", 0),
            "{name}"
        );
        let scores: Vec<f64> = serde_json::from_value(lineup["score"].clone()).unwrap();
        assert_eq!(game.scores, scores, "{name}");
        assert_eq!(game.outcome, MatchRecord::outcome_of(&scores));
        for (team, side) in [(0, "red_true_skill"), (1, "blue_true_skill")] {
            let there: BTreeSet<_> = table(game, team).iter().map(|row| row.0).collect();
            let expected = lineup[side].as_object().unwrap();
            assert_eq!(
                there,
                expected.keys().map(String::as_str).collect(),
                "{name}"
            );
            let captures = game.events.iter().filter(|e| e.team == team);
            assert_eq!(
                captures.map(|e| e.points).sum::<f64>(),
                scores[usize::from(team)]
            );
        }
        assert!(game.events.iter().all(|e| e.by.is_some()), "{name}");
        seen += 1;
    }
    assert_eq!(seen, 60);
}

#[test]
fn the_other_openarena_games() {
    for (name, bytes) in logs("openarena", "tdm-") {
        let matches = games(read("idtech3", &bytes));
        let [game] = &matches[..] else {
            panic!("{name}")
        };
        assert_eq!(
            (game.game_type.as_str(), game.mutators.len()),
            ("baseoa.tdm", 0)
        );
        for team in [0, 1] {
            let points = game.events.iter().filter(|e| usize::from(e.team) == team);
            assert_eq!(
                points.map(|e| e.points).sum::<f64>(),
                game.scores[team],
                "{name}"
            );
        }
        if name == "tdm-00.log" {
            assert_eq!(game.scores, [5.0, 40.0]);
            assert!(table(game, 1).contains(&("Grunt", 22, 0, Some(22.0))));
        }
    }
    for (name, bytes) in logs("openarena", "instagib-") {
        let matches = games(read("idtech3", &bytes));
        let [game] = &matches[..] else {
            panic!("{name}")
        };
        assert_eq!(game.game_type, "baseoa.ctf");
        assert_eq!(game.mutators, ["g_instantgib"]);
    }
    if let Some(bytes) = log("openarena", "human-client-forceteam") {
        let items = read("idtech3", &bytes);
        assert_eq!(skips(&items), [(2, "warm-up"), (37, "unfinished")]);
        assert_eq!(items.len(), 2);
    }
}

/// The log with a human in it never ends its game. With an end, it contains this match.
#[test]
fn a_human_whom_the_server_moves_about() {
    let Some(mut bytes) = log("openarena", "human-client-forceteam") else {
        return;
    };
    let end = bytes.windows(8).rposition(|w| w == b"Shutdown").unwrap();
    bytes.truncate(end);
    bytes.extend(b"Exit: Timelimit hit.\n  2:04 red:1  blue:0\n  2:05 ShutdownGame:\n");
    let game = games(read("idtech3", &bytes)).pop().unwrap();
    let human = game
        .participants
        .iter()
        .find(|p| p.key.kind == Kind::Human)
        .unwrap();
    assert_eq!(human.key.id, "6091E25264DBF07EB65B4333A895DFD8");
    assert_eq!(
        (human.name.as_str(), human.kills, human.deaths),
        ("Human1", 0, 3)
    );
    // Red from 1:05, blue from 1:13, red from 1:19, watching from 1:22; play began at 0:19.
    let stays: Vec<_> = human
        .presence
        .iter()
        .map(|stay| (stay.team, stay.span.from / 1_000, stay.span.to / 1_000))
        .collect();
    assert_eq!(stays, [(0, 46, 54), (1, 54, 60), (0, 60, 63)]);
    assert_eq!(game.start.to_string(), "2026-11-20T15:08:32Z");
}

#[test]
fn a_log_of_quake_iii_gives_its_matches() {
    let Some(bytes) = log("quake3", "quake3-mixed") else {
        return;
    };
    let (items, elapsed) = read_in(by_name("idtech3").unwrap(), &bytes, 4_096);
    assert_eq!(malformed(&items), [97]);
    let skipped = skips(&items);
    // Nobody played in the first game.
    assert_eq!(skipped[0], (2, "empty"));
    assert!(skipped[1..].iter().all(|(_, why)| *why == "unfinished"));
    let matches = games(items);
    assert_eq!((matches.len(), skipped.len()), (9, 12));
    let flags: Vec<_> = matches
        .iter()
        .filter(|g| g.has_teams())
        .map(|g| &g.scores[..])
        .collect();
    assert_eq!(flags, [[8.0, 6.0], [2.0, 8.0], [0.0, 1.0]]);
    let kinds: BTreeSet<_> = matches.iter().map(|g| g.game_type.as_str()).collect();
    assert_eq!(kinds, ["baseq3.ctf", "baseq3.ffa"].into());
    assert!(
        matches
            .iter()
            .all(|g| g.events.is_empty() && g.mutators.is_empty())
    );
    // The log has no dates: its games are in order, and do not overlap.
    assert!(matches.windows(2).all(|pair| pair[0].end <= pair[1].start));
    assert!(
        matches
            .iter()
            .all(|g| g.clock.is_some() && g.end.0 <= elapsed as i64)
    );
    // The second game of the log that ended, from 1:47 to 11:57.
    let game = &matches[0];
    assert_eq!((game.clock, game.millis()), (Some(107_000), 610_000));
    let points: Vec<_> = game
        .participants
        .iter()
        .map(|p| (p.name.as_str(), p.points))
        .collect();
    assert_eq!(
        points,
        [
            ("Player03", Some(5.0)),
            ("Player05", Some(19.0)),
            ("Player11", Some(20.0)),
            ("Player01", Some(11.0))
        ]
    );
}

#[test]
fn a_log_of_urban_terror_gives_its_matches() {
    let Some(bytes) = log("quake3", "urbanterror-tdm") else {
        return;
    };
    let items = read("idtech3", &bytes);
    // The first round began before the log did: for most of its players, no line states the team.
    // The second one is its second half.
    let before = "started-before-log";
    let expected = [(4, before), (119, before), (622, "warm-up")];
    assert_eq!(skips(&items), expected);
    assert!(malformed(&items).is_empty());
    let matches = games(items);
    let results: Vec<_> = matches
        .iter()
        .map(|g| (g.map.as_str(), &g.scores[..]))
        .collect();
    assert_eq!(
        results,
        [
            // Two halves: red wins 22 to 18, changes sides, and wins 23 to 22.
            ("ut_scottbase", &[40.0, 45.0][..])
        ]
    );
    for (game, millis) in matches.iter().zip([840_000]) {
        assert_eq!(
            (game.game_type.as_str(), game.mutators.len()),
            ("q3ut4.tdm", 0)
        );
        assert_eq!((game.millis(), game.participants.len()), (millis, 6));
        assert!(
            game.participants
                .iter()
                .all(|p| p.key.id.len() == 32 && p.points.is_some())
        );
        // The kills add up to the score exactly, so the rule for them is the game's.
        for team in [0, 1] {
            let points = game.events.iter().filter(|e| usize::from(e.team) == team);
            assert_eq!(points.map(|e| e.points).sum::<f64>(), game.scores[team]);
        }
    }
}

#[test]
fn logs_of_olstats_give_their_matches() {
    let expected = [
        (
            "olstats-1.log",
            "2017-06-29T15:27:04Z",
            52_630,
            [("Player01", 5, 1), ("Selig", 1, 2), ("Aryss", 1, 4)],
        ),
        (
            "olstats-2.log",
            "2017-06-29T21:22:33Z",
            127_160,
            [("Player01", 15, 5), ("Othello", 5, 12), ("Gorge", 5, 8)],
        ),
        (
            "olstats-3.log",
            "2017-06-29T23:19:50Z",
            84_090,
            [("Player01", 3, 8), ("Rae", 6, 11), ("Kane", 15, 5)],
        ),
    ];
    for (name, start, millis, players) in expected {
        let Some(bytes) = log("ut2004", name) else {
            return;
        };
        let items = read("ut2004", &bytes);
        assert_eq!(items.len(), 1, "{name}");
        let game = games(items).pop().unwrap();
        assert_eq!(game.game_type, "XGame.xDeathMatch");
        assert_eq!(
            game.mutators,
            [
                "OLStats.MutOLGameStats",
                "UnrealGame.DMMutator",
                "XGame.MutInstaGib"
            ]
        );
        assert_eq!(
            (game.map.as_str(), game.outcome),
            ("DM-1on1-Albatross", Outcome::Undecided)
        );
        assert_eq!(
            (game.start.to_string().as_str(), game.millis()),
            (start, millis)
        );
        let tally: Vec<_> = game
            .participants
            .iter()
            .map(|p| (p.name.as_str(), p.kills, p.deaths))
            .collect();
        assert_eq!(tally, players, "{name}");
        for (at, participant) in game.participants.iter().enumerate() {
            let kind = if at == 0 { Kind::Human } else { Kind::Bot };
            assert_eq!(participant.key.kind, kind);
            assert_eq!(participant.points, Some(f64::from(participant.kills)));
        }
        assert_eq!(
            game.participants[0].key.id,
            "b59886cde972e885d41296656150dd19"
        );
    }
}

/// No format claims the log of another, nor a file that is not a log.
#[test]
fn every_log_is_known_for_what_it_is() {
    let named = |bytes: &[u8]| detect(&bytes[..bytes.len().min(HEAD)]).map(|format| format.name);
    let folders = [
        ("openarena", Some("idtech3")),
        ("quake3", Some("idtech3")),
        ("ut2004", Some("ut2004")),
        ("ut99", Some("ut99")),
        ("nexuiz", Some("xonotic")),
        ("source", Some("source")),
    ];
    for (folder, expected) in folders {
        for (name, bytes) in logs(folder, "") {
            assert_eq!(named(&bytes), expected, "{name}");
            // From the middle of the log, and from the middle of a line.
            assert_eq!(
                named(&bytes[bytes.len() / 2..]),
                expected,
                "the middle of {name}"
            );
        }
    }
    assert!(FIXTURES.iter().all(|log| named(log) == Some("idtech3")));
    for text in [
        include_str!("golden.rs"),
        include_str!("../../Cargo.toml"),
        "",
    ] {
        assert_eq!(named(text.as_bytes()), None);
    }
}

#[test]
fn reasons_have_codes_and_words() {
    assert_eq!(Skip::Unfinished.code(), "unfinished");
    assert_eq!(
        Skip::Unfinished.to_string(),
        "the log does not contain the end of this game"
    );
}
