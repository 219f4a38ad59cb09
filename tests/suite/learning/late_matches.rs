//! Matches that come after later ones: weights are those of a rebuild, and only what comes after such a match is
//! learned from again.

use std::{
    path::Path,
    time::{Duration, Instant},
};

use evenkeel::{
    learning::AT_ONCE,
    model::{
        Kind::{Bot, Human},
        MatchRecord,
        fingerprint::Fingerprint,
    },
    server::Service,
    store::{self, WeightRow},
};
use proptest::prelude::*;
use tempfile::TempDir;
use tokio::{runtime::Handle, sync::watch, task};

use crate::common::{
    self,
    backends::{open_chosen, rows},
    checkpoints, config, game, until, weights,
};

/// The match of a place in time, with players who depend on it.
pub(super) fn recorded(place: i64) -> (MatchRecord, Fingerprint) {
    let names: Vec<String> = (0..6)
        .map(|seat| format!("p{}", (place * (seat + 3) + seat) % 40))
        .collect();
    let mut names: Vec<&str> = names.iter().map(String::as_str).collect();
    names.sort_unstable();
    names.dedup();
    let mut sides = [vec![(Bot, "x")], vec![(Bot, "y")]];
    for (seat, name) in names.into_iter().enumerate() {
        sides[seat % 2].push((Human, name));
    }
    let scores = [(place % 5) as f64, (place % 3) as f64];
    let record = game(15 * place, &sides[0], &sides[1], scores);
    let fingerprint = Fingerprint::of(&record);
    (record, fingerprint)
}

/// Every tenth place is free for a match that comes late.
pub(super) fn in_time(places: std::ops::Range<i64>) -> Vec<(MatchRecord, Fingerprint)> {
    places.map(|place| recorded(10 * place)).collect()
}

/// Weights to the last bit, and the ruling on each match.
type Derived = (
    Vec<WeightRow>,
    Vec<(i64, Option<f64>)>,
    Vec<(i64, i64, f64)>,
);

/// What was learned so far is what all matches give in order.
async fn are_those_of_a_rebuild(service: &Service, path: &Path) {
    let learned = derived(service, path).await;
    service.learning().rebuild(|_| ()).await.unwrap();
    assert_eq!(derived(service, path).await, learned);
}

async fn derived(service: &Service, path: &Path) -> Derived {
    let rulings = "SELECT match_id, chance FROM rulings ORDER BY match_id";
    let after = "SELECT match_id, seat, weight FROM performances WHERE weight IS NOT NULL ORDER BY match_id, seat";
    (
        weights(service.store()).await,
        rows(path, rulings).await,
        rows(path, after).await,
    )
}

pub(super) async fn open(path: &Path, toml: &str) -> Service {
    let service = Service::open(open_chosen(path).await, config(toml).service()).unwrap();
    service.learning().keep_beside(path);
    service
}

/// What happens to a database with three hundred matches.
#[derive(Clone, Debug)]
enum Step {
    /// This many matches end in time.
    Next(i64),
    /// One comes that has this many others after it.
    Late(i64),
    Learn,
    /// A command has recorded this part of its logs, in per cent; it learns, and does not write weights yet.
    LearnAhead(u8),
    /// The process ends, perhaps without time for a checkpoint.
    Restart(bool),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        2 => (1..100_i64).prop_map(Step::Next),
        3 => (0..20_i64).prop_map(Step::Late),
        2 => (0..500_i64).prop_map(Step::Late),
        4 => Just(Step::Learn),
        2 => (0..=100_u8).prop_map(Step::LearnAhead),
        1 => any::<bool>().prop_map(Step::Restart),
    ];
    proptest::collection::vec(step, 1..12)
}

/// Learns what is on disk, which is this part of what a command records; returns whether the state can be continued.
async fn learn_ahead(service: &Service, part: f64) -> bool {
    let (recorded, receiver) = watch::channel(0.0);
    recorded.send(part).unwrap();
    drop(recorded);
    service.learning().learn_ahead(0, receiver).await
}

