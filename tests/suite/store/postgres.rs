//! PostgreSQL beside SQLite: the same tables, the same weights; several daemons at once; a server that is away.

use std::{collections::BTreeSet, sync::Arc, time::Duration};

use evenkeel::{
    model::{
        Kind::{Bot, Human},
        MatchRecord,
        fingerprint::Fingerprint,
    },
    server::Service,
    store::{
        self, DatabaseUrl, Recorded, Store, StoreError, WeightRow,
        postgres::{PoolSettings, PostgresUrl},
    },
};
use sqlx::Connection;

use crate::common::{
    self, Client, Daemon,
    backends::{Backend, Postgres, Sqlite},
    game,
    postgres::Server,
};

/// Every column of every table and view, without those of the migrator.
async fn columns_of_sqlite(open: &Sqlite) -> BTreeSet<(String, String)> {
    let place = open.place("one").await;
    store::open_at(&place, true, common::BUSY)
        .await
        .unwrap()
        .close()
        .await;
    let url = format!("sqlite:{place}");
    let mut connection = sqlx::SqliteConnection::connect(&url).await.unwrap();
    let columns = "SELECT t.name, c.name FROM sqlite_schema t JOIN pragma_table_info(t.name) c
                   WHERE t.type IN ('table', 'view') AND t.name NOT LIKE 'sqlite%' AND t.name NOT LIKE '_sqlx%'";
    let columns = sqlx::query_as(columns).fetch_all(&mut connection);
    columns.await.unwrap().into_iter().collect()
}

#[tokio::test]
async fn both_databases_have_the_same_columns() {
    let Some(server) = Server::shared() else {
        return;
    };
    let name = server.unused_name();
    server.create(&name).await;
    let store = store::open_at(&server.place(&name), true, common::BUSY)
        .await
        .unwrap();
    store.close().await;
    let mut connection = server.connect(&name).await;
    let columns =
        "SELECT CAST(table_name AS TEXT), CAST(column_name AS TEXT) FROM information_schema.columns
                   WHERE table_schema = 'public' AND table_name NOT LIKE '\\_sqlx%'
                     AND table_name NOT IN ('daemons', 'requests', 'host_notices', 'queue_waits')"; // for several daemons
    let columns = sqlx::query_as(columns).fetch_all(&mut connection);
    let postgres: BTreeSet<(String, String)> = columns.await.unwrap().into_iter().collect();
    let sqlite = columns_of_sqlite(&Sqlite::new()).await;
    assert!(sqlite.len() > 200, "the search is broken: {sqlite:?}");
    let differences: Vec<_> = sqlite.symmetric_difference(&postgres).collect();
    assert!(differences.is_empty(), "{differences:?}");
}

/// Matches of changing teams, whose scores and lengths differ, some of which are draws or void.
fn season() -> Vec<MatchRecord> {
    let names = ["ann", "bob", "cid", "dora", "eve", "fay", "gus", "René"];
    let mut records = Vec::new();
    for number in 0..150_usize {
        let player = |seat: usize| {
            (
                Human,
                names[(number * 3 + seat * 5 + number / 7) % names.len()],
            )
        };
        let bot = (Bot, "Sarge");
        let scores = [((number * 7) % 5) as f64, ((number * 4) % 6) as f64];
        let minute = (number as i64 * 37) % 4_000;
        let red = [player(0), bot];
        let blue = [player(1)];
        if red[0] == blue[0] {
            continue;
        }
        let mut record = game(minute, &red, &blue, scores);
        record.server = format!("server {}", number % 3);
        if number % 4 == 0 {
            record.game_type = "tdm".into();
        }
        records.push(record);
    }
    records
}

/// The weights that a service learns from these matches, which it gets in this order.
async fn learned(store: Arc<Store>, records: &[MatchRecord]) -> Vec<WeightRow> {
    let config = common::config("rating.min_seconds = 0\n");
    let service = Service::open(store, config.service()).unwrap();
    for part in records.chunks(40) {
        for record in part {
            service.store().matches().record(record).await.unwrap();
        }
        service.learning().refresh().await.unwrap();
    }
    common::weights(service.store()).await
}

fn bits(weights: &[WeightRow]) -> Vec<(String, String, u64, u64, u32)> {
    let bits = |row: &WeightRow| {
        let (weight, deviation) = (row.weight.to_bits(), row.deviation.to_bits());
        (
            row.ruleset.clone(),
            row.key.id.clone(),
            weight,
            deviation,
            row.games,
        )
    };
    weights.iter().map(bits).collect()
}

