//! Several daemons on one database: one of them writes what is derived, all of them know it.

use std::{sync::Arc, time::Duration};

use evenkeel::{
    learning::AT_ONCE,
    model::{Kind::Human, PlayerKey},
    server::Service,
    store::{self, DerivedRows, Recount, Taken},
};
use sqlx::PgConnection;
use tokio::task::JoinHandle;

use crate::common::{
    self, as_they_stand,
    backends::{Backend, Postgres, Sqlite},
    game, until,
};

/// How long a lease lasts where daemons are killed: they are missed after it.
const LASTS: Duration = Duration::from_secs(1);

/// How long a lease lasts where no daemon is killed: no slow machine lets it end.
const LONG: Duration = Duration::from_secs(60);

/// How long a daemon waits for a database that another one writes to.
const PATIENCE: Duration = Duration::from_secs(20);

/// A daemon, as far as it concerns weights.
pub(super) struct Node {
    pub service: Arc<Service>,
    tasks: Vec<JoinHandle<()>>,
}

impl Node {
    pub async fn start(backend: &impl Backend) -> Self {
        Self::start_as(backend, "", LASTS).await
    }

    pub async fn start_with(backend: &impl Backend, toml: &str) -> Self {
        Self::start_as(backend, toml, LASTS).await
    }

    async fn start_as(backend: &impl Backend, toml: &str, lasts: Duration) -> Self {
        let place = backend.place("league").await;
        let store = store::open_at(&place, true, PATIENCE).await.unwrap();
        let toml = format!("rating.min_seconds = 0\n{toml}");
        let mut settings = common::config(&toml).service();
        settings.lease = lasts;
        let service = Arc::new(Service::open(store, settings).unwrap());
        let learning = service.learning();
        learning.write_by_lease(service.leases().clone());
        learning.resume(AT_ONCE).await.unwrap();
        let (keeps, learns) = (learning.clone(), learning.clone());
        let tasks = vec![
            tokio::spawn(async move { keeps.keep_up_to_date().await }),
            tokio::spawn(async move { learns.learn_recorded().await }),
        ];
        Self { service, tasks }
    }

    /// Records a match as the end of a game does.
    async fn record(&self, minute: i64, scores: [f64; 2]) {
        let record = game(minute, &[(Human, "ann")], &[(Human, "bob")], scores);
        self.service
            .store()
            .matches()
            .record(&record)
            .await
            .unwrap();
        self.service.learning().match_recorded();
    }

    /// The bits of a weight.
    fn known(&self) -> Option<u64> {
        let learning = self.service.learning();
        let ruleset = learning.rulebook().ruleset::<&str>("ctf", &[]);
        let weight = learning.standings().view(&ruleset).human("ann");
        weight.map(f64::to_bits)
    }

    async fn derived_matches(&self) -> i64 {
        let derived = self.service.store().learned().derived_from().await.unwrap();
        let written = derived.filter(|from| !from.is_unfinished());
        written.map_or(0, |from| from.matches)
    }

    /// The keys in which the daemon that writes the weights has other settings.
    fn differs_in(&self) -> Vec<String> {
        let others = self.service.leases().others();
        others.into_iter().flat_map(|other| other.keys).collect()
    }

    pub fn is_writer(&self) -> bool {
        self.service.learning().is_writer()
    }

    /// Ends as a process that is killed: nothing is written, and no lease is given back.
    pub fn kill(self) {
        for task in &self.tasks {
            task.abort();
        }
    }

    /// Ends as a daemon that is asked to stop: its lease is given back.
    async fn end(self) {
        for task in self.tasks {
            task.abort();
            let _ = task.await;
        }
        self.service.learning().end().await.unwrap();
    }
}

/// Waits until all nodes know the same weight as a fold from the beginning, which is not the one `before`.
async fn agree(nodes: &[&Node], before: Option<u64>) -> Option<u64> {
    until(async || {
        let known = nodes[0].known();
        known != before && nodes.iter().all(|node| node.known() == known)
    })
    .await;
    nodes[0].known()
}