async fn run(system: &str, steps: Vec<Step>) {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("test.db");
    let toml = format!("rating.system = '{system}'");
    let mut service = open(&path, &toml).await;
    let mut next = 300;
    service
        .store()
        .matches()
        .record_all(&in_time(0..next))
        .await
        .unwrap();
    service.learning().refresh().await.unwrap();
    for (number, step) in (1..).zip(steps) {
        match step {
            Step::Next(count) => {
                let new = in_time(next..next + count);
                service.store().matches().record_all(&new).await.unwrap();
                next += count;
            }
            Step::Late(by) => {
                // Several of them may come to the same gap, or before all others.
                let place = 10 * (next - 1 - by.min(next)) + number % 10;
                service
                    .store()
                    .matches()
                    .record_all(&[recorded(place)])
                    .await
                    .unwrap();
            }
            Step::Learn => drop(service.learning().refresh().await.unwrap()),
            Step::LearnAhead(part) => {
                learn_ahead(&service, f64::from(part) / 100.0).await;
            }
            Step::Restart(in_peace) => {
                if in_peace {
                    service.learning().save_checkpoint().await.unwrap();
                }
                service.close().await;
                service = open(&path, &toml).await;
                service.learning().resume(AT_ONCE).await.unwrap();
            }
        }
    }
    service.learning().refresh().await.unwrap();
    are_those_of_a_rebuild(&service, &path).await;
    service.close().await;
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]
    #[test]
    fn whenever_matches_come_the_weights_are_those_of_a_rebuild(
        system in prop_oneof![Just("joint"), Just("hive-history"), Just("auto")],
        steps in steps(),
    ) {
        tokio::runtime::Runtime::new().unwrap().block_on(run(system, steps));
    }
}

/// The first match cannot be read any more: whoever folds all of them fails.
async fn damage_the_first(path: &Path) {
    common::sql(
        path,
        "UPDATE matches SET record = x'00' WHERE ended_at = (SELECT min(ended_at) FROM matches)",
    )
    .await;
}

/// Late matches come, each with this many others after it, and are learned.
async fn learn_late_ones(service: &Service) {
    for (number, by) in (1..).zip([1, 3, 40, 150, 250]) {
        let late = recorded(10 * (599 - by) + number);
        service.store().matches().record_all(&[late]).await.unwrap();
        assert!(service.learning().refresh().await.unwrap(), "{by}");
        assert_eq!(service.learning().metrics().learned().matches, 600 + number);
    }
}

#[tokio::test]
async fn a_late_match_is_learned_without_the_first_ones() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("test.db");
    let service = open(&path, "").await;
    service
        .store()
        .matches()
        .record_all(&in_time(0..600))
        .await
        .unwrap();
    service.learning().refresh().await.unwrap();
    damage_the_first(&path).await;
    learn_late_ones(&service).await;
    service.learning().rebuild(|_| ()).await.unwrap_err();
    // The failed rebuild has dropped what was learned, as a restart does.
    service.learning().refresh().await.unwrap();
}

/// After a start, a daemon folds all matches in the background: until then, it has no earlier states than the checkpoint.
#[tokio::test]
async fn after_a_restart_a_late_match_is_soon_learned_without_the_first_ones() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("test.db");
    let service = open(&path, "").await;
    service
        .store()
        .matches()
        .record_all(&in_time(0..600))
        .await
        .unwrap();
    service.learning().refresh().await.unwrap();
    service.close().await;
    let service = open(&path, "").await;
    service.learning().resume(AT_ONCE).await.unwrap();
    assert_eq!(service.learning().remembers().await, [0; 0]);
    let learning = service.learning().clone();
    let task = tokio::spawn(async move { learning.keep_up_to_date().await });
    until(async || service.learning().remembers().await.len() > 4).await;
    task.abort();
    damage_the_first(&path).await;
    learn_late_ones(&service).await;
}

