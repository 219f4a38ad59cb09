//! Tickets in the database: what was written is read back, and ids of matches are used once.

use std::{path::Path, sync::Arc, time::Duration};

use crate::common::{
    backends::{execute, open_chosen},
    game,
};
use evenkeel::{
    matchmaking::TicketSpec,
    matchmaking::lifecycle::{
        Change, CoordinatorSettings, InstanceOffer, Lifecycle, Match, Proposal, QueueTerms, State,
        StoredState, Submission, TicketNumber, TicketRecord,
    },
    model::{
        Kind::{self, Bot, Human},
        PlayerKey, Timestamp,
        behaviour::BehaviourDay,
    },
    store::{self, Lease, QueueWrite, Store, StoreError, Taken},
};
use tempfile::TempDir;

async fn open(folder: &Path) -> Arc<Store> {
    open_chosen(&folder.join("test.db")).await
}

fn queues() -> Vec<(String, QueueTerms)> {
    let terms = |ready_check| QueueTerms {
        ttl: 600_000,
        ready_check,
        group: String::new(),
        ..QueueTerms::default()
    };
    let hosted = QueueTerms {
        hosted: true,
        ..terms(0)
    };
    vec![
        ("plain".to_owned(), terms(0)),
        ("checked".to_owned(), terms(30_000)),
        ("hosted".to_owned(), hosted),
    ]
}

fn restored(tickets: Vec<TicketRecord>, formed: Vec<Match>, now: Timestamp) -> Lifecycle {
    let stored = StoredState {
        tickets,
        formed,
        ..StoredState::default()
    };
    restored_from(stored, now)
}

fn restored_from(stored: StoredState, now: Timestamp) -> Lifecycle {
    let settings = CoordinatorSettings::default();
    Lifecycle::restore(settings, queues(), stored, now, |_| true)
}

/// The changes that are to be written, also those that can wait.
fn taken_changes(life: &mut Lifecycle) -> Vec<Change> {
    life.take_effects(true, String::new).write
}

/// Submits a ticket of two players whose ids begin with that of the ticket.
fn submit(life: &mut Lifecycle, id: &str, queue: &str) -> TicketNumber {
    life.submit(submission(id, queue)).unwrap()
}

fn submission(id: &str, queue: &str) -> Submission {
    Submission {
        owner: "bäckend \"1\"".to_owned(),
        id: id.to_owned(),
        queue: queue.to_owned(),
        players: vec![format!("{id}-a"), format!("{id} 'b'")],
        spec: Arc::new(TicketSpec {
            ticket: id.to_owned(),
            ..TicketSpec::default()
        }),
    }
}

fn pair(one: TicketNumber, other: TicketNumber) -> Proposal {
    Proposal {
        teams: vec![vec![one], vec![other]],
        size: 2,
        mode: None,
        map: Some("map one".to_owned()),
        penalty: 0.125,
        chance: Some(0.5),
        seed: u64::MAX,
        searched_at: Timestamp(900),
        ruleset: "ctf".to_owned(),
        why: Vec::new(),
        pool: None,
    }
}

async fn write(store: &Store, life: &mut Lifecycle) {
    write_changes(store, &taken_changes(life)).await.unwrap();
}

/// Writes changes as the daemon that runs the queues does.
async fn write_changes(store: &Store, changes: &[Change]) -> Result<(), StoreError> {
    let lease = lease(store).await;
    let written = write_with(store, &lease, changes).await;
    store.give_back_lease(&lease).await.unwrap();
    written
}

async fn lease(store: &Store) -> Lease {
    let taken = store.take_lease("queues", "test", Duration::from_secs(60));
    match taken.await.unwrap() {
        Taken::Yes(lease) => lease,
        Taken::No { .. } => panic!("nobody else has the lease"),
    }
}

async fn write_with(store: &Store, lease: &Lease, changes: &[Change]) -> Result<(), StoreError> {
    let write = QueueWrite {
        lease,
        partition: 0,
        changes,
        no_shows: &Default::default(),
        decided: &[],
        notices: &[],
        waits: &[],
        wakes: false,
    };
    store.queues().write_queues(write).await.map(drop)
}

