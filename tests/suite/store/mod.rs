//! The database: records survive storing and reading, the same match is stored once, and errors
//! name the fault of a file.

mod backup;
mod experiments;
mod leases;
mod migrate;
mod operator_export;
mod operator_import;
mod operator_sql;
mod postgres;
mod postgres_wire;
mod read_models;
mod recording;
mod requests;
mod story;
mod tickets;
mod weights;

use std::{fs, path::Path, sync::Arc, time::Duration};

use crate::{
    common::{self, BUSY, backends::rows, checkpoints, draw::Draw, game, service, until, weights},
    store::story::full,
};
use evenkeel::{
    learning::AT_ONCE,
    model::{
        Kind::{Bot, Human},
        MatchRecord, PlayerKey, Timestamp,
        fingerprint::Fingerprint,
        match_chances::MatchChances,
    },
    store::{self, Cursor, Store, StoreError},
};
use tempfile::TempDir;

async fn store() -> (Arc<Store>, TempDir) {
    let folder = TempDir::new().unwrap();
    let store = store::open(&folder.path().join("test.db"), true, BUSY)
        .await
        .unwrap();
    (store, folder)
}

#[tokio::test]
async fn weights_are_the_same_bits_in_whatever_order_the_matches_came() {
    let config = common::config("[rating]\nwindow = 3");
    let names = ["a", "b", "c", "d"];
    let mut games = Vec::new();
    for n in 0..12usize {
        let (one, other) = (names[n % 4], names[(n * 7 + 1) % 4]);
        if one != other {
            let scores = [(n % 5) as f64, (n % 3) as f64];
            games.push(game(
                n as i64 * 3,
                &[(Human, one), (Bot, "x")],
                &[(Human, other)],
                scores,
            ));
        }
    }
    let bits = |rows: Vec<evenkeel::store::WeightRow>| {
        let key = |row: evenkeel::store::WeightRow| {
            (
                row.ruleset,
                row.key,
                row.weight.to_bits(),
                row.games,
                row.last_seen,
            )
        };
        rows.into_iter().map(key).collect::<Vec<_>>()
    };
    let mut results = Vec::new();
    for shuffle in 0..4usize {
        let (service, _folder) = service(&config).await;
        let mut order = games.clone();
        order.rotate_left(shuffle * 2);
        if shuffle % 2 == 1 {
            order.reverse();
        }
        for (n, game) in order.iter().enumerate() {
            service.store().matches().record(game).await.unwrap();
            // One at a time, in groups, or all at the end.
            if n % (shuffle + 1) == 0 {
                service.learning().refresh().await.unwrap();
            }
        }
        service.learning().refresh().await.unwrap();
        let learned = bits(weights(service.store()).await);
        let rebuilt = service.learning().rebuild(|_| ()).await.unwrap();
        assert_eq!(rebuilt.matches, games.len() as u64);
        assert_eq!(
            bits(weights(service.store()).await),
            learned,
            "a rebuild changes nothing"
        );
        results.push(learned);
    }
    assert!(results[0].len() > 4);
    assert!(results.iter().all(|result| *result == results[0]));
}

#[tokio::test]
async fn a_change_of_configuration_is_noticed() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("test.db");
    let open = async |toml: &str| {
        let store = store::open(&path, true, BUSY).await.unwrap();
        evenkeel::server::Service::open(store, common::config(toml).service()).unwrap()
    };
    let first = open("rating.system = 'presence'").await;
    first
        .store()
        .matches()
        .record(&game(0, &[(Human, "a")], &[(Human, "b")], [3.0, 0.0]))
        .await
        .unwrap();
    assert!(first.learning().refresh().await.unwrap());
    assert!(!first.learning().refresh().await.unwrap(), "nothing new");
    let before = weights(first.store()).await[0].weight;
    first.close().await;
    let second = open("[rating]\nsystem = 'presence'\nprior = 8.0").await;
    assert!(second.learning().refresh().await.unwrap());
    assert_ne!(weights(second.store()).await[0].weight, before);
}

