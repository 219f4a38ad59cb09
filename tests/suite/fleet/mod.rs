//! Several daemons on one PostgreSQL database: one runs the queues, and players of all of them are matched.

mod chaos;
mod clocks;
mod differing;
mod partitions;
mod woken;

use std::{collections::BTreeSet, sync::Arc};

use evenkeel::{model::Kind::Human, server::Service};
use tempfile::TempDir;

use crate::common::{
    self, Client, Daemon,
    backends::{Backend, Postgres},
    game, submit, until,
};

/// Queues with instances, without, and with a ready check. A daemon that is silent for a second is replaced.
const LEAGUE: &str = r#"
store.lease_seconds = 1

[queue.duel]
teams = 2
size = 1
ruleset = "baseoa.ctf"
host_wait = 60

[queue.quick]
teams = 2
size = 1
ruleset = "baseoa.ctf"
host = "none"

[queue.checked]
teams = 2
size = 1
ruleset = "baseoa.ctf"
host = "none"
ready_check = 30

[coordinator]
rest_seconds = 0
"#;

/// Daemons on one database. The first one runs the queues, until it ends.
struct Fleet {
    database: Postgres,
    daemons: Vec<Daemon>,
}

impl Fleet {
    /// This many daemons; `None`, with the reason on standard error, where PostgreSQL is not installed.
    async fn start(count: usize) -> Option<Self> {
        Self::start_with(count, LEAGUE).await
    }

    async fn start_with(count: usize, toml: &'static str) -> Option<Self> {
        let database = Postgres::shared()?;
        let mut fleet = Self {
            database,
            daemons: Vec::new(),
        };
        for _ in 0..count {
            fleet.add(toml).await;
        }
        Some(fleet)
    }

    async fn add(&mut self, toml: &str) {
        let config = common::config(toml);
        let store = self.database.database("league").await;
        let service = Arc::new(Service::open(store, config.service()).unwrap());
        let folder = TempDir::new().unwrap();
        let daemon = Daemon::serve(service, folder, config.server.limits).await;
        let mut client = daemon.named("operator").await;
        client.send("QUEUES\n").await;
        let queues = client.lines(4).await;
        assert_eq!(queues[0], "QUEUES 3");
        self.daemons.push(daemon);
    }

    async fn named(&self, daemon: usize, name: &str) -> Client {
        self.daemons[daemon].named(name).await
    }

    async fn listener(&self, daemon: usize, name: &str) -> Client {
        let mut client = self.named(daemon, name).await;
        client.tell("LISTEN\n").await;
        client
    }
}

async fn queued(client: &mut Client, queue: &str, ticket: &str, player: &str) {
    let reply = client.ask(&submit(queue, ticket, player)).await;
    assert!(reply.starts_with(&format!("QUEUED {ticket} ")), "{reply}");
}

/// The match of a line `* MATCHED <match> <ticket> …` and the two lines of its teams.
async fn matched(client: &mut Client, ticket: &str) -> String {
    let head = client.line().await;
    let words: Vec<&str> = head.split(' ').collect();
    assert_eq!((words[1], words[3]), ("MATCHED", ticket), "{head}");
    let teams: BTreeSet<String> = [client.line().await, client.line().await].into();
    assert_eq!(teams.len(), 2, "{teams:?}");
    words[2].to_owned()
}

