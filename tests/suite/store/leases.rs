//! What only one daemon may do at a time, on both databases.

use std::{sync::Arc, time::Duration};

use evenkeel::{
    learning::leases::{LeaseSettings, SharedSettings},
    matchmaking::lifecycle::{
        Change, CoordinatorSettings, Lifecycle, Match, Proposal, QueueTerms, StoredState,
        Submission, TicketRecord,
    },
    model::Timestamp,
    server::Service,
    store::{BehaviourReport, Lease, QueueWrite, Store, StoreError, Taken},
};

use crate::common::{
    self, Client, Daemon,
    backends::{Backend, Postgres, Sqlite},
    until,
};

/// Longer than any test runs.
const LONG: Duration = Duration::from_secs(600);
/// As short as possible where a test waits for the end of a lease.
const SHORT: Duration = Duration::from_millis(300);

async fn taken(store: &Arc<Store>, holder: &str, lasts: Duration) -> Lease {
    match store.take_lease("queues", holder, lasts).await.unwrap() {
        Taken::Yes(lease) => lease,
        Taken::No { holder, .. } => panic!("{holder} has it"),
    }
}

async fn holder(store: &Arc<Store>, asks: &str) -> Option<(String, i64)> {
    match store.take_lease("queues", asks, LONG).await.unwrap() {
        Taken::Yes(_) => None,
        Taken::No { holder, epoch } => Some((holder, epoch)),
    }
}

async fn write(store: &Store, lease: &Lease, changes: &[Change]) -> Result<(), StoreError> {
    let write = QueueWrite {
        lease,
        partition: 0,
        changes,
        no_shows: &BehaviourReport::default(),
        decided: &[],
        notices: &[],
        waits: &[],
        wakes: false,
    };
    store.queues().write_queues(write).await.map(drop)
}

/// The queue `duel`.
fn queues() -> Vec<(String, QueueTerms)> {
    let terms = QueueTerms {
        ttl: 600_000,
        ready_check: 0,
        group: String::new(),
        ..QueueTerms::default()
    };
    vec![("duel".to_owned(), terms)]
}

fn restored(tickets: Vec<TicketRecord>, formed: Vec<Match>, now: Timestamp) -> Lifecycle {
    let stored = StoredState {
        tickets,
        formed,
        ..StoredState::default()
    };
    let settings = CoordinatorSettings::default();
    Lifecycle::restore(settings, queues(), stored, now, |_| true)
}

/// The changes that are to be written, also those that can wait.
fn taken_changes(life: &mut Lifecycle) -> Vec<Change> {
    life.take_effects(true, String::new).write
}

/// Two tickets of that queue, which are not written yet.
fn two_tickets() -> Lifecycle {
    let mut life = restored(Vec::new(), Vec::new(), Timestamp(0));
    for player in ["ann", "bob"] {
        let ticket = Submission {
            owner: "lobby".to_owned(),
            id: player.to_owned(),
            queue: "duel".to_owned(),
            players: vec![player.to_owned()],
            spec: std::sync::Arc::default(),
        };
        life.submit(ticket).unwrap();
    }
    life
}

fn duel() -> Proposal {
    Proposal {
        teams: vec![vec![1], vec![2]],
        size: 1,
        ..Proposal::default()
    }
}

/// The story of a lease: one has it, and whoever had it before cannot write any more.
async fn one_has_it_at_a_time(backend: impl Backend) {
    let (one, other) = (backend.database("one").await, backend.database("one").await);
    let first = taken(&one, "first", LONG).await;
    assert_eq!(
        holder(&other, "second").await,
        Some(("first".to_owned(), 1))
    );
    assert_eq!(holder(&one, "third").await, Some(("first".to_owned(), 1)));
    assert!(one.renew_lease(&first).await.unwrap());
    let mut life = two_tickets();
    write(&one, &first, &taken_changes(&mut life))
        .await
        .unwrap();
    one.give_back_lease(&first).await.unwrap();
    drop(first);
    let second = taken(&other, "second", LONG).await;
    assert_eq!(second.epoch, 2);
    // The first one still believes that it has the lease.
    let mut first = second.clone();
    first.epoch = 1;
    life.cancel("lobby", "ann").unwrap();
    let changes = taken_changes(&mut life);
    let refused = write(&one, &first, &changes).await.unwrap_err();
    assert!(refused.is_lease_lost(), "{refused}");
    write(&other, &second, &changes).await.unwrap();
}