#[tokio::test]
async fn the_same_matches_give_the_same_bits() {
    let Some(postgres) = Postgres::shared() else {
        return;
    };
    let (sqlite, mut records) = (Sqlite::new(), season());
    let expected = learned(sqlite.database("one").await, &records).await;
    assert!(expected.len() >= 16, "{}", expected.len());
    let found = learned(postgres.database("one").await, &records).await;
    assert_eq!(found, expected);
    assert_eq!(bits(&found), bits(&expected));
    // In another order, and rebuilt: the same weights.
    records.reverse();
    let store = postgres.database("two").await;
    assert_eq!(
        bits(&learned(store.clone(), &records).await),
        bits(&expected)
    );
    let config = common::config("rating.min_seconds = 0\n");
    let service = Service::open(store, config.service()).unwrap();
    service.learning().rebuild(|_| {}).await.unwrap();
    assert_eq!(
        bits(&common::weights(service.store()).await),
        bits(&expected)
    );
}

#[tokio::test]
async fn a_match_that_several_daemons_report_at_once_is_one() {
    let Some(postgres) = Postgres::shared() else {
        return;
    };
    let mut daemons = Vec::new();
    for _ in 0..3 {
        daemons.push(postgres.database("one").await);
    }
    let records = season();
    let all = records.iter().enumerate().flat_map(|(number, record)| {
        let record = Arc::new(record.clone());
        daemons
            .iter()
            .map(move |daemon| (number, daemon.clone(), record.clone()))
    });
    let mut tasks = tokio::task::JoinSet::new();
    for (number, daemon, record) in all {
        tasks.spawn(async move {
            // A daemon has one writer: others wait for it, for longer than a test with this many likes.
            loop {
                match daemon.matches().record(&record).await {
                    Ok(recorded) => return (number, recorded),
                    Err(error) => assert!(!error.is_of_record(), "{error}"),
                }
            }
        });
    }
    let mut ids = vec![BTreeSet::new(); records.len()];
    let mut new = 0;
    while let Some(done) = tasks.join_next().await {
        let (number, recorded) = done.unwrap();
        new += usize::from(matches!(recorded, Recorded::New(_)));
        ids[number].insert(recorded.id());
    }
    assert_eq!(new, records.len());
    assert!(ids.iter().all(|ids| ids.len() == 1), "{ids:?}");
    let count = i64::try_from(records.len()).unwrap();
    assert_eq!(daemons[0].matches().extent().await.unwrap().0, count);
}

#[tokio::test]
async fn text_that_postgresql_cannot_store_is_replaced_and_still_known() {
    let Some(postgres) = Postgres::shared() else {
        return;
    };
    let store = postgres.database("one").await;
    let mut record = game(5, &[(Human, "a\0b")], &[(Human, "c")], [2.0, 1.0]);
    record.map = "\0".into();
    let Recorded::New(id) = store.matches().record(&record).await.unwrap() else {
        panic!()
    };
    assert_eq!(
        store.matches().record(&record).await.unwrap(),
        Recorded::Duplicate(id)
    );
    let stored = store.matches().match_with_id(id).await.unwrap().unwrap();
    assert_eq!(stored.record.participants[0].key.id, "a\u{fffd}b");
    assert_eq!(stored.record.map, "\u{fffd}");
    assert_eq!(stored.fingerprint, Fingerprint::of(&record));
    // Two players who would become one.
    let players = [(Human, "a\0b"), (Human, "a\u{fffd}b")];
    let two = game(9, &players, &[(Human, "c")], [2.0, 1.0]);
    let id = store.matches().record(&two).await.unwrap().id();
    let stored = store
        .matches()
        .match_with_id(id)
        .await
        .unwrap()
        .unwrap()
        .record;
    let ids: Vec<&str> = stored.participants.iter().map(|p| &*p.key.id).collect();
    assert_eq!(ids, ["a\u{fffd}b\u{fffd}", "a\u{fffd}b", "c"]);
}

#[tokio::test]
async fn a_database_that_is_no_place_for_this_is_refused() {
    let Some(server) = Server::shared() else {
        return;
    };
    let open = async |name: &str, create| {
        store::open_at(&server.place(name), create, Duration::from_secs(5)).await
    };
    let name = server.unused_name();
    let error = open(&name, true).await.unwrap_err().to_string();
    assert!(error.contains("cannot be opened"), "{error}");
    server.create(&name).await;
    let error = open(&name, false).await.unwrap_err();
    assert!(matches!(error, StoreError::Empty { .. }), "{error}");
    let error = error.to_string();
    let words = " is empty: `evenkeel serve` or `evenkeel ingest` begins it";
    assert!(
        error.starts_with("postgres://") && error.ends_with(words),
        "{error}"
    );
    let mut other = server.connect(&name).await;
    let table = sqlx::query("CREATE TABLE guests (name TEXT)");
    table.execute(&mut other).await.unwrap();
    let error = open(&name, true).await.unwrap_err().to_string();
    assert!(
        error.contains("is a database of another program"),
        "{error}"
    );
    let table = sqlx::query("DROP TABLE guests");
    table.execute(&mut other).await.unwrap();
    open(&name, true).await.unwrap().close().await;
    let newer = sqlx::query(
        "INSERT INTO _sqlx_migrations (version, description, success, checksum, execution_time)
         VALUES (9000, 'later', TRUE, '', 0)",
    );
    newer.execute(&mut other).await.unwrap();
    let error = open(&name, true).await.unwrap_err().to_string();
    assert!(
        error
            .contains("was written by a newer Evenkeel: it has migration 9000, and this version, "),
        "{error}"
    );
    let older = sqlx::query("UPDATE _sqlx_migrations SET checksum = '' WHERE version = 1");
    older.execute(&mut other).await.unwrap();
    let error = open(&name, true).await.unwrap_err().to_string();
    assert!(
        error.contains("was written by a version before 0.3"),
        "{error}"
    );
}

