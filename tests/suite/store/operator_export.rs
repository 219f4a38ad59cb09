//! `evenkeel export --operator`: all that a database contains beside its matches, the same from both databases.

use std::{collections::BTreeSet, fs, os::unix::fs::PermissionsExt, path::Path};

use evenkeel::{
    model::{
        Kind::{Bot, Human},
        MatchRecord,
        fingerprint::Fingerprint,
    },
    store::{self, OperatorLine, Recorded},
};
use tempfile::TempDir;

use crate::{
    common::{
        self, game,
        postgres::Server,
        process::{evenkeel, run},
    },
    store::story::full,
};

/// One row of each kind, and of matches 1 and 2 all that the record does not have; in no order. What is not exported:
/// a decision that has picked nothing, tickets, what is derived.
const CONTENT: &str = "
    INSERT OR REPLACE INTO state VALUES ('player_changes', 41, NULL), ('forgotten', 7, NULL), ('corrected', 40, 'void'),
        ('handle_key', NULL, '000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1eff');
    INSERT INTO merged_players VALUES ('human', 'gone', 'never seen', 0), ('bot', 'Grunt', 'Sarge', 0), ('human', '[x] a', 'a', 1);
    INSERT INTO player_settings VALUES ('human', ' ', 0, NULL, NULL, 0), ('bot', 'Major', 61.300000000000004, NULL, NULL, 0),
        ('human', 'line\nbreak', NULL, 100, 0, 0), ('bot', 'Skelebot', NULL, 33.3, 1, 0), ('human', '🏳️‍🌈', NULL, NULL, NULL, 1),
        ('bot', 'Ayumi', NULL, NULL, NULL, 1);
    INSERT INTO voided_fingerprints VALUES (x'ffffffffffffffffffffffffffffffff'), (zeroblob(16));
    INSERT INTO forgotten_lately VALUES ('00ff', 'forgotten-9-0', '1969-12-31 23:59:59.999', NULL, NULL),
        ('01', 'forgotten-9-1', '1970-01-01 00:00:00', 'bot', 'Ω');
    INSERT INTO recounts VALUES ('ctf', 'human', 'Ω', '1969-12-31 23:59:59.999', 'void', 0.1, 0.0009765625), ('', 'bot', '', '1970-01-01 00:00:00', '', 0, 100);
    INSERT INTO links VALUES ('discord-7', 'Ω', 'club', '1970-01-01 00:00:00.005', NULL, NULL), ('', '', '', '1969-12-31 23:59:59.999', '', '9998-12-31 23:59:59.999');
    INSERT INTO behaviour VALUES ('ann', '*', -1, '1970-01-01 00:00:00', 1e308, 9, 9), ('ann', '', 20000, '1970-01-01 00:00:00.005', -2.5, 1, 0);
    INSERT INTO webhook_events VALUES (20, 'hosted', 7, 'host:1', 'evt_a', '1970-01-01 00:00:00.005'), (30, 'formed', 8, NULL, 'evt_b', '1970-01-01 00:00:00.006');
    INSERT INTO webhooks VALUES ('site', 'formed hosted recorded', 20, 3, 4, 5, '1970-01-01 00:00:00.006', 'refused'), ('', '', 0, 0, 0, 0, NULL, NULL);
    INSERT INTO receipts VALUES ('club', 'id:Ω', zeroblob(4), 1, NULL, '1970-01-01 00:00:00.005'), ('', '', x'00ff', -7, 'too-short', '1969-12-31 23:59:59.999');
    INSERT INTO sign_ins VALUES (x'ff', 'Ω', x'00ff', '9998-12-31 23:59:59.999'), (x'00', '', x'', '1969-12-31 23:59:59.999');
    INSERT INTO pickups VALUES ('club', 'Ω', x'aa', 'hall', 'void', '{\"a\": \"\\u0000\"}', '1969-12-31 23:59:59.999', '1970-01-01 00:00:00.005'), ('', '', x'', 'c', 'picked', '', '1970-01-01 00:00:00', '1970-01-01 00:00:00');
    INSERT INTO experiments VALUES (7, '1970-01-01 00:00:00.005', '9998-12-31 23:59:59.999', 'over', 'ctf', '{\"a\": 1}', 0.4, zeroblob(32)),
        (9, '1969-12-31 23:59:59.999', NULL, NULL, '', '', 0.1, zeroblob(32));
    INSERT INTO drawn_arms VALUES (7, 'client club', x'ff', 1, 'a', '1970-01-01 00:00:00.006', '[0.1]', 5, 1, 1), (7, 'server Ω', x'', 2, 'b', '1969-12-31 23:59:59.999', '', -9, NULL, 0);
    UPDATE matches SET game = -9223372036854775808, reported_at = '9998-12-31 23:59:59.999' WHERE id = 1;
    INSERT INTO match_halves VALUES (x'ffffffffffffffffffffffffffffffff', 1), (zeroblob(16), 1);
    INSERT INTO log_matches VALUES (x'000102030405060708090a0b0c0d0e0f', 1), (zeroblob(16), 1);
    INSERT INTO match_chances VALUES
        (1, 2, 'auto-move', 7, 1, 0, 7, NULL, '0.5 v 0.3 v 0.2', '', '', NULL),
        (1, 0, 'picked', NULL, NULL, NULL, NULL, 0.30000000000000004, NULL, '1 v 1', '0 v 0', 'ctf');
    INSERT INTO decisions (id, made_at, server, ruleset, game, match_id, kind, seed, chance, decision) VALUES
        (1, '1970-01-01 00:00:00.001', 's', 'r', -1, 1, 'balance', '1', 0.2, 'before the one that counts'),
        (2, '1970-01-01 00:00:00.002', 's', 'r', -1, 1, 'balance', '18446744073709551615', 0.1, '{\"a\":\"\\u0000\"}'),
        (3, '1970-01-01 00:00:00.003', 's', 'r', -1, 1, 'place', '1', NULL, ''),
        (4, '9998-12-31 23:59:59.999', 's', 'r', -1, 1, 'balance', '1', NULL, 'in play'),
        (5, '9998-12-31 23:59:59.999', 's', 'r', -1, 1, 'balance', '1', NULL, 'the last one'),
        (6, '1970-01-01 00:00:00.001', '', '', 0, NULL, 'balance', '0', NULL, ''),
        (900, '1970-01-01 00:00:00.002', '', '', 0, NULL, 'place', '0', NULL, '');
    DELETE FROM decisions WHERE id = 900;
    DELETE FROM webhook_events WHERE number = 30;
    DELETE FROM matches WHERE id = 4;
    INSERT INTO tickets VALUES (1, 'web', 't1', 'duel', '[\"ann\"]', '{}', '1970-01-01 00:00:00.001', 'queued', NULL, '', '1970-01-01 00:00:00.001', 0)";

