//! `evenkeel migrate-store`: everything arrives, a transfer that was killed goes on, and nothing that is not
//! whole is used.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    process::Stdio,
    time::Duration,
};

use evenkeel::{
    domain::Kind,
    store::{self, DatabaseUrl, Recorded, Taken, Transfer, TransferError, WeightRow},
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

/// What matches and operators may contain besides the season of bots; the weights depend on it.
const MATCHES: &str = "
    UPDATE matches SET mutators = 'Ω ''odd'' \"mutator\"', scores = '-0.1:1e300', gap = 4503599627370495.5 WHERE id = 2;
    UPDATE matches SET untimed = 1, mutators = '', scores = NULL, gap = NULL WHERE id = 4;
    UPDATE match_players SET team = NULL, share = 5e-324, points = -0.0 WHERE match_id = 2;
    INSERT INTO match_halves VALUES (zeroblob(16), 1), (x'ffffffffffffffffffffffffffffffff', 2);
    INSERT INTO log_matches VALUES (x'000102030405060708090a0b0c0d0e0f', 1), (zeroblob(16), 1);
    UPDATE matches SET game = CASE id WHEN 1 THEN -9223372036854775808 ELSE 9223372036854775807 END WHERE id < 3;
    UPDATE matches SET reported_at = '9998-12-31 23:59:59.999' WHERE id = 1;
    UPDATE matches SET reported_at = '1969-12-31 23:59:59.999' WHERE id = 2;
    INSERT INTO receipts VALUES ('club', 'id:Ω', zeroblob(32), 1, NULL, '1970-01-01 00:00:00.005'), ('', '', x'00ff', -7, 'too-short', '1969-12-31 23:59:59.999');
    INSERT INTO sign_ins VALUES (zeroblob(32), 'Ω', x'00ff', '9998-12-31 23:59:59.999'), (x'ff', '', x'', '1969-12-31 23:59:59.999');
    INSERT INTO pickups VALUES ('club', 'Ω', zeroblob(32), '', 'void', '{}', '1969-12-31 23:59:59.999', '1970-01-01 00:00:00.005'), ('', '', x'00', 'c', 'picked', '', '1970-01-01 00:00:00', '1970-01-01 00:00:00');
    INSERT INTO links VALUES ('discord-7', 'Ω', 'club', '1970-01-01 00:00:00.005', NULL, NULL), ('', '', '', '1969-12-31 23:59:59.999', '', '9998-12-31 23:59:59.999');
    INSERT INTO voided_fingerprints SELECT fingerprint FROM matches WHERE id = 3;
    INSERT INTO voided_fingerprints VALUES (zeroblob(16));
    INSERT INTO merged_players VALUES ('bot', 'Grunt', 'Sarge', 0), ('human', 'gone', 'never seen', 1);
    INSERT INTO player_settings VALUES ('bot', 'Major', 61.3, NULL, NULL, 0), ('human', ' ', 0, NULL, NULL, 0),
        ('bot', 'Skelebot', NULL, 33.3, 1, 0), ('human', 'line\nbreak', 0.5, 100, 0, 1), ('bot', 'Ayumi', NULL, NULL, NULL, 1),
        ('human', '🏳️‍🌈', NULL, NULL, NULL, 1);
    INSERT OR REPLACE INTO state VALUES ('player_changes', 41, NULL), ('forgotten', 7, NULL), ('corrected', 40, 'void'),
        ('behaviour_changes', 9223372036854775807 - 41, NULL)";

/// What the weights do not depend on, with the values that are hardest to store.
const REST: &str = "
    INSERT INTO recounts VALUES ('ctf', 'human', 'Ω', '1969-12-31 23:59:59.999', 'void', 0.1, 1e-300), ('', 'bot', '', '1970-01-01 00:00:00', '', 0, 100);
    INSERT INTO forgotten_lately VALUES ('00ff', 'forgotten-9-0', '1969-12-31 23:59:59.999');
    INSERT INTO state VALUES ('systems', NULL, '{\"settings\":\"key\",\"matches\":60,\"computed_at\":1790000000000,\"report\":\"{}\"}');
    INSERT INTO decisions (id, made_at, server, ruleset, game, match_id, kind, seed, chance, decision) VALUES
        (5, '1970-01-01 00:00:00.001', 's', 'r', -1, 1, 'balance', '18446744073709551615', 0.1, '{\"a\":\"\\u0000\"}'),
        (900, '1970-01-01 00:00:00.002', '', '', 0, NULL, 'place', '0', NULL, '');
    DELETE FROM decisions WHERE id = 900;
    INSERT INTO match_chances VALUES
        (1, 0, 'picked', NULL, NULL, NULL, NULL, 0.30000000000000004, NULL, NULL, NULL, NULL),
        (2, 0, 'picked', NULL, NULL, NULL, NULL, 1, NULL, '1 v 1', '0 v 0', 'ctf'),
        (2, 201, 'auto-move', 9223372036854775807, 3, 0, 7, NULL, '0.5 v 0.3 v 0.2', '', '', NULL);
    INSERT INTO behaviour VALUES ('ann', '', 20000, '1970-01-01 00:00:00.005', -0.0, 1, 0), ('ann', '*', -1, '1970-01-01 00:00:00', 1e308, 9, 9),
        ('bob', 'server', 0, '1970-01-01 00:00:00', 5e-324, 0, 0), ('cid', 'server', 0, '1970-01-01 00:00:00', 9e999, 0, 0), ('', '', 0, '1970-01-01 00:00:00', -9e999, 0, 0);
    INSERT INTO tickets VALUES
        (1, 'web', 't1', 'duel', '[\"ann\"]', '{}', '1970-01-01 00:00:00.001', 'queued', NULL, '', '1970-01-01 00:00:00.001', 0),
        (2, 'web', 't2', 'duel', '[\"bob\"]', '{}', '1970-01-01 00:00:00.001', 'matched', 7, 'why', '1970-01-01 00:00:00.001', 1),
        (9223372036854775807, '', '', '', '', '', '0000-01-01 00:00:00', 'expired', NULL, '', '1970-01-01 00:00:00', 1);
    INSERT INTO ticket_players VALUES ('ann', '', 1, 1), ('ann', 'big', 1, 2), ('', '', -1, -3);
    INSERT INTO pools VALUES (7, 'duel', '{}', '1', 2, '0.2', '1970-01-01 00:00:00.003', '1-2',
        replace(hex(zeroblob(300000)), '00', 'ä'), NULL), (8, '', '', '', 0, '', '1970-01-01 00:00:00', '', '', '');
    INSERT INTO formed_matches VALUES
        (7, 'duel', 1, 'm', NULL, 0.1, 0.7, '1', '1970-01-01 00:00:00.001', '1970-01-01 00:00:00.002', '1970-01-01 00:00:00.003', 7, '[\"a\"]', 'r', NULL, 1),
        (8, 'duel', 1, NULL, 'map', -1.5, NULL, '1', '1970-01-01 00:00:00.001', '1970-01-01 00:00:00.002', NULL, NULL, '[]', '', 1, 0);
    INSERT INTO formed_seats VALUES (7, 0, 0, 1, 'ann', 1, 0), (7, 1, 1, 2, 'bob', 0, 1);
    INSERT INTO queue_hours VALUES ('duel', '2026-06-21 00:00:00', 1, 2, 3, 4, 5, 6, 0.1, 7), ('', '1969-12-31 23:59:59.999', 0, 0, 0, 0, 0, 0, 0, 0);
    INSERT INTO hosted_matches VALUES
        (7, 'duel', 'playing', '1970-01-01 00:00:00.001', '1970-01-01 00:00:00.002', 'one', 'host:1', -5, 1, '', '{}', NULL, '1970-01-01 00:00:00.003', '{}', '{}', '[]', '[]', 1),
        (8, 'duel', 'failed', '1970-01-01 00:00:00.001', '1970-01-01 00:00:00.002', NULL, NULL, NULL, 0, 'none', '', '1970-01-01 00:00:00.009', NULL, '', '', NULL, '[\"ann\"]', 0);
    INSERT INTO owed_closes VALUES ('one', 7, ''), ('one', 8, 'why');
    INSERT INTO instances VALUES ('one', 'host:1', 'eu', 2, '[]', '[]', 0.25, 1, NULL, '1970-01-01 00:00:00.005', 1, 1),
        ('', '', NULL, 0, '', '', 0, 0, '1970-01-01 00:00:00', '1970-01-01 00:00:00', 0, 0);
    INSERT INTO partitions VALUES ('eu', 1), ('', -5);
    INSERT INTO webhook_events VALUES (20, 'hosted', 7, 'host:1', 'evt_a', '1970-01-01 00:00:00.005'), (30, 'formed', 8, NULL, 'evt_b', '1970-01-01 00:00:00.006');
    INSERT INTO webhooks VALUES ('site', 'formed hosted recorded', 20, 3, 4, 5, '1970-01-01 00:00:00.006', 'refused'),
        ('', '', 0, 0, 0, 0, NULL, NULL);
    DELETE FROM matches WHERE id = (SELECT max(id) FROM matches)";

/// Derived tables that are empty by the default configuration.
const DERIVED: &str = "
    INSERT INTO seasons VALUES ('1969-12-31 23:59:59.999', ''), ('9998-12-31 23:59:59.999', '2026-11-22 17:00');
    INSERT INTO divisions VALUES ('ctf', 200, 'odd', -1e300, 0.1, 0, 1)";

/// An SQLite database with matches, and with what operators have decided about them.
async fn full(folder: &Path) -> PathBuf {
    ingest_season(folder);
    let path = folder.join("evenkeel.db");
    common::sql(&path, MATCHES).await;
    let rebuilt = evenkeel(folder).arg("rebuild").output().unwrap();
    assert!(rebuilt.status.success(), "{rebuilt:?}");
    path
}

/// Runs `evenkeel migrate-store`; returns the exit code, stdout and stderr.
fn migrate(folder: &Path, from: &str, to: &str) -> (i32, String, String) {
    run(folder, &["migrate-store", from, to])
}

/// Every row of every table of an SQLite database, but for what is about its daemons.
async fn content(path: &Path) -> BTreeMap<String, Vec<String>> {
    let url = format!("sqlite:{}", path.display());
    let mut database = SqliteConnection::connect(&url).await.unwrap();
    let columns =
        "SELECT t.name, group_concat('quote(' || c.name || ')', ' || '','' || ' ORDER BY c.name)
         FROM sqlite_schema t JOIN pragma_table_info(t.name) c
         WHERE t.type = 'table' AND t.name NOT IN ('_sqlx_migrations', 'leases')
         GROUP BY t.name";
    let tables: Vec<(String, String)> = sqlx::query_as(columns)
        .fetch_all(&mut database)
        .await
        .unwrap();
    let mut content = BTreeMap::new();
    for (table, columns) in tables {
        let kept = match &*table {
            "state" => "name NOT IN ('transfer', 'moved')", // about this one database
            _ => "TRUE",
        };
        let rows = AssertSqlSafe(format!(
            "SELECT {columns} FROM {table} WHERE {kept} ORDER BY 1"
        ));
        let rows = sqlx::query_scalar(rows).fetch_all(&mut database).await;
        content.insert(table, rows.unwrap());
    }
    database.close().await.unwrap();
    content
}

#[tokio::test]
async fn there_and_back_every_row_arrives() {
    let Some(server) = Server::shared() else {
        return;
    };
    let folder = TempDir::new().unwrap();
    let path = full(folder.path()).await;
    common::sql(&path, REST).await;
    // Deleting a match has made the derived tables old.
    let rebuilt = evenkeel(folder.path()).arg("rebuild").output().unwrap();
    assert!(rebuilt.status.success(), "{rebuilt:?}");
    common::sql(&path, DERIVED).await;
    let before = content(&path).await;
    for (table, rows) in &before {
        assert!(!rows.is_empty(), "{table} is empty, and not tested");
    }

    let here = store::open(&path, false, common::BUSY).await.unwrap();
    let expected = weights(&here).await;
    here.close().await;

    let name = server.unused_name();
    server.create(&name).await;
    let url = server.url(&name);
    let (code, out, err) = migrate(folder.path(), "evenkeel.db", &url);
    assert_eq!((code, err.as_str()), (0, ""), "{out}");
    let equal = out.lines().filter(|line| line.contains("┆ equal")).count();
    assert_eq!(equal, before.len() - 1, "all but sqlite_sequence: {out}");
    assert!(out.contains("weights derived again from postgres"), "{out}");
    assert!(out.contains(": all equal"), "{out}");

    let patience = Duration::from_secs(20);
    let there = store::open_at(&server.place(&name), false, patience).await;
    let there = there.unwrap();
    assert!(expected.len() > 10, "{}", expected.len());
    assert_eq!(weights(&there).await, expected);
    there.close().await;

    let (code, out, err) = migrate(folder.path(), &url, "back.db");
    assert_eq!((code, err.as_str()), (0, ""), "{out}");
    let back = folder.path().join("back.db");
    let after = content(&back).await;
    for (table, rows) in &before {
        assert_eq!(&after[table], rows, "{table}");
    }
    assert_eq!(after.len(), before.len());

    // The number of the match that was deleted is not given again, here or there.
    let last: i64 = before["sqlite_sequence"]
        .iter()
        .find_map(|row| row.strip_prefix("'matches',")?.parse().ok())
        .unwrap();
    let moved = store::take_back(&server.place(&name), patience).await;
    assert_eq!(moved.unwrap(), Some(back.display().to_string()));
    for place in [DatabaseUrl::File(back), server.place(&name)] {
        let store = store::open_at(&place, false, patience).await.unwrap();
        let record = game(5, &[(Kind::Human, "a")], &[(Kind::Human, "b")], [1.0, 0.0]);
        let recorded = store.record(&record).await.unwrap();
        assert_eq!(recorded, Recorded::New(last + 1));
        store.close().await;
    }
}

/// Makes a PostgreSQL database into which a process was copying the tickets when it was killed.
async fn killed_in_the_midst(server: &Server, folder: &Path) -> String {
    let name = server.unused_name();
    server.create(&name).await;
    let store = store::open_at(&server.place(&name), true, Duration::from_secs(20)).await;
    store.unwrap().close().await;
    let mut lock = server.connect(&name).await;
    for statement in ["BEGIN", "LOCK TABLE tickets IN SHARE MODE"] {
        sqlx::query(statement).execute(&mut lock).await.unwrap();
    }
    let url = server.url(&name);
    let mut command = evenkeel(folder);
    command.args(["migrate-store", "evenkeel.db", &url]);
    command.env("EVENKEEL_STORE_BUSY_MS", "60000");
    let mut child = command.stdout(Stdio::null()).spawn().unwrap();
    let mut watcher = server.connect(&name).await;
    common::until(async || next(&mut watcher).await.as_deref() == Some("tickets")).await;
    child.kill().unwrap();
    wait(&mut child);
    lock.close().await.unwrap();
    url
}

async fn next(database: &mut PgConnection) -> Option<String> {
    let next = sqlx::query_scalar(
        "SELECT CAST(text AS JSON) ->> 'next' FROM state WHERE name = 'transfer'",
    );
    let next: Option<Option<String>> = next.fetch_optional(database).await.unwrap();
    next.flatten()
}

#[tokio::test]
async fn a_transfer_that_was_killed_goes_on() {
    let Some(server) = Server::shared() else {
        return;
    };
    let folder = TempDir::new().unwrap();
    let path = full(folder.path()).await;
    common::sql(&path, REST).await;
    let url = killed_in_the_midst(server, folder.path()).await;

    // Nobody uses what is not whole.
    let mut command = evenkeel(folder.path());
    command.arg("weights").env("EVENKEEL_STORE_URL", &url);
    let output = command.output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(5), "{errors}");
    assert!(
        errors.contains("contains only a part of another database"),
        "{errors}"
    );
    let (code, _, err) = migrate(folder.path(), &url, "other.db");
    assert_eq!(code, 5, "{err}");
    assert!(
        err.contains("contains only a part of another database"),
        "{err}"
    );
    // Nothing of another database is added.
    let other = folder.path().join("other.db");
    store::open(&other, true, common::BUSY)
        .await
        .unwrap()
        .close()
        .await;
    let (code, _, err) = migrate(folder.path(), "other.db", &url);
    assert_eq!(code, 4, "{err}");
    assert!(
        err.contains("contains a part of another database than this one"),
        "{err}"
    );

    let (code, out, err) = migrate(folder.path(), "evenkeel.db", &url);
    assert_eq!((code, err.as_str()), (0, ""), "{out}");
    let (code, _, err) = migrate(folder.path(), &url, "back.db");
    assert_eq!((code, err.as_str()), (0, ""));
    assert_eq!(
        content(&folder.path().join("back.db")).await,
        content(&path).await
    );
    let (code, _, err) = migrate(folder.path(), "evenkeel.db", &url);
    assert_eq!(code, 4, "{err}");
    assert!(
        err.contains("is not empty: its table matches has rows"),
        "{err}"
    );
}

