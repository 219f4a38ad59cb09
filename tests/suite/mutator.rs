//! The UT2004 mutator, as far as it can be tested without the game: its keys, the verbs that it
//! sends, and an evening's conversation.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::PathBuf,
};

use crate::common::Daemon;
use bytes::Bytes;
use evenkeel::{
    domain::{LeaveReason, MatchRecord, Outcome, Participant},
    protocol::{Code, Request},
};

fn folder() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/integrations/ut2004"))
}

fn read(name: &str) -> String {
    fs::read_to_string(folder().join(name)).unwrap()
}

/// All classes, by file name.
fn classes() -> BTreeMap<String, String> {
    let found = fs::read_dir(folder().join("Evenkeel/Classes")).unwrap();
    let classes: BTreeMap<String, String> = found
        .map(|entry| {
            let path = entry.unwrap().path();
            let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
            (name, fs::read_to_string(path).unwrap())
        })
        .collect();
    assert!(classes.len() >= 3, "{:?}", classes.keys());
    classes
}

#[test]
fn each_file_holds_the_class_of_its_name() {
    for (name, source) in classes() {
        assert!(
            source.contains(&format!("\nclass {name} extends ")),
            "{name}"
        );
        assert!(source.is_ascii(), "{name}");
    }
}

/// A number or word in the form of the key's type: `1.500000` and `1.5` are the same.
fn value(text: &str) -> String {
    let text = text.trim().trim_matches('"').trim_matches('`');
    let number: Result<f64, _> = text.parse();
    number.map_or_else(|_| text.to_owned(), |number| number.to_string())
}

#[test]
fn keys_are_the_same_everywhere() {
    let source = read("Evenkeel/Classes/MutEvenkeel.uc");
    let (_, defaults) = source.split_once("defaultproperties").unwrap();
    let assigned = |text: &str| -> BTreeMap<String, String> {
        let lines = text.lines().filter(|line| !line.starts_with(';'));
        let pairs = lines.filter_map(|line| line.split_once('='));
        pairs
            .map(|(key, text)| (key.trim().to_owned(), value(text)))
            .collect()
    };
    let defaults = assigned(defaults);
    let declared: BTreeMap<String, String> = source
        .lines()
        .filter_map(|line| line.strip_prefix("var() config ")?.strip_suffix(';'))
        .map(|declaration| {
            let (kind, key) = declaration.split_once(' ').unwrap();
            let zero = match kind {
                "string" => "",
                "bool" => "False",
                _ => "0",
            };
            let default = defaults.get(key).map_or(zero, String::as_str);
            (key.to_owned(), default.to_owned())
        })
        .collect();
    assert!(declared.len() > 10, "{declared:?}");
    assert_eq!(assigned(&read("Evenkeel.ini")), declared, "Evenkeel.ini");

    let readme = read("README.md");
    let rows = readme.lines().filter(|line| line.starts_with("| `"));
    let table: BTreeMap<String, String> = rows
        .map(|row| {
            let cells: Vec<&str> = row.split('|').map(str::trim).collect();
            (cells[1].trim_matches('`').to_owned(), value(cells[2]))
        })
        .collect();
    assert_eq!(table, declared, "README.md");
}

/// The verbs of the lines that the mutator's source sends.
fn verbs() -> BTreeSet<String> {
    let mut verbs = BTreeSet::new();
    for source in classes().values() {
        for (at, _) in source.match_indices('"') {
            let word: String = source[at + 1..]
                .chars()
                .take_while(char::is_ascii_uppercase)
                .collect();
            let before = source[..at].trim_end();
            let calls = ["Say(", "Ask(", "Tell(", "Put(", "Line ="];
            if word.len() > 1 && calls.iter().any(|call| before.ends_with(call)) {
                verbs.insert(word);
            }
        }
    }
    verbs
}