/// A ticket comes in at one daemon, its client listens at the second, and the instance is at the third.
#[tokio::test]
async fn a_match_across_three_daemons() {
    let Some(fleet) = Fleet::start(3).await else {
        return;
    };
    let mut server = fleet.named(2, "arena").await;
    server.tell("INSTANCE arena.example:27960\n").await;
    let mut lobby = fleet.listener(1, "lobby").await;
    let mut other = fleet.listener(2, "other").await;
    queued(&mut fleet.named(0, "lobby").await, "duel", "t1", "ann").await;
    queued(&mut fleet.named(1, "other").await, "duel", "t1", "bob").await;

    let head = server.line().await;
    let id = head.split(' ').nth(2).unwrap().to_owned();
    assert_eq!(head, format!("* SESSION {id} duel - - 2"));
    let joins = [server.line().await, server.line().await];
    assert_eq!(matched(&mut lobby, "t1").await, id);
    assert_eq!(matched(&mut other, "t1").await, id);
    server.tell(&format!("READY {id}\n")).await;
    for (client, player) in [(&mut lobby, "ann"), (&mut other, "bob")] {
        let go = client.line().await;
        let join = joins.iter().find(|join| join.contains(player)).unwrap();
        let pass = join.split_once("pass=").unwrap().1;
        assert_eq!(go, format!("* GO {id} arena.example:27960 {pass} {player}"));
    }
    server.tell("START\nSCORE 0\n").await;
    let mut late = fleet.named(0, "lobby").await;
    let taken = late.ask(&submit("duel", "t2", "ann")).await;
    assert_eq!(
        taken,
        "ERROR not-allowed ann is in a match that is being played"
    );
    let end = server.ask("END\n").await;
    assert!(end.starts_with(&format!("END {id} ")), "{end}");
    for daemon in 0..3 {
        let mut client = fleet.named(daemon, "lobby").await;
        assert_eq!(client.ask("TICKET t1\n").await, format!("MATCHED {id} t1"));
    }
}

/// What a client asks has the same answer at every daemon.
#[tokio::test]
async fn any_daemon_answers() {
    let Some(fleet) = Fleet::start(3).await else {
        return;
    };
    queued(&mut fleet.named(1, "lobby").await, "quick", "t1", "ann").await;
    for daemon in 0..3 {
        let mut client = fleet.named(daemon, "lobby").await;
        let again = client.ask(&submit("quick", "t1", "ann")).await;
        assert!(again.starts_with("QUEUED t1 "), "{again}");
        let other = client.ask(&submit("quick", "t1", "eve")).await;
        assert_eq!(
            other,
            "ERROR bad-argument there is another ticket with this id"
        );
        let twice = client.ask(&submit("quick", "t2", "ann")).await;
        assert_eq!(twice, "ERROR not-allowed ann is in another ticket");
        assert_eq!(
            client.ask("TICKET t3\n").await,
            "ERROR bad-argument there is no such ticket"
        );
        client.send("QUEUES\n").await;
        let queues = client.lines(4).await;
        assert_eq!(queues[3], "QUEUE quick 1 1 -");
        let why = client.ask("EXPLAIN t1\n").await;
        assert!(why.starts_with("EXPLAIN "), "{why}");
        let first = client.line().await;
        assert!(first.contains("t1 has waited for "), "{first}");
    }
    let cancelled = fleet.named(2, "lobby").await.ask("CANCEL t1\n").await;
    assert_eq!(cancelled, "CANCELLED t1");
    let mut client = fleet.named(0, "lobby").await;
    assert_eq!(client.ask("TICKET t1\n").await, "CANCELLED t1");
}

/// A ready check of players at different daemons.
#[tokio::test]
async fn players_of_two_daemons_accept() {
    let Some(fleet) = Fleet::start(3).await else {
        return;
    };
    let (mut one, mut two) = (
        fleet.listener(1, "one").await,
        fleet.listener(2, "two").await,
    );
    queued(&mut one, "checked", "t1", "ann").await;
    queued(&mut two, "checked", "t1", "bob").await;
    let proposed = one.line().await;
    let id = proposed.split(' ').nth(2).unwrap().to_owned();
    assert!(
        proposed.starts_with(&format!("* PROPOSED {id} t1 ")),
        "{proposed}"
    );
    two.line().await;
    let strange = two.ask(&format!("ACCEPT {id} ann\n")).await;
    assert_eq!(
        strange,
        "ERROR unknown-player the player is in no ticket of yours in this match"
    );
    one.send(&format!("ACCEPT {id} ann\n")).await;
    two.send(&format!("ACCEPT {id} bob\n")).await;
    assert_eq!(matched(&mut one, "t1").await, id);
    assert_eq!(matched(&mut two, "t1").await, id);
}

