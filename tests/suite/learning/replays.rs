//! While history is corrected, a second fold learns all matches again; the first one goes on, and answers.

use std::path::{Path, PathBuf};

use evenkeel::{
    learning::{AT_ONCE, Learning},
    model::{Kind::Human, PlayerKey, weight::StartWeight},
    server::Service,
};
use tempfile::TempDir;
use tokio::{runtime::Handle, sync::Notify, task, task::JoinHandle};

use super::late_matches::{in_time, open, recorded};
use crate::common::{backends::rows, until, weights};

const DIVISIONS: &str = "divisions.names = ['Bronze', 'Silver', 'Gold']";
/// The number of matches at first: more than are folded again while others wait.
const MATCHES: i64 = 700;

fn key(id: &str) -> PlayerKey {
    PlayerKey {
        kind: Human,
        id: id.into(),
    }
}

/// All that is derived, without the numbers that matches and persons have in their order of coming.
async fn derived(service: &Service, path: &Path) -> [String; 4] {
    type Ruling = (String, String, Option<String>, Option<f64>, Option<i64>);
    type Played = (i64, i64, String, Option<i64>, Option<f64>, f64, f64);
    type Entered = (
        i64,
        i64,
        Option<f64>,
        Option<f64>,
        Option<f64>,
        Option<String>,
    );
    let rulings =
        "SELECT ended_at, ruleset, unrated, chance, causes FROM rulings ORDER BY ended_at";
    let rulings: Vec<Ruling> = rows(path, rulings).await;
    let played =
        "SELECT f.ended_ms, f.seat, o.player, f.team, f.result, f.points_for, f.points_against
         FROM performances f JOIN persons o ON o.person = f.person ORDER BY f.ended_ms, f.seat";
    let played: Vec<Played> = rows(path, played).await;
    let entered = "SELECT ended_ms, seat, weight_before, weight, deviation, cause FROM performances
         ORDER BY ended_ms, seat";
    let entered: Vec<Entered> = rows(path, entered).await;
    let spans =
        "SELECT ruleset, division, name, low, high FROM divisions ORDER BY ruleset, division";
    let spans: Vec<(String, i64, String, f64, f64)> = rows(path, spans).await;
    assert!(!spans.is_empty() && !entered.is_empty());
    [
        format!("{:?}", weights(service.store()).await),
        format!("{rulings:?}"),
        format!("{played:?} {entered:?}"),
        format!("{spans:?}"),
    ]
}

/// A database with many matches, learned.
struct League {
    _folder: TempDir,
    path: PathBuf,
    service: Service,
    next: i64,
}

impl League {
    async fn new(matches: i64) -> Self {
        let folder = TempDir::new().unwrap();
        let path = folder.path().join("test.db");
        let service = open(&path, DIVISIONS).await;
        let all = in_time(0..matches);
        service.store().matches().record_all(&all).await.unwrap();
        service.learning().refresh().await.unwrap();
        Self {
            _folder: folder,
            path,
            service,
            next: matches,
        }
    }

    /// Learns from the matches that are recorded, as a daemon does.
    fn learns(&self) -> JoinHandle<()> {
        let learning = self.service.learning().clone();
        tokio::spawn(async move { learning.learn_recorded().await })
    }

    /// A match ends, and its weights are known.
    async fn play(&mut self) {
        let before = self.learned();
        let new = in_time(self.next..self.next + 1);
        self.next += 1;
        self.service
            .store()
            .matches()
            .record_all(&new)
            .await
            .unwrap();
        self.service.learning().match_recorded();
        until(async || self.learned() > before).await;
    }

    fn learned(&self) -> i64 {
        self.service.learning().metrics().learned().matches
    }

    /// The number of matches with a ruling in the tables.
    async fn ruled(&self) -> i64 {
        let count: Vec<(i64,)> = rows(&self.path, "SELECT count(*) FROM rulings").await;
        count[0].0
    }

    async fn set_void(&self, place: i64) {
        let ids: Vec<(Vec<u8>, i64)> =
            rows(&self.path, "SELECT fingerprint, id FROM matches").await;
        let print = recorded(place).1;
        let id = ids.iter().find(|(one, _)| one[..] == print.0).unwrap().1;
        assert_eq!(
            self.service
                .store()
                .corrections()
                .set_void(&[id], true)
                .await
                .unwrap(),
            1
        );
    }

