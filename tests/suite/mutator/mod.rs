//! The UT2004 mutator, as far as it can be tested without the game: its keys and texts, the verbs that
//! it sends, what it overrides of the game's classes, an evening's conversation, and lines that are lost.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::PathBuf,
};

use bytes::Bytes;
use evenkeel::protocol::{Code, Request};

mod evening;
mod lost_lines;
mod signatures;

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
    let (_, keys) = readme.split_once("\n## Keys\n").unwrap();
    let (keys, _) = keys.split_once("\n## ").unwrap();
    let rows = keys.lines().filter(|line| line.starts_with("| `"));
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
    let played: BTreeSet<&str> = evening::PARTS
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

/// What `name` of the class's localized variables is set to in its default properties.
fn texts(source: &str, name: &str, (open, close): (char, char)) -> Vec<String> {
    let start = format!("{name}{open}");
    let lines = source.lines().map(str::trim);
    let found =
        lines.filter_map(|line| line.strip_prefix(&start)?.split_once(&format!("{close}=")));
    found.map(|(_, text)| text.to_owned()).collect()
}

/// The web page shows keys that exist, each with a text and a help, and the `.int` has the same texts.
#[test]
fn the_web_page_has_texts_for_its_keys() {
    let source = read("Evenkeel/Classes/MutEvenkeel.uc");
    let int = read("Evenkeel.int");
    let shown: Vec<&str> = source
        .lines()
        .filter_map(|line| {
            let (_, key) = line
                .trim()
                .strip_prefix("case ")?
                .split_once(": return \"")?;
            key.strip_suffix("\";")
        })
        .collect();
    assert!(shown.len() > 15, "{shown:?}");
    assert!(source.contains(&format!("const SETTINGS = {};", shown.len())));
    for key in &shown {
        assert!(source.contains(&format!(" {key};\n")), "{key} is no key");
    }
    for secret in ["Token", "Identity", "HookClass"] {
        assert!(!shown.contains(&secret), "{secret} is for the ini");
    }
    for name in ["SettingText", "SettingHelp"] {
        let defaults = texts(&source, name, ('(', ')'));
        assert_eq!(defaults.len(), shown.len(), "{name}");
        assert_eq!(defaults, texts(&int, name, ('[', ']')), "{name}");
        assert!(defaults.iter().all(|text| text.len() > 2), "{defaults:?}");
    }
    let teams = texts(&source, "TeamWords", ('(', ')'));
    assert_eq!(teams, ["\"Red\"", "\"Blue\""]);
    assert_eq!(teams, texts(&int, "TeamWords", ('[', ']')));
}
