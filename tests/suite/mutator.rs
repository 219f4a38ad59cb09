//! The UT2004 mutator, as far as it can be tested without the game: its keys, the verbs that it
//! sends, and a typical conversation.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::PathBuf,
};

use crate::common::Daemon;
use bytes::Bytes;
use evenkeel::protocol::{Code, Request};

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

/// The daemon knows every verb in the mutator's source.
#[test]
fn every_verb_is_known() {
    let mut verbs = BTreeSet::new();
    for source in classes().values() {
        for (at, _) in source.match_indices('"') {
            let word: String = source[at + 1..]
                .chars()
                .take_while(char::is_ascii_uppercase)
                .collect();
            let before = source[..at].trim_end();
            let calls = ["Say(", "Ask(", "Put(", "Line ="];
            if word.len() > 1 && calls.iter().any(|call| before.ends_with(call)) {
                verbs.insert(word);
            }
        }
    }
    for verb in [
        "HELLO",
        "GAME",
        "MUTATOR",
        "MAP",
        "JOIN",
        "BALANCE",
        "PLACE",
        "BOTS",
        "ADVANTAGE",
        "START",
        "SCORE",
        "KILL",
        "POINTS",
        "DEATH",
        "CLOCK",
        "END",
    ] {
        assert!(verbs.contains(verb), "{verb} is not sent: {verbs:?}");
    }
    for verb in verbs {
        let parsed = Request::parse(Bytes::from(verb.clone()));
        let unknown = parsed.is_err_and(|refusal| refusal.code == Code::UnknownCommand);
        assert!(!unknown, "{verb}");
    }
}

/// What the mutator sends in a game, in its order and with its quoting, up to a lost connection.
const BEFORE: &str = r#"HELLO "UT2004 #1"
GAME XGame.xCTFGame
MUTATOR UnrealGame.DMMutator
MUTATOR XGame.MutInstaGib
MUTATOR Evenkeel.MutEvenkeel
MUTATOR Evenkeel.EvenkeelRules
MAP CTF-FaceClassic 8 16
TEAMS 2
MINPLAYERS 8
JOIN b59886cde972e885d41296656150dd19 name=Ann
JOIN 0d8a6a3f5a2c4f0e9b7d1c3e5f708192 name="B\"o\\b"
BOTS
JOIN "x=y" name="x=y"
BOTS
BALANCE seed=1
START
CLOCK 1200
BOTJOIN Selig 0
BOTJOIN "Sk\"aarj" 1
BOTS
ADVANTAGE
JOIN 77777777777777777777777777777777 name=Late
PLACE 77777777777777777777777777777777
PROTECT b59886cde972e885d41296656150dd19
KILL Selig b59886cde972e885d41296656150dd19
DEATH b59886cde972e885d41296656150dd19
KILL Selig Selig
PROTECT b59886cde972e885d41296656150dd19 0
SCORE 0 1 b59886cde972e885d41296656150dd19
SCORE 1 -1
POINTS b59886cde972e885d41296656150dd19 12
POINTS Selig -3
MOVE "x=y" 1
BOTJOIN Selig 1
BOTLEAVE "Sk\"aarj"
JOIN 77777777777777777777777777777777 name=Later
PING
"#;

/// What it sends after reconnecting.
const AFTER: &str = r#"HELLO "UT2004 #1" resume=yes
LEAVE 77777777777777777777777777777777
JOIN b59886cde972e885d41296656150dd19 name=Ann team=0
JOIN 0d8a6a3f5a2c4f0e9b7d1c3e5f708192 name="B\"o\\b" team=1
JOIN "x=y" name="x=y" team=1
BOTJOIN Selig 0
BOTS
SCORE 1 2
ADVANTAGE
EXPLAIN
END 1
"#;

#[tokio::test]
async fn no_line_of_a_game_is_refused() {
    let daemon = Daemon::start("[rating]\nmin_seconds = 0\n").await;
    let with_crlf = |text: &str| text.replace('\n', "\r\n");
    let first = daemon.client().await.talk(&with_crlf(BEFORE)).await;
    assert!(!first.contains("ERROR"), "{first}");
    for verb in ["BOTS 8 ", "BALANCE 5 ", "PLACE 7777", "ADVANTAGE ", "PONG"] {
        assert!(first.contains(verb), "{verb} in {first}");
    }
    let second = daemon.client().await.talk(&with_crlf(AFTER)).await;
    assert!(!second.contains("ERROR"), "{second}");
    assert!(
        second.lines().next().unwrap().ends_with(" resumed"),
        "{second}"
    );
    assert!(second.ends_with("END 1 recorded\n"), "{second}");
}
