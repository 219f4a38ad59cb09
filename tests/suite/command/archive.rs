//! `evenkeel archive`, and the daemon that archives by itself: on damaged databases, and on another one.

use std::{fs, time::Duration};

use evenkeel::{
    domain::Timestamp,
    store::{self, DecisionRow},
};
use serde_json::Value;
use sqlx::{Connection, SqliteConnection};
use tempfile::TempDir;

use crate::common::{
    BUSY,
    archive::{count, many},
    hostile::{self, SECRET, identity, ingest_season},
    http::Pages,
    postgres::Server,
    process::{Process, run},
    until,
};

#[tokio::test]
async fn the_files_of_the_archive_are_an_export_and_damage_is_named() {
    let folder = TempDir::new().unwrap();
    let folder = folder.path();
    ingest_season(folder);
    assert_eq!(run(folder, &["rebuild"]).0, 0);
    let (_, exported, _) = run(folder, &["export"]);
    let (_, weights, _) = run(folder, &["weights", "--json"]);
    let (code, printed, _) = run(folder, &["archive"]);
    assert_eq!(
        (code, printed.as_str()),
        (0, "0 matches archived in 0 chunks\n")
    );
    let store = store::open(&folder.join("evenkeel.db"), false, BUSY)
        .await
        .unwrap();
    let (matches, _) = store.extent().await.unwrap();
    store
        .archive_matches(Timestamp(4_000_000_000_000), 1, None)
        .await
        .unwrap();
    store.close().await;
    let (code, printed, error) = run(folder, &["archive", "--json", "--write", "files"]);
    assert_eq!(code, 0, "{error}");
    assert!(
        printed.contains(&format!("\"matches\": {matches}")),
        "{printed}"
    );
    assert_eq!(run(folder, &["export"]).1, exported);
    let rebuilt = run(folder, &["rebuild"]);
    assert_eq!(rebuilt.0, 0, "{rebuilt:?}");
    assert_eq!(run(folder, &["weights", "--json"]).1, weights);
    let (code, printed, error) = run(folder, &["check"]);
    assert_eq!(code, 0, "{printed}{error}");
    // A log that is read again adds nothing.
    ingest_season(folder);
    assert_eq!(count(folder, "SELECT count(*) FROM matches").await, matches);
    // The files are an export.
    let again = folder.join("again");
    fs::create_dir(&again).unwrap();
    let (code, _, error) = run(&again, &["ingest", "../files/matches-000001.jsonl.gz"]);
    assert_eq!(code, 0, "{error}");
    assert_eq!(run(&again, &["export"]).1, exported);
    assert_eq!(run(&again, &["weights", "--json"]).1, weights);
    assert_eq!(run(folder, &["archive", "--write", "evenkeel.db"]).0, 4);
    // A damaged chunk.
    let url = format!("sqlite:{}", folder.join("evenkeel.db").display());
    let mut database = SqliteConnection::connect(&url).await.unwrap();
    let damage = "UPDATE archive_chunks SET content = substr(content, 1, 1000)";
    sqlx::query(damage).execute(&mut database).await.unwrap();
    database.close().await.unwrap();
    for words in [
        &["check"][..],
        &["rebuild"],
        &["export"],
        &["archive", "--write", "files"],
    ] {
        let (code, printed, error) = run(folder, words);
        let said = format!("{printed}{error}");
        assert_eq!(code, 5, "{words:?}: {said}");
        assert!(
            said.contains("chunk 1 of the archived matches is damaged"),
            "{said}"
        );
        assert!(
            said.contains("restore the database from a backup") && !said.contains("panic"),
            "{said}"
        );
    }
}

#[tokio::test]
async fn the_daemon_archives_matches_and_deletes_decisions() {
    let folder = many(2_500).await;
    let path = folder.path().join("evenkeel.db");
    let store = store::open(&path, false, Duration::from_secs(5))
        .await
        .unwrap();
    let decided = |number: i64| {
        // One of ten is new.
        let made_at = if number % 10 == 9 {
            4_000_000_000_000
        } else {
            number
        };
        DecisionRow {
            made_at: Timestamp(made_at),
            server: String::new(),
            ruleset: "ctf".to_owned(),
            game: number,
            kind: "balance".to_owned(),
            seed: 1,
            chance: None,
            decision: "{}".to_owned(),
        }
    };
    let decisions: Vec<DecisionRow> = (0..5_000).map(decided).collect();
    store.write_decisions(&decisions).await.unwrap();
    let days = [
        ("EVENKEEL_STORE_ARCHIVE_DAYS", "365"),
        ("EVENKEEL_STORE_KEEP_DECISION_DAYS", "30"),
    ];
    let mut daemon = Process::start_with(folder.path(), &days);
    until(async || store.chunks().await.unwrap().len() == 2).await;
    let game = "GAME ctf\nMAP m\nJOIN ann team=0\nJOIN bob team=1\nSTART\nSCORE 0\nEND\n";
    let said = daemon.ask(game);
    assert!(said.contains("END 2501"), "{said}");
    until(async || {
        count(
            folder.path(),
            "SELECT count(*) FROM decisions WHERE id <= 5000",
        )
        .await
            == 500
    })
    .await;
    assert_eq!(
        count(
            folder.path(),
            "SELECT count(*) FROM matches WHERE chunk IS NULL"
        )
        .await,
        501
    );
    let mut log: Vec<String> = Vec::new();
    for line in [
        "old matches are archived matches=2000",
        "old decisions are deleted decisions=4500",
    ] {
        until(async || {
            log.extend(daemon.log.try_iter());
            log.iter().any(|logged| logged.contains(line))
        })
        .await;
    }
    daemon.stop();
    store.close().await;
    let (code, printed, error) = run(folder.path(), &["check"]);
    assert_eq!(code, 0, "{printed}{error}");
}