/// Writes the changes of a life, and compares what a new process finds with the life itself.
async fn survives(store: &Store, life: &mut Lifecycle) {
    write(store, life).await;
    let (tickets, matches) = store.queues().tickets_of(0).await.unwrap();
    for ticket in &tickets {
        assert_eq!(life.ticket(ticket.number), Some(ticket));
    }
    for formed in &matches {
        assert_eq!(life.formed(formed.id), Some(formed));
    }
    let stored = StoredState {
        tickets,
        formed: matches,
        players: store.queues().ticket_players(0).await.unwrap(),
        ..StoredState::default()
    };
    let mut again = restored_from(stored, life.now());
    assert_eq!(taken_changes(&mut again), [], "nothing has to be mended");
}

#[tokio::test]
async fn whatever_happens_to_tickets_is_read_back() {
    let folder = TempDir::new().unwrap();
    let store = open(folder.path()).await;
    let mut life = restored(Vec::new(), Vec::new(), Timestamp(1_000));
    let ids = ["t1", "t2", "t3", "t4", "t5", "t6"];
    let plain: Vec<_> = ids[..3]
        .iter()
        .map(|id| submit(&mut life, id, "plain"))
        .collect();
    let checked: Vec<_> = ids[3..]
        .iter()
        .map(|id| submit(&mut life, id, "checked"))
        .collect();
    survives(&store, &mut life).await;
    assert_eq!(store.queues().tickets_of(0).await.unwrap().0.len(), 6);
    let first = store.queues().reserve_matches(2).await.unwrap();
    life.propose("plain", vec![pair(plain[0], plain[1])], first);
    life.propose("checked", vec![pair(checked[0], checked[1])], first + 1);
    survives(&store, &mut life).await;
    assert_eq!(store.queues().tickets_of(0).await.unwrap().1.len(), 2);
    let owner = "bäckend \"1\"";
    life.accept(owner, first + 1, "t4 'b'").unwrap();
    survives(&store, &mut life).await;
    life.sent(plain[0]);
    life.decline(owner, first + 1, "t5-a").unwrap();
    life.cancel(owner, "t3").unwrap();
    survives(&store, &mut life).await;
    let (tickets, matches) = store.queues().tickets_of(0).await.unwrap();
    assert_eq!(matches.len(), 1, "a declined match is gone");
    let states: Vec<_> = tickets.iter().map(|ticket| ticket.state).collect();
    let (matched, out, queued) = (State::Matched(first), State::Cancelled, State::Queued);
    assert_eq!(states, [matched, matched, out, queued, out, queued]);
    life.propose("checked", vec![pair(checked[0], checked[2])], first + 2);
    for player in ["t4-a", "t4 'b'", "t6-a", "t6 'b'"] {
        life.accept(owner, first + 2, player).unwrap();
    }
    survives(&store, &mut life).await;
    life.at(Timestamp(2 * 86_400_000));
    survives(&store, &mut life).await;
    let (tickets, matches) = store.queues().tickets_of(0).await.unwrap();
    assert!(tickets.is_empty() && matches.is_empty(), "a day later");
}

/// The rows of tickets, of matches and of what they come to by hour.
async fn rows(store: &Store) -> String {
    let mut hours = Vec::new();
    for queue in ["plain", "checked", "hosted"] {
        hours.extend(
            store
                .queues()
                .queue_hours(queue, Timestamp(0))
                .await
                .unwrap(),
        );
    }
    let mut players = store.queues().ticket_players(0).await.unwrap();
    players.sort();
    let (tickets, hosting) = (
        store.queues().tickets_of(0).await,
        store.queues().hosting(0).await,
    );
    let (tickets, hosting) = (tickets.unwrap(), hosting.unwrap());
    format!("{tickets:#?} {players:#?} {hosting:#?} {hours:#?}")
}

