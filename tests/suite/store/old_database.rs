//! Databases that older versions have made: they are migrated, and their weights are those of a rebuild.

use std::{fs, path::Path, process::Output};

use evenkeel::{
    lifecycle::State,
    store::{self, DatabaseUrl},
};
use sqlx::{ConnectOptions, Connection, migrate::Migrator, sqlite::SqliteConnectOptions};
use tempfile::TempDir;

use crate::common::{
    BUSY,
    backends::{chosen, execute},
    postgres::Server,
    process::{Process, evenkeel},
    until,
};

const FIXTURES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/databases");

/// A folder with a database of a fixture, whose last migration has this number.
async fn folder(fixture: &str, last: i64) -> TempDir {
    let folder = TempDir::new().unwrap();
    // The tables of the file are in the order of their names.
    let options = SqliteConnectOptions::new()
        .create_if_missing(true)
        .foreign_keys(false);
    let options = options.filename(folder.path().join("evenkeel.db"));
    let mut database = options.connect().await.unwrap();
    let sql = fs::read_to_string(format!("{FIXTURES}/{fixture}")).unwrap();
    let sql = sqlx::AssertSqlSafe(sql);
    sqlx::raw_sql(sql).execute(&mut database).await.unwrap();
    let query = sqlx::query_scalar("SELECT max(version) FROM _sqlx_migrations");
    let version: i64 = query.fetch_one(&mut database).await.unwrap();
    assert_eq!(version, last);
    database.close().await.unwrap();
    folder
}

fn run(folder: &Path, words: &[&str]) -> String {
    let Output {
        status,
        stdout,
        stderr,
    } = evenkeel(folder).args(words).output().unwrap();
    let error = String::from_utf8(stderr).unwrap();
    assert!(status.success(), "{words:?}: {error}");
    String::from_utf8(stdout).unwrap()
}

#[tokio::test]
async fn a_database_of_release_0_1_is_migrated_and_has_the_weights_of_a_rebuild() {
    let folder = folder("0.1.sql", 4).await;
    let path = folder.path();
    let mut daemon = Process::start(path);
    // The weights in the file were learned by another version: the daemon derives its own.
    let ask = |lines: &str| daemon.ask(&format!("GAME baseoa.ctf\n{lines}\n"));
    let weights = |game: &str| run(path, &["weights", "--game", game, "--json"]);
    let stored = "\"weight\": 64.1,";
    until(async || !weights("baseoa.ctf").contains(stored)).await;
    let said = ask("PLAYER c3d2e5\nPLAYER e5b4a7\nPLAYER f6a5b8\nPLAYER nobody");
    let lines: Vec<&str> = said.lines().collect();
    assert_eq!(
        lines[0], "PLAYER c3d2e5 54.554",
        "the fixed weight keeps its strength"
    );
    let merged = lines[1].replace("e5b4a7", "f6a5b8");
    assert_eq!(lines[2], merged, "the merged identity is kept");
    assert_eq!(lines[3], "PLAYER nobody");
    daemon.stop();
    let all = || ["baseoa.ctf", "baseoa.tdm", "baseoa.ctf+instagib"].map(weights);
    let before = all();
    assert!(
        before.iter().all(|text| text.lines().count() > 3),
        "{before:?}"
    );
    run(path, &["check"]);
    run(path, &["rebuild"]);
    assert_eq!(all(), before);
    run(path, &["check"]);
    let exported = run(path, &["export"]);
    assert_eq!(exported.lines().count(), 14);
    assert!(exported.contains(r#""name":"Dän""#) && exported.contains("instagib"));
    // What is set now is on the scale of now.
    let daemon = Process::start(path);
    run(path, &["player", "pin-weight", "c3d2e5", "61.5"]);
    let asked = "GAME baseoa.ctf\nPLAYER c3d2e5\n";
    until(async || daemon.ask(asked) == "PLAYER c3d2e5 61.500\n").await;
    run(path, &["check"]);
}

/// The folder of a database's migrations before the one by which daemons ask each other by requests instead of letters.
fn before_requests(database: &str) -> TempDir {
    let folder = TempDir::new().unwrap();
    let all = format!("{}/migrations/{database}", env!("CARGO_MANIFEST_DIR"));
    let names = fs::read_dir(&all).unwrap();
    let names = names.map(|entry| entry.unwrap().file_name());
    for name in names.filter(|name| name.as_encoded_bytes() < &b"0011"[..]) {
        fs::copy(Path::new(&all).join(&name), folder.path().join(&name)).unwrap();
    }
    folder
}

/// A ticket that waits, and one whose client was not sent its state. On PostgreSQL, also a letter to another daemon.
const BEFORE: &str = "
    INSERT INTO tickets VALUES
        (1, 'lobby', 't1', 'duel', '[\"ann\"]', '{}', 5, 'queued', NULL, 'none', 5, TRUE),
        (2, 'lobby', 't2', 'duel', '[\"bob\"]', '{}', 6, 'cancelled', NULL, 'none', 7, FALSE);";
const LETTER: &str =
    "INSERT INTO mail (recipient, sender, body) VALUES ('queues/main', 'one', '{}')";

#[tokio::test]
async fn a_database_from_before_requests_keeps_its_tickets() {
    let folder = TempDir::new().unwrap();
    let place = chosen(&folder.path().join("test.db")).await;
    let database = match &place {
        DatabaseUrl::File(_) => "sqlite",
        DatabaseUrl::Server(..) => "postgres",
    };
    let before = before_requests(database);
    let migrator = Migrator::new(before.path()).await.unwrap();
    match &place {
        DatabaseUrl::File(path) => {
            let options = SqliteConnectOptions::new().create_if_missing(true);
            let mut database = options.filename(path).connect().await.unwrap();
            migrator.run(&mut database).await.unwrap();
            let ours = "PRAGMA application_id = 0x45564b4c";
            let ours = sqlx::raw_sql(ours).execute(&mut database);
            ours.await.unwrap();
            database.close().await.unwrap();
            execute(path, BEFORE, "").await;
        }
        DatabaseUrl::Server(..) => {
            let path = folder.path().join("test.db");
            let name = fs::read_to_string(path.with_extension("postgres")).unwrap();
            let mut database = Server::shared().unwrap().connect(&name).await;
            migrator.run(&mut database).await.unwrap();
            execute(&path, "", BEFORE).await;
            execute(&path, "", LETTER).await;
        }
    }
    let store = store::open_at(&place, false, BUSY).await.unwrap();
    let (tickets, _) = store.tickets_of(0).await.unwrap();
    let ids: Vec<&str> = tickets.iter().map(|one| &*one.ticket.id).collect();
    assert_eq!(ids, ["t1", "t2"]);
    let untold = store.untold(&[0], &["lobby".to_owned()], 10).await;
    let untold = untold.unwrap().pop().unwrap().ticket;
    assert_eq!((&*untold.ticket.id, untold.state), ("t2", State::Cancelled));
    assert!(store.requests("main", 10).await.unwrap().is_empty());
}