/// Even a holder that is wrong about a ticket cannot put it into a second match.
async fn a_ticket_is_in_one_match_whoever_is_wrong(backend: impl Backend) {
    let store = backend.database("one").await;
    let lease = taken(&store, "first", LONG).await;
    let mut life = two_tickets();
    write(&store, &lease, &taken_changes(&mut life))
        .await
        .unwrap();
    let (tickets, matches) = store.queues().tickets_of(0).await.unwrap();
    let first = store.queues().reserve_matches(2).await.unwrap();
    assert_eq!(life.propose("duel", vec![duel()], first), 1);
    write(&store, &lease, &taken_changes(&mut life))
        .await
        .unwrap();
    // Another holder has read the tickets before, and writes now.
    let mut late = restored(tickets, matches, Timestamp(0));
    assert_eq!(late.propose("duel", vec![duel()], first + 1), 1);
    let refused = write(&store, &lease, &taken_changes(&mut late)).await;
    let refused = refused.unwrap_err();
    assert!(matches!(refused, StoreError::OtherState(_)), "{refused}");
    assert_eq!(store.queues().tickets_of(0).await.unwrap().1.len(), 1);
}

/// A lease is kept as long as its holder lives, and goes to the next one when the holder lets go.
async fn it_is_kept_and_handed_on(backend: impl Backend) {
    let (one, other) = (backend.database("one").await, backend.database("one").await);
    let settings = || LeaseSettings::new(SHORT);
    let none = SharedSettings::default();
    let first = settings().wait(&one, "queues", &none).await;
    let second = settings();
    let waiting = second.wait(&other, "queues", &none);
    tokio::pin!(waiting);
    // Ten times as long as a lease lasts.
    let early = tokio::time::timeout(10 * SHORT, &mut waiting).await;
    assert!(early.is_err(), "{early:?}");
    assert!(first.is_held());
    first.give_back().await.unwrap();
    let second = waiting.await;
    assert!(second.is_held());
    // Without a word.
    drop(second);
    let third = settings().wait(&one, "queues", &none).await;
    assert_eq!(third.lease().epoch, 3);
}

macro_rules! on_both {
    ($($test:ident)*) => { $(
        mod $test {
            use super::*;
            #[tokio::test]
            async fn on_sqlite() {
                super::$test(Sqlite::new()).await;
            }
            #[tokio::test]
            async fn on_postgresql() {
                if let Some(backend) = Postgres::shared() {
                    super::$test(backend).await;
                }
            }
        }
    )* };
}

on_both! {
    one_has_it_at_a_time
    a_ticket_is_in_one_match_whoever_is_wrong
    it_is_kept_and_handed_on
}

/// A holder that sleeps for longer than its lease has lost it, even if nobody has taken it since.
#[tokio::test]
async fn a_lease_that_has_ended_is_lost() {
    let Some(backend) = Postgres::shared() else {
        return;
    };
    let store = backend.database("one").await;
    let lease = taken(&store, "first", SHORT).await;
    until(async || {
        !store.renew_lease(&lease).await.unwrap() || {
            tokio::time::sleep(SHORT).await;
            false
        }
    })
    .await;
    let changes = taken_changes(&mut two_tickets());
    let refused = write(&store, &lease, &changes).await.unwrap_err();
    assert!(refused.is_lease_lost(), "{refused}");
    assert!(store.queues().tickets_of(0).await.unwrap().0.is_empty());
    taken(&store, "second", LONG).await;
}

const QUEUE: &str = "[queue.duel]
teams = 2
size = 1
ruleset = \"baseoa.ctf\"
host = \"none\"
";

const SUBMIT: &str = "ENQUEUE duel t1\nSEAT ann\nSUBMIT\n";

async fn ask_of(service: &Arc<Service>, folder: tempfile::TempDir) -> (Daemon, Client) {
    let limits = common::config("").server.limits;
    let daemon = Daemon::serve(service.clone(), folder, limits).await;
    let client = daemon.named("lobby").await;
    (daemon, client)
}

/// Two daemons on one SQLite file would put a ticket into two matches: the second one waits.
#[tokio::test]
async fn a_second_daemon_on_a_file_does_not_run_its_queues() {
    let files = Sqlite::new();
    let service = async || {
        let store = files.database("one").await;
        let service = Service::open(store, common::config(QUEUE).service());
        (
            Arc::new(service.unwrap()),
            tempfile::TempDir::new().unwrap(),
        )
    };
    let (first, folder) = service().await;
    let (mut one, mut lobby) = ask_of(&first, folder).await;
    let reply = lobby.ask(SUBMIT).await;
    assert!(reply.starts_with("QUEUED t1 "), "{reply}");
    let (second, folder) = service().await;
    let (mut two, mut elsewhere) = ask_of(&second, folder).await;
    // It reads where a ticket stands, and decides nothing.
    let stands = elsewhere.ask("TICKET t1\n").await;
    assert!(stands.starts_with("QUEUED t1 "), "{stands}");
    assert_eq!(
        elsewhere.ask("CANCEL t1\n").await,
        "ERROR overloaded another daemon runs the queues of this database"
    );
    // It can be configured all the same.
    second
        .queues()
        .configure(common::config(QUEUE).queue)
        .await
        .unwrap();
    one.stop();
    one.task.await.unwrap();
    first.close().await;
    until(async || {
        let reply = elsewhere.ask("CANCEL t1\n").await;
        // A connection with many errors is closed.
        tokio::time::sleep(Duration::from_millis(50)).await;
        reply == "CANCELLED t1"
    })
    .await;
    two.stop();
}