#[tokio::test]
async fn a_turn_leaves_what_its_changes_leave_one_by_one() {
    let folder = TempDir::new().unwrap();
    let together = open(folder.path()).await;
    let one_by_one = open_chosen(&folder.path().join("other.db")).await;
    let mut life = restored(Vec::new(), Vec::new(), Timestamp(1_000));
    let owner = "bäckend \"1\"";
    life.joined(InstanceOffer {
        name: "ctf 1".to_owned(),
        slots: 2,
        ..InstanceOffer::default()
    })
    .unwrap();
    let mut tickets = Vec::new();
    for queue in ["plain", "checked", "hosted"] {
        let ids = (0..4).map(|at| format!("{queue} {at}"));
        tickets.push(
            ids.map(|id| submit(&mut life, &id, queue))
                .collect::<Vec<_>>(),
        );
    }
    let [plain, checked, hosted] = &tickets[..] else {
        panic!("{tickets:?}");
    };
    life.at(Timestamp(5_000));
    life.propose("plain", vec![pair(plain[0], plain[1])], 7);
    life.propose("checked", vec![pair(checked[0], checked[1])], 8);
    life.accept(owner, 8, "checked 0-a").unwrap();
    life.cancel(owner, "checked 1").unwrap();
    life.cancel(owner, "plain 2").unwrap();
    life.sent(plain[0]);
    // The ticket that has come back in this turn, and another one.
    life.propose("checked", vec![pair(checked[0], checked[2])], 9);
    for player in ["0-a", "0 'b'", "2-a", "2 'b'"] {
        life.accept(owner, 9, &format!("checked {player}")).unwrap();
    }
    life.propose("hosted", vec![pair(hosted[0], hosted[1])], 10);
    life.lost("ctf 1");
    let leases = [lease(&together).await, lease(&one_by_one).await];
    for at in [5_000, 700_000, 2 * 86_400_000] {
        life.at(Timestamp(at));
        let changes = taken_changes(&mut life);
        assert!(!changes.is_empty(), "{at}");
        write_with(&together, &leases[0], &changes).await.unwrap();
        for change in &changes {
            let one = std::slice::from_ref(change);
            write_with(&one_by_one, &leases[1], one).await.unwrap();
        }
        assert_eq!(rows(&together).await, rows(&one_by_one).await, "{at}");
    }
}

#[tokio::test]
async fn no_turn_puts_a_ticket_into_two_matches() {
    let folder = TempDir::new().unwrap();
    let store = open(folder.path()).await;
    let mut life = restored(Vec::new(), Vec::new(), Timestamp(1_000));
    let [one, other, third] = ["t1", "t2", "t3"].map(|id| submit(&mut life, id, "plain"));
    let submitted = taken_changes(&mut life);
    life.propose("plain", vec![pair(one, other)], 7);
    let formed = taken_changes(&mut life);
    let mut wrong = restored(Vec::new(), Vec::new(), Timestamp(1_000));
    for id in ["t1", "t2", "t3"] {
        submit(&mut wrong, id, "plain");
    }
    taken_changes(&mut wrong);
    wrong.propose("plain", vec![pair(one, third)], 8);
    let other_match = taken_changes(&mut wrong);
    let twice = [formed.clone(), other_match.clone()].concat();
    for turn in [[submitted.clone(), twice.clone()].concat(), twice] {
        let refused = write_changes(&store, &turn).await.unwrap_err();
        let StoreError::OtherState(taken) = refused else {
            panic!("{refused}");
        };
        assert_eq!(taken, one);
        assert!(store.queues().tickets_of(0).await.unwrap().1.is_empty());
        let _ = write_changes(&store, &submitted).await;
    }
    write_changes(&store, &formed).await.unwrap();
    // The row is no longer in the state before the change.
    let refused = write_changes(&store, &other_match).await.unwrap_err();
    assert!(
        matches!(refused, StoreError::OtherState(ticket) if ticket == one),
        "{refused}"
    );
    assert_eq!(store.queues().tickets_of(0).await.unwrap().1.len(), 1);
}

#[tokio::test]
async fn no_turn_puts_a_player_into_two_tickets_of_a_group() {
    let folder = TempDir::new().unwrap();
    let store = open(folder.path()).await;
    let mut life = restored(Vec::new(), Vec::new(), Timestamp(1_000));
    submit(&mut life, "t1", "plain");
    write(&store, &mut life).await;
    // A holder of the lease that knows nothing of the ticket.
    let mut wrong = restored(Vec::new(), Vec::new(), Timestamp(1_000));
    wrong.number_above(1);
    let another = Submission {
        players: vec!["other".to_owned(), "t1 'b'".to_owned()],
        ..submission("t2", "checked")
    };
    wrong.submit(another.clone()).unwrap();
    let refused = write_changes(&store, &taken_changes(&mut wrong)).await;
    let Err(StoreError::InAnother(player)) = refused else {
        panic!("{refused:?}");
    };
    assert_eq!(player, "t1 'b'");
    assert_eq!(store.queues().tickets_of(0).await.unwrap().0.len(), 1);
    // Once the player has left the first ticket, also in the same turn.
    life.cancel("bäckend \"1\"", "t1").unwrap();
    life.submit(another).unwrap();
    write(&store, &mut life).await;
    let players = store.queues().ticket_players(0).await.unwrap();
    assert_eq!(players.len(), 2, "{players:?}");
}

