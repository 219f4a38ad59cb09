//! `evenkeel ingest` of what `evenkeel export --operator` has written: the way from 0.2 to this version.

use std::{fs, path::Path};

use evenkeel::lobby::decision::in_this_form;
use serde_json::{Value, json};
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

/// These lines with the client in each record of a match that a client has reported, which those of 0.2 do not have, and
/// with decisions in the form of this version.
fn as_now<'a>(lines: impl Iterator<Item = &'a str>) -> Vec<String> {
    let mut client = None;
    lines
        .map(|line| {
            let reporter = client.take();
            let object: Value = serde_json::from_str(line).unwrap();
            client = object["reporter"]["client"].as_str().map(str::to_owned);
            match reporter {
                Some(name) => {
                    line.replacen(r#","start""#, &format!(r#","client":"{name}","start""#), 1)
                }
                None => {
                    let decisions = object["decisions"].as_array();
                    let texts = decisions.into_iter().flatten();
                    let texts = texts.filter_map(|one| one["decision"].as_str());
                    texts.fold(line.to_owned(), |line, old| {
                        let now = in_this_form(old).unwrap();
                        let [old, now] =
                            [old, &now].map(|text| serde_json::to_string(text).unwrap());
                        line.replace(&old, &now)
                    })
                }
            }
        })
        .collect()
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
    // A name that nobody has stated is not written.
    let old = OLD
        .replace(r#","former":false"#, "")
        .replace(r#""name":"","#, "");
    let old = old.replacen("0.2.0", env!("CARGO_PKG_VERSION"), 1);
    // No operator has said that a form of a Steam id is the account: 0.2 did not tell these from merges.
    let is_form = |line: &&str| line.contains(r#""kind":"merge","player":"STEAM_"#);
    let old = old.lines().filter(|line| !is_form(line));
    assert_eq!(new.lines().collect::<Vec<_>>(), as_now(old));
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
        let answer = pages.get(&format!("/v1/matches/{number}"));
        assert_eq!(answer.status, 200, "{number}");
        let new: Value = serde_json::from_str(&answer.body).unwrap();
        for key in [
            "id", "started", "ended", "map", "server", "scores", "outcome", "humans", "bots",
            "ruleset", "unrated",
        ] {
            // Pages have words for a map that nobody has named.
            let unnamed = key == "map" && old[key] == "(no name)";
            let old = if unnamed { &json!("") } else { &old[key] };
            assert_eq!(&new[key], old, "{number}: {key}");
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
            spoiled(1, ""),
            format!(
                "cut.jsonl:{}: the last numbers that were given are missing",
                last - 1
            ),
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

/// The fixture with one line more, before the line with this number.
fn with_line(at: usize, line: &str) -> String {
    let mut lines: Vec<&str> = OLD.lines().collect();
    lines.insert(at - 1, line);
    lines.join("\n") + "\n"
}

/// The number of the first line of a kind.
fn first_of(kind: &str) -> usize {
    let word = format!("{{\"kind\":\"{kind}\"");
    let at = OLD.lines().position(|line| line.starts_with(&word));
    at.unwrap() + 1
}

/// Reads a file that must be refused at this line, for this reason.
fn refused(folder: &Path, text: &str, line: usize, why: &str) {
    fs::write(folder.join("bad.jsonl"), text).unwrap();
    let (code, _, error) = ingest(folder, "bad.jsonl");
    assert_eq!(code, 4, "{why}: {error}");
    let place = format!("bad.jsonl:{line}: ");
    assert!(
        error.contains(&place) && error.contains(why),
        "{line}, {why}: {error}"
    );
}

/// Whatever the database refuses, somebody has to find in a file of many thousand lines.
fn faults_name_their_lines(url: Option<&str>) {
    let folder = folder(url);
    let (pin, game) = (first_of("pin"), first_of("match"));
    let event =
        r#"{"kind":"event","number":900000,"event_id":"","event":"other","match_id":1,"at":0}"#;
    let twice = OLD.lines().nth(pin - 1).unwrap();
    for (line, text) in [
        (pin, r#"{"kind":"pin","player":"zed","weight":101.0}"#),
        (pin, r#"{"kind":"pin","player":"","weight":50.0}"#),
        (
            pin,
            r#"{"kind":"merge","player":"zed","into_player":"zed"}"#,
        ),
        (pin, r#"{"kind":"void","fingerprint":"00"}"#),
        (pin + 1, twice),
        (game, event),
    ] {
        refused(folder.path(), &with_line(line, text), line, "");
    }
    spoiled_heads(folder.path());
    let (code, _, error) = ingest(folder.path(), "old.jsonl");
    assert_eq!(code, 0, "nothing is left of the others: {error}");
}

/// Matches are written many at a time: what is wrong with one in the middle is found, too.
fn spoiled_heads(folder: &Path) {
    let heads = OLD.lines().enumerate();
    let heads = heads.filter(|(_, line)| line.starts_with(r#"{"kind":"match""#));
    let heads: Vec<(usize, Value)> = heads
        .map(|(at, line)| (at, serde_json::from_str(line).unwrap()))
        .collect();
    let (at, head) = &heads[heads.len() / 2];
    let first = &heads[0].1;
    let step = |key: &str, value: Value| {
        let mut step = json!({"step": 70, "cause": "join", "at_ms": 5});
        step[key] = value;
        json!([step])
    };
    for (key, value, why) in [
        ("id", first["id"].clone(), ""),
        ("fingerprint", first["fingerprint"].clone(), ""),
        ("id", json!(0), "match number 0"),
        ("halves", json!(["00ff"]), ""),
        (
            "chances",
            step("seat", json!(250)),
            "step 70 of the chances has a seat that does not exist",
        ),
        (
            "chances",
            step("seat", json!(-1)),
            "a seat that does not exist",
        ),
        (
            "chances",
            step("to_team", json!(300)),
            "a team that does not exist",
        ),
        ("chances", step("chance", json!(1.5)), ""),
        (
            "chances",
            step("humans", json!("two")),
            "numbers of teams two",
        ),
        ("chances", step("cause", json!("luck")), ""),
    ] {
        let mut head = head.clone();
        head[key] = value;
        let mut lines: Vec<String> = OLD.lines().map(str::to_owned).collect();
        lines[*at] = head.to_string();
        refused(folder, &(lines.join("\n") + "\n"), at + 1, why);
    }
}

#[test]
fn what_the_database_refuses_is_found_by_its_line() {
    faults_name_their_lines(None);
}

#[tokio::test]
async fn what_postgresql_refuses_is_found_by_its_line() {
    let Some(server) = Server::shared() else {
        return;
    };
    let name = server.unused_name();
    server.create(&name).await;
    faults_name_their_lines(Some(&server.url(&name)));
}

#[test]
fn whoever_counts_as_another_is_nobody_whom_others_count_as() {
    let folder = folder(None);
    let merge = |player: &str, into: &str| {
        format!(r#"{{"kind":"merge","player":"{player}","into_player":"{into}"}}"#)
    };
    let pin = first_of("pin");
    for lines in [
        vec![merge("m1", "m2"), merge("m2", "m3")],
        vec![merge("m2", "m3"), merge("m1", "m2")],
        vec![merge("m1", "m2"), merge("m2", "m1")],
        vec![merge("m1", "m2"), merge("m3", "m4"), merge("m2", "m3")],
    ] {
        let text = with_line(pin, &lines.join("\n"));
        refused(
            folder.path(),
            &text,
            pin + lines.len() - 1,
            "counts as another player",
        );
    }
    // A bot is another player than a human of that name, and several may count as one.
    let good = [
        merge("m1", "m2"),
        merge("m3", "m2"),
        r#"{"kind":"merge","player":"m2","bot":true,"into_player":"m4"}"#.to_owned(),
    ];
    fs::write(
        folder.path().join("good.jsonl"),
        with_line(pin, &good.join("\n")),
    )
    .unwrap();
    let (code, _, error) = ingest(folder.path(), "good.jsonl");
    assert_eq!(code, 0, "{error}");
}

/// Some editors write it before the first line of a text.
#[test]
fn a_byte_order_mark_is_no_part_of_the_file() {
    let folder = folder(None);
    fs::write(folder.path().join("mark.jsonl"), format!("\u{feff}{OLD}")).unwrap();
    let (code, said, error) = ingest(folder.path(), "mark.jsonl");
    assert_eq!(code, 0, "{error}");
    assert_eq!(said, "49 matches read, with all that operators have set\n");
}
