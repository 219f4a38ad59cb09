//! What is read in each recorded log, and what its sidecar sends, as digests.
//!
//! `tests/fixtures/sidecar/whole-logs.txt` has a line for each log: its name, how many matches `ingest` finds and a digest of all
//! it finds, how many lines the sidecar of its engine writes, and a digest of them. `EVENKEEL_BLESS=1 cargo test
//! --test ingest what_is_read_and_sent` writes it anew; a commit that changes it says what has changed and why.

use std::{collections::BTreeMap, fmt::Write, fs, path::PathBuf};

use sha2::{Digest, Sha256};

use super::{
    evening,
    logs::{self, RecordedLog},
};
use evenkeel::{
    ingest::{self, LogItem},
    model::fingerprint::Fingerprint,
    sidecar::Act,
};

/// The folders of shared logs. Those of others have no matches of a format that is read line by line.
const SHARED: [&str; 9] = [
    "cases",
    "cases4",
    "cs2",
    "nexuiz",
    "openarena",
    "quake3",
    "source",
    "ut2004",
    "ut99",
];

fn digest(text: &str) -> String {
    let hash = Sha256::digest(text.as_bytes());
    hash.iter()
        .take(8)
        .map(|byte| format!("{byte:02x}"))
        .collect()
}

/// The items in a log, a line for each.
fn items(format: &str, log: &[u8]) -> (usize, String) {
    let (mut matches, mut text) = (0, String::new());
    for item in evening::items(format, log) {
        match item {
            LogItem::Match(game) => {
                matches += 1;
                text += &ingest::jsonl::write_record(&game, Fingerprint::of(&game));
                text.push('\n');
            }
            other => writeln!(text, "{other:?}").unwrap(),
        }
    }
    (matches, text)
}

/// What the sidecar does while the log is written, a line for each request, command and report, with the time.
fn acts(format: &str, log: &[u8]) -> Option<String> {
    let (mut sidecar, mut text) = (evening::follower(format)?, String::new());
    evening::follow(format, log, &mut *sidecar, |now, act| {
        match act {
            Act::Send(request) => writeln!(text, "{now} {}", evening::line(request)),
            Act::Console(commands) => writeln!(text, "{now} # {}", commands.join("; ")),
            Act::Report(report) => writeln!(text, "{now} * {report}"),
            other => unreachable!("{other:?} is for agents"),
        }
        .unwrap();
    });
    Some(text)
}

/// The line of a log, after its name.
fn line(log: &RecordedLog) -> String {
    let Some(format) = ingest::detect(&log.bytes[..log.bytes.len().min(ingest::HEAD)]) else {
        return "no format".to_owned();
    };
    let (matches, found) = items(format.name, &log.bytes);
    let found = format!("{} {matches} {}", format.name, digest(&found));
    match acts(format.name, &log.bytes) {
        Some(acts) => format!("{found} {} {}", acts.lines().count(), digest(&acts)),
        None => found,
    }
}

#[test]
fn what_is_read_and_sent() {
    let own = ["openarena", "nexuiz", "teeworlds"]
        .map(logs::own)
        .into_iter();
    let own = own
        .flatten()
        .map(|log| (format!("own/{}", log.name), line(&log)));
    let shared = SHARED.map(logs::shared).into_iter().flatten();
    let shared = shared.map(|log| (log.name.clone(), line(&log)));
    let now: BTreeMap<String, String> = own.chain(shared).collect();
    let path = PathBuf::from(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/tests/fixtures/sidecar/whole-logs.txt"
    ));
    if std::env::var_os("EVENKEEL_BLESS").is_some() {
        let lines = now.iter().map(|(name, line)| format!("{name} {line}\n"));
        fs::write(&path, lines.collect::<String>()).unwrap();
    }
    let recorded = fs::read_to_string(&path).unwrap();
    let recorded = recorded.lines().map(|line| line.split_once(' ').unwrap());
    let recorded: BTreeMap<&str, &str> = recorded.collect();
    for (name, line) in &now {
        assert_eq!(recorded.get(name.as_str()), Some(&line.as_str()), "{name}");
    }
}