/// The daemon knows every verb in the mutator's source, and the evening has a line of each.
#[test]
fn every_verb_is_known_and_played() {
    let verbs = verbs();
    assert!(verbs.len() > 20, "{verbs:?}");
    let played: BTreeSet<&str> = [WARM_UP, PLAY, BACK, ENDED, DEATHMATCH]
        .iter()
        .flat_map(|part| part.lines())
        .filter_map(|line| line.split(' ').next())
        // Sent by `Client::talk` after each part.
        .chain(["QUIT"])
        .collect();
    for verb in verbs {
        let parsed = Request::parse(Bytes::from(verb.clone()));
        let unknown = parsed.is_err_and(|refusal| refusal.code == Code::UnknownCommand);
        assert!(!unknown, "{verb}");
        assert!(played.contains(verb.as_str()), "{verb} is not played");
    }
}

const ANN: &str = "b59886cde972e885d41296656150dd19";
const LATE: &str = "77777777777777777777777777777777";

/// What the mutator sends from the beginning of a game to the end of the countdown, in its order
/// and with its quoting.
const WARM_UP: &str = r#"HELLO "UT2004 #1" bots=yes
GAME XGame.xCTFGame
MUTATOR UnrealGame.DMMutator
MUTATOR XGame.MutInstaGib
MUTATOR Evenkeel.MutEvenkeel
MUTATOR Evenkeel.EvenkeelRules
MAP CTF-FaceClassic 8 16
TEAMS 2
MINPLAYERS 8
MEANBOT
JOIN b59886cde972e885d41296656150dd19 name=Ann
PLAYER b59886cde972e885d41296656150dd19
JOIN 0d8a6a3f5a2c4f0e9b7d1c3e5f708192 name="B\"o\\b"
PLAYER 0d8a6a3f5a2c4f0e9b7d1c3e5f708192
BOTS
JOIN "name:00000000" name=00000000
PLAYER "name:00000000"
JOIN "x=y#2" name="x=y"
PLAYER "x=y#2"
BOTS
BALANCE
BOTS
"#;

/// Play, up to a lost connection. The players are where they chose to be, whatever BALANCE said.
const PLAY: &str = r#"START
MOVE b59886cde972e885d41296656150dd19 1
MOVE b59886cde972e885d41296656150dd19 0
MOVE 0d8a6a3f5a2c4f0e9b7d1c3e5f708192 1
MOVE "name:00000000" 1
MOVE "x=y#2" 0
CLOCK 1200
ADVANTAGE
BOTJOIN Selig 0
BOT Selig
BOTJOIN "Sk\"aarj" 1
BOT "Sk\"aarj"
BOTS
ADVANTAGE
JOIN 77777777777777777777777777777777 name=Late
PLAYER 77777777777777777777777777777777
PLACE 77777777777777777777777777777777
MOVE 77777777777777777777777777777777 1
PROTECT b59886cde972e885d41296656150dd19
KILL Selig "name:00000000"
DEATH "name:00000000"
KILL Selig Selig
SCORE 0 -1
KILL 0d8a6a3f5a2c4f0e9b7d1c3e5f708192 Selig
SCORE 1 1 0d8a6a3f5a2c4f0e9b7d1c3e5f708192
PROTECT b59886cde972e885d41296656150dd19 0
SCORE 0 3 b59886cde972e885d41296656150dd19
POINTS b59886cde972e885d41296656150dd19 12
POINTS Selig -3
EXPLAIN
PING
"#;

/// After a lost connection: what the daemon has missed, then the players as they are now.
const BACK: &str = r#"HELLO "UT2004 #1" resume=yes bots=yes
JOIN "x=y" name="x=y"
MOVE "x=y" 0
SCORE 0 1 "x=y"
POINTS "x=y#2" 4
LEAVE "x=y#2"
POINTS "Sk\"aarj" 2
BOTLEAVE "Sk\"aarj"
MOVE 77777777777777777777777777777777 0
SCORE 1 2
JOIN b59886cde972e885d41296656150dd19 name=Ann team=0
PLAYER b59886cde972e885d41296656150dd19
JOIN 0d8a6a3f5a2c4f0e9b7d1c3e5f708192 name="B\"o\\b" team=1
PLAYER 0d8a6a3f5a2c4f0e9b7d1c3e5f708192
JOIN "name:00000000" name=00000000 team=1
PLAYER "name:00000000"
JOIN 77777777777777777777777777777777 name=Later team=0
PLAYER 77777777777777777777777777777777
JOIN "x=y" name="x=y" team=0
PLAYER "x=y"
BOTJOIN Selig 0
BOT Selig
BOTS
CLOCK 600
POINTS b59886cde972e885d41296656150dd19 12
POINTS Selig -3
ADVANTAGE
"#;

