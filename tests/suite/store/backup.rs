//! Backups and checks: of a database that a daemon uses, of one that is damaged, and with players forgotten.

use std::{fs, path::Path, time::Duration};

use evenkeel::{
    files::FileMode,
    model::{
        Kind::{self, Human},
        PlayerKey, Timestamp,
        fingerprint::Fingerprint,
    },
    store::{self, Backups},
};
use sqlx::{ConnectOptions, sqlite::SqliteConnectOptions};
use tempfile::TempDir;

use super::story::forget_in_some;
use crate::common::{
    game,
    process::{Process, run},
    until,
};

const LOG: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/tests/fixtures/openarena/ctf-014.log"
);
const DAY: i64 = 24 * 60 * 60 * 1_000;

/// A folder with a database that has a match in it.
fn folder() -> TempDir {
    let folder = TempDir::new().unwrap();
    let (code, _, error) = run(folder.path(), &["ingest", LOG]);
    assert_eq!(code, 0, "{error}");
    folder
}

/// Changes the database behind the program's back.
async fn change(database: &Path, sql: &'static str) {
    let options = SqliteConnectOptions::new().filename(database);
    let mut connection = options.connect().await.unwrap();
    sqlx::query(sql).execute(&mut connection).await.unwrap();
}

#[test]
fn a_backup_of_a_database_in_use_is_a_whole_database() {
    let folder = folder();
    let mut daemon = Process::start(folder.path());
    let game = "GAME ctf\nJOIN a team=0\nJOIN b team=1\nSTART\nSCORE 0\nEND\n";
    assert!(daemon.ask(game).contains("END "));
    let (code, printed, error) = run(folder.path(), &["backup", "copy.db"]);
    assert_eq!(code, 0, "{error}");
    assert!(printed.starts_with("copy.db: "), "{printed}");
    daemon.stop();
    let matches = |database: &str| {
        let (code, text, _) = run(folder.path(), &["export", "--db", database]);
        assert_eq!(code, 0);
        text
    };
    assert_eq!(matches("copy.db").lines().count(), 2);
    assert_eq!(matches("copy.db"), matches("evenkeel.db"));
    let (code, text, error) = run(folder.path(), &["check", "--db", "copy.db"]);
    assert_eq!(code, 0, "{text}{error}");
}

#[test]
fn a_backup_replaces_nothing() {
    let folder = folder();
    fs::write(folder.path().join("copy.db"), "precious").unwrap();
    let (code, _, error) = run(folder.path(), &["backup", "copy.db"]);
    assert_eq!(code, 4);
    assert!(
        error.contains("copy.db") && error.contains("exists"),
        "{error}"
    );
    assert_eq!(
        fs::read(folder.path().join("copy.db")).unwrap(),
        b"precious"
    );

    let (code, _, error) = run(folder.path(), &["backup", "no/such/folder/copy.db"]);
    assert_ne!(code, 0);
    assert!(!error.contains("panicked"), "{error}");
    let (code, _, error) = run(folder.path(), &["backup", "--db", "none.db", "new.db"]);
    assert_eq!(code, 5, "{error}");
    assert!(!folder.path().join("none.db").exists());
    assert!(!folder.path().join("new.db").exists());
}

#[tokio::test]
async fn a_check_finds_weights_that_are_not_those_of_the_matches() {
    let folder = folder();
    let (code, text, error) = run(folder.path(), &["check"]);
    assert_eq!(code, 0, "{text}{error}");
    assert!(text.contains(" match_players\n"), "{text}");
    assert!(
        text.ends_with("its weights are those of its matches\n"),
        "{text}"
    );

    let database = folder.path().join("evenkeel.db");
    let sql = "UPDATE weights SET weight = weight + 1e-9
               WHERE (ruleset, kind, player) = (SELECT ruleset, kind, player FROM weights LIMIT 1)";
    change(&database, sql).await;
    let (code, text, error) = run(folder.path(), &["check", "--json"]);
    assert_eq!(code, 5, "{text}{error}");
    let found: serde_json::Value = serde_json::from_str(&text).unwrap();
    let faults = found["faults"].as_array().unwrap();
    assert_eq!(faults.len(), 1, "{text}");
    assert!(
        faults[0].as_str().unwrap().contains("table weights"),
        "{text}"
    );

    assert_eq!(run(folder.path(), &["rebuild"]).0, 0);
    assert_eq!(run(folder.path(), &["check"]).0, 0);
    // Nothing of the copies is left.
    let left = fs::read_dir(folder.path()).unwrap();
    let names = left.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    assert!(!names.into_iter().any(|name| name.contains("check")));
}

