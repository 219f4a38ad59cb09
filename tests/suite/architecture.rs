//! The house rules that a compiler does not know: which room may import which, and what the pure rooms
//! must never touch.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

/// Every room, and the rooms it may import.
const ROOMS: [(&str, &[&str]); 14] = [
    ("domain", &[]),
    ("partition", &["domain"]),
    ("rating", &["domain"]),
    ("ingest", &["domain"]),
    ("protocol", &["domain"]),
    ("lobby", &["partition", "domain"]),
    ("sidecar", &["domain", "ingest", "protocol"]),
    ("history", &["rating", "domain"]),
    ("store", &["domain"]),
    (
        "service",
        &[
            "domain",
            "partition",
            "rating",
            "lobby",
            "history",
            "ingest",
            "store",
        ],
    ),
    ("server", &["service", "protocol"]),
    ("client", &["protocol", "domain"]),
    (
        "config",
        &[
            "domain",
            "partition",
            "rating",
            "lobby",
            "history",
            "service",
            "server",
        ],
    ),
    (
        "cli",
        &[
            "domain",
            "partition",
            "rating",
            "ingest",
            "lobby",
            "history",
            "store",
            "service",
            "server",
            "client",
            "config",
            "protocol",
            "sidecar",
        ],
    ),
];

const PURE: [&str; 8] = [
    "domain",
    "partition",
    "rating",
    "ingest",
    "protocol",
    "lobby",
    "history",
    "sidecar",
];

/// What a pure room must not name.
const IMPURE: [&str; 14] = [
    "tokio",
    "tokio_util",
    "sqlx",
    "tracing",
    "clap",
    "indicatif",
    "std::fs",
    "std::net",
    "std::env",
    "std::process",
    "std::thread",
    "SystemTime",
    "Instant::now",
    "SysRng",
];

#[test]
fn arrows_point_down() {
    let mut seen = 0;
    for (room, allowed) in ROOMS {
        for file in sources(room) {
            for import in imports(&code(&file)) {
                seen += 1;
                let fine = import == room || allowed.contains(&import.as_str());
                assert!(fine, "{} must not import {import}", file.display());
            }
        }
    }
    assert!(seen > 30, "only {seen} imports found: the search is broken");
}

#[test]
fn pure_rooms_are_pure() {
    for room in PURE {
        for file in sources(room) {
            let code = code(&file);
            for word in IMPURE {
                assert!(
                    !names(&code, word),
                    "{} is pure and names {word}",
                    file.display()
                );
            }
        }
    }
}

#[test]
fn only_the_store_knows_sql() {
    for (room, _) in ROOMS {
        let knows = sources(room).iter().any(|file| names(&code(file), "sqlx"));
        assert_eq!(knows, room == "store", "{room}");
    }
}

#[test]
fn every_room_is_known() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut found = BTreeSet::new();
    for entry in fs::read_dir(root).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        found.insert(name.trim_end_matches(".rs").to_owned());
    }
    let known = ROOMS.iter().map(|(room, _)| (*room).to_owned());
    let known: BTreeSet<_> = known.chain(["lib".to_owned(), "main".to_owned()]).collect();
    assert_eq!(found, known);
}

#[test]
fn the_search_finds_what_it_must() {
    let text = "use crate::{domain::{A, b::C}, store};\nlet x = crate::lobby::Y; // crate::web\n\"crate::cli\"";
    let found: Vec<_> = imports(&strip(text)).into_iter().collect();
    assert_eq!(found, ["domain", "lobby", "store"]);
    assert!(names("use tokio::net;", "tokio") && !names("use mytokio::net;", "tokio"));
}

/// All `.rs` files of a room, tests inside them included.
fn sources(room: &str) -> Vec<PathBuf> {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut found = Vec::new();
    let mut folders = vec![src.join(room)];
    while let Some(folder) = folders.pop() {
        let Ok(entries) = fs::read_dir(&folder) else {
            continue;
        };
        for entry in entries {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|ext| ext == "rs") {
                found.push(path);
            }
        }
    }
    let file = src.join(format!("{room}.rs"));
    found.extend(file.exists().then_some(file));
    assert!(!found.is_empty(), "{room} has no sources");
    found
}

fn code(file: &Path) -> String {
    strip(&fs::read_to_string(file).unwrap())
}

/// The text without line comments and without what stands in quotes on one line.
fn strip(text: &str) -> String {
    let mut out = String::new();
    for line in text.lines() {
        let line = line.split("//").next().unwrap_or("");
        out.extend(line.split('"').step_by(2));
        out.push('\n');
    }
    out
}

/// The first path segments behind every `crate::`, groups in braces included.
fn imports(code: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for (at, _) in code.match_indices("crate::") {
        let rest = &code[at + "crate::".len()..];
        let Some(group) = rest.strip_prefix('{') else {
            found.insert(first_word(rest));
            continue;
        };
        let mut depth = 0;
        let mut fresh = true;
        for (i, c) in group.char_indices() {
            match c {
                '{' => depth += 1,
                '}' if depth == 0 => break,
                '}' => depth -= 1,
                ',' if depth == 0 => fresh = true,
                c if fresh && c.is_alphabetic() => {
                    found.insert(first_word(&group[i..]));
                    fresh = false;
                }
                _ => {}
            }
        }
    }
    found.remove("");
    found
}

fn first_word(text: &str) -> String {
    text.chars()
        .take_while(|c| c.is_alphanumeric() || *c == '_')
        .collect()
}

/// Whether the code names this path, and not only as the end of a longer word.
fn names(code: &str, path: &str) -> bool {
    let word = |c: char| c.is_alphanumeric() || c == '_';
    code.match_indices(path).any(|(at, _)| {
        let before = code[..at].chars().next_back().is_some_and(word);
        let after = code[at + path.len()..].chars().next().is_some_and(word);
        !before && !after
    })
}