/// One writes, the others know as soon; the next one goes on when the writer ends.
async fn one_writes_and_all_know(backend: &impl Backend) {
    let one = Node::start_as(backend, "", LONG).await;
    until(async || one.is_writer()).await;
    let two = Node::start_as(backend, "", LONG).await;
    one.record(0, [3.0, 1.0]).await;
    let first = agree(&[&one, &two], None).await;
    // The one that does not write records a match, too.
    two.record(20, [3.0, 1.0]).await;
    let second = agree(&[&one, &two], first).await;
    until(async || one.derived_matches().await == 2).await;
    assert!(one.is_writer() && !two.is_writer());
    // The writer stops. The other one goes on, and writes what it has learned since.
    one.end().await;
    until(async || two.is_writer()).await;
    two.record(40, [0.0, 3.0]).await;
    let third = agree(&[&two], second).await;
    until(async || two.derived_matches().await == 3).await;
    // A command that derives everything again gets the same bits.
    let three = Node::start_as(backend, "", LONG).await;
    until(async || three.known() == third).await;
    three.service.learning().rebuild(|_| ()).await.unwrap();
    assert_eq!(three.known(), third);
    an_operator_pins_a_weight(backend, &[&two, &three]).await;
}

/// A command changes what a player is: all daemons know, also if the command is killed before it has derived.
async fn an_operator_pins_a_weight(backend: &impl Backend, nodes: &[&Node]) {
    let place = backend.place("league").await;
    let store = store::open_at(&place, true, PATIENCE).await.unwrap();
    let settings = common::config("rating.min_seconds = 0").service();
    let command = Service::open(store, settings).unwrap();
    let leases = command.leases().clone();
    command.learning().leave_to_daemons(leases);
    let ann = PlayerKey {
        kind: Human,
        id: "ann".into(),
    };
    for (weight, is_killed) in [(77.0, false), (33.0, true)] {
        let pinned = command
            .store()
            .corrections()
            .pin_weight(&ann, Some(weight))
            .await;
        pinned.unwrap();
        if !is_killed {
            command.learning().refresh().await.unwrap();
        }
        until(async || {
            let known = |node: &&Node| node.known() == Some(f64::to_bits(weight));
            nodes.iter().all(known)
        })
        .await;
        until(async || {
            let rows = command.store().learned().weights_of(&ann).await.unwrap();
            rows[0].weight == weight
        })
        .await;
    }
}

#[tokio::test]
async fn one_daemon_writes_the_weights_and_all_know_them_on_postgresql() {
    if let Some(backend) = Postgres::shared() {
        one_writes_and_all_know(&backend).await;
    }
}

#[tokio::test]
async fn one_daemon_writes_the_weights_and_all_know_them_on_sqlite() {
    one_writes_and_all_know(&Sqlite::new()).await;
}

#[tokio::test]
async fn a_writer_that_slept_longer_than_its_lease_writes_nothing() {
    let Some(backend) = Postgres::shared() else {
        return;
    };
    let store = backend.database("league").await;
    let Taken::Yes(old) = store.take_lease("fold", "one", LASTS).await.unwrap() else {
        panic!("the lease is free");
    };
    // It sleeps; the other daemon takes over.
    let other = Node::start(&backend).await;
    other.record(0, [3.0, 1.0]).await;
    until(async || other.is_writer() && other.derived_matches().await == 1).await;
    let from = store.learned().derived_from().await.unwrap().unwrap();
    let rows = DerivedRows {
        from,
        rulings: vec![].into(),
        weights: as_they_stand(Vec::new()),
        divisions: Vec::new(),
        seasons: Vec::new(),
        recount: Recount::default(),
    };
    let refused = store
        .learned()
        .replace_derived(&rows, true, Some(&old))
        .await;
    assert!(refused.is_err_and(|error| error.is_lease_lost()));
    assert_eq!(store.learned().rulesets().await.unwrap().len(), 1);
}

