//! Texts of the pages stand in one file, so that they can be translated.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

/// The file with the texts.
const TEXTS: &str = "src/web/texts.rs";

/// Literals of several words or with a capital letter that no visitor reads: the file, and how each of them begins.
const NOT_READ: [(&str, &str); 16] = [
    ("answer.rs", "public, max-age"),
    ("frame.rs", "public, max-age"),
    ("share.rs", "M{left}"),
    ("share.rs", "Verdana"),
    ("compress.rs", "Accept-Encoding"),
    ("connection.rs", "HTTP/1.1"),
    ("share.rs", "<"),
    ("frame.rs", "width=device-width"),
    ("frame.rs", "light dark"),
    ("pages/parts.rs", "num wide"),
    ("plot.rs", "the plot cannot be drawn"),
    ("routes.rs", "default-src"),
    ("routes.rs", "Disallow"),
    ("routes.rs", "User-agent"),
    ("teams/played.rs", "team {team}"),
    ("teams/signed.rs", "a form of /teams"),
];

/// A literal of a source file: the number of its line, what stands before it on that line, and its text.
struct Literal {
    line: usize,
    before: String,
    text: String,
}

/// The source files below a folder.
fn rust_files(folder: &Path) -> Vec<PathBuf> {
    let (mut folders, mut files) = (vec![folder.to_owned()], Vec::new());
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            match path.is_dir() {
                true => folders.push(path),
                false if path.extension().is_some_and(|ext| ext == "rs") => files.push(path),
                false => {}
            }
        }
    }
    files.sort();
    files
}

/// The string literals of a source file before its tests. Comments are left out, and so are byte and raw strings.
fn literals(source: &str) -> Vec<Literal> {
    let end = source.find("#[cfg(test)]").unwrap_or(source.len());
    let bytes = &source.as_bytes()[..end];
    let (mut found, mut at) = (Vec::new(), 0);
    while at < bytes.len() {
        match bytes[at] {
            b'/' if bytes.get(at + 1) == Some(&b'/') => {
                at += source[at..end].find('\n').unwrap_or(end - at);
            }
            // A character such as '"' is no beginning of a string.
            b'\'' if bytes.get(at + 2) == Some(&b'\'') => at += 3,
            b'\'' if bytes.get(at + 1) == Some(&b'\\') && bytes.get(at + 3) == Some(&b'\'') => {
                at += 4
            }
            b'"' => {
                let from = at + 1;
                at = from;
                while at < bytes.len() && bytes[at] != b'"' {
                    at += if bytes[at] == b'\\' { 2 } else { 1 };
                }
                let start = source[..from].rfind('\n').map_or(0, |newline| newline + 1);
                found.push(Literal {
                    line: source[..from].matches('\n').count() + 1,
                    before: source[start..from - 1].to_owned(),
                    text: source[from..at.min(end)].to_owned(),
                });
                at += 1;
            }
            _ => at += 1,
        }
    }
    found
}

/// Whether a text reads like words for people: two words in a row, or one with a capital letter.
fn is_read(text: &str) -> bool {
    let text = text.split('{').enumerate().map(|(at, part)| match at {
        0 => part,
        _ => part.split_once('}').map_or("", |(_, rest)| rest),
    });
    let text: String = text.collect::<Vec<_>>().join("");
    let is_word = |word: &&str| {
        let word = word.trim_matches(|c: char| ",.:;?!“”()".contains(c));
        word.len() > 1 && word.chars().all(|c| c.is_alphabetic() || "-’'".contains(c))
    };
    let words: Vec<bool> = text.split_whitespace().map(|word| is_word(&word)).collect();
    let pair = words.windows(2).any(|pair| pair[0] && pair[1]);
    let trimmed = text.trim_start();
    let has_edge = words.contains(&true) && (text.starts_with(' ') || text.ends_with(' '));
    let mut letters = trimmed.chars();
    let capital = letters.next().is_some_and(char::is_uppercase)
        && letters.next().is_some_and(char::is_lowercase);
    pair || has_edge || capital
}

/// The literals of a page module that are for visitors.
fn for_visitors(file: &str, source: &str) -> Vec<String> {
    let is_listed = |text: &str| {
        let mut listed = NOT_READ.iter();
        listed.any(|(own, begins)| *own == file && text.starts_with(begins))
    };
    let is_code = |literal: &Literal| {
        let before = literal.before.trim_start();
        let logged = ["tracing::", "#[serde", "f.debug_struct"];
        logged.iter().any(|start| before.starts_with(start)) || before.contains("tracing::")
    };
    let found = literals(source).into_iter();
    let found = found.filter(|own| is_read(&own.text) && !is_listed(&own.text) && !is_code(own));
    found
        .map(|own| format!("{file}:{}: {:?}", own.line, own.text))
        .collect()
}

#[test]
fn no_page_holds_a_text_outside_the_file_of_texts() {
    let room = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/web");
    let mut outside = Vec::new();
    for path in rust_files(&room) {
        let file = path
            .strip_prefix(&room)
            .unwrap()
            .to_str()
            .unwrap()
            .to_owned();
        // What programs read, and what the configuration answers to operators.
        if file.starts_with("api/") || ["texts.rs", "settings.rs"].contains(&file.as_str()) {
            continue;
        }
        outside.extend(for_visitors(&file, &fs::read_to_string(&path).unwrap()));
    }
    assert!(
        outside.is_empty(),
        "move to {TEXTS}:\n{}",
        outside.join("\n")
    );
}

#[test]
fn scripts_get_their_texts_from_the_page() {
    for script in ["live.js", "teams/teams.js"] {
        let path = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("src/web")
            .join(script);
        let source = fs::read_to_string(path).unwrap().replace('`', "\"");
        let found = for_visitors(script, &source.replace("\"use strict\"", ""));
        assert!(found.is_empty(), "move to {TEXTS}: {found:?}");
    }
}

#[test]
fn a_text_in_a_template_is_found() {
    let source = "//! Words here are fine.\nfn a() { html! { p { \"Nobody plays now.\" } h2 { \"Balance\" } } }\n\
                  fn b() { (\"won\", \"/matches\", text!(a.b), '\"', \"data-x\") }\n#[cfg(test)]\nmod t { \"Not here.\" }";
    let found = for_visitors("a.rs", source);
    assert_eq!(
        found,
        ["a.rs:2: \"Nobody plays now.\"", "a.rs:2: \"Balance\""]
    );
}

#[test]
fn each_text_is_used_and_needs_no_escaping() {
    let room = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/web");
    let (mut used, mut all) = (String::new(), BTreeSet::new());
    for path in rust_files(&room) {
        let source = fs::read_to_string(&path).unwrap();
        if path.ends_with("texts.rs") {
            let rows = source.split_once("texts! {\n").unwrap().1;
            for row in rows
                .lines()
                .filter(|row| row.starts_with("    ") && row.contains(" = \""))
            {
                let (key, text) = row.trim_start().split_once(" = ").unwrap();
                assert!(all.insert(key.to_owned()), "{key} is there twice");
                assert!(!text.contains(['<', '>', '&']), "{key} needs escaping");
            }
        } else {
            used.extend(source.chars().filter(|c| !c.is_whitespace()));
        }
    }
    assert!(all.len() > 400, "{} texts", all.len());
    let is_used = |key: &&String| {
        let ends = [format!("!({key})"), format!("!({key},")];
        ends.iter().any(|end| used.contains(end))
    };
    let unused: Vec<_> = all.iter().filter(|key| !is_used(key)).collect();
    assert!(unused.is_empty(), "no page has these texts: {unused:?}");
}