/// A command that reads logs learns while it records: in the end, it must not learn all matches again.
#[tokio::test]
async fn matches_that_are_learned_while_others_are_recorded_are_learned_once() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("test.db");
    let service = open(&path, "").await;
    service
        .store()
        .matches()
        .record_all(&in_time(0..300))
        .await
        .unwrap();
    assert!(learn_ahead(&service, 0.5).await);
    assert_eq!(service.learning().metrics().learned().matches, 0);
    damage_the_first(&path).await;
    service
        .store()
        .matches()
        .record_all(&in_time(300..600))
        .await
        .unwrap();
    assert!(learn_ahead(&service, 0.9).await);
    service
        .store()
        .matches()
        .record_all(&in_time(600..660))
        .await
        .unwrap();
    assert!(service.learning().refresh().await.unwrap());
    assert_eq!(service.learning().metrics().learned().matches, 660);
    let late = recorded(10 * 640 + 1);
    service.store().matches().record_all(&[late]).await.unwrap();
    assert!(!learn_ahead(&service, 1.0).await);
    assert!(service.learning().refresh().await.unwrap());
    assert_eq!(service.learning().metrics().learned().matches, 661);
}

/// Takes the lease, and derives all weights, as a daemon that starts: it writes checkpoints later.
async fn become_daemon(service: &Service) {
    let learning = service.learning();
    learning.write_by_lease(service.leases().clone());
    let has_derived = async {
        while service
            .store()
            .learned()
            .derived_from()
            .await
            .unwrap()
            .is_none()
        {}
    };
    tokio::select! {
        () = learning.keep_up_to_date() => {}
        () = has_derived => {}
    }
    assert!(learning.is_writer());
    learning.refresh().await.unwrap();
}

/// While a checkpoint is written, an operator makes a match void: the state then begins again.
#[tokio::test]
async fn a_checkpoint_is_not_stored_as_one_of_other_overrides() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("test.db");
    let service = open(&path, "").await;
    service
        .store()
        .matches()
        .record_all(&in_time(0..100))
        .await
        .unwrap();
    become_daemon(&service).await;
    let ids: Vec<(i64,)> = rows(&path, "SELECT id FROM matches ORDER BY id").await;
    assert_eq!(
        service
            .store()
            .corrections()
            .set_void(&[ids[3].0], true)
            .await
            .unwrap(),
        1
    );
    let learning = service.learning();
    let (saved, learned) = tokio::join!(learning.save_checkpoint(), learning.refresh());
    saved.unwrap();
    assert!(learned.unwrap());
    for name in checkpoints(&path) {
        assert!(name.starts_with("000000000100-"), "{name}");
    }
    service.close().await;
    let service = open(&path, "").await;
    service.learning().resume(AT_ONCE).await.unwrap();
    service
        .store()
        .matches()
        .record_all(&in_time(100..110))
        .await
        .unwrap();
    service.learning().refresh().await.unwrap();
    are_those_of_a_rebuild(&service, &path).await;
}

/// A match of a clock that is far ahead stays the last one for long: those that end in time come after it, late.
#[tokio::test]
async fn after_a_match_from_the_future_the_next_ones_are_not_learned_with_all_others() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("test.db");
    let service = open(&path, "").await;
    service
        .store()
        .matches()
        .record_all(&in_time(0..300))
        .await
        .unwrap();
    service
        .store()
        .matches()
        .record_all(&[recorded(1_000_000)])
        .await
        .unwrap();
    service.learning().refresh().await.unwrap();
    damage_the_first(&path).await;
    for place in 300..450 {
        service
            .store()
            .matches()
            .record_all(&in_time(place..place + 1))
            .await
            .unwrap();
        assert!(service.learning().refresh().await.unwrap());
    }
}

/// Else a daemon in whose database others record faster than it learns would never write a weight, nor start.
#[tokio::test(flavor = "multi_thread")]
async fn learning_ends_though_matches_come_all_the_time() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("test.db");
    let service = open(&path, "").await;
    service
        .store()
        .matches()
        .record_all(&in_time(0..3))
        .await
        .unwrap();
    let mut next = 3;
    let record_one = |_| {
        assert!(next < 20, "it waits for the last match");
        let new = in_time(next..next + 1);
        let recorded = service.store().matches().record_all(&new);
        task::block_in_place(|| Handle::current().block_on(recorded)).unwrap();
        next += 1;
    };
    let rebuilt = service.learning().rebuild(record_one).await.unwrap();
    assert_eq!(rebuilt.matches, 3);
    assert!(service.learning().refresh().await.unwrap());
    assert_eq!(service.learning().metrics().learned().matches, next);
}

