//! The small shared logs whose expected results are in the table of `README-2.md`, beside them.

use std::{collections::BTreeMap, path::Path};

use evenkeel::ingest::{HEAD, LogItem, detect, same_match::join_halves};
use evenkeel::model::MatchRecord;

use crate::{golden::shared, read_in};

/// What the table says about a log, and that in the words of [`result`].
const RESULTS: [(&str, &[&str]); 6] = [
    ("1 match 1:0", &["ann 1 bob 0"]),
    ("1 match 16:9", &["ann 16 bob 9"]),
    ("2 matches, 1:0 each", &["ann 0 bob 1", "ann 1 bob 0"]),
    ("ann's team wins 4:2 (or undecided)", &["ann 4 bob 2"]),
    (
        "nothing (or ann's side 35:22)",
        &["skipped: started-before-log"; 2],
    ),
    (
        "skipped: began before the log",
        &["skipped: started-before-log"],
    ),
];

/// The rows of the table: the files, and what they must give.
fn rows(table: &str) -> BTreeMap<String, String> {
    let mut rows = BTreeMap::new();
    for line in table.lines() {
        let cells: Vec<&str> = line.split('|').map(str::trim).collect();
        let [_, files, expected, ..] = cells[..] else {
            continue;
        };
        for file in files.split(", ").filter(|file| file.ends_with(".log")) {
            rows.insert(file.to_owned(), expected.to_owned());
        }
    }
    rows
}

/// The matches of a log, with the score of each player's team, and why others were skipped.
fn result(path: &Path) -> Vec<String> {
    let log = std::fs::read(path).unwrap();
    let format = detect(&log[..log.len().min(HEAD)]).unwrap_or_else(|| panic!("{path:?}"));
    let (mut found, mut last): (Vec<String>, Option<MatchRecord>) = (Vec::new(), None);
    for item in read_in(format, &log, 64 * 1024).0 {
        match item {
            LogItem::Match(game) => {
                let joined = last.as_ref().and_then(|last| join_halves(last, &game));
                assert_eq!(joined, None, "{path:?}: these are two matches");
                found.push(scores(&game));
                last = Some(*game);
            }
            LogItem::Skipped { reason, .. } => found.push(format!("skipped: {}", reason.code())),
            LogItem::Malformed { line, why, .. } => panic!("{path:?}:{line}: {why}"),
            _ => {}
        }
    }
    found
}

fn scores(game: &MatchRecord) -> String {
    let mut players: Vec<String> = game
        .participants
        .iter()
        .map(|player| {
            let team = player.presence.last().unwrap().team;
            format!("{} {}", player.name, game.scores[usize::from(team)])
        })
        .collect();
    players.sort();
    players.join(" ")
}

#[test]
fn every_case_has_its_expected_result() {
    let Some(folder) = shared("cases") else {
        return;
    };
    let table = folder.join("README-2.md");
    let Ok(table) = std::fs::read_to_string(&table) else {
        println!("skipped: no table {}", table.display());
        return;
    };
    let rows = rows(&table);
    assert!(rows.len() >= 9, "{rows:?}");
    for (file, expected) in rows {
        let path = folder.join(&file);
        if !path.is_file() {
            println!("skipped: no log {}", path.display());
            continue;
        }
        let known = RESULTS.iter().find(|(words, _)| *words == expected);
        let (_, known) = known.unwrap_or_else(|| panic!("{file}: what is {expected:?}?"));
        assert_eq!(result(&path), *known, "{file}: {expected}");
    }
}
