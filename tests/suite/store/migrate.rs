//! `evenkeel migrate-store`: all that operators have set arrives with the matches, as a whole or not at all, and what was
//! moved is not used by mistake.

use std::{
    path::{Path, PathBuf},
    process::Stdio,
    time::Duration,
};

use evenkeel::{
    files::FileMode,
    model::{Kind, match_chances::MatchChances},
    store::{self, DatabaseUrl, Recorded, Store, StoreError, Taken, TransferError, WeightRow},
};
use sqlx::{AssertSqlSafe, Connection, PgConnection, SqliteConnection};
use tempfile::TempDir;

use crate::common::{
    self, game,
    hostile::ingest_season,
    postgres::Server,
    process::{Process, evenkeel, run, wait},
    weights,
};

/// What operators may say of the season of bots, with the values that are hardest to store; the weights depend on it.
const SETTINGS: &str = "
    INSERT INTO voided_fingerprints SELECT fingerprint FROM matches WHERE id = 3;
    INSERT INTO voided_fingerprints VALUES (zeroblob(16));
    INSERT INTO merged_players VALUES ('bot', 'Grunt', 'Sarge', 0), ('human', 'gone', 'never seen', 0),
        ('human', 'STEAM_0:1:5', '76561197960265739', 0);
    INSERT INTO player_settings VALUES ('bot', 'Major', 61.3, NULL, NULL, 0), ('human', ' ', 0, NULL, NULL, 0),
        ('bot', 'Skelebot', NULL, 33.3, 1, 0), ('human', 'line\nbreak', 0.5, 100, 0, 1), ('bot', 'Ayumi', NULL, NULL, NULL, 1),
        ('human', '🏳️‍🌈', NULL, NULL, NULL, 1);
    INSERT OR REPLACE INTO state VALUES ('player_changes', 41, NULL), ('forgotten', 7, NULL), ('corrected', 40, 'void');";

