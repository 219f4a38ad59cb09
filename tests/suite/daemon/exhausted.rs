//! A daemon without file descriptors, and one whose clock is changed while games run: nothing is lost.

use std::{
    io::{Read, Write},
    process::Command,
    sync::{
        Arc,
        atomic::{AtomicI64, AtomicU64, Ordering},
    },
};

use evenkeel::{
    model::Timestamp,
    server::Service,
    session::Clock,
    store::{self, Cursor},
};
use tempfile::TempDir;

use crate::common::{
    BUSY, Daemon, config,
    process::{Process, ask, line},
};

/// Changes the number of file descriptors that a process may have; `false` where that is not possible.
fn limit_descriptors(process: &Process, limit: &str) -> bool {
    let pid = format!("--pid={}", process.child.id());
    let limit = format!("--nofile={limit}:");
    let changed = Command::new("prlimit").args([pid, limit]).status();
    changed.is_ok_and(|status| status.success())
}

const GAME: &str = "GAME ctf\nMINPLAYERS 0\nJOIN a team=0\nJOIN b team=1\nSTART\nSCORE 0\n";

#[test]
fn without_file_descriptors_games_go_on_and_connections_wait() {
    let folder = TempDir::new().unwrap();
    let process = Process::start(folder.path());
    if !limit_descriptors(&process, "20000") {
        writeln!(std::io::stderr(), "skipped: no prlimit").unwrap();
        return;
    }
    let mut inside = process.connect();
    assert!(ask(&mut inside, "HELLO inside\n").starts_with("HELLO "));
    assert!(ask(&mut inside, &format!("{GAME}END\n")).starts_with("END 1"));
    for round in 2..5 {
        assert!(limit_descriptors(&process, "64"));
        // The system accepts these, and the daemon cannot: they wait.
        let mut waiting: Vec<_> = (0..100).map(|_| process.connect()).collect();
        for stream in &mut waiting {
            stream.get_mut().write_all(b"PING\n").unwrap();
        }
        loop {
            let line = process.log.recv().unwrap();
            if line.contains("cannot accept a connection") {
                break;
            }
        }
        // A game needs no further descriptor to be recorded.
        let end = ask(&mut inside, &format!("{GAME}END\n"));
        assert!(end.starts_with(&format!("END {round}")), "{end}");
        assert_eq!(ask(&mut inside, "PING\n"), "PONG");
        // Some get in as soon as others leave; the limit holds.
        for stream in waiting.drain(..30) {
            drop(stream);
        }
        assert!(limit_descriptors(&process, "20000"));
        for stream in &mut waiting {
            assert_eq!(line(stream), "PONG", "nobody who waited is forgotten");
        }
    }
    assert_eq!(ask(&mut process.connect(), "PING\n"), "PONG");
    let mut said = String::new();
    inside.get_mut().write_all(b"QUIT\n").unwrap();
    inside.read_to_string(&mut said).unwrap();
    assert_eq!(said, "");
}

/// A clock whose date a test sets.
#[derive(Debug)]
struct LooseClock {
    millis: AtomicU64,
    date: AtomicI64,
}

impl LooseClock {
    /// Lets time pass, and then sets the date off by so much.
    fn pass(&self, millis: u64, step: i64) {
        self.millis.fetch_add(millis, Ordering::Relaxed);
        let step = step + i64::try_from(millis).unwrap();
        self.date.fetch_add(step, Ordering::Relaxed);
    }
}

impl Clock for LooseClock {
    fn millis(&self) -> u64 {
        self.millis.load(Ordering::Relaxed)
    }

    fn now(&self) -> Timestamp {
        Timestamp(self.date.load(Ordering::Relaxed))
    }
}

const HOUR: i64 = 3_600_000;
const YEAR: i64 = 365 * 24 * HOUR;

#[tokio::test]
async fn a_clock_that_is_set_while_a_game_runs_changes_no_time_in_it() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("test.db");
    let store = store::open(&path, true, BUSY).await.unwrap();
    let clock = Arc::new(LooseClock {
        millis: AtomicU64::new(0),
        date: AtomicI64::new(1_700_000_000_000),
    });
    let config = config("");
    let service = Service::open_with_clock(store, config.service(), clock.clone());
    let service = Arc::new(service.unwrap());
    let daemon = Daemon::serve(service, folder, config.server.limits).await;
    let mut client = daemon.named("steps").await;
    // Back by an hour, by more than all of history, and ahead by ten years; then all at once.
    let steps = [-HOUR, -40 * YEAR, 10 * YEAR, 0];
    for (number, step) in steps.into_iter().enumerate() {
        client
            .tell("GAME ctf\nMINPLAYERS 0\nJOIN a team=0\nJOIN b team=1\nSTART\n")
            .await;
        clock.pass(100_000, step);
        client.tell("SCORE 0\n").await;
        clock.pass(150_000, -step);
        client.tell("SCORE 1\nSCORE 0\n").await;
        clock.pass(50_000, step);
        let end = client.ask("END\n").await;
        assert_eq!(end, format!("END {} recorded", number + 1));
        assert_eq!(client.ask("PING\n").await, "PONG");
    }
    let store = daemon.service.store();
    let (stored, _) = store.matches().after(Cursor::START, 100).await.unwrap();
    assert_eq!(stored.len(), steps.len(), "each game is recorded");
    for found in stored {
        let record = found.record;
        let at: Vec<_> = record.events.iter().map(|event| event.at).collect();
        assert_eq!((record.check(), record.millis()), (Ok(()), 300_000));
        assert_eq!(at, [100_000, 250_000, 250_001]);
    }
}