#[tokio::test]
async fn a_source_that_changes_meanwhile_is_noticed() {
    let Some(server) = Server::shared() else {
        return;
    };
    let folder = TempDir::new().unwrap();
    let path = full(folder.path()).await;
    common::sql(&path, REST).await;
    let url = killed_in_the_midst(server, folder.path()).await;
    common::sql(
        &path,
        "UPDATE match_players SET share = 0.3 + 1e-16 WHERE match_id = 4 AND seat = 1",
    )
    .await;
    for _ in 0..2 {
        let (code, out, err) = migrate(folder.path(), "evenkeel.db", &url);
        assert_eq!(code, 5, "{err}");
        assert!(err.contains("the table match_players differs"), "{err}");
        assert!(err.contains("cannot be used"), "{err}");
        let other: Vec<&str> = out
            .lines()
            .filter(|line| line.contains("TO has "))
            .collect();
        assert_eq!(other.len(), 1, "{out}");
        assert!(other[0].contains("match_players"), "{out}");
    }
}

/// Copies in transactions of a few rows, of which 1, then 2, 4, 8, … succeed before the task ends.
async fn transfer_in_pieces(from: &DatabaseUrl, to: &DatabaseUrl) -> usize {
    let patience = Duration::from_secs(20);
    for pieces in 0.. {
        let transfer = Transfer::open(from, to, patience).await.unwrap();
        let mut transfer = transfer.with_batches_of(100);
        let task = tokio::spawn(async move {
            let mut left = 1_usize << pieces;
            let copied = transfer.copy(|_| {
                left -= 1;
                assert!(left > 0, "this is where it ends");
            });
            copied.await.unwrap();
            transfer
        });
        if let Ok(mut transfer) = task.await {
            let compared = transfer.compare(|_| ()).await.unwrap();
            let unequal = compared.iter().filter(|table| !table.is_equal());
            assert_eq!(unequal.count(), 0, "{compared:?}");
            transfer.finish(false).await.unwrap();
            return pieces;
        }
    }
    unreachable!()
}