#[tokio::test]
async fn who_shares_a_database_with_another_configuration_does_not_fight_it() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("test.db");
    let open = async |toml: &str| {
        let store = store::open(&path, true, Duration::from_secs(30))
            .await
            .unwrap();
        let settings = common::config(&format!("rating.system = 'presence'\n{toml}")).service();
        Arc::new(evenkeel::server::Service::open(store, settings).unwrap())
    };
    let (one, two) = (open("").await, open("rating.prior = 8.0").await);
    two.learning().leave_to_daemons(two.leases().clone());
    one.store()
        .matches()
        .record(&game(0, &[(Human, "a")], &[(Human, "b")], [4.0, 0.0]))
        .await
        .unwrap();
    assert!(two.learning().refresh().await.unwrap());
    let written = async || weights(one.store()).await[0].weight;
    assert_eq!(written().await, 100.0 * 8.0 / 12.0);
    // A daemon takes over the tables.
    one.learning().write_by_lease(one.leases().clone());
    let watch = tokio::spawn({
        let one = one.clone();
        async move { one.learning().keep_up_to_date().await }
    });
    until(async || written().await == 75.0).await;
    // As long as it runs, commands leave the tables to it, and wait for it.
    two.store()
        .matches()
        .record(&game(20, &[(Human, "a")], &[(Human, "b")], [4.0, 0.0]))
        .await
        .unwrap();
    assert!(two.learning().refresh().await.unwrap());
    let of_one = written().await;
    assert!(of_one > 75.0);
    two.learning().rebuild(|_| ()).await.unwrap();
    assert_eq!(written().await, of_one);
    watch.abort();
    let _ = watch.await;
    one.learning().end().await.unwrap();
    // It has ended: the next command takes them over.
    assert!(two.learning().refresh().await.unwrap());
    assert!(written().await < of_one);
}

/// A process ends while it writes all rows, some at a time.
#[tokio::test]
async fn rows_that_were_being_written_when_a_process_ended_are_written_again() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("test.db");
    let one = reopened(&path, "").await;
    one.store()
        .matches()
        .record_all(&season(0..300))
        .await
        .unwrap();
    one.learning().refresh().await.unwrap();
    let performances = async || -> Vec<(i64, i64, f64)> {
        let all = "SELECT match_id, seat, weight FROM performances ORDER BY match_id, seat";
        rows(&path, all).await
    };
    let before = (performances().await, weights(one.store()).await);
    assert_eq!(before.0.len(), 1_200);
    one.close().await;
    common::sql(
        &path,
        "DELETE FROM performances WHERE match_id % 3 = 0; DELETE FROM weights WHERE player = 'a';
         UPDATE weights SET weight = 1 WHERE player = 'b'; INSERT INTO persons (kind, player, handle) VALUES ('bot', 'z', 'zz');
         UPDATE state SET text = 'unfinished 0123456789abcdef' WHERE name = 'learned'",
    )
    .await;
    let two = reopened(&path, "").await;
    two.learning().resume(AT_ONCE).await.unwrap();
    assert!(two.learning().refresh().await.unwrap());
    let after = (performances().await, weights(two.store()).await);
    assert_eq!(after, before);
    let persons: Vec<(i64,)> = rows(&path, "SELECT count(*) FROM persons").await;
    assert_eq!(persons, [(4,)]);
    assert!(!two.learning().refresh().await.unwrap());
}

/// Opens a service over a database that others have closed.
async fn reopened(path: &Path, toml: &str) -> evenkeel::server::Service {
    let store = store::open(path, true, BUSY).await.unwrap();
    let settings = common::config(toml).service();
    let service = evenkeel::server::Service::open(store, settings).unwrap();
    service.learning().keep_beside(path);
    service
}

