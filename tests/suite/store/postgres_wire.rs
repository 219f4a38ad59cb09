//! PostgreSQL over a network: encryption, a server that says nothing, and a daemon whose server is away.
#![cfg(unix)]

use std::{fs, time::Duration};

use evenkeel::{
    model::Kind::Human,
    store::{
        self, DatabaseUrl, StoreError,
        postgres::{self, PoolSettings, PostgresUrl},
    },
};
use rcgen::ExtendedKeyUsagePurpose::ServerAuth;
use sqlx::Connection;
use tempfile::TempDir;

use crate::common::{
    Client,
    authority::Authority,
    game,
    postgres::Server,
    process::{self, Process},
    proxy::Proxy,
    submit, until,
};

const BUSY: Duration = Duration::from_secs(1);

#[tokio::test]
async fn only_the_server_with_the_right_certificate_is_trusted() {
    let Some(server) = Server::start() else {
        return;
    };
    server.create("league").await;
    let authority = Authority::new();
    let port = server.encrypt(&authority.sign(ServerAuth));
    let folder = TempDir::new().unwrap();
    let root = |name: &str, authority: &Authority| {
        let path = folder.path().join(name);
        fs::write(&path, authority.certificate.pem()).unwrap();
        path.display().to_string()
    };
    let right = root("right.pem", &authority);
    let wrong = root("wrong.pem", &Authority::new());
    let open = async |host: &str, parameters: &str| {
        let url = format!("postgres://evenkeel@{host}:{port}/league?{parameters}");
        let url = PostgresUrl::parse(&url).unwrap();
        postgres::open(&url, PoolSettings::default(), true, BUSY).await
    };
    let full = format!("sslmode=verify-full&sslrootcert={right}");
    for host in ["localhost", "127.0.0.1"] {
        let store = open(host, &full).await.unwrap();
        store.matches().extent().await.unwrap();
        let folder = server.socket().parent().unwrap().display().to_string();
        let past = format!("postgres:///league?host={folder}&port={port}&user=evenkeel");
        let mut past = sqlx::PgConnection::connect(&past).await.unwrap();
        let sessions =
            "SELECT bool_and(s.ssl) FROM pg_stat_ssl s JOIN pg_stat_activity a ON a.pid = s.pid
                        WHERE a.application_name = 'evenkeel'";
        let sessions = sqlx::query_scalar(sessions);
        let encrypted: Option<bool> = sessions.fetch_one(&mut past).await.unwrap();
        assert_eq!(encrypted, Some(true));
        store::Store::close(&store).await;
    }
    // The certificate is for another name. Without the check of the name, it is good.
    let refused = async |host: &str, parameters: &str, why: &str| {
        let error = open(host, parameters).await.unwrap_err().to_string();
        assert!(error.contains(why), "{host} {parameters}: {error}");
    };
    refused("127.0.0.2", &full, "not valid for name").await;
    let name = format!("sslmode=verify-ca&sslrootcert={right}");
    open("127.0.0.2", &name).await.unwrap();
    refused(
        "localhost",
        "sslmode=verify-full",
        "invalid peer certificate",
    )
    .await;
    let other = format!("sslmode=verify-full&sslrootcert={wrong}");
    refused("localhost", &other, "invalid peer certificate").await;
    let none = format!("sslmode=verify-full&sslrootcert={right}.none");
    refused("localhost", &none, "No such file").await;
    // The server accepts nothing that is not encrypted.
    refused("127.0.0.1", "sslmode=disable", "cannot be opened").await;
}

#[tokio::test]
async fn a_server_that_says_nothing_is_given_up_and_used_again() {
    let Some(server) = Server::start() else {
        return;
    };
    server.create("league").await;
    let proxy = Proxy::to(server.socket()).await;
    let url = format!(
        "postgres://evenkeel@{}/league?sslmode=disable",
        proxy.address
    );
    let settings = PoolSettings {
        readers: 1,
        pages: 1,
        connect: Duration::from_secs(1),
        statement: Duration::from_secs(3),
    };
    let place = DatabaseUrl::Server(PostgresUrl::parse(&url).unwrap(), settings);
    let store = store::open_at(&place, true, 4 * BUSY).await.unwrap();
    let record = |minute| game(minute, &[(Human, "ann")], &[(Human, "bob")], [3.0, 1.0]);
    store.matches().record(&record(0)).await.unwrap();

    // The network is lost while the only reader and the writer wait for the server.
    let (mut other, mut watch) = (
        server.connect("league").await,
        server.connect("league").await,
    );
    let lock =
        "BEGIN; LOCK TABLE matches IN ACCESS EXCLUSIVE MODE; SELECT pg_advisory_lock(1163283276)";
    sqlx::raw_sql(lock).execute(&mut other).await.unwrap();
    let reads = tokio::spawn({
        let store = store.clone();
        async move { store.matches().extent().await }
    });
    let writes = tokio::spawn({
        let (store, record) = (store.clone(), record(20));
        async move { store.matches().record(&record).await }
    });
    let waiting = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'";
    until(async || {
        let waiting = sqlx::query_scalar::<_, i64>(waiting);
        waiting.fetch_one(&mut watch).await.unwrap() == 2
    })
    .await;
    proxy.set_open(false);
    for error in [
        reads.await.unwrap().unwrap_err(),
        writes.await.unwrap().unwrap_err(),
        store.matches().extent().await.unwrap_err(),
        store.matches().record(&record(20)).await.unwrap_err(),
    ] {
        assert!(matches!(error, StoreError::Silent(_)), "{error}");
    }
    let error = store::open_at(&place, false, BUSY).await.unwrap_err();
    assert!(error.to_string().contains("does not answer"), "{error}");

    proxy.set_open(true);
    other.close().await.unwrap();
    until(async || store.matches().record(&record(20)).await.is_ok()).await;
    until(async || store.matches().extent().await.is_ok()).await;
    assert_eq!(store.matches().extent().await.unwrap().0, 2);
    store.close().await;
}