#[tokio::test]
async fn in_pieces_it_is_the_same() {
    let Some(server) = Server::shared() else {
        return;
    };
    let folder = TempDir::new().unwrap();
    let path = full(folder.path()).await;
    common::sql(&path, REST).await;
    let name = server.unused_name();
    server.create(&name).await;
    let (one, two) = (DatabaseUrl::File(path.clone()), server.place(&name));
    let back = folder.path().join("back.db");
    let pieces = transfer_in_pieces(&one, &two).await;
    assert!(pieces >= 5, "{pieces}");
    let pieces = transfer_in_pieces(&two, &DatabaseUrl::File(back.clone())).await;
    assert!(pieces >= 5, "{pieces}");
    assert_eq!(content(&back).await, content(&path).await);
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
    assert!(out.contains("no weights have been derived yet"), "{out}");
    let two = DatabaseUrl::File(folder.path().join("two.db"));
    let again = Transfer::open(&DatabaseUrl::File(path), &two, common::BUSY).await;
    assert!(
        matches!(again, Ok(_) | Err(TransferError::NotEmpty { .. })),
        "{again:?}"
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
        store.record(&record).await.unwrap();
    }
    store.close().await;
    let rebuild = |url: Option<&str>| {
        let mut command = evenkeel(folder.path());
        if let Some(url) = url {
            command.env("EVENKEEL_STORE_URL", url);
        }
        let output = command.arg("rebuild").output().unwrap();
        assert!(output.status.success(), "{output:?}");
    };
    rebuild(None);
    let here = store::open(&path, false, common::BUSY).await.unwrap();
    let known = weights(&here).await;
    here.close().await;
    let name = server.unused_name();
    server.create(&name).await;
    let url = server.url(&name);
    let (code, out, err) = migrate(folder.path(), "evenkeel.db", &url);
    assert_eq!((code, err.as_str()), (0, ""), "{out}");
    assert!(
        out.contains("with the character NUL, which PostgreSQL does not store"),
        "{out}"
    );
    assert!(out.contains(": all equal"), "{out}");
    rebuild(Some(&url));
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

/// PostgreSQL cannot keep a daemon from starting while its database is copied. The copy is then not the whole.
#[tokio::test]
async fn a_transfer_does_not_end_beside_a_daemon() {
    let Some(server) = Server::shared() else {
        return;
    };
    let folder = TempDir::new().unwrap();
    let name = server.unused_name();
    server.create(&name).await;
    let (place, patience) = (server.place(&name), Duration::from_secs(20));
    let daemon = store::open_at(&place, true, patience).await.unwrap();
    let to = DatabaseUrl::File(folder.path().join("new.db"));
    let mut transfer = Transfer::open(&place, &to, patience).await.unwrap();
    transfer.copy(|_| ()).await.unwrap();
    let lease = daemon.take_lease("fold", "late", patience).await.unwrap();
    let refused = transfer.finish(false).await.unwrap_err();
    assert!(matches!(refused, TransferError::InUse { .. }), "{refused}");
    let Taken::Yes(lease) = lease else {
        panic!("the lease is free");
    };
    daemon.give_back_lease(&lease).await.unwrap();
    // The source is in use as before; the target becomes usable once the command has run again.
    assert!(store::open_at(&place, false, patience).await.is_ok());
    assert!(store::open_at(&to, false, patience).await.is_err());
    let mut transfer = Transfer::open(&place, &to, patience).await.unwrap();
    transfer.copy(|_| ()).await.unwrap();
    transfer.finish(false).await.unwrap();
    assert!(store::open_at(&to, false, patience).await.is_ok());
}