/// Matches of four players; those with lower numbers are stronger.
fn season(minutes: std::ops::Range<i64>) -> Vec<(MatchRecord, Fingerprint)> {
    let one = |minute: i64| {
        let other = [(Human, "c"), (Human, "d")];
        let scores = [3.0, if minute % 4 == 0 { 5.0 } else { 1.0 }];
        let record = game(15 * minute, &[(Human, "a"), (Human, "b")], &other, scores);
        let fingerprint = Fingerprint::of(&record);
        (record, fingerprint)
    };
    minutes.map(one).collect()
}

/// Of a match with 14 players, the database has its record, a row for each player, and what was learned: nothing twice.
#[tokio::test]
async fn a_match_of_fourteen_takes_little_room() {
    const MATCHES: i64 = 1_500;
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("test.db");
    let service = reopened(&path, "rating.system = 'elo'").await;
    let mut draw = Draw(1);
    let mut names: Vec<String> = (0..244).map(|n| format!("p{n:05}")).collect();
    let mut played = |n: i64| {
        draw.shuffle(&mut names);
        let seats: Vec<_> = names.iter().map(|name| (Human, name.as_str())).collect();
        let record = game(30 * n, &seats[..7], &seats[7..14], [1.0, 0.0]);
        let fingerprint = Fingerprint::of(&record);
        (record, fingerprint)
    };
    let season: Vec<_> = (0..MATCHES).map(&mut played).collect();
    let empty = fs::metadata(&path).unwrap().len();
    service.store().matches().record_all(&season).await.unwrap();
    service.learning().refresh().await.unwrap();
    service.close().await;
    let bytes = fs::metadata(&path).unwrap().len().saturating_sub(empty) / MATCHES as u64;
    assert!((1_000..2_500).contains(&bytes), "{bytes} bytes a match");
}

fn known(service: &evenkeel::server::Service) -> Option<u64> {
    let ruleset = service.learning().rulebook().ruleset::<&str>("ctf", &[]);
    let view = service.learning().standings().view(&ruleset);
    view.human("a").map(f64::to_bits)
}

#[tokio::test]
async fn a_restart_continues_from_the_checkpoint_to_the_same_bits() {
    for system in ["joint", "hive-history", "auto"] {
        let folder = TempDir::new().unwrap();
        let path = folder.path().join("test.db");
        let toml = format!("rating.system = '{system}'");
        let first = reopened(&path, &toml).await;
        first
            .store()
            .matches()
            .record_all(&season(0..60))
            .await
            .unwrap();
        first.learning().refresh().await.unwrap();
        let before = known(&first).unwrap();
        assert_eq!(checkpoints(&path).len(), 1);
        // Matches that no checkpoint contains, as after a crash.
        first
            .store()
            .matches()
            .record_all(&season(60..90))
            .await
            .unwrap();
        first.close().await;
        let second = reopened(&path, &toml).await;
        assert_eq!(known(&second), None);
        second.learning().resume(0).await.unwrap();
        assert_eq!(
            known(&second),
            Some(before),
            "at once, before anything is folded"
        );
        assert!(second.learning().is_deriving() && !second.learning().is_starting());
        // A daemon folds these matches before anybody can ask.
        second.learning().resume(AT_ONCE).await.unwrap();
        let resumed = known(&second);
        assert!(resumed != Some(before) && !second.learning().is_deriving());
        second.learning().refresh().await.unwrap();
        let rows = weights(second.store()).await;
        assert_eq!(known(&second), resumed);
        // The program also writes one when it ends.
        let stored = checkpoints(&path);
        second.learning().save_checkpoint().await.unwrap();
        assert_ne!(checkpoints(&path), stored);
        second.learning().rebuild(|_| ()).await.unwrap();
        assert_eq!(
            (known(&second), weights(second.store()).await),
            (resumed, rows)
        );
    }
}

/// A match of many players.
fn crowd(minute: i64) -> (MatchRecord, Fingerprint) {
    let names: Vec<String> = (0..80).map(|number| format!("p{number}")).collect();
    let all: Vec<_> = names.iter().map(|name| (Human, name.as_str())).collect();
    let (red, blue) = all.split_at(40);
    let record = game(15 * minute, red, blue, [2.0, 1.0]);
    let fingerprint = Fingerprint::of(&record);
    (record, fingerprint)
}