#[tokio::test]
async fn a_check_finds_rows_without_their_match() {
    let folder = folder();
    let database = folder.path().join("evenkeel.db");
    change(&database, "PRAGMA foreign_keys = OFF; DELETE FROM matches").await;
    let (code, text, _) = run(folder.path(), &["check"]);
    assert_eq!(code, 5);
    assert!(
        text.contains("belong to rows of matches that are missing"),
        "{text}"
    );
}

#[tokio::test]
async fn a_check_finds_rows_of_tables_without_foreign_keys() {
    let folder = folder();
    let database = folder.path().join("evenkeel.db");
    change(
        &database,
        "DELETE FROM match_players WHERE seat = 0; INSERT INTO match_chances (match_id, step, cause) VALUES (900, 0, 'picked')",
    )
    .await;
    let (code, text, _) = run(folder.path(), &["check"]);
    assert_eq!(code, 5);
    for rows in [
        "1 rows of the table match_chances belong to rows of matches that are",
        "of the table performances belong",
    ] {
        assert!(text.contains(rows), "{text}");
    }
}

#[tokio::test]
async fn a_check_finds_records_that_are_not_those_of_their_rows() {
    for (spoil, said) in [
        (
            "UPDATE matches SET record = substr(record, 1, 60) WHERE id = 1",
            "the record of match 1 is damaged",
        ),
        (
            "UPDATE matches SET map = 'elsewhere' WHERE id = 1",
            "the rows of match 1 are not those of its record",
        ),
        (
            "DELETE FROM match_players WHERE match_id = 1 AND seat = 1",
            "the rows of match 1 are not those of its record",
        ),
        (
            "UPDATE state SET number = number + 5 WHERE name = 'matches'",
            "matches, and ",
        ),
    ] {
        let folder = folder();
        change(&folder.path().join("evenkeel.db"), spoil).await;
        let (code, text, error) = run(folder.path(), &["check"]);
        assert_eq!(code, 5, "{spoil}: {text}{error}");
        assert!(text.contains(said), "{spoil}: {text}");
    }
}

#[test]
fn a_check_finds_a_damaged_page() {
    let folder = folder();
    let database = folder.path().join("evenkeel.db");
    let mut bytes = fs::read(&database).unwrap();
    let middle = bytes.len() / 2 / 4_096 * 4_096;
    bytes[middle..middle + 4_096].fill(0xff);
    fs::write(&database, bytes).unwrap();
    let (code, text, error) = run(folder.path(), &["check"]);
    assert_eq!(code, 5, "{text}{error}");
    assert!(!error.contains("panicked"), "{error}");
}

#[test]
fn another_configuration_is_no_fault() {
    let folder = folder();
    fs::write(folder.path().join("c.toml"), "[rating]\nsystem = 'elo'\n").unwrap();
    let (code, text, _) = run(folder.path(), &["check", "--config", "c.toml"]);
    assert_eq!(code, 0, "{text}");
    assert!(text.contains("another configuration"), "{text}");
}

#[tokio::test]
async fn the_daemon_makes_a_backup_when_none_is_a_day_old() {
    let folder = folder();
    let mut daemon = Process::start_with(folder.path(), &[("EVENKEEL_STORE_BACKUPS", "kept")]);
    let kept = folder.path().join("kept");
    until(async || {
        let entries = fs::read_dir(&kept).into_iter().flatten();
        let mut names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        names.any(|name| name.starts_with("evenkeel-") && name.ends_with("Z.db"))
    })
    .await;
    daemon.stop();
    let name = fs::read_dir(&kept).unwrap().next().unwrap().unwrap().path();
    let (code, text, error) = run(folder.path(), &["check", "--db", name.to_str().unwrap()]);
    assert_eq!(code, 0, "{text}{error}");
}