#[tokio::test]
async fn a_ticket_whose_row_has_another_state_is_not_changed() {
    let folder = TempDir::new().unwrap();
    let store = open(folder.path()).await;
    let mut life = restored(Vec::new(), Vec::new(), Timestamp(1_000));
    let tickets = ["t1", "t2"].map(|id| submit(&mut life, id, "checked"));
    write(&store, &mut life).await;
    life.propose("checked", vec![pair(tickets[0], tickets[1])], 7);
    write(&store, &mut life).await;
    // Somebody else has written meanwhile: one ticket is cancelled, and the check is over.
    let before = "UPDATE tickets SET state = 'cancelled', match_id = NULL WHERE number = 1;
         UPDATE formed_matches SET open_until = NULL";
    execute(&folder.path().join("test.db"), before, before).await;
    let owner = "bäckend \"1\"";
    life.accept(owner, 7, "t2-a").unwrap();
    let refused = write_changes(&store, &taken_changes(&mut life)).await;
    assert!(
        matches!(refused, Err(StoreError::NoCheck(7))),
        "{refused:?}"
    );
    life.cancel(owner, "t1").unwrap();
    let refused = write_changes(&store, &taken_changes(&mut life)).await;
    assert!(
        matches!(refused, Err(StoreError::OtherState(1))),
        "{refused:?}"
    );
    let (stored, _) = store.queues().tickets_of(0).await.unwrap();
    let states: Vec<_> = stored.iter().map(|ticket| ticket.state).collect();
    assert_eq!(states, [State::Cancelled, State::Proposed(7)]);
}

#[tokio::test]
async fn changes_are_written_together_or_not_at_all() {
    let folder = TempDir::new().unwrap();
    let store = open(folder.path()).await;
    let mut life = restored(Vec::new(), Vec::new(), Timestamp(0));
    submit(&mut life, "t1", "plain");
    let mut changes = taken_changes(&mut life);
    let Some(Change::Submitted(first)) = changes.first().cloned() else {
        panic!("{changes:?}");
    };
    changes.push(Change::Submitted(first)); // the number is taken
    write_changes(&store, &changes).await.unwrap_err();
    assert!(store.queues().tickets_of(0).await.unwrap().0.is_empty());
    changes.pop();
    write_changes(&store, &changes).await.unwrap();
    assert_eq!(store.queues().tickets_of(0).await.unwrap().0.len(), 1);
}

#[tokio::test]
async fn an_id_never_means_two_matches() {
    let folder = TempDir::new().unwrap();
    let store = open(folder.path()).await;
    let record = |end| {
        game(
            end,
            &[(Human, "a"), (Bot, "x")],
            &[(Human, "b")],
            [1.0, 0.0],
        )
    };
    assert_eq!(store.queues().reserve_matches(3).await.unwrap(), 1);
    assert_eq!(store.matches().record(&record(10)).await.unwrap().id(), 4);
    assert_eq!(store.queues().reserve_matches(1).await.unwrap(), 5);
    store.close().await;
    let store = open(folder.path()).await;
    assert_eq!(store.matches().record(&record(20)).await.unwrap().id(), 6);
    assert_eq!(store.queues().reserve_matches(1).await.unwrap(), 7);
}

#[tokio::test]
async fn a_forgotten_player_is_in_no_ticket_that_has_ended() {
    let folder = TempDir::new().unwrap();
    let store = open(folder.path()).await;
    let mut life = restored(Vec::new(), Vec::new(), Timestamp(0));
    let one = submit(&mut life, "t1", "plain");
    let other = submit(&mut life, "t2", "plain");
    let first = store.queues().reserve_matches(1).await.unwrap();
    life.propose("plain", vec![pair(one, other)], first);
    write(&store, &mut life).await;
    let id = "t1-a".to_owned();
    let kind = Kind::Human;
    store
        .corrections()
        .forget_player(&PlayerKey { kind, id }, Timestamp(0))
        .await
        .unwrap();
    let (tickets, matches) = store.queues().tickets_of(0).await.unwrap();
    let numbers: Vec<_> = tickets.iter().map(|ticket| ticket.number).collect();
    assert_eq!(numbers, [other]);
    assert!(matches[0].seats.iter().all(|seat| seat.player != "t1-a"));
    // The daemon that has them in memory goes on.
    life.at(Timestamp(2 * 86_400_000));
    write(&store, &mut life).await;
    assert!(store.queues().tickets_of(0).await.unwrap().0.is_empty());
}