/// What the weights do not depend on.
const REST: &str = "
    INSERT INTO match_halves VALUES (zeroblob(16), 1), (x'ffffffffffffffffffffffffffffffff', 2);
    INSERT INTO log_matches VALUES (x'000102030405060708090a0b0c0d0e0f', 1), (zeroblob(16), 1);
    UPDATE matches SET game = CASE id WHEN 1 THEN -9223372036854775808 ELSE 9223372036854775807 END WHERE id < 3;
    UPDATE matches SET reported_at = '9998-12-31 23:59:59.999' WHERE id = 1;
    UPDATE matches SET reported_at = '1969-12-31 23:59:59.999' WHERE id = 2;
    INSERT INTO receipts VALUES ('club', 'id:Ω', zeroblob(32), 1, NULL, '1970-01-01 00:00:00.005'), ('', '', x'00ff', -7, 'too-short', '1969-12-31 23:59:59.999');
    INSERT INTO sign_ins VALUES (zeroblob(32), 'Ω', x'00ff', '9998-12-31 23:59:59.999'), (x'ff', '', x'', '1969-12-31 23:59:59.999');
    INSERT INTO pickups VALUES ('club', 'Ω', zeroblob(32), '', 'void', '{}', '1969-12-31 23:59:59.999', '1970-01-01 00:00:00.005'), ('', '', x'00', 'c', 'picked', '', '1970-01-01 00:00:00', '1970-01-01 00:00:00');
    INSERT INTO links VALUES ('discord-7', 'Ω', 'club', '1970-01-01 00:00:00.005', NULL, NULL), ('', '', '', '1969-12-31 23:59:59.999', '', '9998-12-31 23:59:59.999');
    INSERT INTO experiments VALUES (7, '1970-01-01 00:00:00.005', '9998-12-31 23:59:59.999', 'over', 'ctf', '{}', 0.4, zeroblob(32));
    INSERT INTO drawn_arms VALUES (7, 'client club', x'ff', 1, 'a', '1970-01-01 00:00:00.006', '[0.1]', 5, 1, 1), (7, 'server Ω', x'', 2, 'b', '1969-12-31 23:59:59.999', '', -9, NULL, 0);
    INSERT INTO recounts VALUES ('ctf', 'human', 'Ω', '1969-12-31 23:59:59.999', 'void', 0.1, 1e-300), ('', 'bot', '', '1970-01-01 00:00:00', '', 0, 100);
    INSERT INTO forgotten_lately VALUES ('00ff', 'forgotten-9-0', '1969-12-31 23:59:59.999', NULL, NULL),
        ('01', 'forgotten-9-1', '1970-01-01 00:00:00', 'bot', 'Ω');
    INSERT INTO decisions (id, made_at, server, ruleset, game, match_id, kind, seed, chance, decision) VALUES
        (5, '1970-01-01 00:00:00.001', 's', 'r', -1, 1, 'balance', '18446744073709551615', 0.1, '{\"a\":\"\\u0000\"}'),
        (900, '1970-01-01 00:00:00.002', '', '', 0, NULL, 'place', '0', NULL, '');
    DELETE FROM decisions WHERE id = 900;
    INSERT INTO match_chances VALUES
        (1, 0, 'picked', NULL, NULL, NULL, NULL, 0.30000000000000004, NULL, NULL, NULL, NULL),
        (2, 0, 'picked', NULL, NULL, NULL, NULL, 1, NULL, '1 v 1', '0 v 0', 'ctf'),
        (2, 201, 'auto-move', 9223372036854775807, 1, 0, 7, NULL, '0.5 v 0.3 v 0.2', '', '', NULL);
    INSERT INTO behaviour VALUES ('ann', '', 20000, '1970-01-01 00:00:00.005', 0, 1, 0), ('ann', '*', -1, '1970-01-01 00:00:00', 1e308, 9, 9),
        ('bob', 'server', 0, '1970-01-01 00:00:00', 5e-324, 0, 0);
    INSERT INTO tickets VALUES (1, 'web', 't1', 'duel', '[\"ann\"]', '{}', '1970-01-01 00:00:00.005', 'queued', NULL, '', '1970-01-01 00:00:00.005', 0);
    INSERT INTO queue_hours VALUES ('duel', '2026-06-21 00:00:00', 1, 2, 3, 4, 5, 6, 0.1, 7);
    INSERT INTO webhook_events VALUES (20, 'hosted', 7, 'host:1', 'evt_a', '1970-01-01 00:00:00.005'), (30, 'formed', 8, NULL, 'evt_b', '1970-01-01 00:00:00.005');
    INSERT INTO webhooks VALUES ('site', 'formed hosted recorded', 20, 3, 4, 5, '1970-01-01 00:00:00.005', 'refused'),
        ('', '', 0, 0, 0, 0, NULL, NULL);
    DELETE FROM matches WHERE id = (SELECT max(id) FROM matches)";

/// What must be equal, too: what is derived for the matches and their players.
const DERIVED: [&str; 3] = [
    "SELECT quote(match_id) || quote(ruleset) || quote(unrated) || quote(chance) || quote(causes) FROM rulings ORDER BY 1",
    "SELECT quote(f.match_id) || quote(seat) || quote(points_for) || quote(points_against) || quote(f.weight)
         || quote(deviation) || quote(weight_before) || quote(cause) || quote(player) || quote(handle)
     FROM performances f JOIN persons USING (person) ORDER BY 1",
    "SELECT quote(ruleset) || quote(player) || quote(name) || quote(weight) || quote(deviation) || quote(games)
     FROM weights ORDER BY 1",
];

const PATIENCE: Duration = Duration::from_secs(20);

/// An SQLite database with matches and all that operators can have set, and what is left behind.
async fn full(folder: &Path) -> PathBuf {
    ingest_season(folder);
    let path = folder.join("evenkeel.db");
    common::sql(&path, SETTINGS).await;
    common::sql(&path, REST).await;
    rebuild(folder, None);
    path
}

