//! What daemons ask each other in the database: each request is carried out once, and answered once, or not at all.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
    time::Duration,
};

use evenkeel::{
    matchmaking::lifecycle::{
        Change, CoordinatorSettings, Lifecycle, Proposal, QueueTerms, Reason, State, StoredState,
        Submission, TicketRecord,
    },
    model::Timestamp,
    store::{
        DecidedRequest, Lease, MAX_REQUEST, NewHostNotice, NewRequest, QueueWrite, Request, Store,
        StoreError, Taken, TicketKey,
    },
};
use proptest::prelude::*;
use tempfile::TempDir;

use crate::common::backends::{Backend, Postgres, open_chosen};

const LONG: Duration = Duration::from_secs(600);
const DAEMONS: [&str; 3] = ["one", "two", "three"];

/// Daemons share a database only on PostgreSQL.
async fn open_shared() -> Option<Arc<Store>> {
    Some(Postgres::shared()?.database("requests").await)
}

async fn open(folder: &TempDir) -> Arc<Store> {
    open_chosen(&folder.path().join("test.db")).await
}

async fn lease(store: &Store, holder: &str) -> Lease {
    match store.take_lease("queues", holder, LONG).await.unwrap() {
        Taken::Yes(lease) => lease,
        Taken::No { holder, .. } => panic!("{holder} has the lease"),
    }
}

fn request(partition: &str, key: i64, body: &str) -> NewRequest {
    NewRequest {
        partition: partition.to_owned(),
        key,
        body: body.to_owned(),
    }
}

fn decided(daemon: &str, key: i64, answer: Option<&str>) -> DecidedRequest {
    DecidedRequest {
        daemon: daemon.to_owned(),
        key,
        answer: answer.map(str::to_owned),
        is_binding: answer.is_some(),
    }
}

async fn decide(
    store: &Store,
    lease: &Lease,
    changes: &[Change],
    decided: &[DecidedRequest],
) -> Result<(), StoreError> {
    let write = QueueWrite {
        lease,
        partition: 0,
        changes,
        no_shows: &Default::default(),
        decided,
        notices: &[],
        waits: &[],
        wakes: true,
    };
    store.queues().write_queues(write).await.map(drop)
}

fn ticket(number: i64, owner: &str, id: &str) -> TicketRecord {
    TicketRecord {
        number,
        ticket: Submission {
            owner: owner.to_owned(),
            id: id.to_owned(),
            queue: "duel".to_owned(),
            players: vec![format!("{owner}/{id}")],
            spec: std::sync::Arc::default(),
        },
        submitted_at: Timestamp(0),
        state: State::Queued,
        reason: Reason::None,
        changed_at: Timestamp(0),
        is_sent: true,
    }
}

/// What happens next, to which daemon.
#[derive(Clone, Copy, Debug)]
enum Step {
    /// It asks this many things.
    Ask(usize, usize),
    /// It withdraws what waits longest.
    Withdraw(usize),
    /// The holder reads this many requests.
    Read(usize),
    /// The holder writes what it has decided; before that, a daemon withdraws what waits longest.
    Decide(Option<usize>),
    /// Another daemon takes the lease, or the same one again. The one before still believes that it has it.
    TakeOver,
    /// It reads its answers, and ends before it removes them, or not.
    ReadAnswers(usize, bool),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        4 => (0..3usize, 1..4usize).prop_map(|(daemon, count)| Step::Ask(daemon, count)),
        1 => (0..3usize).prop_map(Step::Withdraw),
        3 => (1..6usize).prop_map(Step::Read),
        3 => Just(Step::Decide(None)),
        1 => (0..3usize).prop_map(|daemon| Step::Decide(Some(daemon))),
        1 => Just(Step::TakeOver),
        2 => (0..3usize, any::<bool>()).prop_map(|(daemon, ends)| Step::ReadAnswers(daemon, ends)),
    ];
    proptest::collection::vec(step, 1..40)
}

/// Daemons of one database, and what has become of what they asked.
struct World {
    store: Arc<Store>,
    /// That of the holder.
    lease: Option<Lease>,
    /// The holder before that one, which writes what it has read before.
    late: Option<(Lease, Vec<Request>)>,
    read: Vec<Request>,
    next_ticket: i64,
    asked: BTreeMap<(String, i64), &'static str>,
}