#[tokio::test]
async fn a_user_without_rights_is_told_which() {
    let Some(server) = Server::shared() else {
        return;
    };
    let name = server.unused_name();
    server.create(&name).await;
    let mut owner = server.connect(&name).await;
    for statement in [
        "DO $$ BEGIN CREATE ROLE guest LOGIN; EXCEPTION WHEN duplicate_object THEN NULL; END $$",
        "REVOKE CREATE ON SCHEMA public FROM PUBLIC",
    ] {
        sqlx::query(statement).execute(&mut owner).await.unwrap();
    }
    let url = server.url(&name).replace("user=evenkeel", "user=guest");
    let settings = PoolSettings {
        connect: Duration::from_secs(20),
        ..PoolSettings::default()
    };
    let place = DatabaseUrl::Server(PostgresUrl::parse(&url).unwrap(), settings);
    let error = store::open_at(&place, true, Duration::from_secs(5)).await;
    let error = error.unwrap_err().to_string();
    assert!(
        error.contains("the database user lacks a right: permission denied for schema public. The user must own"),
        "{error}"
    );
}

#[tokio::test]
async fn while_the_server_is_away_weights_are_answered_and_results_are_kept() {
    let Some(server) = Server::start() else {
        return;
    };
    server.create("league").await;
    let place = server.place("league");
    let store = store::open_at(&place, true, Duration::from_secs(1))
        .await
        .unwrap();
    for minute in [0, 20, 40] {
        let record = game(minute, &[(Human, "ann")], &[(Human, "bob")], [3.0, 1.0]);
        store.matches().record(&record).await.unwrap();
    }
    let config = common::config("rating.min_seconds = 0");
    let service = Arc::new(Service::open(store, config.service()).unwrap());
    service.learning().refresh().await.unwrap();
    let folder = tempfile::TempDir::new().unwrap();
    let learning = service.learning().clone();
    let keeps_up = tokio::spawn(async move { learning.keep_up_to_date().await });
    let daemon = Daemon::serve(service, folder, config.server.limits).await;
    let mut client = daemon.client().await;
    let teams = "JOIN ann team=0\nJOIN bob team=1\n";
    client
        .tell(&format!("GAME ctf\nMINPLAYERS 0\n{teams}START\nSCORE 0\n"))
        .await;
    let weight = client.ask("PLAYER ann\n").await;
    assert!(weight.starts_with("PLAYER ann "), "{weight}");

    server.control(&["-m", "immediate", "stop"]);
    assert_eq!(client.ask("PLAYER ann\n").await, weight);
    assert_eq!(client.ask("END\n").await, "ERROR internal kept");
    assert_eq!(client.ask("PLAYER ann\n").await, weight);
    server.control(&["start"]);

    let ended = async {
        loop {
            let reply = client.ask("END\n").await;
            if reply != "ERROR internal kept" {
                return reply;
            }
        }
    };
    let reply = tokio::time::timeout(Duration::from_secs(60), ended).await;
    // After a crash, PostgreSQL skips some numbers.
    let reply = reply.unwrap();
    let id = reply
        .strip_prefix("END ")
        .and_then(|end| end.strip_suffix(" recorded"));
    assert!(id.unwrap().parse::<i64>().unwrap() >= 4, "{reply}");
    let (matches, _) = daemon.service.store().matches().extent().await.unwrap();
    assert_eq!(matches, 4);
    // The stream of changes works again, too: another process records a match.
    let other_than = async |known: String| {
        let mut found = known.clone();
        common::until(async || {
            let mut client = Client::connect(daemon.address).await;
            client.tell("GAME ctf\n").await;
            found = client.ask("PLAYER ann\n").await;
            found != known
        })
        .await;
        found
    };
    let weight = other_than(weight).await;
    let patience = Duration::from_secs(5);
    let elsewhere = store::open_at(&place, true, patience).await.unwrap();
    let record = game(60, &[(Human, "ann")], &[(Human, "bob")], [0.0, 3.0]);
    elsewhere.matches().record(&record).await.unwrap();
    other_than(weight).await;
    keeps_up.abort();
}