#[tokio::test]
async fn a_checkpoint_in_doubt_is_thrown_away() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("test.db");
    let first = reopened(&path, "").await;
    first
        .store()
        .matches()
        .record_all(&season(10..40))
        .await
        .unwrap();
    first
        .store()
        .matches()
        .record_all(&[crowd(9)])
        .await
        .unwrap();
    first.learning().refresh().await.unwrap();
    // A match that is earlier than the last one.
    first
        .store()
        .matches()
        .record_all(&season(0..1))
        .await
        .unwrap();
    first.close().await;
    let second = reopened(&path, "").await;
    second.learning().refresh().await.unwrap();
    let all = (known(&second), weights(second.store()).await);
    second.learning().save_checkpoint().await.unwrap();
    let [.., newest] = &checkpoints(&path)[..] else {
        panic!("there is none");
    };
    assert!(newest.starts_with("000000000032-"), "{newest}");
    let newest = path.with_extension("learned").join(newest);
    second.close().await;
    let whole = std::fs::read(&newest).unwrap();
    let flipped = [&whole[..999], &[!whole[999]], &whole[1_000..]].concat();
    for damage in [
        &whole[..4],
        &whole[1..],
        &whole[..whole.len() - 1],
        &flipped,
    ] {
        std::fs::write(&newest, damage).unwrap();
        let third = reopened(&path, "").await;
        third.learning().resume(AT_ONCE).await.unwrap();
        assert_eq!(known(&third), all.0, "all matches are folded again");
        assert!(third.learning().refresh().await.is_ok_and(|wrote| !wrote));
        assert_eq!((known(&third), weights(third.store()).await), all);
        third.learning().rebuild(|_| ()).await.unwrap();
        assert_eq!((known(&third), weights(third.store()).await), all);
        third.close().await;
    }
}

/// Somebody restores a backup, and makes another match void than in the original: both databases have changed as often, and
/// their last matches are the same.
#[tokio::test]
async fn a_restored_database_is_not_that_of_the_checkpoint() {
    let folder = TempDir::new().unwrap();
    let [original, copy] = ["original.db", "copy.db"].map(|name| folder.path().join(name));
    let service = reopened(&original, "").await;
    service
        .store()
        .matches()
        .record_all(&season(0..90))
        .await
        .unwrap();
    service.learning().refresh().await.unwrap();
    service.close().await;
    std::fs::copy(&original, &copy).unwrap();
    for (path, void) in [(&original, 1), (&copy, 70)] {
        let service = reopened(path, "").await;
        assert_eq!(
            service
                .store()
                .corrections()
                .set_void(&[void], true)
                .await
                .unwrap(),
            1
        );
        if void == 1 {
            service.learning().refresh().await.unwrap();
            service.learning().save_checkpoint().await.unwrap();
        }
        service.close().await;
    }
    std::fs::rename(
        original.with_extension("learned"),
        copy.with_extension("learned"),
    )
    .unwrap();
    let service = reopened(&copy, "").await;
    service.learning().resume(AT_ONCE).await.unwrap();
    let served = known(&service);
    service.learning().rebuild(|_| ()).await.unwrap();
    assert_eq!(known(&service), served);
    service.close().await;
    let service = reopened(&original, "").await;
    service.learning().resume(AT_ONCE).await.unwrap();
    assert_ne!(known(&service), served);
}

/// No checkpoint keeps what was learned of a player who was forgotten since.
#[tokio::test]
async fn who_is_forgotten_is_in_no_checkpoint() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("test.db");
    let service = reopened(&path, "").await;
    service
        .store()
        .matches()
        .record_all(&season(0..80))
        .await
        .unwrap();
    service.learning().refresh().await.unwrap();
    let before = checkpoints(&path);
    assert_eq!(before.len(), 1);
    let gone = PlayerKey {
        kind: Human,
        id: "a".into(),
    };
    service
        .store()
        .corrections()
        .forget_player(&gone, Timestamp(0))
        .await
        .unwrap();
    service.close().await;
    // Another daemon, which was not there when the player was forgotten.
    let service = reopened(&path, "").await;
    service.learning().resume(0).await.unwrap();
    assert_eq!(checkpoints(&path), [""; 0]);
    service.learning().refresh().await.unwrap();
    assert!(checkpoints(&path).iter().all(|name| !before.contains(name)));
}

