//! `evenkeel ingest` of what `evenkeel export --operator` has written: the way from 0.2 to this version.

use std::{fs, path::Path};

use serde_json::Value;
use tempfile::TempDir;

use crate::common::{
    http::Pages,
    postgres::Server,
    process::{evenkeel, run},
};

/// What the last 0.2 has written of its database, and what it has shown of it.
const OLD: &str = include_str!("../../fixtures/operator/0.2.jsonl");
const EXPECTED: &str = include_str!("../../fixtures/operator/expected.json");

/// A folder with the file, and perhaps a configuration that names a PostgreSQL database.
fn folder(url: Option<&str>) -> TempDir {
    let folder = TempDir::new().unwrap();
    fs::write(folder.path().join("old.jsonl"), OLD).unwrap();
    if let Some(url) = url {
        let config = format!("[store]\nurl = \"{url}\"\n");
        fs::write(folder.path().join("config.toml"), config).unwrap();
    }
    folder
}

fn ingest(folder: &Path, file: &str) -> (i32, String, String) {
    run(folder, &["ingest", file, "--dir", "."])
}

/// Reads the file of 0.2 into a new database, and writes it again.
fn there_and_back(url: Option<&str>) {
    let folder = folder(url);
    let (code, said, error) = ingest(folder.path(), "old.jsonl");
    assert_eq!(code, 0, "{error}");
    assert_eq!(said, "49 matches read, with all that operators have set\n");
    let words = ["export", "--operator", "new.jsonl", "--dir", "."];
    let output = evenkeel(folder.path()).args(words).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let new = fs::read_to_string(folder.path().join("new.jsonl")).unwrap();
    let old = OLD.replace(r#","former":false"#, "");
    let old = old.replacen("0.2.0", env!("CARGO_PKG_VERSION"), 1);
    // No operator has said that a form of a Steam id is the account: 0.2 did not tell these from merges.
    let is_form = |line: &&str| line.contains(r#""kind":"merge","player":"STEAM_"#);
    let old: Vec<&str> = old.lines().filter(|line| !is_form(line)).collect();
    assert_eq!(new.lines().collect::<Vec<_>>(), old);
}

#[test]
fn all_that_0_2_has_written_comes_over() {
    there_and_back(None);
}

#[tokio::test]
async fn all_that_0_2_has_written_comes_over_to_postgresql() {
    let Some(server) = Server::shared() else {
        return;
    };
    let name = server.unused_name();
    server.create(&name).await;
    there_and_back(Some(&server.url(&name)));
}

/// Links that people have kept: each player's page has the same address, and each match the same number.
#[test]
fn links_to_players_and_matches_work_as_before() {
    let folder = folder(None);
    let (code, _, error) = ingest(folder.path(), "old.jsonl");
    assert_eq!(code, 0, "{error}");
    let expected: Value = serde_json::from_str(EXPECTED).unwrap();
    let pages = Pages::start(folder.path(), &[]);
    for (handle, player) in expected["players"].as_object().unwrap() {
        let answer = pages.get(&format!("/players/{handle}"));
        assert_eq!(
            i64::from(answer.status),
            player["page"].as_i64().unwrap(),
            "{handle}"
        );
    }
    for (number, old) in expected["matches"].as_object().unwrap() {
        let answer = pages.get(&format!("/matches/{number}.json"));
        assert_eq!(answer.status, 200, "{number}");
        let new: Value = serde_json::from_str(&answer.body).unwrap();
        for key in [
            "id", "started", "ended", "map", "server", "scores", "outcome", "humans", "bots",
            "ruleset", "unrated",
        ] {
            assert_eq!(new[key], old[key], "{number}: {key}");
        }
        let names = |of: &Value| of["teams"].to_string().matches("\"name\"").count();
        assert_eq!(names(&new), names(old), "{number}");
    }
}

#[test]
fn what_is_not_whole_changes_nothing() {
    let folder = folder(None);
    let cut = |text: &str| fs::write(folder.path().join("cut.jsonl"), text).unwrap();
    let lines: Vec<&str> = OLD.split_inclusive('\n').collect();
    let last = lines.len();
    let without_end = lines[..last - 1].concat();
    let spoiled = |at: usize, with: &str| {
        let mut all: Vec<&str> = lines.clone();
        all[at] = with;
        all.concat()
    };
    for (text, why) in [
        (
            without_end.clone(),
            format!("cut.jsonl:{last}: the end is missing: the file is not whole"),
        ),
        (
            without_end + "{\"kind\":\"end\"",
            format!("cut.jsonl:{last}: the line is too long, or has no end"),
        ),
        (
            OLD.to_owned() + lines[2],
            format!("cut.jsonl:{}: a line follows the end", last + 1),
        ),
        (
            spoiled(3, "{\"kind\":\"more\"}\n"),
            "cut.jsonl:4: unknown variant `more`".to_owned(),
        ),
        (spoiled(4, "\n"), "cut.jsonl:5: ".to_owned()),
        (
            spoiled(0, "{\"kind\":\"export\",\"format\":2,\"version\":\"9\"}\n"),
            "cut.jsonl:1: another version of the format".to_owned(),
        ),
        (
            spoiled(last - 1, "{\"kind\":\"end\",\"matches\":48}\n"),
            format!("cut.jsonl:{last}: the file should have 48 matches, and has 49"),
        ),
        (
            spoiled(last - 2, "{}\n"),
            format!("cut.jsonl:{}: ", last - 1),
        ),
    ] {
        cut(&text);
        let (code, _, error) = ingest(folder.path(), "cut.jsonl");
        assert_eq!(code, 4, "{error}");
        assert!(error.contains(&why), "{error}");
    }
    let (code, said, error) = ingest(folder.path(), "old.jsonl");
    assert_eq!(code, 0, "nothing is left of the others: {said}{error}");
    let (code, _, error) = ingest(folder.path(), "old.jsonl");
    assert_eq!(code, 5);
    assert!(error.contains("the database is not a new one"), "{error}");
}