fn rebuild(folder: &Path, url: Option<&str>) {
    let mut command = evenkeel(folder);
    if let Some(url) = url {
        command.env("EVENKEEL_STORE_URL", url);
    }
    let output = command.arg("rebuild").output().unwrap();
    assert!(output.status.success(), "{output:?}");
}

/// Runs `evenkeel migrate-store`; returns the exit code, stdout and stderr.
fn migrate(folder: &Path, from: &str, to: &str) -> (i32, String, String) {
    run(folder, &["migrate-store", from, to])
}

/// What `evenkeel export --operator` writes, and the weights.
async fn content(place: &DatabaseUrl) -> (Vec<String>, Vec<WeightRow>) {
    let store = store::open_at(place, false, PATIENCE).await.unwrap();
    let mut text = Vec::new();
    let export = store.export_all(async |part| {
        text.push(part.text().unwrap());
        Ok::<(), StoreError>(())
    });
    export.await.unwrap();
    let weights = weights(&store).await;
    store.close().await;
    (text, weights)
}

/// What is derived in an SQLite database.
async fn derived(path: &Path) -> Vec<Vec<String>> {
    let url = format!("sqlite:{}", path.display());
    let mut database = SqliteConnection::connect(&url).await.unwrap();
    let mut all = Vec::new();
    for query in DERIVED {
        let rows: Vec<String> = sqlx::query_scalar(AssertSqlSafe(query))
            .fetch_all(&mut database)
            .await
            .unwrap();
        assert!(rows.len() > 10, "{query}");
        all.push(rows);
    }
    database.close().await.unwrap();
    all
}

#[tokio::test]
async fn there_and_back_all_arrives() {
    let Some(server) = Server::shared() else {
        return;
    };
    let folder = TempDir::new().unwrap();
    let path = full(folder.path()).await;
    let (before, known) = content(&DatabaseUrl::File(path.clone())).await;
    let last: i64 = before[1]
        .split([':', ','])
        .nth(3)
        .and_then(|number| number.parse().ok())
        .unwrap();
    let name = server.unused_name();
    server.create(&name).await;
    let url = server.url(&name);
    let (code, out, err) = migrate(folder.path(), "evenkeel.db", &url);
    assert_eq!((code, err.as_str()), (0, ""), "{out}");
    let matches = last - 1;
    assert!(
        out.contains(&format!("has {matches} matches of evenkeel.db")),
        "{out}"
    );
    assert!(
        out.contains("weights derived from them: all equal to those of evenkeel.db"),
        "{out}"
    );
    assert!(known.len() > 10, "{}", known.len());
    assert_eq!(
        content(&server.place(&name)).await,
        (before.clone(), known.clone())
    );

    let (code, out, err) = migrate(folder.path(), &url, "back.db");
    assert_eq!((code, err.as_str()), (0, ""), "{out}");
    assert!(out.contains(": all equal to those of postgres"), "{out}");
    let back = folder.path().join("back.db");
    assert_eq!(
        content(&DatabaseUrl::File(back.clone())).await,
        (before, known)
    );
    assert_eq!(derived(&back).await, derived(&path).await);

    // The number of the match that was deleted is not given again, here or there.
    let moved = store::take_back(&server.place(&name), PATIENCE).await;
    assert_eq!(moved.unwrap(), Some(back.display().to_string()));
    for place in [DatabaseUrl::File(back), server.place(&name)] {
        let store = store::open_at(&place, false, PATIENCE).await.unwrap();
        let record = game(5, &[(Kind::Human, "a")], &[(Kind::Human, "b")], [1.0, 0.0]);
        let recorded = store.matches().record(&record).await.unwrap();
        assert_eq!(recorded, Recorded::New(last + 1));
        store.close().await;
    }
}

/// An empty PostgreSQL database in which nobody can write chances until the connection is closed, and its name.
async fn stuck(server: &Server) -> (PgConnection, String) {
    let name = server.unused_name();
    server.create(&name).await;
    let store = store::open_at(&server.place(&name), true, PATIENCE).await;
    store.unwrap().close().await;
    let mut lock = server.connect(&name).await;
    for statement in ["BEGIN", "LOCK TABLE matches IN SHARE MODE"] {
        sqlx::query(statement).execute(&mut lock).await.unwrap();
    }
    (lock, name)
}