#[tokio::test]
async fn after_a_change_of_settings_the_old_weights_are_served_until_the_new_are_there() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("test.db");
    let first = reopened(&path, "rating.system = 'elo'").await;
    first
        .store()
        .matches()
        .record_all(&season(0..40))
        .await
        .unwrap();
    first.learning().refresh().await.unwrap();
    let old = known(&first);
    first.close().await;
    let second = reopened(&path, "rating.system = 'presence'").await;
    second.learning().resume(0).await.unwrap();
    assert_eq!(known(&second), old);
    second.learning().refresh().await.unwrap();
    let new = known(&second);
    assert_ne!(new, old);
    second.learning().rebuild(|_| ()).await.unwrap();
    assert_eq!(known(&second), new);
}

#[tokio::test]
async fn before_the_first_weights_questions_about_them_are_refused() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("test.db");
    let first = reopened(&path, "").await;
    first
        .store()
        .matches()
        .record_all(&season(0..40))
        .await
        .unwrap();
    first.close().await; // before anybody learned from them
    let second = reopened(&path, "").await;
    second.learning().resume(0).await.unwrap();
    let ident = |text: &str| evenkeel::model::ident::Ident::from_text(text);
    let mut session = second.open_session();
    let begin = session.new_game(&ident("ctf"));
    session.apply(&begin).unwrap();
    let refused = |error| matches!(error, evenkeel::session::SessionError::NotReady);
    assert!(refused(session.player(&ident("a")).unwrap_err()));
    assert!(refused(session.bot(&ident("x")).unwrap_err()));
    assert!(refused(session.balance(None, Some(1)).await.unwrap_err()));
    second.learning().refresh().await.unwrap();
    assert!(session.player(&ident("a")).unwrap().is_some());
}

#[tokio::test]
async fn the_views_answer_an_operator() {
    let (service, folder) = service(&common::config("rating.system = 'presence'")).await;
    service
        .store()
        .matches()
        .record(&game(
            0,
            &[(Human, "ann"), (Bot, "x")],
            &[(Human, "bob")],
            [3.0, 1.0],
        ))
        .await
        .unwrap();
    service
        .store()
        .matches()
        .record(&game(20, &[(Human, "ann")], &[], [0.0, 0.0]))
        .await
        .unwrap();
    service.learning().refresh().await.unwrap();
    let url = format!("sqlite://{}", folder.path().join("test.db").display());
    let pool = sqlx::SqlitePool::connect(&url).await.unwrap();
    let board: Vec<(String, String, Option<i64>, String, f64, i64)> = sqlx::query_as(
        "SELECT ruleset, kind, place, player, weight, wins FROM leaderboard WHERE kind = 'human'",
    )
    .fetch_all(&pool)
    .await
    .unwrap();
    let row = |player: &str, weight, wins| {
        let (ruleset, kind) = ("ctf".to_owned(), "human".to_owned());
        (ruleset, kind, None, player.to_owned(), weight, wins)
    };
    assert_eq!(board, [row("ann", 62.5, 1), row("bob", 37.5, 0)]);
    type Row = (String, Option<f64>, Option<f64>, f64, Option<String>);
    let history: Vec<Row> = sqlx::query_as(
        "SELECT scores, points_for, points_against, minutes, unrated FROM player_history WHERE player = 'ann'",
    )
    .fetch_all(&pool)
    .await
    .unwrap();
    assert_eq!(
        history,
        [
            ("3:1".into(), Some(3.0), Some(1.0), 10.0, None),
            ("0:0".into(), None, None, 10.0, Some("team-empty".into())),
        ]
    );
}