/// The teams of a game, and what it has come to.
const PLAYED: &str =
    "GAME baseoa.ctf\nMINPLAYERS 0\nJOIN ann team=0\nJOIN bob team=1\nSTART\nSCORE 0\n";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_daemon_that_is_killed_while_its_database_is_away_loses_nothing() {
    let Some(server) = Server::start() else {
        return;
    };
    server.create("league").await;
    let folder = TempDir::new().unwrap();
    let queue = "[queue.duel]\nteams = 2\nsize = 1\nruleset = 'baseoa.ctf'\nhost = 'none'\n";
    fs::write(
        folder.path().join("evenkeel.toml"),
        format!("[rating]\nmin_seconds = 0\n{queue}"),
    )
    .unwrap();
    let url = server.url("league");
    let variables = [
        ("EVENKEEL_CONFIG", "evenkeel.toml"),
        ("EVENKEEL_STORE_URL", url.as_str()),
        ("EVENKEEL_STORE_CONNECT_MS", "1000"),
    ];
    let mut daemon = Process::start_with(folder.path(), &variables);
    let mut host = Client::connect(daemon.address).await;
    host.hello("host").await;
    host.tell(PLAYED).await;
    assert!(host.ask("END\n").await.starts_with("END 1 "));
    until(async || host.ask("PLAYER ann\n").await.starts_with("PLAYER ann ")).await;
    let mut league = Client::connect(daemon.address).await;
    league.hello("league").await;
    let queued = league.ask(&submit("duel", "t1", "cid")).await;
    assert!(queued.starts_with("QUEUED t1 "), "{queued}");
    // The second game begins, and the database goes away.
    host.tell(PLAYED).await;
    server.control(&["-m", "immediate", "stop"]);
    let weight = host.ask("PLAYER ann\n").await;
    assert!(weight.starts_with("PLAYER ann "), "{weight}");
    assert_eq!(host.ask("END\n").await, "ERROR internal kept");
    let refused = league.ask(&submit("duel", "t2", "dan")).await;
    assert!(refused.starts_with("ERROR internal"), "{refused}");
    daemon.kill();
    let failed = process::evenkeel(folder.path())
        .args(["serve", "--listen", "127.0.0.1:0"])
        .envs(variables)
        .output()
        .unwrap();
    let error = String::from_utf8(failed.stderr).unwrap();
    assert!(error.contains("postgres://evenkeel@"), "{error}");
    server.control(&["start"]);

    let daemon = Process::start_with(folder.path(), &variables);
    let mut connection = server.connect("league").await;
    until(async || {
        let count = sqlx::query_scalar::<_, i64>("SELECT count(*) FROM matches");
        count.fetch_one(&mut connection).await.unwrap() == 2
    })
    .await;
    // The lease of the queues ends some seconds after the daemon that was killed.
    until(async || {
        let epoch = sqlx::query_scalar::<_, i64>(
            "SELECT max(epoch) FROM leases WHERE name = 'queues/main'",
        );
        epoch.fetch_one(&mut connection).await.unwrap() == 2
    })
    .await;
    let mut league = Client::connect(daemon.address).await;
    until(async || {
        league = Client::connect(daemon.address).await;
        league.hello("league").await;
        league.ask("TICKET t1\n").await.starts_with("QUEUED t1 ")
    })
    .await;
    let queued = league.ask(&submit("duel", "t2", "dan")).await;
    assert!(queued.starts_with("QUEUED t2 "), "{queued}");
    until(async || league.ask("TICKET t1\n").await.contains("MATCHED")).await;
    let count = sqlx::query_scalar::<_, i64>("SELECT count(*) FROM matches");
    assert_eq!(count.fetch_one(&mut connection).await.unwrap(), 2);
}

#[test]
fn two_databases_cannot_be_named_at_once() {
    let folder = TempDir::new().unwrap();
    let run = |words: &[&str], variables: &[(&str, &str)]| {
        let mut command = process::evenkeel(folder.path());
        let output = command.args(words).envs(variables.iter().copied()).output();
        let output = output.unwrap();
        (
            output.status.code(),
            String::from_utf8(output.stderr).unwrap(),
        )
    };
    let url = (
        "EVENKEEL_STORE_URL",
        "postgres://ann:sesame@127.0.0.1:9/league",
    );
    let words = ["rebuild", "--db", "a.db"];
    let (code, error) = run(&words, &[url]);
    assert_eq!(code, Some(3), "{error}");
    assert!(error.contains("--db names an SQLite file"), "{error}");
    let (code, error) = run(&words[..1], &[url, ("EVENKEEL_STORE_DATABASE", "a.db")]);
    assert_eq!(code, Some(3), "{error}");
    assert!(error.contains("EVENKEEL_STORE_URL"), "{error}");
    assert!(!error.contains("sesame"), "{error}");
    // The server is not there: the address is printed without the password.
    let wait = ("EVENKEEL_STORE_CONNECT_MS", "100");
    let (code, error) = run(&words[..1], &[url, wait]);
    assert_eq!(code, Some(6), "{error}");
    let why = "postgres://ann@127.0.0.1:9/league: the database server cannot be reached: Connection refused";
    assert!(error.contains(why), "{error}");
    assert!(!error.contains("sesame"), "{error}");
}