/// Waits until somebody waits for that.
async fn waits(server: &Server, name: &str) {
    let mut watcher = server.connect(name).await;
    common::until(async || {
        let waits = "SELECT count(*) FROM pg_stat_activity
                     WHERE datname = current_database() AND wait_event_type = 'Lock'";
        let waits = sqlx::query_scalar::<_, i64>(waits);
        waits.fetch_one(&mut watcher).await.unwrap() > 0
    })
    .await;
}

#[tokio::test]
async fn a_transfer_that_was_killed_has_changed_nothing() {
    let Some(server) = Server::shared() else {
        return;
    };
    let folder = TempDir::new().unwrap();
    full(folder.path()).await;
    let (lock, name) = stuck(server).await;
    let url = server.url(&name);
    let mut command = evenkeel(folder.path());
    command.args(["migrate-store", "evenkeel.db", &url]);
    command.env("EVENKEEL_STORE_BUSY_MS", "60000");
    let mut child = command.stdout(Stdio::null()).spawn().unwrap();
    waits(server, &name).await;
    child.kill().unwrap();
    wait(&mut child);
    lock.close().await.unwrap();

    // The source is used as before, and the target is as new.
    rebuild(folder.path(), None);
    let (code, out, err) = migrate(folder.path(), "evenkeel.db", &url);
    assert_eq!((code, err.as_str()), (0, ""), "{out}");
    // It is not filled twice.
    let (code, _) = (migrate(folder.path(), "evenkeel.db", &url).0, ());
    assert_eq!(code, 5);
}

/// A transfer that was killed when the source had its mark, and the target nothing.
#[tokio::test]
async fn one_that_was_killed_at_its_end_begins_again() {
    let folder = TempDir::new().unwrap();
    let path = full(folder.path()).await;
    let new = folder.path().join("new.db");
    let moved = format!(
        "INSERT INTO state VALUES ('moved', NULL, '{}')",
        new.display()
    );
    common::sql(&path, moved.leak()).await;
    let (code, _, err) = migrate(folder.path(), "evenkeel.db", "other.db");
    assert_eq!(code, 5, "{err}");
    assert!(err.contains(" was moved to "), "{err}");
    let (code, out, err) = migrate(folder.path(), "evenkeel.db", "new.db");
    assert_eq!((code, err.as_str()), (0, ""), "{out}");
    // A second time, the target has something, and the source keeps its mark.
    let (code, _, err) = migrate(folder.path(), "evenkeel.db", "new.db");
    assert_eq!(code, 5, "{err}");
    assert!(
        err.contains("new.db: the database is not a new one"),
        "{err}"
    );
    let opened = store::open(&path, false, common::BUSY).await;
    assert!(
        matches!(opened, Err(StoreError::Moved { .. })),
        "{opened:?}"
    );
}