/// The texts of an error and of its causes.
fn words(error: &StoreError) -> String {
    let mut words = error.to_string();
    let mut cause: Option<&dyn std::error::Error> = std::error::Error::source(error);
    while let Some(error) = cause {
        words.push_str(&format!(": {error}"));
        cause = error.source();
    }
    words
}

async fn refusal(path: &Path) -> String {
    let error = store::open(path, true, BUSY).await.unwrap_err();
    words(&error)
}

#[tokio::test]
async fn a_file_that_is_no_database_is_left_alone() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("notes.txt");
    let text = "not a database, but long enough to look like one. ".repeat(100);
    std::fs::write(&path, &text).unwrap();
    assert!(
        refusal(&path)
            .await
            .contains("damaged, or is not an SQLite database")
    );
    assert_eq!(std::fs::read_to_string(&path).unwrap(), text);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_new_database_can_be_opened_by_many_at_once() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("test.db");
    let open = |_| {
        let path = path.clone();
        tokio::spawn(async move { store::open(&path, true, Duration::from_secs(30)).await })
    };
    for opened in (0..8).map(open).collect::<Vec<_>>() {
        opened.await.unwrap().unwrap();
    }
}

#[tokio::test]
async fn a_damaged_database_is_named() {
    let (store, folder) = store().await;
    store.matches().record(&full()).await.unwrap();
    store.close().await;
    let path = folder.path().join("test.db");
    let mut bytes = std::fs::read(&path).unwrap();
    for byte in &mut bytes[100..4_000] {
        *byte ^= 0x5a;
    }
    std::fs::write(&path, bytes).unwrap();
    assert!(refusal(&path).await.contains("damaged"));
}

#[tokio::test]
async fn somebody_elses_database_is_left_alone() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("other.db");
    let url = format!("sqlite://{}?mode=rwc", path.display());
    let pool = sqlx::SqlitePool::connect(&url).await.unwrap();
    sqlx::query("CREATE TABLE theirs (x)")
        .execute(&pool)
        .await
        .unwrap();
    pool.close().await;
    assert!(refusal(&path).await.contains("another program"));
}

#[tokio::test]
async fn a_newer_database_is_left_alone() {
    let (store, folder) = store().await;
    store.close().await;
    let path = folder.path().join("test.db");
    let url = format!("sqlite://{}", path.display());
    let pool = sqlx::SqlitePool::connect(&url).await.unwrap();
    let newer =
        "INSERT INTO _sqlx_migrations (version, description, success, checksum, execution_time)
                 VALUES (9999, 'the future', 1, x'00', 0)";
    sqlx::query(newer).execute(&pool).await.unwrap();
    pool.close().await;
    assert!(
        refusal(&path)
            .await
            .contains("newer Evenkeel: it has migration 9999, and this version, ")
    );
}

#[tokio::test]
async fn an_older_database_is_refused_with_the_commands_that_bring_it_over() {
    let (store, folder) = store().await;
    store.close().await;
    let path = folder.path().join("test.db");
    // The migrations of 0.2, of which the first had the same number.
    let older = "UPDATE _sqlx_migrations SET checksum = x'00';
        INSERT INTO _sqlx_migrations (version, description, success, checksum, execution_time)
        VALUES (2, 'decisions', 1, x'00', 0), (22, 'accounts', 1, x'00', 0)";
    common::sql(&path, older).await;
    let said = refusal(&path).await;
    for part in [
        "was written by a version before 0.3",
        "with the last 0.2, `evenkeel export --operator all.jsonl`",
        "and a new database, `evenkeel ingest all.jsonl`",
        "Open tickets and running games stay behind",
    ] {
        assert!(said.contains(part), "{said}");
    }
}

#[tokio::test]
async fn a_database_that_is_not_there_is_only_made_by_those_who_may() {
    let folder = TempDir::new().unwrap();
    let missing = folder.path().join("no.db");
    let error = store::open(&missing, false, BUSY).await.unwrap_err();
    assert!(words(&error).contains("there is no database"));
    assert!(!missing.exists());
    assert!(
        refusal(&folder.path().join("no/such/folder.db"))
            .await
            .contains("no/such does not exist")
    );
}