/// What is exported of it, without the lines of matches and their records.
const EXPECTED: &str = r#"{"kind":"export","format":1,"version":"VERSION"}
{"kind":"numbers","matches":4,"decisions":900,"events":30,"experiments":9,"changes":41}
{"kind":"handle-key","key":"000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1eff"}
{"kind":"merge","player":"Grunt","bot":true,"into_player":"Sarge"}
{"kind":"merge","player":"gone","into_player":"never seen"}
{"kind":"pin","player":"Major","bot":true,"weight":61.300000000000004}
{"kind":"pin","player":" ","weight":0.0}
{"kind":"start-weight","player":"Skelebot","bot":true,"weight":33.3,"uncertain":true}
{"kind":"start-weight","player":"line\nbreak","weight":100.0,"uncertain":false}
{"kind":"hidden","player":"Ayumi","bot":true}
{"kind":"hidden","player":"🏳️‍🌈"}
{"kind":"void","fingerprint":"00000000000000000000000000000000"}
{"kind":"void","fingerprint":"ffffffffffffffffffffffffffffffff"}
{"kind":"forgotten","handle":"00ff","instead":"forgotten-9-0","at":-1}
{"kind":"forgotten","handle":"01","instead":"forgotten-9-1","at":0,"player":"Ω","bot":true}
{"kind":"recount","ruleset":"","player":"","bot":true,"recounted_at":0,"cause":"","weight_then":0.0,"weight_now":100.0}
{"kind":"recount","ruleset":"ctf","player":"Ω","recounted_at":-1,"cause":"void","weight_then":0.1,"weight_now":0.0009765625}
{"kind":"link","player":"","into_player":"","client":"","asked_at":-1,"confirmed_by":"","confirmed_at":253370764799999}
{"kind":"link","player":"discord-7","into_player":"Ω","client":"club","asked_at":5}
{"kind":"behaviour","player":"ann","reporter":"","day":20000,"at":5,"points":-2.5,"reports":1,"no_shows":0}
{"kind":"behaviour","player":"ann","reporter":"*","day":-1,"at":0,"points":1e+308,"reports":9,"no_shows":9}
{"kind":"webhook","name":"","kinds":"","position":0,"delivered":0,"dropped":0,"tries":0}
{"kind":"webhook","name":"site","kinds":"formed hosted recorded","position":20,"delivered":3,"dropped":4,"tries":5,"failed_at":6,"failure":"refused"}
{"kind":"event","number":20,"event_id":"evt_a","event":"hosted","match_id":7,"at":5,"address":"host:1"}
{"kind":"receipt","client":"","key":"","body":"00ff","match_id":-7,"unrated":"too-short","made_at":-1}
{"kind":"receipt","client":"club","key":"id:Ω","body":"00000000","match_id":1,"made_at":5}
{"kind":"sign-in","secret":"00","client":"","token":"","made_at":-1}
{"kind":"sign-in","secret":"ff","client":"Ω","token":"00ff","made_at":253370764799999}
{"kind":"pickup","client":"","pickup":"","asked":"","channel":"c","stage":"picked","content":"","made_at":0,"changed_at":0}
{"kind":"pickup","client":"club","pickup":"Ω","asked":"aa","channel":"hall","stage":"void","content":"{\"a\": \"\\u0000\"}","made_at":-1,"changed_at":5}
{"kind":"experiment","number":7,"began_at":5,"ended_at":253370764799999,"why_ended":"over","ruleset":"ctf","settings":"{\"a\": 1}","one_sided":0.4,"secret":"0000000000000000000000000000000000000000000000000000000000000000"}
{"kind":"experiment","number":9,"began_at":-1,"ruleset":"","settings":"","one_sided":0.1,"secret":"0000000000000000000000000000000000000000000000000000000000000000"}
{"kind":"arm","experiment":7,"asker":"client club","people":"ff","number":1,"arm":"a","drawn_at":6,"known":"[0.1]","game":5,"match_id":1,"changed":true}
{"kind":"arm","experiment":7,"asker":"server Ω","people":"","number":2,"arm":"b","drawn_at":-1,"known":"","game":-9,"changed":false}
{"kind":"end","matches":3}
"#;