    async fn derived(&self) -> [String; 4] {
        derived(&self.service, &self.path).await
    }
}

/// Derives everything again, and does this in the middle of it.
async fn rebuild_with(learning: &Learning, meanwhile: impl Future<Output = ()>) {
    let mut meanwhile = Some(meanwhile);
    let progress = |_| {
        if let Some(meanwhile) = meanwhile.take() {
            task::block_in_place(|| Handle::current().block_on(meanwhile));
        }
    };
    learning.rebuild(progress).await.unwrap();
    assert!(meanwhile.is_none());
}

#[tokio::test(flavor = "multi_thread")]
async fn new_matches_are_learned_while_all_are_learned_again() {
    let mut league = League::new(MATCHES).await;
    let (learning, task) = (league.service.learning().clone(), league.learns());
    let meanwhile = async {
        assert!(learning.is_learning_again());
        league.play().await;
        league.set_void(10 * 20).await;
        for _ in 0..3 {
            league.play().await;
        }
    };
    rebuild_with(&learning, meanwhile).await;
    learning.refresh().await.unwrap();
    task.abort();
    assert!(!learning.is_learning_again());
    assert_eq!(league.learned(), MATCHES + 4);
    let ordered = League::new(MATCHES + 4).await;
    ordered.set_void(10 * 20).await;
    ordered.service.learning().refresh().await.unwrap();
    assert_eq!(league.derived().await, ordered.derived().await);
}

/// Who reads the tables need not wait for a correction.
#[tokio::test(flavor = "multi_thread")]
async fn new_matches_have_rows_before_a_correction_is_learned() {
    let mut league = League::new(MATCHES).await;
    let (learning, task) = (league.service.learning().clone(), league.learns());
    let old = recorded(55);
    let meanwhile = async {
        let store = league.service.store().clone();
        for number in 1..=4 {
            match number {
                1 => league.set_void(10 * 20).await,
                3 => {
                    _ = store
                        .matches()
                        .record_all(std::slice::from_ref(&old))
                        .await
                        .unwrap()
                }
                _ => {}
            }
            league.play().await;
            until(async || league.ruled().await == MATCHES + number).await;
            let derived = store.learned().derived_from().await.unwrap();
            assert_eq!(
                derived.unwrap().matches,
                MATCHES,
                "the correction is not among them"
            );
        }
        assert!(learning.is_learning_again());
    };
    rebuild_with(&learning, meanwhile).await;
    learning.refresh().await.unwrap();
    assert_eq!(league.ruled().await, MATCHES + 5);
    // Others come while rows are written.
    let plays = async {
        let unfinished = async || {
            let derived = league.service.store().learned().derived_from().await;
            derived.unwrap().unwrap().is_unfinished()
        };
        until(unfinished).await;
        for _ in 0..5 {
            league.play().await;
        }
    };
    let (rebuilt, ()) = tokio::join!(learning.rebuild(|_| ()), plays);
    rebuilt.unwrap();
    learning.refresh().await.unwrap();
    task.abort();
    let ordered = League::new(0).await;
    let mut all = in_time(0..MATCHES + 9);
    all.push(old);
    all.sort_by_key(|(record, fingerprint)| (record.end, fingerprint.0));
    let store = ordered.service.store();
    store.matches().record_all(&all).await.unwrap();
    ordered.set_void(10 * 20).await;
    ordered.service.learning().refresh().await.unwrap();
    assert_eq!(league.derived().await, ordered.derived().await);
}