/// After a connection that was lost before play ended: what happened until then, and the end.
const ENDED: &str = r#"HELLO "UT2004 #1" resume=yes bots=yes
POINTS "name:00000000" 7
LEAVE "name:00000000"
SCORE 0 2 77777777777777777777777777777777
POINTS b59886cde972e885d41296656150dd19 20
POINTS 77777777777777777777777777777777 9
END 0
"#;

/// A game without teams, whose bots are the server's own affair and whose deaths are no chance to
/// move anybody.
const DEATHMATCH: &str = r#"HELLO "UT2004 #1" bots=no
GAME XGame.xDeathMatch
MUTATOR UnrealGame.DMMutator
MAP DM-1on1-Albatross 2 4
MEANBOT
JOIN b59886cde972e885d41296656150dd19 name=Ann
PLAYER b59886cde972e885d41296656150dd19
JOIN Bob name=Bob
PLAYER Bob
START
KILL b59886cde972e885d41296656150dd19 Bob
KILL Bob Bob
POINTS b59886cde972e885d41296656150dd19 1
POINTS Bob -1
END
"#;

fn participant<'a>(record: &'a MatchRecord, id: &str) -> &'a Participant {
    let found = record.participants.iter().find(|who| who.key.id == id);
    found.unwrap_or_else(|| panic!("{id} in {record:?}"))
}

#[tokio::test]
async fn no_line_of_an_evening_is_refused_and_nothing_is_lost() {
    let (daemon, clock) = Daemon::start_by_hand("[rating]\nmin_seconds = 0\n").await;
    let with_crlf = |text: &str| text.replace('\n', "\r\n");
    let play = with_crlf(WARM_UP) + &with_crlf(PLAY);
    let parts = [
        (play, vec!["BALANCE 6 ", "PLACE 7777", "WHY ", "PONG"]),
        (with_crlf(BACK), vec![" resumed", "BOTS 8 "]),
        (with_crlf(ENDED), vec![" resumed", "END 1 recorded"]),
        (with_crlf(DEATHMATCH), vec!["MEANBOT ", "END 2 recorded"]),
    ];
    for (lines, expected) in parts {
        let replies = daemon.client().await.talk(&lines).await;
        assert!(!replies.contains("ERROR"), "{replies}");
        for reply in expected {
            assert!(replies.contains(reply), "{reply} in {replies}");
        }
        clock.pass(30_000);
    }

    daemon.service.sessions().write_backlog().await.unwrap();
    let records = daemon.service.learning().matches().await.unwrap();
    let record = &records[0];
    assert_eq!(record.scores, [5.0, 3.0]);
    assert_eq!(record.outcome, Outcome::Won(0));
    let points: Vec<f64> = record.events.iter().map(|event| event.points).collect();
    assert_eq!(points, [-1.0, 1.0, 3.0, 1.0, 2.0, 2.0]);
    let ann = participant(record, ANN);
    assert_eq!((ann.points, ann.left), (Some(20.0), None));
    assert_eq!(participant(record, LATE).points, Some(9.0));
    let gone = participant(record, "name:00000000");
    assert_eq!(
        (gone.points, gone.left),
        (Some(7.0), Some(LeaveReason::Left))
    );
    assert_eq!(gone.deaths, 1, "KILL and DEATH are one death");
    assert_eq!(participant(record, "x=y#2").left, Some(LeaveReason::Left));
    assert_eq!(participant(&records[1], "Bob").deaths, 2);
}