/// What is exported of match 1.
const MATCH: &str = r#"{"kind":"match","id":1,"fingerprint":"FINGERPRINT","game":-9223372036854775808,"reporter":{"client":"club","recorded_at":253370764799999},"chances":[{"step":0,"cause":"picked","chance":0.30000000000000004,"humans":"1 v 1","bots":"0 v 0","ruleset":"ctf"},{"step":2,"cause":"auto-move","at_ms":7,"seat":1,"from_team":0,"to_team":7,"chances":"0.5 v 0.3 v 0.2","humans":"","bots":""}],"halves":["00000000000000000000000000000000","ffffffffffffffffffffffffffffffff"],"logs":["00000000000000000000000000000000","000102030405060708090a0b0c0d0e0f"],"decisions":[{"id":2,"made_at":2,"server":"s","ruleset":"r","game":-1,"seed":"18446744073709551615","chance":0.1,"decision":"{\"a\":\"\\u0000\"}"},{"id":5,"made_at":253370764799999,"server":"s","ruleset":"r","game":-1,"seed":"1","decision":"the last one"}]}"#;

/// A match that a client has brought.
fn brought() -> MatchRecord {
    MatchRecord {
        client: "club".into(),
        ..full()
    }
}

/// An SQLite database with four matches, of which the first has ended second, and with all that operators can set.
async fn content(folder: &Path) {
    let path = folder.join("evenkeel.db");
    let store = store::open(&path, true, common::BUSY).await.unwrap();
    let earlier = game(0, &[(Human, "a")], &[(Bot, "b")], [1.0, 0.0]);
    let later = |minute| game(minute, &[(Human, "a")], &[(Human, "b")], [1.0, 2.0]);
    for (id, record) in (1..).zip([brought(), earlier, later(50), later(90)]) {
        assert_eq!(
            store.matches().record(&record).await.unwrap(),
            Recorded::New(id)
        );
    }
    store.close().await;
    common::sql(&path, CONTENT).await;
}