#[tokio::test]
async fn archived_matches_move_to_postgres_and_back() {
    let Some(server) = Server::shared() else {
        return;
    };
    let folder = many(1_500).await;
    let folder = folder.path();
    assert_eq!(run(folder, &["archive", "--days", "1"]).0, 0);
    assert_eq!(run(folder, &["rebuild"]).0, 0);
    // Checkpoints and leases stay where they are. Nothing opens the source any more once it has moved.
    let stays = |line: &&str| line.ends_with("derived_checkpoint") || line.ends_with("leases");
    let told = |(code, printed, error): (i32, String, String)| -> Vec<String> {
        assert_eq!(code, 0, "{error}");
        let lines = printed.lines().filter(|line| !stays(line));
        lines.map(str::to_owned).collect()
    };
    let before = ["export", "check"].map(|command| (command, told(run(folder, &[command]))));
    let name = server.unused_name();
    server.create(&name).await;
    let url = server.url(&name);
    let (code, printed, error) = run(folder, &["migrate-store", "evenkeel.db", &url]);
    assert_eq!(code, 0, "{printed}{error}");
    let (code, printed, error) = run(folder, &["migrate-store", &url, "back.db"]);
    assert_eq!(code, 0, "{printed}{error}");
    for (command, before) in before {
        let back = told(run(folder, &[command, "--db", "back.db"]));
        let differ = before.iter().zip(&back).find(|(one, other)| one != other);
        assert_eq!(differ, None, "{command}");
        assert_eq!(before.len(), back.len(), "{command}");
    }
}

/// What pages do not know of an archived match: the weights before and after it, and what is computed from them.
const OF_WEIGHTS: [&str; 8] = [
    "weight",
    "weight_before",
    "change",
    "cause",
    "pinned",
    "other_side",
    "fairest",
    "archived",
];
/// What the balance page computes from the latest matches that are not archived.
const OF_LATEST: [&str; 2] = ["usual_size", "between_equals"];

/// Removes these fields at any depth.
fn without(value: &mut Value, fields: &[&str]) {
    match value {
        Value::Object(own) => {
            for field in fields {
                own.remove(*field);
            }
            own.values_mut().for_each(|value| without(value, fields));
        }
        Value::Array(values) => values.iter_mut().for_each(|value| without(value, fields)),
        _ => {}
    }
}

#[tokio::test]
async fn the_page_of_an_archived_match_shows_its_players_and_no_identity() {
    let folder = TempDir::new().unwrap();
    hostile::ingest(folder.path(), 24);
    ingest_season(folder.path());
    for words in [["player", "forget"], ["player", "hide"]] {
        let (word, player) = (words[1], usize::from(words[1] == "hide"));
        let (code, _, error) = run(folder.path(), &["player", word, &identity(player)]);
        assert_eq!(code, 0, "{error}");
    }
    assert_eq!(
        run(
            folder.path(),
            &[
                "player",
                "merge",
                &identity(2),
                &format!("{SECRET}other"),
                "--new"
            ]
        )
        .0,
        0
    );
    let pages = Pages::start(folder.path(), &[]);
    let matches = count(folder.path(), "SELECT max(id) FROM matches").await;
    let read = |path: String| {
        let answer = pages.get(&path);
        assert_eq!(answer.status, 200, "{path}: {}", answer.body);
        assert!(!answer.body.contains(SECRET), "{path}");
        answer.body
    };
    let data = |id: i64| -> Value {
        let mut data = serde_json::from_str(&read(format!("/matches/{id}.json"))).unwrap();
        without(&mut data, &OF_WEIGHTS);
        data
    };
    let lists = [
        "/index.json",
        "/rulesets/baseoa.ctf.json",
        "/balance.json?ruleset=baseoa.ctf",
        "/matches.json?ruleset=baseoa.ctf&cause=newcomers",
        "/matches.json?player=Sarge",
    ];
    let all = |pages: &[&str]| -> Vec<Value> {
        let list = |page: &&str| {
            let mut list = serde_json::from_str(&read((*page).to_owned())).unwrap();
            without(&mut list, &OF_LATEST);
            list
        };
        pages.iter().map(list).collect()
    };
    let before: Vec<Value> = (1..=matches).map(data).collect();
    let lists_before = all(&lists);
    let path = folder.path().join("evenkeel.db");
    let store = store::open(&path, false, Duration::from_secs(5));
    let store = store.await.unwrap();
    let moved = store
        .archive_matches(Timestamp(4_000_000_000_000), 1, None)
        .await;
    assert_eq!(moved.unwrap(), matches as u64);
    store.close().await;
    assert_eq!((1..=matches).map(data).collect::<Vec<_>>(), before);
    assert_eq!(all(&lists), lists_before);
    let page = read("/matches/1".to_owned());
    assert!(page.contains("This match is archived."), "{page}");
    // Nothing is left in the tables of what this player played.
    let page = read("/players/Sarge".to_owned());
    assert!(page.contains("<h1>") && page.contains("Sarge"), "{page}");
}