#[tokio::test]
async fn a_target_that_does_not_take_everything_stays_new() {
    let folder = TempDir::new().unwrap();
    let path = full(folder.path()).await;
    let before = content(&DatabaseUrl::File(path.clone())).await;
    let new = folder.path().join("new.db");
    let opened = store::open(&new, true, common::BUSY).await.unwrap();
    opened.close().await;
    for (does, code, why) in [
        (
            "UPDATE links SET client = 'x' WHERE player = NEW.player",
            5,
            "new.db does not give back line ",
        ),
        ("SELECT RAISE(ABORT, 'never')", 4, "new.db refuses line "),
    ] {
        let trigger = format!("CREATE TRIGGER odd AFTER INSERT ON links BEGIN {does}; END");
        common::sql(&new, trigger.leak()).await;
        let (found, _, err) = migrate(folder.path(), "evenkeel.db", "new.db");
        assert_eq!(found, code, "{err}");
        assert!(err.contains(why), "{err}");
        // Line 1 is that of the file, 2 numbers, 3 the key; then all that operators have set.
        let line = before
            .0
            .iter()
            .position(|line| line.contains(r#""kind":"link""#))
            .unwrap()
            + 1;
        assert!(err.contains(&format!("line {line} of what")), "{err}");
        common::sql(&new, "DROP TRIGGER odd").await;
        let store = store::open(&new, false, common::BUSY).await.unwrap();
        assert_eq!(store.matches().extent().await.unwrap().0, 0);
        store.close().await;
    }
    assert_eq!(content(&DatabaseUrl::File(path)).await, before);
    let (code, out, err) = migrate(folder.path(), "evenkeel.db", "new.db");
    assert_eq!((code, err.as_str()), (0, ""), "{out}");
}

/// A process that has opened the database before it was moved, as a daemon that starts at the same time, records nothing
/// that nobody reads.
async fn nothing_is_recorded_in_what_was_moved(from: &DatabaseUrl, to: &DatabaseUrl) {
    let early = store::open_at(from, true, PATIENCE).await.unwrap();
    let teams = [(Kind::Human, "a"), (Kind::Human, "b")];
    let record = |minute| game(minute, &teams[..1], &teams[1..], [1.0, 0.0]);
    assert_eq!(
        early.matches().record(&record(0)).await.unwrap(),
        Recorded::New(1)
    );
    let moved = store::transfer(from, to, PATIENCE, FileMode::default(), |_, _| ())
        .await
        .unwrap();
    assert_eq!(moved.matches, 1);
    let refused = async |store: &Store, minute: i64| {
        let chances = MatchChances::default();
        let results = [
            store.matches().record(&record(minute)).await.unwrap_err(),
            store
                .matches()
                .record_game(&record(minute), &chances, minute)
                .await
                .unwrap_err(),
        ];
        for error in results {
            assert!(error.to_string().contains(" was moved to "), "{error}");
        }
    };
    refused(&early, 20).await;
    drop(moved);
    refused(&early, 40).await;
    assert_eq!(early.matches().extent().await.unwrap().0, 1);
    store::take_back(from, PATIENCE).await.unwrap();
    assert_eq!(
        early.matches().record(&record(60)).await.unwrap(),
        Recorded::New(2)
    );
}

#[tokio::test]
async fn nothing_is_recorded_in_a_file_that_was_moved() {
    let folder = TempDir::new().unwrap();
    let place = |name| DatabaseUrl::File(folder.path().join(name));
    nothing_is_recorded_in_what_was_moved(&place("a.db"), &place("b.db")).await;
}

#[tokio::test]
async fn nothing_is_recorded_in_a_postgresql_database_that_was_moved() {
    let Some(server) = Server::shared() else {
        return;
    };
    let folder = TempDir::new().unwrap();
    let name = server.unused_name();
    server.create(&name).await;
    let file = DatabaseUrl::File(folder.path().join("b.db"));
    nothing_is_recorded_in_what_was_moved(&server.place(&name), &file).await;
}

/// How many leases have ever been taken.
const TAKEN: &str = "SELECT count(*) FROM leases";

/// Nothing is moved from or to a database that a daemon uses. The message names it by `shown`.
async fn is_left_alone(folder: &Path, used: &str, shown: &str) {
    let path = folder.join("other.db");
    let other = store::open(&path, true, common::BUSY).await.unwrap();
    other.close().await;
    for (from, to) in [(used, "new.db"), ("other.db", used)] {
        let (code, _, err) = migrate(folder, from, to);
        assert_eq!(code, 4, "{err}");
        assert!(err.contains(&format!("a daemon uses {shown}")), "{err}");
    }
}

#[tokio::test]
async fn a_file_that_a_daemon_uses_is_left_alone() {
    let folder = TempDir::new().unwrap();
    let _daemon = Process::start(folder.path());
    let url = format!("sqlite:{}", folder.path().join("evenkeel.db").display());
    let mut database = SqliteConnection::connect(&url).await.unwrap();
    common::until(async || {
        let taken = sqlx::query_scalar::<_, i64>(TAKEN);
        taken.fetch_one(&mut database).await.unwrap() > 0
    })
    .await;
    is_left_alone(folder.path(), "evenkeel.db", "evenkeel.db: stop it").await;
}

#[tokio::test]
async fn a_server_that_a_daemon_uses_is_left_alone() {
    let Some(server) = Server::shared() else {
        return;
    };
    let folder = TempDir::new().unwrap();
    let name = server.unused_name();
    server.create(&name).await;
    let url = server.url(&name);
    let _daemon = Process::start_with(folder.path(), &[("EVENKEEL_STORE_URL", &url)]);
    let mut database = server.connect(&name).await;
    common::until(async || {
        let taken = sqlx::query_scalar::<_, i64>(TAKEN);
        taken.fetch_one(&mut database).await.unwrap() > 0
    })
    .await;
    is_left_alone(folder.path(), &url, "postgres://").await;
}

#[tokio::test]
async fn what_is_no_transfer_is_refused() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("one.db");
    store::open(&path, true, common::BUSY)
        .await
        .unwrap()
        .close()
        .await;
    for (from, to, code, why) in [
        ("none.db", "new.db", 5, "there is no database at none.db"),
        (
            "one.db",
            "mysql://host/name",
            4,
            "TO must begin with postgres://",
        ),
        (
            "postgres://ann:sesame@host",
            "one.db",
            4,
            "FROM must name a database",
        ),
        ("one.db", "one.db", 4, "FROM and TO are the same database"),
        ("one.db", "./one.db", 4, "FROM and TO are the same database"),
    ] {
        let (found, _, err) = migrate(folder.path(), from, to);
        assert_eq!(found, code, "{err}");
        assert!(err.contains(why), "{err}");
        assert!(!err.contains("sesame"), "{err}");
    }
    assert!(!folder.path().join("new.db").exists());
    // Nothing is in it: it can be copied all the same.
    let (code, out, err) = migrate(folder.path(), "one.db", "two.db");
    assert_eq!((code, err.as_str()), (0, ""), "{out}");
    assert!(
        out.contains("not compared with those of one.db: it has no weights yet"),
        "{out}"
    );
}

#[tokio::test]
async fn names_that_postgresql_cannot_store_are_replaced() {
    let Some(server) = Server::shared() else {
        return;
    };
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("evenkeel.db");
    let store = store::open(&path, true, common::BUSY).await.unwrap();
    for minute in 0..6 {
        let teams = [(Kind::Human, "a\0b"), (Kind::Human, "ann")];
        let record = game(20 * minute, &teams[..1], &teams[1..], [2.0, 1.0]);
        store.matches().record(&record).await.unwrap();
    }
    store.close().await;
    rebuild(folder.path(), None);
    let here = store::open(&path, false, common::BUSY).await.unwrap();
    let known = weights(&here).await;
    here.close().await;
    let name = server.unused_name();
    server.create(&name).await;
    let url = server.url(&name);
    let (code, out, err) = migrate(folder.path(), "evenkeel.db", &url);
    assert_eq!((code, err.as_str()), (0, ""), "{out}");
    assert!(out.contains("has 6 matches of evenkeel.db"), "{out}");
    rebuild(folder.path(), Some(&url));
    let there = store::open_at(&server.place(&name), false, Duration::from_secs(20)).await;
    let (here, there) = (known, weights(&there.unwrap()).await);
    let bits = |rows: &[WeightRow]| -> Vec<(String, u64)> {
        let key = |row: &WeightRow| row.key.id.replace('\0', "\u{fffd}");
        let rows = rows.iter();
        rows.map(|row| (key(row), row.weight.to_bits())).collect()
    };
    assert_eq!(bits(&here), bits(&there));
    assert_eq!(here.len(), 2);
}

/// A daemon that is started again, with its old configuration, must not write to a database that nobody reads any more.
async fn nobody_uses_what_was_moved(folder: &Path, from: &str, to: &str) {
    let run = |words: &[&str]| {
        let mut command = evenkeel(folder);
        let output = command.args(words).output().unwrap();
        (
            output.status.code().unwrap(),
            String::from_utf8(output.stderr).unwrap(),
        )
    };
    let variable = match from.contains("://") {
        true => "EVENKEEL_STORE_URL",
        false => "EVENKEEL_DB",
    };
    let (code, out, err) = migrate(folder, from, to);
    assert_eq!((code, err.as_str()), (0, ""), "{out}");
    for words in [
        &["serve", "--listen", "127.0.0.1:0"][..],
        &["weights", "--game", "x"],
        &["rebuild"],
    ] {
        let mut command = evenkeel(folder);
        let output = command.args(words).env(variable, from).output().unwrap();
        let error = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(5), "{words:?}: {error}");
        assert!(error.contains(" was moved to "), "{error}");
        assert!(error.contains("migrate-store --undo"), "{error}");
        assert!(!error.contains("?host="), "{error}");
    }
    // Not even a second transfer, to another place.
    let (code, _, err) = migrate(folder, from, "elsewhere.db");
    assert_eq!(code, 5, "{err}");
    assert!(err.contains(" was moved to "), "{err}");
    let (code, err) = run(&["migrate-store", "--undo", from]);
    assert_eq!((code, err.as_str()), (0, ""));
    let (code, err) = run(&["migrate-store", "--undo", from]);
    assert_eq!(code, 4);
    assert!(err.contains("was not moved"), "{err}");
    let mut command = evenkeel(folder);
    let rebuilt = command.arg("rebuild").env(variable, from).output().unwrap();
    assert!(rebuilt.status.success(), "{rebuilt:?}");
}