/// What `evenkeel export --operator` writes.
fn exported(folder: &Path, url: Option<&str>) -> String {
    let file = match url {
        Some(_) => "postgres.jsonl",
        None => "sqlite.jsonl",
    };
    let mut command = evenkeel(folder);
    command.args(["export", "--operator", file]);
    if let Some(url) = url {
        command.env("EVENKEEL_STORE_URL", url);
    }
    let output = command.output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let path = folder.join(file);
    let mode = fs::metadata(&path).unwrap().permissions().mode();
    assert_eq!(mode & 0o7777, 0o600);
    fs::read_to_string(path).unwrap()
}

/// Whether a line is not a match.
fn is_own(line: &str) -> bool {
    line.starts_with(r#"{"kind":"#)
}

#[tokio::test]
async fn each_kind_has_its_line_and_the_rest_is_the_export() {
    let folder = TempDir::new().unwrap();
    content(folder.path()).await;
    let all = exported(folder.path(), None);
    let is_match = |line: &str| line.starts_with(r#"{"kind":"match","#);
    let settings: String = (all.split_inclusive('\n'))
        .filter(|line| is_own(line) && !is_match(line))
        .collect();
    let expected = EXPECTED.replace("VERSION", env!("CARGO_PKG_VERSION"));
    assert_eq!(settings, expected);
    let rest: String = (all.split_inclusive('\n'))
        .filter(|line| !is_own(line))
        .collect();
    let (code, matches, _) = run(folder.path(), &["export"]);
    assert_eq!((code, rest), (0, matches));
    // Each match follows what is known of it besides.
    let lines: Vec<&str> = all.lines().collect();
    let mut ids = Vec::new();
    for (at, line) in lines.iter().enumerate().filter(|(_, line)| is_match(line)) {
        let OperatorLine::Match(head) = serde_json::from_str(line).unwrap() else {
            panic!("{line}")
        };
        let record = evenkeel::ingest::jsonl::read_record(lines[at + 1].as_bytes()).unwrap();
        ids.push((head.id, record.end));
        if head.id == 1 {
            let print = Fingerprint::of(&record).to_string();
            assert_eq!(*line, MATCH.replace("FINGERPRINT", &print));
            assert_eq!(record, brought());
        }
    }
    assert!(ids.is_sorted_by_key(|(_, end)| *end));
    let ids: Vec<i64> = ids.into_iter().map(|(id, _)| id).collect();
    assert_eq!(ids, [2, 1, 3]);
}

#[tokio::test]
async fn a_line_is_read_back_as_it_was() {
    let folder = TempDir::new().unwrap();
    content(folder.path()).await;
    let all = exported(folder.path(), None);
    let mut kinds = 0;
    for line in all.lines().filter(|line| is_own(line)) {
        let read: OperatorLine = serde_json::from_str(line).unwrap();
        assert_eq!(serde_json::to_string(&read).unwrap(), line);
        kinds += 1;
    }
    assert_eq!(kinds, EXPECTED.lines().count() + 3);
    for spoiled in ["0", "0g", "é"] {
        let line = format!(r#"{{"kind":"void","fingerprint":"{spoiled}"}}"#);
        let read: Result<OperatorLine, _> = serde_json::from_str(&line);
        assert!(read.is_err(), "{line}");
    }
}

#[tokio::test]
async fn both_databases_give_the_same_bytes() {
    let Some(server) = Server::shared() else {
        return;
    };
    let folder = TempDir::new().unwrap();
    content(folder.path()).await;
    let all = exported(folder.path(), None);
    let name = server.unused_name();
    server.create(&name).await;
    let url = server.url(&name);
    let (code, out, err) = run(folder.path(), &["migrate-store", "evenkeel.db", &url]);
    assert_eq!((code, err.as_str()), (0, ""), "{out}");
    assert_eq!(exported(folder.path(), Some(&url)), all);
}

#[tokio::test]
async fn a_number_that_json_does_not_have_is_an_error() {
    let folder = TempDir::new().unwrap();
    content(folder.path()).await;
    let path = folder.path().join("evenkeel.db");
    common::sql(
        &path,
        "UPDATE behaviour SET points = 9e999 WHERE reporter = '*'",
    )
    .await;
    let (code, _, err) = run(folder.path(), &["export", "--operator", "out.jsonl"]);
    assert_eq!((code, err.contains("number inf")), (5, true), "{err}");
    let left = fs::read_dir(folder.path()).unwrap();
    let left = left.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let left: Vec<String> = left.filter(|name| name.contains("out")).collect();
    assert_eq!(left, Vec::<String>::new(), "nothing is left");
}

#[tokio::test]
async fn secrets_go_into_a_new_file_and_nowhere_else() {
    let folder = TempDir::new().unwrap();
    content(folder.path()).await;
    fs::write(folder.path().join("taken"), "mine").unwrap();
    for (words, code, why) in [
        (
            ["export", "--operator", "-"],
            2,
            "--operator needs the name of a new file",
        ),
        (
            ["export", "--operator", "taken"],
            4,
            "taken: it exists; choose another name",
        ),
        (
            ["export", "--operator", "/dev/stdout"],
            4,
            "it exists; choose another name",
        ),
        (
            ["export", "--operator", "--since=2026-01-01"],
            2,
            "cannot be used with",
        ),
    ] {
        let (found, out, err) = run(folder.path(), &words);
        assert_eq!((found, out.as_str()), (code, ""), "{err}");
        assert!(err.contains(why), "{err}");
    }
    let (code, out, _) = run(folder.path(), &["export", "--operator"]);
    assert_eq!((code, out.as_str()), (2, ""));
    assert_eq!(
        fs::read_to_string(folder.path().join("taken")).unwrap(),
        "mine"
    );
}

/// The file that later versions read: it is whole, each kind is in it, and each match has its number and what was said of
/// it. `make.py` beside it says how it was made.
#[test]
fn the_fixture_has_each_kind_and_each_match_that_is_expected() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/operator");
    let text = |name: &str| fs::read_to_string(folder.join(name)).unwrap();
    let (all, expected) = (text("0.2.jsonl"), text("expected.json"));
    let expected: serde_json::Value = serde_json::from_str(&expected).unwrap();
    let (mut kinds, mut matches, mut head) = (BTreeSet::new(), BTreeSet::new(), None);
    for line in all.lines() {
        if !is_own(line) {
            let record = evenkeel::ingest::jsonl::read_record(line.as_bytes()).unwrap();
            let Some(OperatorLine::Match(head)) = head.take() else {
                panic!("{line}")
            };
            let own = &expected["matches"][head.id.to_string()];
            let scores: Vec<f64> = serde_json::from_value(own["scores"].clone()).unwrap();
            assert_eq!(scores, record.scores, "{}", head.id);
            matches.insert(head.id.to_string());
            continue;
        }
        let read: OperatorLine = serde_json::from_str(line).unwrap();
        let written = serde_json::to_string(&read).unwrap();
        assert_eq!(written, line.replace(r#","former":false"#, ""));
        let value: serde_json::Value = serde_json::from_str(line).unwrap();
        kinds.insert(value["kind"].as_str().unwrap().to_owned());
        head = Some(read);
    }
    let documented: BTreeSet<String> = EXPECTED.lines().map(kind_of).collect();
    let without_match: BTreeSet<String> = kinds
        .iter()
        .filter(|kind| *kind != "match")
        .cloned()
        // 0.2 had no experiments.
        .chain(["experiment".to_owned(), "arm".to_owned()])
        .collect();
    assert_eq!(without_match, documented);
    assert_eq!(
        head,
        Some(
            serde_json::from_str(&format!(r#"{{"kind":"end","matches":{}}}"#, matches.len()))
                .unwrap()
        )
    );
    let known: BTreeSet<String> = expected["matches"]
        .as_object()
        .unwrap()
        .keys()
        .cloned()
        .collect();
    assert_eq!(matches, known);
    assert!(all.len() < 200_000 && matches.len() > 40);
    let page = fs::read_to_string(
        Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/reference/operator-export.md"),
    )
    .unwrap();
    for kind in kinds {
        assert!(
            page.contains(&format!("| `{kind}` |")),
            "{kind} is not documented"
        );
    }
}

/// The kind of a line.
fn kind_of(line: &str) -> String {
    let value: serde_json::Value = serde_json::from_str(&line.replace("VERSION", "")).unwrap();
    value["kind"].as_str().unwrap().to_owned()
}
