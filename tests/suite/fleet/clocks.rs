//! Daemons whose clocks differ.

use std::sync::Arc;

use evenkeel::{
    model::Timestamp,
    server::{Service, watch::Monitor},
    session::{Clock, MachineClock},
};
use tempfile::TempDir;

use super::queued;
use crate::common::{
    self, Daemon,
    backends::{Backend, Postgres},
    submit, until,
};

const QUEUE: &str = "
store.lease_seconds = 1

[queue.quick]
teams = 2
size = 1
ruleset = \"ctf\"
host = \"none\"
ttl = 300
";

/// A machine's clock that is wrong by so many milliseconds.
#[derive(Debug, Default)]
struct Wrong(MachineClock, i64);

impl Clock for Wrong {
    fn millis(&self) -> u64 {
        self.0.millis()
    }

    fn now(&self) -> Timestamp {
        self.0.now().plus_millis(self.1)
    }
}

async fn daemon(database: &Postgres, minutes: i64) -> Daemon {
    let config = common::config(QUEUE);
    let store = database.database("league").await;
    let clock = Arc::new(Wrong(MachineClock::default(), minutes * 60_000));
    let service = Service::open_with_clock(store, config.service(), clock).unwrap();
    let folder = TempDir::new().unwrap();
    let daemon = Daemon::serve(Arc::new(service), folder, config.server.limits).await;
    let mut client = daemon.named("operator").await;
    until(async || client.ask("QUEUES\n").await == "QUEUES 1" && !client.line().await.is_empty())
        .await;
    daemon
}

/// A ticket that waits goes from a daemon to another one whose clock differs by ten minutes or a day, and back.
#[tokio::test]
async fn tickets_do_not_expire_by_the_clock_of_another_machine() {
    let Some(database) = Postgres::shared() else {
        return;
    };
    let mut runs = daemon(&database, 0).await;
    queued(&mut runs.named("lobby").await, "quick", "t1", "ann").await;
    for minutes in [10, 0, -10, 1_440, -1_440, 0] {
        let next = daemon(&database, minutes).await;
        runs.stop();
        runs.task.await.unwrap();
        runs.service.close().await;
        let mut lobby = next.named("lobby").await;
        until(async || lobby.ask("TICKET t1\n").await.starts_with("QUEUED t1 ")).await;
        // It is refused as a second ticket of the player, by the daemon that now runs the queues.
        let twice = lobby.ask(&submit("quick", "t2", "ann")).await;
        assert_eq!(twice, "ERROR not-allowed ann is in another ticket");
        let reply = lobby.ask("EXPLAIN t1\n").await;
        assert!(reply.starts_with("EXPLAIN "), "{reply}");
        let waited = lobby.line().await;
        assert!(waited.contains("t1 has waited for "), "{waited}");
        let seconds: f64 = waited
            .split_whitespace()
            .find_map(|word| word.parse().ok())
            .unwrap();
        assert!((0.0..200.0).contains(&seconds), "{waited}");
        runs = next;
    }
}

#[tokio::test]
async fn a_daemon_says_that_its_clock_differs() {
    let Some(database) = Postgres::shared() else {
        return;
    };
    for (minutes, says) in [(10, Some("ahead of")), (-10, Some("behind")), (0, None)] {
        let daemon = daemon(&database, minutes).await;
        let monitor = Arc::new(Monitor::new(daemon.service.clone()));
        let runs = monitor.clone();
        let running = tokio::spawn(async move { runs.run().await });
        let clock = async || monitor.status().await.store.clock_difference_seconds;
        until(async || clock().await.is_some()).await;
        let status = monitor.status().await;
        let warns = |warning: &String| warning.contains("the clock of this machine");
        let warning = status.warnings.iter().find(|warning| warns(warning));
        match says {
            Some(side) => assert!(warning.is_some_and(|one| one.contains(side)), "{warning:?}"),
            None => assert_eq!(warning, None),
        }
        let metrics = monitor.metrics().await;
        let metric = metrics
            .lines()
            .find_map(|line| line.strip_prefix("evenkeel_clock_difference_seconds "));
        let seconds: f64 = metric.unwrap().parse().unwrap();
        assert!((seconds - minutes as f64 * 60.0).abs() < 30.0, "{seconds}");
        running.abort();
    }
}
