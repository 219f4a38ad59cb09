//! Queues in several partitions: each is run by one daemon, and together they are as one to the clients.

use std::{collections::BTreeSet, sync::Arc};

use evenkeel::{
    config::Config,
    learning::leases::LeaseSettings,
    server::Service,
    store::{Store, Taken},
};
use tempfile::TempDir;

use super::{Fleet, matched, queued};
use crate::common::{
    self, Daemon,
    backends::{Backend, Sqlite},
    submit, until,
};

/// A region is a partition.
const REGIONS: &str = r#"
store.lease_seconds = 1

[queue.eu]
teams = 2
size = 1
ruleset = "baseoa.ctf"
host = "none"
partition = "eu"

[queue.us]
teams = 2
size = 1
ruleset = "baseoa.ctf"
host = "none"
partition = "us"

[queue.arena]
teams = 2
size = 1
ruleset = "baseoa.ctf"
host_wait = 60
partition = "eu"

[coordinator]
rest_seconds = 0
"#;

async fn serve(backend: &impl Backend, toml: &str) -> Daemon {
    let config = common::config(toml);
    let store = backend.database("league").await;
    let service = Arc::new(Service::open(store, config.service()).unwrap());
    Daemon::serve(service, TempDir::new().unwrap(), config.server.limits).await
}

/// The holders of the leases of the partitions.
async fn holders(store: &Store) -> Vec<String> {
    let mut holders = Vec::new();
    for name in ["queues/eu", "queues/us"] {
        let holder = store.lease_holder(name).await.unwrap();
        holders.extend(holder.map(|(holder, _)| holder));
    }
    holders
}

#[tokio::test]
async fn two_daemons_run_a_partition_each() {
    let Some(fleet) = Fleet::start_with(2, REGIONS).await else {
        return;
    };
    let store = fleet.daemons[0].service.store();
    until(async || {
        let holders = holders(store).await;
        holders.len() == 2 && holders[0] != holders[1]
    })
    .await;
    // Whichever daemon a client asks, each region plays by itself.
    let mut lobbies = [
        fleet.listener(0, "lobby").await,
        fleet.listener(1, "lobby").await,
    ];
    for (number, queue) in ["eu", "us", "eu", "us"].iter().enumerate() {
        let (ticket, player) = (format!("t{number}"), format!("p{number}"));
        queued(
            &mut fleet.named(number / 2, "lobby").await,
            queue,
            &ticket,
            &player,
        )
        .await;
    }
    for lobby in &mut lobbies {
        let mut found = BTreeSet::new();
        for _ in 0..4 {
            let head = lobby.line().await;
            let words: Vec<&str> = head.split(' ').collect();
            assert_eq!(words[1], "MATCHED", "{head}");
            found.insert((words[2].to_owned(), words[3].to_owned()));
            lobby.line().await;
            lobby.line().await;
        }
        let of = |ticket: &str| {
            found
                .iter()
                .find(|(_, own)| own == ticket)
                .unwrap()
                .0
                .clone()
        };
        assert_eq!((of("t0"), of("t1")), (of("t2"), of("t3")), "{found:?}");
        assert_ne!(of("t0"), of("t1"));
    }
    for daemon in 0..2 {
        let mut client = fleet.named(daemon, "lobby").await;
        client.send("QUEUES\n").await;
        let queues = client.lines(4).await;
        assert_eq!(queues[0], "QUEUES 3");
        assert!(
            queues[1..].iter().all(|queue| queue.contains(" 0 0 ")),
            "{queues:?}"
        );
        for ticket in ["t0", "t1"] {
            let state = client.ask(&format!("TICKET {ticket}\n")).await;
            assert!(state.starts_with("MATCHED "), "{state}");
        }
    }
}