#[tokio::test]
async fn who_is_forgotten_is_gone_from_the_backups_at_the_next_one() {
    let folder = folder();
    let backups = Backups {
        database: folder.path().join("evenkeel.db"),
        folder: folder.path().join("kept"),
        keep: 3,
        busy: Duration::from_secs(60),
        mode: FileMode::default(),
    };
    let day = |n: i64| Timestamp(1_795_176_000_000).plus_millis(n * DAY);
    let first = backups.make_if_due(day(0)).await.unwrap().unwrap();
    assert_eq!((first.removed, first.outdated), (0, 0));
    assert_eq!(backups.make_if_due(day(0)).await.unwrap(), None);
    backups.make_if_due(day(1)).await.unwrap().unwrap();

    let open = store::open(&backups.database, false, backups.busy);
    let store = open.await.unwrap();
    let player = PlayerKey {
        kind: Kind::Bot,
        id: "Sarge".into(),
    };
    assert!(
        store
            .corrections()
            .forget_player(&player, Timestamp(0))
            .await
            .unwrap()
            > 0
    );
    store.close().await;

    let third = backups.make_if_due(day(2)).await.unwrap().unwrap();
    assert_eq!((third.removed, third.outdated), (0, 2));
    // From then on, the copies are as new as the database, and only their number counts.
    for n in 3..5 {
        let done = backups.make_if_due(day(n)).await.unwrap().unwrap();
        assert_eq!((done.removed, done.outdated), (0, 0));
    }
    let sixth = backups.make_if_due(day(5)).await.unwrap().unwrap();
    assert_eq!((sixth.removed, sixth.outdated), (1, 0));
    let left = fs::read_dir(&backups.folder).unwrap().count();
    assert_eq!(left, 3);
}

#[tokio::test]
async fn a_daemon_finishes_forgetting_and_no_copy_keeps_the_name() {
    let folder = TempDir::new().unwrap();
    let backups = Backups {
        database: folder.path().join("evenkeel.db"),
        folder: folder.path().join("kept"),
        keep: 3,
        busy: Duration::from_secs(60),
        mode: FileMode::default(),
    };
    let open = async || {
        let opened = store::open(&backups.database, true, backups.busy).await;
        opened.unwrap()
    };
    let (store, elsewhere) = (open().await, open().await);
    let games = (0..600).map(|n| {
        let record = game(30 * n, &[(Human, NAME)], &[(Human, "eva")], [2.0, 1.0]);
        let print = Fingerprint::of(&record);
        (record, print)
    });
    store
        .matches()
        .record_all(&games.collect::<Vec<_>>())
        .await
        .unwrap();
    let id = NAME.to_owned();
    forget_in_some(store.clone(), &PlayerKey { kind: Human, id }, &elsewhere).await;
    let day = Timestamp(1_795_176_000_000);
    backups.make_if_due(day).await.unwrap().unwrap();
    store.close().await;
    elsewhere.close().await;
    let mut daemon = Process::start_with(folder.path(), &[]);
    until(async || {
        let file = store::open_file(&backups.database, backups.busy).await;
        !file.unwrap().forgotten().await.unwrap().goes_on
    })
    .await;
    daemon.stop();
    // The journals of a killed process are gone with the last connection.
    open().await.close().await;
    assert!(!contains(&backups.database, NAME));
    let next = backups.make_if_due(day.plus_millis(DAY)).await;
    assert_eq!(next.unwrap().unwrap().outdated, 1);
    for copy in fs::read_dir(&backups.folder).unwrap() {
        assert!(!contains(&copy.unwrap().path(), NAME));
    }
}

/// A name that nothing else contains.
const NAME: &str = "gus-who-is-gone";

/// Whether a file contains a text.
fn contains(file: &Path, text: &str) -> bool {
    let bytes = fs::read(file).unwrap();
    bytes
        .windows(text.len())
        .any(|part| part == text.as_bytes())
}

#[tokio::test]
async fn a_backup_that_was_interrupted_is_removed_and_made_again() {
    let folder = folder();
    let backups = Backups {
        database: folder.path().join("evenkeel.db"),
        folder: folder.path().join("kept"),
        keep: 3,
        busy: Duration::from_secs(60),
        mode: FileMode::default(),
    };
    fs::create_dir(&backups.folder).unwrap();
    let half = backups
        .folder
        .join("evenkeel-2026-11-20T12-00-00Z.db.partial");
    fs::write(&half, "half").unwrap();
    fs::write(backups.folder.join("notes.txt"), "mine").unwrap();
    let now = Timestamp(1_795_176_000_000);
    backups.make_if_due(now).await.unwrap().unwrap();
    assert!(!half.exists());
    assert!(backups.folder.join("notes.txt").exists());
}