/// A command derives everything anew while a daemon learns from two more matches, of which it has written one.
#[tokio::test(flavor = "multi_thread")]
async fn a_rebuild_beside_a_daemon_loses_no_ruling() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("test.db");
    let (daemon, command) = (open(&path, "").await, open(&path, "").await);
    daemon
        .store()
        .matches()
        .record_all(&in_time(0..600))
        .await
        .unwrap();
    daemon.learning().refresh().await.unwrap();
    let meanwhile = async || {
        // One that comes late, so that the command passes it.
        let late = recorded(10 * 100 + 1);
        daemon.store().matches().record_all(&[late]).await.unwrap();
        daemon.learning().refresh().await.unwrap();
        daemon
            .store()
            .matches()
            .record_all(&in_time(600..601))
            .await
            .unwrap();
    };
    let mut has_come = false;
    let progress = |_| {
        if !std::mem::replace(&mut has_come, true) {
            task::block_in_place(|| Handle::current().block_on(meanwhile()));
        }
    };
    command.learning().rebuild(progress).await.unwrap();
    daemon.learning().refresh().await.unwrap();
    let count = "SELECT (SELECT count(*) FROM rulings), (SELECT count(*) FROM matches)";
    let counts: Vec<(i64, i64)> = rows(&path, count).await;
    assert_eq!(counts, [(602, 602)]);
    let learned = derived(&daemon, &path).await;
    command.learning().rebuild(|_| ()).await.unwrap();
    assert_eq!(derived(&daemon, &path).await, learned);
}

/// While many rows are written, this process learns from new matches, and writes them afterwards.
#[tokio::test(flavor = "multi_thread")]
async fn what_is_learned_while_all_rows_are_written_is_written_too() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("test.db");
    let service = open(&path, "").await;
    service
        .store()
        .matches()
        .record_all(&in_time(0..400))
        .await
        .unwrap();
    service.learning().refresh().await.unwrap();
    for round in 0..6 {
        let (first, last) = (400 + 10 * round, 410 + 10 * round);
        let meanwhile = async {
            for place in first..last {
                let new = in_time(place..place + 1);
                service.store().matches().record_all(&new).await.unwrap();
                service.learning().refresh().await.unwrap();
            }
        };
        let (rebuilt, ()) = tokio::join!(service.learning().rebuild(|_| ()), meanwhile);
        rebuilt.unwrap();
        service.learning().refresh().await.unwrap();
        let count = "SELECT (SELECT count(*) FROM rulings), (SELECT count(*) FROM matches)";
        let counts: Vec<(i64, i64)> = rows(&path, count).await;
        assert_eq!(counts, [(last, last)]);
        are_those_of_a_rebuild(&service, &path).await;
    }
}

/// Run it with `cargo test --release --test suite late_matches -- --ignored --nocapture`.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "measures how long a late match takes among 40,000"]
async fn how_long_a_late_match_takes() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("test.db");
    let store = store::open(&path, true, Duration::from_secs(20))
        .await
        .unwrap();
    let service = Service::open(store, config("").service()).unwrap();
    for chunk in 0..80 {
        let new = in_time(500 * chunk..500 * (chunk + 1));
        service.store().matches().record_all(&new).await.unwrap();
    }
    let began = Instant::now();
    service.learning().refresh().await.unwrap();
    println!("all: {:.2} s", began.elapsed().as_secs_f64());
    for (number, by) in (1..).zip([0, 1, 10, 60, 150, 300, 600, 1_200, 2_400, 5_000, 20_000]) {
        let late = recorded(10 * (39_999 - by) + number % 10);
        service.store().matches().record_all(&[late]).await.unwrap();
        let began = Instant::now();
        service.learning().refresh().await.unwrap();
        println!("{by} matches late: {:.3} s", began.elapsed().as_secs_f64());
    }
    are_those_of_a_rebuild(&service, &path).await;
}