#[tokio::test]
async fn a_file_that_was_moved_is_not_used_by_mistake() {
    let folder = TempDir::new().unwrap();
    full(folder.path()).await;
    nobody_uses_what_was_moved(folder.path(), "evenkeel.db", "new.db").await;
}

#[tokio::test]
async fn a_postgresql_database_that_was_moved_is_not_used_by_mistake() {
    let Some(server) = Server::shared() else {
        return;
    };
    let folder = TempDir::new().unwrap();
    full(folder.path()).await;
    let name = server.unused_name();
    server.create(&name).await;
    let url = server.url(&name);
    let (code, out, err) = migrate(folder.path(), "evenkeel.db", &url);
    assert_eq!((code, err.as_str()), (0, ""), "{out}");
    nobody_uses_what_was_moved(folder.path(), &url, "back.db").await;
}

/// PostgreSQL cannot keep a daemon from starting while its database is read. The copy is then not the whole.
#[tokio::test]
async fn a_transfer_does_not_end_beside_a_daemon() {
    let Some(server) = Server::shared() else {
        return;
    };
    let name = server.unused_name();
    server.create(&name).await;
    let from = server.place(&name);
    let daemon = store::open_at(&from, true, PATIENCE).await.unwrap();
    let record = game(5, &[(Kind::Human, "a")], &[(Kind::Human, "b")], [1.0, 0.0]);
    daemon.matches().record(&record).await.unwrap();
    let (lock, other) = stuck(server).await;
    let to = server.place(&other);
    let start = async {
        waits(server, &other).await;
        let taken = daemon.take_lease("fold", "late", PATIENCE).await.unwrap();
        lock.close().await.unwrap();
        taken
    };
    let (refused, taken) = tokio::join!(
        store::transfer(&from, &to, PATIENCE, FileMode::default(), |_, _| ()),
        start
    );
    let refused = refused.unwrap_err();
    assert!(matches!(refused, TransferError::InUse { .. }), "{refused}");
    // The source is in use as before, and the target is new.
    assert!(daemon.matches().record(&record).await.is_ok());
    let Taken::Yes(lease) = taken else {
        panic!("the lease is free");
    };
    daemon.give_back_lease(&lease).await.unwrap();
    assert!(
        store::transfer(&from, &to, PATIENCE, FileMode::default(), |_, _| ())
            .await
            .is_ok()
    );
}