#[tokio::test]
async fn a_daemon_that_is_killed_is_followed_by_another() {
    let Some(backend) = Postgres::shared() else {
        return;
    };
    let one = Node::start(&backend).await;
    until(async || one.is_writer()).await;
    let two = Node::start(&backend).await;
    one.record(0, [3.0, 1.0]).await;
    let first = agree(&[&one, &two], None).await;
    until(async || one.derived_matches().await == 1).await;
    let service = one.service.clone();
    one.kill();
    // Its lease is not renewed any more, as its process is dead.
    drop(service);
    two.record(20, [0.0, 3.0]).await;
    let second = agree(&[&two], first).await;
    until(async || two.is_writer() && two.derived_matches().await == 2).await;
    assert_eq!(two.known(), second);
}

/// Notifications may get lost, for example at a pooler. The database then drops all of them.
#[tokio::test]
async fn without_any_notification_daemons_learn_of_each_other() {
    let Some(backend) = Postgres::shared() else {
        return;
    };
    let mut database = backend.connect("league").await;
    for statement in [
        "CREATE FUNCTION pg_notify(text, text) RETURNS void LANGUAGE sql AS ''",
        "DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET search_path = public, pg_catalog', current_database()); END $$",
    ] {
        sqlx::query(statement).execute(&mut database).await.unwrap();
    }
    let one = Node::start(&backend).await;
    let two = Node::start(&backend).await;
    for (minute, node) in [(0, &one), (20, &two), (40, &one)] {
        let before = one.known();
        node.record(minute, [3.0, 1.0]).await;
        agree(&[&one, &two], before).await;
    }
}

const OTHER: &str = "rating.system = \"elo\"";

/// The lease of the fold has ended for longer than it takes any daemon to notice.
async fn has_ended(database: &mut PgConnection) {
    until(async || {
        let query = "SELECT ends_at < clock(-3000) FROM leases WHERE name = 'fold'";
        let query = sqlx::query_scalar(query).fetch_one(&mut *database);
        query.await.unwrap()
    })
    .await;
}

/// Whichever of two daemons with other settings is the first: the second only reads, and says so. When the first one
/// dies, the tables stay as they are until it has had the time to come back.
async fn the_second_only_reads(first: &str, second: &str) {
    let Some(backend) = Postgres::shared() else {
        return;
    };
    let one = Node::start_with(&backend, first).await;
    until(async || one.is_writer()).await;
    one.record(0, [3.0, 1.0]).await;
    until(async || one.derived_matches().await == 1).await;
    let other = Node::start_with(&backend, second).await;
    until(async || other.differs_in() == ["rating.system"]).await;
    let store = backend.database("league").await;
    let by = async || store.learned().derived_from().await.unwrap().unwrap();
    let key = by().await.settings;
    // It dies.
    let service = one.service.clone();
    one.kill();
    drop(service);
    let mut database = backend.connect("league").await;
    has_ended(&mut database).await;
    other.record(20, [3.0, 1.0]).await;
    until(async || other.service.learning().metrics().learned().matches == 2).await;
    assert!(!other.is_writer());
    assert_eq!((by().await.settings, by().await.matches), (key.clone(), 1));
    // It comes back, and goes on at once.
    let back = Node::start_with(&backend, first).await;
    until(async || back.is_writer() && back.derived_matches().await == 2).await;
    assert_eq!(by().await.settings, key);
    assert_eq!(back.differs_in(), [""; 0]);
    // It dies for good.
    let service = back.service.clone();
    back.kill();
    drop(service);
    has_ended(&mut database).await;
    assert!(!other.is_writer());
    let later = "UPDATE leases SET ends_at = clock(-60000) WHERE name = 'fold'";
    sqlx::query(later).execute(&mut database).await.unwrap();
    until(async || other.is_writer() && by().await.settings != key).await;
    assert_eq!(other.differs_in(), [""; 0]);
    // Now the other one is the first.
    let last = Node::start_with(&backend, first).await;
    until(async || last.differs_in() == ["rating.system"]).await;
    // One that ends as it should is not waited for as long.
    other.end().await;
    until(async || last.is_writer() && by().await.settings == key).await;
}

#[tokio::test]
async fn a_daemon_with_other_settings_only_reads() {
    the_second_only_reads("", OTHER).await;
}

#[tokio::test]
async fn a_daemon_with_the_former_settings_only_reads() {
    the_second_only_reads(OTHER, "").await;
}