/// Corrections, matches of long ago and new ones come in the middle of a replay.
#[tokio::test(flavor = "multi_thread")]
async fn what_comes_during_a_replay_ends_in_the_same_bytes_as_in_order() {
    let mut league = League::new(MATCHES).await;
    let (learning, task) = (league.service.learning().clone(), league.learns());
    let old = [recorded(55), recorded(10 * (MATCHES - 4) + 3)];
    let start = StartWeight {
        weight: 80.0,
        uncertain: false,
    };
    let meanwhile = async {
        let store = league.service.store().clone();
        league.play().await;
        store.matches().record_all(&old[..1]).await.unwrap();
        league.play().await;
        store
            .corrections()
            .merge_player(&key("p3"), &key("p4"))
            .await
            .unwrap();
        store.matches().record_all(&old[1..]).await.unwrap();
        league.play().await;
        store
            .corrections()
            .pin_weight(&key("p5"), Some(61.5))
            .await
            .unwrap();
        store
            .corrections()
            .set_start_weights(&[(key("p6"), Some(start))])
            .await
            .unwrap();
        league.play().await;
    };
    rebuild_with(&learning, meanwhile).await;
    league.play().await;
    learning.refresh().await.unwrap(); // after the task has written
    task.abort();
    assert_eq!(league.learned(), MATCHES + 7);
    let ordered = League::new(0).await;
    let store = ordered.service.store();
    store
        .corrections()
        .merge_player(&key("p3"), &key("p4"))
        .await
        .unwrap();
    store
        .corrections()
        .pin_weight(&key("p5"), Some(61.5))
        .await
        .unwrap();
    store
        .corrections()
        .set_start_weights(&[(key("p6"), Some(start))])
        .await
        .unwrap();
    let mut all = in_time(0..MATCHES + 5);
    all.extend(old);
    all.sort_by_key(|(record, fingerprint)| (record.end, fingerprint.0));
    store.matches().record_all(&all).await.unwrap();
    ordered.service.learning().refresh().await.unwrap();
    assert_eq!(league.derived().await, ordered.derived().await);
}

/// Otherwise, the next start would write all weights.
#[tokio::test]
async fn the_last_matches_are_learned_before_the_end() {
    let league = League::new(9).await;
    let (store, learning) = (league.service.store(), league.service.learning());
    let last = in_time(9..10);
    store.matches().record_all(&last).await.unwrap();
    learning.end().await.unwrap();
    let derived = store.learned().derived_from().await.unwrap();
    assert_eq!(derived.unwrap().matches, 10);
}

/// A start that finds further matches writes the weights of those who were in them, and no others.
#[tokio::test]
async fn a_start_knows_which_weights_are_written() {
    let league = League::new(9).await;
    let learning = league.service.learning();
    learning.save_checkpoint().await.unwrap();
    let store = league.service.store();
    store.matches().record_all(&in_time(9..10)).await.unwrap();
    league.service.close().await;
    let service = open(&league.path, DIVISIONS).await;
    let mark = "UPDATE weights SET deviation = 77 WHERE NOT EXISTS (SELECT 1 FROM match_players p
         JOIN matches m ON m.id = p.match_id WHERE p.player = weights.player
           AND m.ended_at = (SELECT max(ended_at) FROM matches)) RETURNING player";
    let marked: Vec<(String,)> = rows(&league.path, mark).await;
    assert!(!marked.is_empty());
    service.learning().resume(AT_ONCE).await.unwrap();
    assert!(service.learning().refresh().await.unwrap());
    let derived = service.store().learned().derived_from().await.unwrap();
    assert_eq!(derived.unwrap().matches, 10);
    let left = "SELECT player FROM weights WHERE deviation = 77";
    let left: Vec<(String,)> = rows(&league.path, left).await;
    assert_eq!(left.len(), marked.len());
}

/// A daemon that is killed in the middle of a replay begins it again at the next start.
#[tokio::test(flavor = "multi_thread")]
async fn a_replay_that_is_killed_is_done_after_the_next_start() {
    let league = League::new(MATCHES).await;
    league.set_void(10 * 20).await;
    let is_begun = Notify::new();
    let progress = |done| {
        assert!(done < MATCHES as u64, "it ends");
        is_begun.notify_one();
    };
    tokio::select! {
        biased;
        () = is_begun.notified() => {}
        _ = league.service.learning().rebuild(progress) => panic!("it ends"),
    }
    let before = league.derived().await;
    league.service.close().await;
    let service = open(&league.path, DIVISIONS).await;
    service.learning().resume(AT_ONCE).await.unwrap();
    service.learning().refresh().await.unwrap();
    let after = derived(&service, &league.path).await;
    assert_ne!(after, before);
    let ordered = League::new(MATCHES).await;
    ordered.set_void(10 * 20).await;
    ordered.service.learning().refresh().await.unwrap();
    assert_eq!(after, ordered.derived().await);
}