impl World {
    async fn step(&mut self, step: Step) {
        match step {
            Step::Ask(daemon, count) => {
                let first = self.asked.len() as i64;
                let requests: Vec<_> = (first..first + count as i64)
                    .map(|key| request("main", key, &key.to_string()))
                    .collect();
                let written = self
                    .store
                    .queues()
                    .ask(DAEMONS[daemon], &requests)
                    .await
                    .unwrap();
                assert_eq!(written, vec![true; count]);
                for request in requests {
                    let key = (DAEMONS[daemon].to_owned(), request.key);
                    self.asked.insert(key, "waits");
                }
            }
            Step::Withdraw(daemon) => self.withdraw(daemon).await,
            Step::Read(most) => {
                self.read = self.store.queues().requests("main", most).await.unwrap();
                let keys = self.read.iter().map(|one| (one.daemon.clone(), one.key));
                let mut last = BTreeMap::new();
                for (daemon, key) in keys {
                    assert_eq!(self.asked[&(daemon.clone(), key)], "waits");
                    let before = last.insert(daemon, key);
                    assert!(before.is_none_or(|before| before < key), "in order");
                }
            }
            Step::Decide(withdraws) => {
                if let Some(daemon) = withdraws {
                    self.withdraw(daemon).await;
                }
                let read = std::mem::take(&mut self.read);
                let lease = self.lease.clone().unwrap();
                let is_whole = read.iter().all(|one| self.state(one) == "waits");
                let done = self.decide(&lease, &read).await;
                match is_whole {
                    true => done.unwrap(),
                    false => assert!(matches!(done, Err(StoreError::Withdrawn)), "{done:?}"),
                }
                if is_whole {
                    for one in read {
                        self.asked.insert((one.daemon, one.key), "answered");
                    }
                }
                if let Some((lease, read)) = self.late.take() {
                    let late = self.decide(&lease, &read).await.unwrap_err();
                    assert!(late.is_lease_lost(), "{late}");
                }
            }
            Step::TakeOver => {
                self.late = None;
                let before = self.lease.take().unwrap();
                self.store.give_back_lease(&before).await.unwrap();
                drop(before); // on SQLite, it is free only now
                let lease = lease(&self.store, "next").await;
                let mut before = lease.clone();
                before.epoch -= 1;
                self.late = Some((before, std::mem::take(&mut self.read)));
                self.lease = Some(lease);
            }
            Step::ReadAnswers(daemon, ends) => {
                let name = DAEMONS[daemon];
                let answers = self.store.queues().answers(name, 100).await.unwrap();
                let keys: Vec<i64> = answers.iter().map(|(key, _)| *key).collect();
                for (key, answer) in answers {
                    assert_eq!(answer, format!("done {key}"));
                    assert_eq!(self.asked[&(name.to_owned(), key)], "answered");
                }
                if !ends {
                    self.store.queues().has_read(name, &keys).await.unwrap();
                    for key in keys {
                        self.asked.insert((name.to_owned(), key), "read");
                    }
                }
            }
        }
    }

    fn state(&self, one: &Request) -> &'static str {
        self.asked[&(one.daemon.clone(), one.key)]
    }

    async fn withdraw(&mut self, daemon: usize) {
        let name = DAEMONS[daemon];
        let own = self.asked.iter().filter(|((asker, _), _)| asker == name);
        let open: Vec<i64> = own
            .filter(|(_, state)| ["waits", "answered"].contains(state))
            .map(|((_, key), _)| *key)
            .collect();
        let oldest = &open[..open.len().min(1)];
        for key in self.store.queues().withdraw(name, oldest).await.unwrap() {
            let before = self.asked.insert((name.to_owned(), key), "withdrawn");
            assert_eq!(before, Some("waits"), "what is answered stays");
        }
    }

    /// Carries out requests: each makes a ticket.
    async fn decide(&mut self, lease: &Lease, read: &[Request]) -> Result<(), StoreError> {
        let first = self.next_ticket;
        self.next_ticket += read.len() as i64;
        let changes: Vec<Change> = (first..)
            .zip(read)
            .map(|(number, one)| ticket(number, &one.daemon, &one.body))
            .map(|record| Change::Submitted(Box::new(record)))
            .collect();
        let answer = |one: &Request| format!("done {}", one.key);
        let answers = read
            .iter()
            .map(|one| decided(&one.daemon, one.key, Some(&answer(one))));
        decide(&self.store, lease, &changes, &answers.collect::<Vec<_>>()).await
    }

    /// Each request was carried out if it was answered, and only then.
    async fn compare(&self) {
        let (tickets, _) = self.store.queues().tickets_of(0).await.unwrap();
        let done = tickets.iter().map(|one| &one.ticket);
        let done: Vec<(String, i64)> = done
            .map(|one| (one.owner.clone(), one.id.parse().unwrap()))
            .collect();
        let once: BTreeSet<_> = done.iter().cloned().collect();
        assert_eq!(once.len(), done.len(), "nothing is done twice");
        let answered = self.asked.iter();
        let answered = answered.filter(|(_, state)| ["answered", "read"].contains(state));
        let answered: BTreeSet<_> = answered.map(|(key, _)| key.clone()).collect();
        assert_eq!(once, answered);
    }
}