#[tokio::test]
async fn a_forgotten_player_stays_in_a_match_whose_tickets_wait() {
    let folder = TempDir::new().unwrap();
    let store = open(folder.path()).await;
    let mut life = restored(Vec::new(), Vec::new(), Timestamp(0));
    let one = submit(&mut life, "t1", "checked");
    let other = submit(&mut life, "t2", "checked");
    let first = store.queues().reserve_matches(1).await.unwrap();
    life.propose("checked", vec![pair(one, other)], first);
    write(&store, &mut life).await;
    let id = "t1-a".to_owned();
    let kind = Kind::Human;
    store
        .corrections()
        .forget_player(&PlayerKey { kind, id }, Timestamp(0))
        .await
        .unwrap();
    let (tickets, matches) = store.queues().tickets_of(0).await.unwrap();
    assert_eq!(tickets.len(), 2);
    let mut seats = matches[0].seats.iter();
    assert!(seats.any(|seat| seat.player == "t1-a"), "{matches:?}");
}

/// A no-show and the end of its ticket are on disk together: if one cannot be written, neither is.
#[tokio::test]
async fn no_shows_are_written_with_their_tickets_or_not_at_all() {
    let folder = TempDir::new().unwrap();
    let store = open(folder.path()).await;
    let path = folder.path().join("test.db");
    let mut life = restored(Vec::new(), Vec::new(), Timestamp(0));
    submit(&mut life, "t1", "plain");
    write(&store, &mut life).await;
    life.cancel("bäckend \"1\"", "t1").unwrap();
    let changes = taken_changes(&mut life);
    let no_shows = store::BehaviourReport {
        days: vec![BehaviourDay::no_show("t1-a", Timestamp(7))],
        day_limit: 10.0,
        since: 0,
    };
    let sqlite = "CREATE TRIGGER refused BEFORE INSERT ON behaviour
                  BEGIN SELECT RAISE(ABORT, 'the disk is full'); END";
    let postgres = "CREATE FUNCTION refused() RETURNS trigger LANGUAGE plpgsql AS $$
                    BEGIN RAISE EXCEPTION 'the disk is full'; END $$;
                    CREATE TRIGGER refused BEFORE INSERT ON behaviour
                    FOR EACH ROW EXECUTE FUNCTION refused()";
    execute(&path, sqlite, postgres).await;
    let lease = store
        .take_lease("queues", "me", Duration::from_secs(60))
        .await
        .unwrap();
    let Taken::Yes(lease) = lease else {
        panic!("nobody else has it");
    };
    let write = QueueWrite {
        lease: &lease,
        partition: 0,
        changes: &changes,
        no_shows: &no_shows,
        decided: &[],
        notices: &[],
        waits: &[],
        wakes: false,
    };
    let failed = store.queues().write_queues(write).await;
    failed.unwrap_err();
    let states = async || store.queues().tickets_of(0).await.unwrap().0[0].state;
    assert_eq!(states().await, State::Queued);
    let (sqlite, postgres) = ("DROP TRIGGER refused", "DROP TRIGGER refused ON behaviour");
    execute(&path, sqlite, postgres).await;
    let version = store.queues().write_queues(write).await.unwrap();
    assert_eq!(version, Some(store.behaviour_version().await.unwrap()));
    assert_eq!(states().await, State::Cancelled);
    assert_eq!(store.behaviour().await.unwrap().days, no_shows.days);
}

/// Players whose match is hosted do not wait any more.
#[tokio::test]
async fn only_tickets_without_a_final_match_count_as_waiting() {
    let folder = TempDir::new().unwrap();
    let store = open(folder.path()).await;
    let mut life = restored(Vec::new(), Vec::new(), Timestamp(0));
    let tickets: Vec<_> = ["t1", "t2", "t3", "t4", "t5"]
        .iter()
        .map(|id| submit(&mut life, id, "hosted"))
        .collect();
    let first = store.queues().reserve_matches(2).await.unwrap();
    life.propose("hosted", vec![pair(tickets[0], tickets[1])], first);
    life.propose("hosted", vec![pair(tickets[2], tickets[3])], first + 1);
    let offer = InstanceOffer {
        name: "host".to_owned(),
        slots: 2,
        ..InstanceOffer::default()
    };
    life.joined(offer).unwrap();
    write(&store, &mut life).await;
    life.ready("host", first + 1, None).unwrap();
    write(&store, &mut life).await;
    let rows = store.queues().queue_rows().await.unwrap();
    assert_eq!(rows.len(), 1);
    assert_eq!(rows[0].tickets, [1, 0, 4, 0, 0, 0]);
    assert_eq!(rows[0].players, 2, "those of the ticket that waits");
}
