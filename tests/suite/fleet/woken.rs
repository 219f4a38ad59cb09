//! The daemon that ran the queues wakes up after another one has taken over.

use std::{fs, io::Write};

use sqlx::{Connection, PgConnection};
use tempfile::TempDir;
use tokio::runtime::Runtime;

use super::LEAGUE;
use crate::common::{
    postgres::Server,
    process::{self, Process, poll},
    submit, until,
};

/// The process that runs the queues; `None` while the lease is free.
async fn holder(database: &mut PgConnection) -> Option<u32> {
    let query = "SELECT holder FROM leases WHERE name LIKE 'queues%' AND ends_at > clock()";
    let holder: Option<String> = sqlx::query_scalar(query)
        .fetch_optional(database)
        .await
        .unwrap();
    holder.map(|holder| holder.split('-').next().unwrap().parse().unwrap())
}

/// An instance is connected to the daemon that takes over. The old one, which knew it by requests, must not report it as
/// its own: its news would go there, and be lost.
#[test]
fn an_instance_stays_at_the_daemon_that_has_taken_over() {
    let Some(server) = Server::shared() else {
        return;
    };
    let runtime = Runtime::new().unwrap();
    let name = server.unused_name();
    runtime.block_on(server.create(&name));
    let url = server.url(&name);
    let folder = TempDir::new().unwrap();
    fs::write(folder.path().join("evenkeel.toml"), LEAGUE).unwrap();
    let start = |journal: &str| {
        let variables = [
            ("EVENKEEL_CONFIG", "evenkeel.toml"),
            ("EVENKEEL_STORE_URL", &*url),
            ("EVENKEEL_STORE_JOURNAL", journal),
        ];
        Process::start_with(folder.path(), &variables)
    };
    let mut database = runtime.block_on(PgConnection::connect(&url)).unwrap();
    let mut runs = |daemon: &Process| {
        let pid = Some(daemon.child.id());
        runtime.block_on(until(async || holder(&mut database).await == pid));
    };
    let old = start("one");
    runs(&old);
    let new = start("two");
    let mut instance = new.connect();
    let hello = b"HELLO arena\nINSTANCE arena.example:27960\nPING\n";
    instance.get_mut().write_all(hello).unwrap();
    while process::line(&mut instance) != "PONG" {}

    old.signal("-STOP");
    runs(&new);
    old.signal("-CONT");
    let asks = |daemon: &Process| daemon.ask("HELLO operator\nQUEUES\n");
    poll(|| {
        let said = asks(&old);
        said.contains("\nQUEUES 3\n").then_some(()).ok_or(said)
    });
    let tickets = [submit("duel", "t1", "ann"), submit("duel", "t2", "bob")].concat();
    let replies = new.ask(&format!("HELLO lobby\n{tickets}"));
    assert!(replies.contains("\nQUEUED t2 "), "{replies}");
    let head = process::line(&mut instance);
    assert!(head.starts_with("* SESSION "), "{head}");
}