/// What holds for the partitions of one daemon, too, on SQLite.
#[tokio::test]
async fn partitions_are_as_one_to_a_client() {
    let files = Sqlite::new();
    let daemon = serve(&files, REGIONS).await;
    let mut lobby = daemon.named("lobby").await;
    lobby.tell("LISTEN\n").await;
    queued(&mut lobby, "eu", "t1", "ann").await;
    // The id of a ticket is the client's, wherever the ticket is. A player may wait in each partition.
    let other = lobby.ask(&submit("us", "t1", "ann")).await;
    assert_eq!(
        other,
        "ERROR bad-argument there is another ticket with this id"
    );
    let twice = lobby.ask(&submit("eu", "t2", "ann")).await;
    assert_eq!(twice, "ERROR not-allowed ann is in another ticket");
    queued(&mut lobby, "us", "t2", "ann").await;
    let store = daemon.service.store();
    let number = async |partition: &str| {
        let slot = store.queues().slot(partition).await.unwrap();
        store.queues().tickets_of(slot).await.unwrap().0[0].number
    };
    let (eu, us) = (number("eu").await, number("us").await);
    assert!(eu.abs_diff(us) >= 1 << 40, "{eu} {us}");
    assert_eq!(lobby.ask("CANCEL t2\n").await, "CANCELLED t2");
    assert_eq!(lobby.line().await, "* CANCELLED t2");
    let unknown = lobby.ask("TICKET t9\n").await;
    assert_eq!(unknown, "ERROR bad-argument there is no such ticket");
    // An instance hosts the matches of one partition.
    let mut server = daemon.named("arena").await;
    let wrong = server
        .ask("INSTANCE arena.example:1 partition=asia\n")
        .await;
    assert_eq!(
        wrong,
        "ERROR bad-argument no queue is in the partition asia"
    );
    server
        .tell("INSTANCE arena.example:1 partition=eu\nLOAD 0.5\n")
        .await;
    queued(&mut lobby, "arena", "t3", "bob").await;
    queued(&mut lobby, "arena", "t4", "cid").await;
    let head = server.line().await;
    let id = head.split(' ').nth(2).unwrap().to_owned();
    assert_eq!(head, format!("* SESSION {id} arena - - 2"));
    assert_eq!(matched(&mut lobby, "t3").await, id);
    assert_eq!(matched(&mut lobby, "t4").await, id);
    server.line().await;
    server.line().await;
    server.tell(&format!("READY {id}\nSTART\nSCORE 0\n")).await;
    let end = server.ask("END\n").await;
    assert!(end.starts_with(&format!("END {id} ")), "{end}");
    let why = lobby.ask(&format!("EXPLAIN {id}\n")).await;
    assert!(
        why.starts_with("* GO ") || why.starts_with("EXPLAIN "),
        "{why}"
    );
}

/// A queue that goes to another partition begins there anew, and the tickets that waited in it are told so.
#[tokio::test]
async fn a_queue_can_be_moved_to_another_partition() {
    let files = Sqlite::new();
    let mut daemon = serve(&files, REGIONS).await;
    let mut lobby = daemon.named("lobby").await;
    queued(&mut lobby, "us", "t1", "ann").await;
    queued(&mut lobby, "eu", "t2", "ann").await;
    daemon.stop();
    daemon.task.await.unwrap();
    daemon.service.close().await;
    let moved = REGIONS.replace("partition = \"us\"", "partition = \"asia\"");
    let daemon = serve(&files, &moved).await;
    let mut lobby = daemon.named("lobby").await;
    until(async || lobby.ask("TICKET t1\n").await == "CANCELLED t1").await;
    let kept = lobby.ask("TICKET t2\n").await;
    assert!(kept.starts_with("QUEUED t2 "), "{kept}");
    queued(&mut lobby, "us", "t3", "ann").await;
    // A partition that is new needs a restart.
    let queues = common::config(REGIONS).queue;
    let added = REGIONS.replace("partition = \"us\"", "partition = \"africa\"");
    let added = common::config(&added).queue;
    let refused = daemon.service.queues().configure(added).await.unwrap_err();
    assert_eq!(
        refused.to_string(),
        "the partition africa is new: restart the daemon"
    );
    daemon.service.queues().configure(queues).await.unwrap();
}

/// A player is in one ticket of a group, which one daemon has to know.
#[test]
fn a_group_is_in_one_partition() {
    let group = |partition: &str| {
        format!(
            "[queue.one]\nteams = 2\nsize = 1\nruleset = \"a\"\ngroup = \"g\"\npartition = \"eu\"\n\
             [queue.two]\nteams = 2\nsize = 1\nruleset = \"a\"\ngroup = \"g\"\npartition = \"{partition}\"\n"
        )
    };
    assert!(Config::load(&group("eu"), []).is_ok());
    let refused = Config::load(&group("us"), []).unwrap_err().to_string();
    assert!(
        refused.contains("must be \"eu\", as in queue.one, which is in the same group"),
        "{refused}"
    );
    assert!(Config::load(&group("e u"), []).is_err());
}

/// If one daemon ends, the other one runs all partitions.
#[tokio::test]
async fn all_partitions_outlive_a_daemon() {
    let Some(mut fleet) = Fleet::start_with(2, REGIONS).await else {
        return;
    };
    let store = fleet.daemons[1].service.store().clone();
    until(async || {
        let holders = holders(&store).await;
        holders.len() == 2 && holders[0] != holders[1]
    })
    .await;
    let mut lobby = fleet.named(1, "lobby").await;
    queued(&mut lobby, "eu", "t1", "ann").await;
    queued(&mut lobby, "us", "t2", "ann").await;
    let mut first = fleet.daemons.remove(0);
    first.stop();
    first.task.await.unwrap();
    first.service.close().await;
    queued(&mut lobby, "eu", "t3", "bob").await;
    queued(&mut lobby, "us", "t4", "bob").await;
    for ticket in ["t1", "t2", "t3", "t4"] {
        let ask = format!("TICKET {ticket}\n");
        until(async || lobby.ask(&ask).await.starts_with("MATCHED ")).await;
    }
    let last = LeaseSettings::new(std::time::Duration::from_secs(1));
    let taken = store
        .take_lease("queues/eu", &last.holder, last.lasts)
        .await;
    assert!(matches!(taken.unwrap(), Taken::No { .. }));
}
