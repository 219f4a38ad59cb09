//! The daemon's end while another process holds the database locked: every wait has the same deadline.

use std::{
    fs,
    io::Write,
    path::{Path, PathBuf},
    time::Duration,
};

use evenkeel::{daemon::Daemon, model::Outcome};
use tempfile::TempDir;
use tokio::{sync::oneshot, time::Instant};

use crate::common::{
    Client, config, lock_database,
    process::{Process, line, wait},
    stored_matches, until,
};

const LOG: &str = include_str!("../../fixtures/openarena/ctf-014.log");

/// A folder with a configuration that leaves something to write for every part of the stop: a log to archive,
/// and a journal of running games.
fn folder(drain_seconds: u32) -> (TempDir, String) {
    let folder = TempDir::new().unwrap();
    let path = |name: &str| folder.path().join(name);
    fs::write(path("games.log"), LOG).unwrap();
    let config = format!(
        "server.listen = '127.0.0.1:0'\nserver.drain_seconds = {drain_seconds}\n\
         store.database = '{}'\nstore.busy_ms = 60000\n\
         ingest.archive = '{}'\ningest.follow_ms = 10\n[[follow]]\npath = '{}'\n",
        path("evenkeel.db").display(),
        path("archive").display(),
        path("games.log").display()
    );
    fs::write(path("c.toml"), &config).unwrap();
    (folder, config)
}

/// The bytes of all journals of running games.
fn journaled(folder: &Path) -> u64 {
    let entries = fs::read_dir(folder.join("evenkeel.games")).unwrap();
    let paths = entries.map(|entry| entry.unwrap().path());
    let games = paths.filter(|path: &PathBuf| path.extension().is_some());
    games.map(|path| fs::metadata(path).unwrap().len()).sum()
}

const GAME: &str = "GAME ctf\nJOIN a team=0\nJOIN b team=1\nSTART\nSCORE 0\n";

#[tokio::test]
async fn a_stop_has_one_deadline_whatever_the_database_does() {
    let (folder, toml) = folder(4);
    let daemon = Daemon::open(&config(&toml)).await.unwrap();
    let address = daemon.local_addr().unwrap();
    let (stop, stopped) = oneshot::channel::<()>();
    let running = tokio::spawn(daemon.run(async {
        let _ = stopped.await;
    }));
    let mut named = Client::connect(address).await;
    named.ask("HELLO s\n").await;
    named.tell(GAME).await;
    let end = named.ask("END draw\n").await;
    assert!(end.starts_with("END "), "{end}");
    // The log and the first game are on disk before the lock.
    until(async || stored_matches(folder.path()).await.len() == 2).await;
    let mut nameless = Client::connect(address).await;
    let other = lock_database(folder.path()).await;
    for client in [&mut named, &mut nameless] {
        client.tell(GAME).await;
        let before = journaled(folder.path());
        client.send("END 0\n").await;
        // END is in the journal just before its match is written.
        until(async || journaled(folder.path()) > before).await;
    }
    tokio::time::pause();
    let began = Instant::now();
    stop.send(()).unwrap();
    running.await.unwrap();
    assert!(
        began.elapsed() <= Duration::from_secs(5),
        "{:?}",
        began.elapsed()
    );
    for mut client in [named, nameless] {
        assert_eq!(client.rest().await, "", "the connection is dropped");
    }
    tokio::time::resume();
    drop(other);

    // The next start records both.
    let daemon = Daemon::open(&config(&toml)).await.unwrap();
    let (stop, stopped) = oneshot::channel::<()>();
    let running = tokio::spawn(daemon.run(async {
        let _ = stopped.await;
    }));
    until(async || stored_matches(folder.path()).await.len() == 4).await;
    let stored = stored_matches(folder.path()).await;
    let won = stored
        .iter()
        .filter(|stored| stored.record.server != "games.log")
        .filter(|stored| stored.record.outcome == Outcome::Won(0));
    assert!(won.count() >= 2);
    stop.send(()).unwrap();
    running.await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_process_exits_although_the_database_is_locked() {
    let (folder, _) = folder(0);
    let variables = [("EVENKEEL_CONFIG", "c.toml")];
    let mut daemon = Process::start_with(folder.path(), &variables);
    assert!(daemon.ask(&format!("{GAME}END\n")).starts_with("END "));
    until(async || stored_matches(folder.path()).await.len() == 2).await;
    let _other = lock_database(folder.path()).await;
    let mut stream = daemon.connect();
    let play = format!("{GAME}PING\n");
    stream.get_mut().write_all(play.as_bytes()).unwrap();
    assert_eq!(line(&mut stream), "PONG");
    let before = journaled(folder.path());
    stream.get_mut().write_all(b"END\n").unwrap();
    until(async || journaled(folder.path()) > before).await;
    daemon.signal("-TERM");
    // As long as the lock is held, nothing else ends it.
    assert!(wait(&mut daemon.child).success());
    assert_eq!(line(&mut stream), "", "the connection is dropped");
}
