//! All shared logs against `expected.tsv`, which `expected.py`, a reading of the logs of its own, and
//! for the small cases a human wrote; this program did not.
//!
//! A line `match` is the file, the game type, the map, the length in seconds, the scores and the
//! winner (`-` without teams, `draw`). The lines `player` that follow are the id, the seconds on team 0
//! and on team 1, the points (`-` where the log states none) and the kills, sorted by id. A line `none`
//! is a file without a match.

use std::{fmt::Write as _, io::Write as _, path::Path};

use evenkeel::ingest::{HEAD, LogItem, detect};
use evenkeel::model::{MatchRecord, Outcome, Participant};

use crate::{games, golden::shared, read_in};

const EXPECTED: &str = include_str!("expected.tsv");

/// The kinds of events in the shared logs that no parser knows.
const NOT_UNDERSTOOD: [&str; 15] = [
    "idtech3: ExitLevel",
    "idtech3: J;",
    "idtech3: K;",
    "idtech3: L;axis;",
    "idtech3: W;allies;",
    "source: Team",
    "source: World triggered \"Red security has been deactivated!\"",
    "source: World triggered \"Red security is now operating!\"",
    "source: World triggered \"Red security will be operational in 30 seconds!\"",
    "source: triggered \"Red Flag\"",
    "source: triggered \"airshot_rpg\"",
    "source: triggered \"red_30\"",
    "source: triggered \"red_down\"",
    "source: triggered \"red_up\"",
    "source: x",
];

/// Times in the logs have whole seconds, and an event at the end of a second may count for either.
const TOLERANCE: i64 = 1;

/// The seconds that a player was on a team.
fn seconds(player: &Participant, team: u8) -> u64 {
    let on = player.presence.iter().filter(|stay| stay.team == team);
    on.map(|stay| stay.span.millis()).sum::<u64>() / 1_000
}

/// The lines of the table for the matches of one file.
fn table(name: &str, matches: &[MatchRecord]) -> String {
    let mut table = String::new();
    if matches.is_empty() {
        writeln!(table, "none\t{name}").unwrap();
    }
    for game in matches {
        let scores: Vec<String> = game.scores.iter().map(f64::to_string).collect();
        let winner = match game.outcome {
            Outcome::Won(team) => team.to_string(),
            Outcome::Draw => "draw".to_owned(),
            _ => "-".to_owned(),
        };
        let (kind, map, length) = (&game.game_type, &game.map, game.millis() / 1_000);
        let scores = scores.join(":");
        writeln!(
            table,
            "match\t{name}\t{kind}\t{map}\t{length}\t{scores}\t{winner}"
        )
        .unwrap();
        let mut players: Vec<&Participant> = game.participants.iter().collect();
        players.sort_by_key(|player| player.key.id.as_str());
        for player in players {
            let (id, kills) = (&player.key.id, player.kills);
            let points = player
                .points
                .map_or("-".to_owned(), |points| points.to_string());
            let [one, two] = [0, 1].map(|team| seconds(player, team));
            writeln!(table, "player\t{id}\t{one}\t{two}\t{points}\t{kills}").unwrap();
        }
    }
    table
}

/// Whether two lines of the table agree; times may differ by [`TOLERANCE`].
fn agree(expected: &str, got: &str) -> bool {
    let times: &[usize] = match expected.split('\t').next() {
        Some("match") => &[4],
        Some("player") => &[2, 3],
        _ => &[],
    };
    let (expected, got): (Vec<_>, Vec<_>) =
        (expected.split('\t').collect(), got.split('\t').collect());
    let close = |at: usize| {
        let [one, two] = [expected[at], got[at]].map(|text| text.parse::<i64>().unwrap());
        (one - two).abs() <= TOLERANCE
    };
    expected.len() == got.len()
        && (0..expected.len())
            .all(|at| expected[at] == got[at] || (times.contains(&at) && close(at)))
}

/// The table of one log, as this program reads it.
fn got(folder: &Path, name: &str) -> String {
    let log = std::fs::read(folder.join(name)).unwrap();
    let head = &log[..log.len().min(HEAD)];
    let format = detect(head).unwrap_or_else(|| panic!("{name}: no known format"));
    table(name, &games(read_in(format, &log, 64 * 1024).0))
}

/// The lines of the table that are expected for a file.
fn expected(name: &str) -> Vec<&'static str> {
    let mut found = Vec::new();
    let mut file = "";
    for line in EXPECTED.lines() {
        if !line.starts_with("player") {
            file = line.split('\t').nth(1).unwrap();
        }
        if file == name {
            found.push(line);
        }
    }
    found
}

/// The names of all logs in the folders that the table has, sorted. Names of others are printed: nobody has read them
/// yet to say what they must give.
fn names(folder: &Path) -> Vec<String> {
    let mut names = Vec::new();
    for sub in folder.read_dir().unwrap().flatten() {
        for file in sub.path().read_dir().into_iter().flatten().flatten() {
            let name = file.file_name().into_string().unwrap();
            if name.ends_with(".log") {
                names.push(format!("{}/{name}", sub.file_name().to_string_lossy()));
            }
        }
    }
    names.sort();
    let (known, others): (Vec<String>, Vec<String>) =
        (names.into_iter()).partition(|name| !expected(name).is_empty());
    if !others.is_empty() {
        // `eprintln!` would be captured, and shown only if the test fails.
        let told = writeln!(
            std::io::stderr(),
            "not in expected.tsv: {}",
            others.join(", ")
        );
        told.unwrap();
    }
    known
}

#[test]
fn every_shared_log_has_its_expected_matches() {
    let Some(folder) = shared("") else { return };
    let mut faults = String::new();
    for name in names(&folder) {
        let (want, have) = (expected(&name), got(&folder, &name));
        let have: Vec<&str> = have.lines().collect();
        if want.len() != have.len() || !want.iter().zip(&have).all(|(want, have)| agree(want, have))
        {
            writeln!(faults, "{name}").unwrap();
            for line in 0..want.len().max(have.len()) {
                let (want, have) = (want.get(line), have.get(line));
                if !want.zip(have).is_some_and(|(want, have)| agree(want, have)) {
                    writeln!(faults, "  expected {want:?}\n  got      {have:?}").unwrap();
                }
            }
        }
    }
    assert!(faults.is_empty(), "{faults}");
}

#[test]
fn what_is_not_understood_in_the_shared_logs() {
    let Some(folder) = shared("") else { return };
    let mut kinds = std::collections::BTreeSet::new();
    for name in names(&folder) {
        let log = std::fs::read(folder.join(&name)).unwrap();
        let format = detect(&log[..log.len().min(HEAD)]).unwrap();
        for item in read_in(format, &log, 64 * 1024).0 {
            if let LogItem::Unknown { kind, .. } = item {
                kinds.insert(format!("{}: {kind}", format.name));
            }
        }
    }
    assert_eq!(kinds.into_iter().collect::<Vec<_>>(), NOT_UNDERSTOOD);
}