#[tokio::test]
async fn rows_changed_by_hand_are_an_error_and_no_panic() {
    let (store, folder) = store().await;
    store.matches().record(&full()).await.unwrap();
    let url = format!("sqlite://{}", folder.path().join("test.db").display());
    let pool = sqlx::SqlitePool::connect(&url).await.unwrap();
    for spoil in [
        "UPDATE matches SET ended_at = '9000000000000000000'",
        "UPDATE matches SET record = substr(record, 1, length(record) - 1)",
        "UPDATE matches SET record = zeroblob(200)",
        "UPDATE matches SET record = x''",
    ] {
        let mut tx = pool.begin().await.unwrap();
        sqlx::query(spoil).execute(&mut *tx).await.unwrap();
        tx.commit().await.unwrap();
        assert!(
            store.matches().after(Cursor::START, 10).await.is_err(),
            "{spoil}"
        );
    }
}

#[tokio::test]
async fn a_database_that_has_lost_its_content_does_not_begin_anew() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("test.db");
    std::fs::write(&path, "").unwrap();
    // A file that was only created, as by `touch`.
    let store = store::open(&path, true, BUSY).await.unwrap();
    let lasts = Duration::from_secs(60);
    store.take_lease("fold", "one", lasts).await.unwrap();
    store.close().await;
    drop(store);
    std::fs::write(&path, "").unwrap();
    for create in [false, true] {
        let error = store::open(&path, create, BUSY).await.unwrap_err();
        let said = error.to_string();
        assert!(matches!(error, StoreError::Emptied { .. }), "{said}");
        assert!(said.contains("test.db has 0 bytes"), "{said}");
        assert!(said.contains("test.db-lease shows"), "{said}");
    }
    assert_eq!(
        std::fs::metadata(&path).unwrap().len(),
        0,
        "nothing was changed"
    );
    std::fs::remove_file(folder.path().join("test.db-lease")).unwrap();
    store::open(&path, true, BUSY).await.unwrap();
}

#[tokio::test]
async fn a_connection_that_is_opened_later_makes_no_new_file() {
    let (store, folder) = store().await;
    let path = folder.path().join("test.db");
    fs::remove_file(&path).unwrap();
    // More readers at a time than there are connections so far.
    let reading = (0..8).map(|_| store.matches().extent());
    let found = futures_util::future::join_all(reading).await;
    assert!(found.iter().any(Result::is_err), "one had to be opened");
    assert!(!path.exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn games_that_end_while_the_database_is_locked_wait_for_it_together() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("test.db");
    let patience = Duration::from_millis(300);
    let store = store::open(&path, true, patience).await.unwrap();
    let options = sqlx::sqlite::SqliteConnectOptions::new().filename(&path);
    let mut other = sqlx::ConnectOptions::connect(&options).await.unwrap();
    let lock = sqlx::query("BEGIN IMMEDIATE");
    lock.execute(&mut other).await.unwrap();
    let record = |game: i64| {
        let store = store.clone();
        let players = format!("p{game}");
        async move {
            let record = self::game(game, &[(Human, &players)], &[(Human, "b")], [1.0, 0.0]);
            store
                .matches()
                .record_game(&record, &MatchChances::default(), game)
                .await
        }
    };
    let all = futures_util::future::join_all((1..=100).map(record)).await;
    let locked = |error: &StoreError| error.to_string().contains("locked");
    assert!(all.iter().all(|one| one.as_ref().is_err_and(locked)));
    let tries = store.metrics().unwrap().failures();
    assert!(
        tries <= 3,
        "{tries} times, each of them waited for the lock"
    );
    sqlx::query("ROLLBACK").execute(&mut other).await.unwrap();
    let all = futures_util::future::join_all((1..=100).map(record)).await;
    assert!(all.iter().all(Result::is_ok));
    assert_eq!(store.matches().extent().await.unwrap().0, 100);
}