/// The daemon that runs the queues stops in mid-evening. Clients and instances of the others notice nothing.
#[tokio::test]
async fn another_daemon_takes_over() {
    let Some(mut fleet) = Fleet::start(3).await else {
        return;
    };
    let mut server = fleet.named(2, "arena").await;
    server.tell("INSTANCE arena.example:27960 slots=2\n").await;
    let mut lobby = fleet.listener(1, "lobby").await;
    queued(&mut lobby, "duel", "t1", "ann").await;
    let mut first = fleet.daemons.remove(0);
    first.stop();
    first.task.await.unwrap();
    first.service.close().await;
    let mut elsewhere = fleet.named(1, "lobby").await;
    queued(&mut elsewhere, "duel", "t2", "bob").await;
    let head = server.line().await;
    let id = head.split(' ').nth(2).unwrap();
    assert_eq!(head, format!("* SESSION {id} duel - - 2"));
    assert_eq!(matched(&mut lobby, "t1").await, id);
    assert_eq!(matched(&mut lobby, "t2").await, id);
}

/// Whatever a client has missed because it was nowhere is sent when it listens again, at any daemon.
#[tokio::test]
async fn what_nobody_has_heard_is_sent_later() {
    let Some(fleet) = Fleet::start(2).await else {
        return;
    };
    let mut lobby = fleet.named(1, "lobby").await;
    queued(&mut lobby, "quick", "t1", "ann").await;
    queued(&mut lobby, "quick", "t2", "bob").await;
    until(async || lobby.ask("TICKET t1\n").await.starts_with("MATCHED ")).await;
    let mut listener = fleet.listener(1, "lobby").await;
    let id = matched(&mut listener, "t1").await;
    assert_eq!(matched(&mut listener, "t2").await, id);
    // It was taken: nobody else is sent it. The next change comes alone.
    let store = fleet.daemons[0].service.store().clone();
    until(async || {
        store
            .queues()
            .tickets_of(0)
            .await
            .unwrap()
            .0
            .iter()
            .all(|one| one.is_sent)
    })
    .await;
    let mut listener = fleet.listener(0, "lobby").await;
    queued(&mut lobby, "quick", "t3", "cid").await;
    lobby.ask("CANCEL t3\n").await;
    assert_eq!(listener.line().await, "* CANCELLED t3");
}

/// A daemon records the result of a hosted match, and is killed before it reports this to the daemon that runs the
/// queue.
#[tokio::test]
async fn a_result_that_nobody_reports_ends_its_match() {
    let Some(fleet) = Fleet::start(2).await else {
        return;
    };
    let mut server = fleet.named(1, "arena").await;
    server.tell("INSTANCE arena.example:27960\n").await;
    let mut lobby = fleet.listener(0, "lobby").await;
    queued(&mut lobby, "duel", "t1", "ann").await;
    queued(&mut lobby, "duel", "t2", "bob").await;
    let head = server.line().await;
    let id: i64 = head.split(' ').nth(2).unwrap().parse().unwrap();
    server.line().await;
    server.line().await;
    server.tell(&format!("READY {id}\nSTART\n")).await;
    let store = fleet.daemons[1].service.store();
    let hosted = || async { store.queues().hosted_rows(1).await.unwrap().remove(0) };
    assert_eq!(hosted().await.state, "playing");
    let number = store
        .queues()
        .hosting(0)
        .await
        .unwrap()
        .hosted
        .remove(0)
        .game;
    let result = game(0, &[(Human, "ann")], &[(Human, "bob")], [1.0, 0.0]);
    let recorded = store
        .matches()
        .record_game(&result, &Default::default(), number.unwrap())
        .await
        .unwrap();
    assert_eq!(recorded.id(), id);
    until(async || hosted().await.state == "over").await;
    let mut later = fleet.named(0, "lobby").await;
    assert_eq!(later.ask("TICKET t1\n").await, format!("MATCHED {id} t1"));
}
