//! Faults that pass by themselves: the program ends with a code of its own, after which a service manager starts it
//! again, and says what the database has said.

use std::{fs, path::Path, time::Duration};

use evenkeel::store::{
    self, StoreError,
    postgres::{self, PoolSettings, PostgresUrl},
};
use sqlx::{Connection, PgConnection, SqliteConnection};
use tempfile::TempDir;

use crate::common::{
    BUSY,
    postgres::Server,
    process::{Process, evenkeel},
    until,
};

/// Runs a daemon that cannot start; returns its exit code and what it prints.
fn serve(folder: &Path, variables: &[(&str, &str)]) -> (Option<i32>, String) {
    let mut command = evenkeel(folder);
    command.args(["serve", "--listen", "127.0.0.1:0"]);
    let output = command.envs(variables.iter().copied()).output().unwrap();
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    (output.status.code(), error)
}

#[tokio::test]
async fn a_file_that_another_program_writes_to_is_tried_again() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("evenkeel.db");
    store::open(&path, true, BUSY).await.unwrap().close().await;
    let url = format!("sqlite:{}", path.display());
    let mut other = SqliteConnection::connect(&url).await.unwrap();
    let begin = sqlx::query("BEGIN IMMEDIATE").execute(&mut other).await;
    begin.unwrap();
    let (code, error) = serve(folder.path(), &[("EVENKEEL_STORE_BUSY_MS", "0")]);
    assert_eq!(code, Some(6), "{error}");
    assert!(error.contains("locked by another process"), "{error}");
    other.close().await.unwrap();
    Process::start(folder.path()).stop();
}

#[tokio::test]
async fn a_server_in_recovery_is_tried_again() {
    let Some(server) = Server::start() else {
        return;
    };
    server.create("league").await;
    let (folder, url) = (TempDir::new().unwrap(), server.url("league"));
    let variables = [("EVENKEEL_STORE_URL", &*url)];
    Process::start_with(folder.path(), &variables).stop();
    server.control(&["stop", "-m", "fast"]);
    let (code, error) = serve(
        folder.path(),
        &[variables[0], ("EVENKEEL_STORE_CONNECT_MS", "100")],
    );
    assert_eq!(code, Some(6), "{error}");
    assert!(error.contains("cannot be reached"), "{error}");
    server.write("data/standby.signal", "");
    server.control(&["start"]);
    let (code, error) = serve(folder.path(), &variables);
    assert_eq!(code, Some(6), "{error}");
    assert!(error.contains("in recovery"), "{error}");
    server.control(&["promote"]);
    Process::start_with(folder.path(), &variables).stop();
}

/// A server that has no room says so, at the start and later. A user that does not exist stays unknown.
#[tokio::test]
async fn the_message_is_what_the_server_says() {
    let Some(server) = Server::shared() else {
        return;
    };
    let name = server.unused_name();
    let mut owner = server.connect("postgres").await;
    for text in [
        format!("CREATE ROLE {name} LOGIN CONNECTION LIMIT 3"),
        format!("CREATE DATABASE {name} OWNER {name}"),
    ] {
        let done = sqlx::query(sqlx::AssertSqlSafe(text)).execute(&mut owner);
        done.await.unwrap();
    }
    let socket = server.folder().display().to_string();
    let url = format!("postgres:///{name}?host={socket}&user={name}");
    let place = PostgresUrl::parse(&url).unwrap();
    let settings = PoolSettings {
        connect: Duration::from_secs(2),
        ..PoolSettings::default()
    };
    let open = async || postgres::open(&place, settings, true, BUSY).await;
    let store = open().await.unwrap();
    let mut taken = Vec::new();
    // The server may still count connections that are closed.
    until(async || {
        taken.extend(PgConnection::connect(&url).await);
        taken.len() == 3
    })
    .await;
    for error in [
        open().await.map(drop).unwrap_err(),
        store.matches().extent().await.unwrap_err(),
    ] {
        let text = error.to_string() + &format!("{error:?}");
        assert!(error.is_passing(), "{text}");
        assert!(text.contains("too many connections for role"), "{text}");
    }
    let variables = [
        ("EVENKEEL_STORE_URL", &*url),
        ("EVENKEEL_STORE_CONNECT_MS", "1000"),
    ];
    let folder = TempDir::new().unwrap();
    let (code, error) = serve(folder.path(), &variables);
    assert_eq!(code, Some(6), "{error}");
    assert!(error.contains("too many connections for role"), "{error}");
    assert!(!error.contains("in time"), "{error}");
    drop(taken);
    until(async || matches!(store.matches().extent().await, Ok((0, 0)))).await;

    let unknown = url.replace(&format!("user={name}"), "user=nobody_of_this_name");
    let (code, error) = serve(folder.path(), &[("EVENKEEL_STORE_URL", &*unknown)]);
    assert_eq!(code, Some(5), "{error}");
    let place = PostgresUrl::parse(&unknown).unwrap();
    let refused = postgres::open(&place, settings, true, BUSY).await;
    let refused = refused.map(drop).unwrap_err();
    assert!(!refused.is_passing(), "{refused}");
    let StoreError::At { source, .. } = refused else {
        panic!("{refused}");
    };
    assert!(matches!(*source, StoreError::CannotOpen(_)), "{source}");
}

#[test]
fn systemd_tries_again_unless_somebody_must_change_something() {
    let unit = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/packaging/debian/evenkeel.service"
    );
    let unit = fs::read_to_string(unit).unwrap();
    let has = |line: &str| unit.lines().any(|one| one == line);
    assert!(has("Restart=on-failure"));
    assert!(has("RestartPreventExitStatus=2 3 5"));
    // Five starts within ten seconds would end it.
    assert!(has("StartLimitIntervalSec=0"));
}