async fn nothing_is_lost(steps: &[Step]) {
    let Some(store) = open_shared().await else {
        return;
    };
    for daemon in DAEMONS {
        store.queues().is_alive(daemon, LONG).await.unwrap();
    }
    let mut world = World {
        lease: Some(lease(&store, "first").await),
        store,
        late: None,
        read: Vec::new(),
        next_ticket: 1,
        asked: BTreeMap::new(),
    };
    for step in steps {
        world.step(*step).await;
    }
    world.compare().await;
    let last = [Step::Read(1_000), Step::Decide(None)];
    let answers = (0..3).map(|daemon| Step::ReadAnswers(daemon, false));
    for step in last.into_iter().chain(answers) {
        world.step(step).await;
    }
    world.compare().await;
    let mut states = world.asked.values();
    assert!(states.all(|state| ["read", "withdrawn"].contains(state)));
    assert!(
        world
            .store
            .queues()
            .requests("main", 10)
            .await
            .unwrap()
            .is_empty()
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn requests_are_carried_out_once_and_answered_once(steps in steps()) {
        let runtime = tokio::runtime::Runtime::new().unwrap();
        runtime.block_on(nothing_is_lost(&steps));
    }
}

#[tokio::test]
async fn requests_of_a_partition_wait_in_order_and_have_bounds() {
    let Some(store) = open_shared().await else {
        return;
    };
    store.queues().is_alive("one", LONG).await.unwrap();
    let long = "x".repeat(MAX_REQUEST + 1);
    let asked = [
        request("eu", 1, "a"),
        request("us", 2, "b"),
        request("eu", 3, &long),
        request("eu", 4, &long[1..]),
    ];
    let written = store.queues().ask("one", &asked).await.unwrap();
    assert_eq!(written, [true, true, false, true]);
    store
        .queues()
        .ask("two", &[request("eu", 1, "c")])
        .await
        .unwrap();
    let of = async |partition| {
        let requests = store.queues().requests(partition, 10).await.unwrap();
        let of = |one: Request| (one.daemon, one.key, one.is_alive);
        requests.into_iter().map(of).collect::<Vec<_>>()
    };
    let one = |key| ("one".to_owned(), key, true);
    assert_eq!(
        of("eu").await,
        [one(1), one(4), ("two".to_owned(), 1, false)]
    );
    assert_eq!(of("us").await, [one(2)]);
    assert_eq!(of("asia").await, []);
    // One that nobody waits for is removed; an answer stays until it is read.
    let lease = lease(&store, "me").await;
    let made = [decided("two", 1, None), decided("one", 1, Some("{}"))];
    decide(&store, &lease, &[], &made).await.unwrap();
    assert_eq!(of("eu").await, [one(4)]);
    let answers = store.queues().answers("one", 10).await.unwrap();
    assert_eq!(answers, [(1, "{}".to_owned())]);
    assert!(store.queues().answers("two", 10).await.unwrap().is_empty());
    // A daemon that ends leaves what it has asked: the holder may be deciding it.
    let notice = NewHostNotice {
        daemon: "one".to_owned(),
        link: 7,
        body: "{}".to_owned(),
    };
    let write = QueueWrite {
        lease: &lease,
        partition: 0,
        changes: &[],
        no_shows: &Default::default(),
        decided: &[],
        notices: &[notice],
        waits: &[("duel".to_owned(), 5), ("duo".to_owned(), 7)],
        wakes: false,
    };
    store.queues().write_queues(write).await.unwrap();
    store
        .queues()
        .write_queues(QueueWrite {
            notices: &[],
            waits: &[("duel".to_owned(), 6)],
            ..write
        })
        .await
        .unwrap();
    assert_eq!(store.queues().median_wait("duel").await.unwrap(), Some(6));
    assert_eq!(store.queues().median_wait("duo").await.unwrap(), Some(7));
    assert_eq!(store.queues().median_wait("else").await.unwrap(), None);
    let notices = store.queues().host_notices("one", 10).await.unwrap();
    assert_eq!((notices.len(), notices[0].link), (1, 7));
    store.queues().is_gone("one").await.unwrap();
    assert_eq!(of("eu").await, [("one".to_owned(), 4, false)]);
    assert!(store.queues().answers("one", 10).await.unwrap().is_empty());
    assert!(
        store
            .queues()
            .host_notices("one", 10)
            .await
            .unwrap()
            .is_empty()
    );
}

#[tokio::test]
async fn daemons_are_alive_for_as_long_as_they_say() {
    let Some(store) = open_shared().await else {
        return;
    };
    let names = |names: &[&str]| {
        names
            .iter()
            .map(ToString::to_string)
            .collect::<BTreeSet<_>>()
    };
    assert_eq!(
        store.queues().is_alive("one", LONG).await.unwrap(),
        (false, names(&["one"]))
    );
    let (was, alive) = store
        .queues()
        .is_alive("two", Duration::ZERO)
        .await
        .unwrap();
    assert_eq!((was, alive), (false, names(&["one", "two"])));
    assert_eq!(
        store.queues().is_alive("one", LONG).await.unwrap(),
        (true, names(&["one"]))
    );
    store.queues().is_gone("one").await.unwrap();
    assert_eq!(
        store.queues().is_alive("one", LONG).await.unwrap(),
        (false, names(&["one"]))
    );
}

/// A daemon that does not run a queue reads where its clients' tickets stand, and notes what they were sent.
#[tokio::test]
async fn what_a_client_was_not_sent_is_read_until_it_is_noted() {
    let folder = TempDir::new().unwrap();
    let store = open(&folder).await;
    let lease = lease(&store, "me").await;
    let terms = QueueTerms {
        ttl: 600_000,
        ..QueueTerms::default()
    };
    let (settings, stored) = (CoordinatorSettings::default(), StoredState::default());
    let queues = [("duel".to_owned(), terms)];
    let mut life = Lifecycle::restore(settings, queues, stored, Timestamp(5), |_| true);
    for (owner, id) in [("a", "t1"), ("b", "t1"), ("a", "t2"), ("a", "t3")] {
        life.submit(ticket(0, owner, id).ticket).unwrap();
    }
    let id = store.queues().reserve_matches(1).await.unwrap();
    let proposal = Proposal {
        teams: vec![vec![1], vec![2]],
        size: 1,
        ..Proposal::default()
    };
    life.propose("duel", vec![proposal], id);
    life.cancel("a", "t2").unwrap();
    let changes = life.take_effects(true, String::new).write;
    decide(&store, &lease, &changes, &[]).await.unwrap();

    let stored = store
        .queues()
        .stored_ticket("a", "t1")
        .await
        .unwrap()
        .unwrap();
    assert_eq!(Some(&stored.ticket), life.ticket(1));
    assert_eq!(stored.in_match.as_ref(), life.formed(id));
    let waits = store
        .queues()
        .stored_ticket("a", "t3")
        .await
        .unwrap()
        .unwrap();
    assert_eq!((waits.ticket.state, waits.in_match), (State::Queued, None));
    assert_eq!(store.queues().stored_ticket("b", "t2").await.unwrap(), None);

    let names = |names: &[&str]| names.iter().map(ToString::to_string).collect::<Vec<_>>();
    let unannounced = async |partitions: &[i64], owners: &[&str], most| {
        let found = store
            .queues()
            .unannounced(partitions, &names(owners), most)
            .await
            .unwrap();
        let keys = found.iter().map(|one| TicketKey::from(&one.ticket));
        keys.collect::<Vec<_>>()
    };
    let numbers = |keys: Vec<TicketKey>| keys.iter().map(|key| key.number).collect::<Vec<_>>();
    let both = unannounced(&[0], &["a", "b"], 10).await;
    assert_eq!(numbers(both.clone()), [1, 2, 3]);
    assert_eq!(numbers(unannounced(&[0], &["a", "b"], 2).await), [1, 2]);
    assert_eq!(numbers(unannounced(&[0], &["b", "c"], 9).await), [2]);
    assert!(unannounced(&[1, 2], &["a"], 9).await.is_empty());
    assert!(
        unannounced(&[], &["a"], 9).await.is_empty() && unannounced(&[0], &[], 9).await.is_empty()
    );
    // One was sent another state than that which it has now.
    let mut old = both[1];
    old.at = Timestamp(1);
    store
        .queues()
        .note_announced(&[both[0], old])
        .await
        .unwrap();
    assert_eq!(numbers(unannounced(&[0], &["a", "b"], 10).await), [2, 3]);
    assert_eq!(store.queues().announced(&both).await.unwrap(), [1].into());
    assert!(store.queues().announced(&[]).await.unwrap().is_empty());
    store.queues().note_announced(&both).await.unwrap();
    store.queues().note_announced(&both).await.unwrap();
    assert!(unannounced(&[0], &["a", "b"], 10).await.is_empty());
}
