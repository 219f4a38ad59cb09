//! When history is corrected, all weights are counted again, and whoever has not played gets a notice.

use std::{collections::BTreeMap, sync::Arc};

use evenkeel::{
    model::{
        Kind::{self, Bot, Human},
        MatchRecord, PlayerKey, Timestamp,
        weight::StartWeight,
    },
    server::Service,
    session::{Clock, HandClock},
    store::{
        Correction, DatabaseUrl, DerivedFrom, DerivedRows, NewWeights, Recount, RecountCause,
        RecountRow, WeightRow,
    },
};

use crate::common::{
    self,
    backends::{Backend, Postgres, Sqlite, on_each_database},
    draw::Draw,
    game, weights,
};

const PLAYERS: [&str; 9] = [
    "ann", "bob", "cat", "dan", "eve", "fay", "gil", "hal", "ida",
];
/// Number of matches at first; one ends every 20 minutes.
const MATCHES: i64 = 60;
/// The least change that is told.
const LEAST: f64 = 0.05;

fn key(id: &str) -> PlayerKey {
    let kind = if id == "grunt" { Bot } else { Human };
    PlayerKey {
        kind,
        id: id.to_owned(),
    }
}

/// Two against two of the nine players, and a bot. The strong win more often.
fn played(minute: i64) -> MatchRecord {
    let mut draw = Draw(1 + minute.unsigned_abs());
    let mut players = PLAYERS;
    draw.shuffle(&mut players);
    let team = |ids: &[&'static str]| ids.iter().map(|id| (Human, *id)).collect::<Vec<_>>();
    let (mut red, blue) = (team(&players[..2]), team(&players[2..5]));
    red.push((Bot, "grunt"));
    let strength = |team: &[(Kind, &str)]| -> f64 {
        let of = |id: &str| f64::from(b'j' - id.as_bytes()[0]);
        team.iter().map(|(_, id)| of(id).max(0.0)).sum()
    };
    let chance = 0.5 + (strength(&red) - strength(&blue)) / 40.0;
    let scores = match draw.unit() < chance {
        true => [3.0, 1.0],
        false => [1.0, 2.0],
    };
    game(minute, &red, &blue, scores)
}

/// A league whose clock shows when its latest match has ended.
struct World {
    service: Service,
    clock: Arc<HandClock>,
    next: i64,
}

type Weights = BTreeMap<String, f64>;

impl World {
    async fn new(backend: &impl Backend) -> Self {
        let clock = Arc::new(HandClock::new(Timestamp(0)));
        let service = open(backend, "", &clock).await;
        let mut world = Self {
            service,
            clock,
            next: 0,
        };
        for _ in 0..MATCHES {
            world.play().await;
        }
        world.refresh().await;
        assert!(
            world.notices().await.is_empty(),
            "nothing was counted before"
        );
        world
    }

    /// Ends the process, and starts one with these settings.
    async fn restart(&mut self, backend: &impl Backend, toml: &str) {
        self.service.close().await;
        self.service = open(backend, toml, &self.clock).await;
    }

    async fn record(&self, record: &MatchRecord) -> i64 {
        let recorded = self.service.store().matches().record(record).await.unwrap();
        recorded.id()
    }

    /// A match begins, and ends ten minutes later.
    async fn play(&mut self) -> i64 {
        let record = played(20 * self.next);
        self.next += 1;
        let passed = record.end.0 - self.clock.now().0;
        self.clock.pass(passed.unsigned_abs());
        self.record(&record).await
    }

    async fn refresh(&self) {
        self.clock.pass(1_000); // so that each correction has a time of its own
        self.service.learning().refresh().await.unwrap();
    }

    async fn weights(&self) -> Weights {
        let rows = weights(self.service.store()).await.into_iter();
        rows.map(|row| (row.key.id, row.weight)).collect()
    }

    async fn notices_to(&self, id: &str) -> Vec<RecountRow> {
        let store = self.service.store();
        store.learned().recounts_of(&key(id), 1_000).await.unwrap()
    }

    async fn notices(&self) -> BTreeMap<String, Vec<RecountRow>> {
        let mut all = BTreeMap::new();
        for id in PLAYERS.into_iter().chain(["grunt", "ida 2"]) {
            let notices = self.notices_to(id).await;
            if !notices.is_empty() {
                all.insert(id.to_owned(), notices);
            }
        }
        all
    }

    /// Learns from a correction. Asserts that whoever's weight it has moved has a notice, and nobody else; returns how
    /// many.
    async fn corrects(&self, cause: RecountCause) -> usize {
        let before = (self.weights().await, self.notices().await);
        self.refresh().await;
        let (now, after) = (self.weights().await, self.notices().await);
        let mut told = 0;
        for (id, then) in before.0 {
            let Some(now) = now.get(&id).copied() else {
                continue;
            };
            let old = before.1.get(&id).map_or(0, Vec::len);
            let new = after
                .get(&id)
                .map_or(&[][..], |all| &all[..all.len() - old]);
            let expected = RecountRow {
                ruleset: "ctf".into(),
                at: self.clock.now(),
                cause: Some(cause),
                then,
                now,
            };
            match (now - then).abs() >= LEAST {
                true => assert_eq!(new, [expected], "{id}"),
                false => assert_eq!(new, [], "{id}"),
            }
            told += new.len();
        }
        told
    }
}

async fn open(backend: &impl Backend, toml: &str, clock: &Arc<HandClock>) -> Service {
    let store = backend.database("league").await;
    Service::open_with_clock(store, common::config(toml).service(), clock.clone()).unwrap()
}

async fn a_void_match_is_told_to_those_whose_weights_it_moves(backend: impl Backend) {
    let mut world = World::new(&backend).await;
    let store = world.service.store().clone();
    let id = store
        .matches()
        .matches_of(&key("ann"), Timestamp(0))
        .await
        .unwrap()[3];
    assert_eq!(store.corrections().set_void(&[id], true).await.unwrap(), 1);
    assert!(world.corrects(RecountCause::Void).await > 1);
    let told = world.notices().await;
    // Nothing is told twice, and nothing of matches in order.
    world.service.learning().rebuild(|_| ()).await.unwrap();
    world.refresh().await;
    world.play().await;
    world.refresh().await;
    assert_eq!(world.notices().await, told);
    assert_eq!(store.corrections().set_void(&[id], false).await.unwrap(), 1);
    assert!(world.corrects(RecountCause::Valid).await > 1);
    // Another process that learns of the change knows what it was.
    assert_eq!(store.corrections().set_void(&[id], true).await.unwrap(), 1);
    world.restart(&backend, "").await;
    assert!(world.corrects(RecountCause::Void).await > 1);
}

async fn the_latest_match_of_players_is_made_void(backend: impl Backend) {
    let mut world = World::new(&backend).await;
    let last = world.play().await;
    world.refresh().await;
    let store = world.service.store().clone();
    store.corrections().set_void(&[last], true).await.unwrap();
    assert!(
        world.corrects(RecountCause::Void).await >= 5,
        "all who were in it"
    );
}

async fn a_new_match_is_no_recount(backend: impl Backend) {
    let mut world = World::new(&backend).await;
    let store = world.service.store().clone();
    let id = store
        .matches()
        .matches_of(&key("ann"), Timestamp(0))
        .await
        .unwrap()[3];
    store.corrections().set_void(&[id], true).await.unwrap();
    let (before, new) = (world.weights().await, world.play().await);
    world.refresh().await;
    let (now, told) = (world.weights().await, world.notices().await);
    // What was counted of the new match before the correction was learned: the same without it.
    store.corrections().set_void(&[id], false).await.unwrap();
    world.refresh().await;
    let counted = world.weights().await;
    let (mut played, mut stayed) = (0, 0);
    for (player, notices) in told {
        let [notice] = &notices[..] else {
            panic!("{player}: {notices:?}");
        };
        assert_eq!(notice.now, now[&player], "{player}");
        let matches = store
            .matches()
            .matches_of(&key(&player), Timestamp(0))
            .await
            .unwrap();
        match matches.contains(&new) {
            true => {
                assert_eq!(notice.then, counted[&player], "{player}");
                assert_ne!(notice.then, before[&player], "{player}");
                played += 1;
            }
            false => {
                assert_eq!(notice.then, before[&player], "{player}");
                stayed += 1;
            }
        }
    }
    assert!(played > 0 && stayed > 0, "{played} {stayed}");
}

async fn a_late_match_is_told_unless_it_comes_within_an_hour(backend: impl Backend) {
    let mut world = World::new(&backend).await;
    for restarts in [false, true] {
        // One of ten hours ago. It ends between two others.
        world.record(&played(20 * (world.next - 30) + 5)).await;
        if restarts {
            world.service.learning().save_checkpoint().await.unwrap();
            world.restart(&backend, "").await;
        }
        assert!(world.corrects(RecountCause::LateMatch).await > 1);
        world.play().await;
        world.refresh().await;
    }
    let (told, before) = (world.notices().await, world.weights().await);
    for restarts in [false, true] {
        world
            .record(&played(20 * (world.next - 3) + 5 + i64::from(restarts)))
            .await;
        if restarts {
            world.restart(&backend, "").await;
        }
        world.refresh().await;
        assert_eq!(world.notices().await, told);
    }
    assert_ne!(world.weights().await, before);
}

async fn what_was_corrected_is_named(backend: impl Backend) {
    let mut world = World::new(&backend).await;
    let store = world.service.store().clone();
    let start = |weight| StartWeight {
        weight,
        uncertain: false,
    };
    let starts = [(key("ann"), Some(start(90.0)))];
    store
        .corrections()
        .set_start_weights(&starts)
        .await
        .unwrap();
    assert!(world.corrects(RecountCause::StartWeight).await > 1);
    for minute in 0..3 {
        let record = game(
            20 * world.next + 20 * minute,
            &[(Human, "ida 2"), (Human, "ann")],
            &[(Human, "bob"), (Human, "cat")],
            [3.0, 0.0],
        );
        world.record(&record).await;
    }
    world.clock.pass(5_000_000);
    world.refresh().await;
    store
        .corrections()
        .set_start_weights(&starts.map(|(key, _)| (key, None)))
        .await
        .unwrap();
    assert!(world.corrects(RecountCause::StartWeight).await > 1);
    let former = world.notices_to("ida 2").await;
    assert!(!former.is_empty());
    let own = world.notices_to("ida").await.len();
    store
        .corrections()
        .merge_player(&key("ida 2"), &key("ida"))
        .await
        .unwrap();
    assert_eq!(
        world.notices_to("ida 2").await,
        [],
        "they stand under the other identity"
    );
    assert!(world.notices_to("ida").await.len() >= own.max(former.len()));
    let before = world.notices().await;
    world.refresh().await;
    let causes = |all: &BTreeMap<String, Vec<RecountRow>>| {
        let notices = all.iter();
        let new =
            notices.filter(|(id, all)| before.get(*id).is_none_or(|old| old.len() < all.len()));
        new.map(|(_, all)| all[0].cause).collect::<Vec<_>>()
    };
    let merged = causes(&world.notices().await);
    assert!(
        merged.len() > 1
            && merged
                .iter()
                .all(|cause| *cause == Some(RecountCause::Merge))
    );
    assert!(
        store
            .corrections()
            .split_player(&key("ida 2"))
            .await
            .unwrap()
    );
    assert!(world.corrects(RecountCause::Split).await > 1);
    world
        .restart(&backend, "rating.min_seconds = 0\nrating.system = 'elo'")
        .await;
    assert!(world.corrects(RecountCause::Settings).await > 1);
}

async fn a_pinned_weight_is_not_counted_and_a_forgotten_player_not_named(backend: impl Backend) {
    let world = World::new(&backend).await;
    let store = world.service.store().clone();
    store
        .corrections()
        .pin_weight(&key("ann"), Some(70.0))
        .await
        .unwrap();
    world.refresh().await;
    assert!(world.notices().await.is_empty());
    let id = store
        .matches()
        .matches_of(&key("ann"), Timestamp(0))
        .await
        .unwrap()[3];
    store.corrections().set_void(&[id], true).await.unwrap();
    world.refresh().await;
    assert_eq!(world.notices_to("ann").await, []);
    let told = world.notices().await;
    assert!(
        told.contains_key("bob") && told.contains_key("grunt"),
        "{told:?}"
    );
    store
        .corrections()
        .pin_weight(&key("ann"), None)
        .await
        .unwrap();
    world.refresh().await;
    assert_eq!(world.notices().await, told);

    // Who is forgotten has no notices, and gets none.
    let before = world.weights().await;
    store
        .corrections()
        .forget_player(&key("bob"), Timestamp(0))
        .await
        .unwrap();
    assert_eq!(world.notices_to("bob").await, []);
    world.refresh().await;
    let mut others = told.clone();
    others.remove("bob");
    assert_eq!(world.notices().await, others);
    let now = world.weights().await;
    for (id, weight) in before.iter().filter(|(id, _)| *id != "bob") {
        assert_eq!(now[id].to_bits(), weight.to_bits(), "{id}");
    }
    let (forgotten, _) = now
        .iter()
        .find(|(id, _)| id.starts_with("forgotten"))
        .unwrap();
    store.corrections().set_void(&[id], false).await.unwrap();
    world.refresh().await;
    assert_ne!(world.weights().await[forgotten], now[forgotten]);
    assert!(world.notices_to("cat").await.len() > others.get("cat").map_or(0, Vec::len));
    assert_eq!(world.notices_to(forgotten).await, []);
}

async fn what_changes_no_weight_leaves_all_bits(backend: impl Backend) {
    let mut world = World::new(&backend).await;
    let store = world.service.store().clone();
    let mut record = played(20 * world.next);
    record.outcome = evenkeel::model::Outcome::Abandoned;
    let unrated = world.record(&record).await;
    world.next += 1;
    world.play().await;
    world.refresh().await;
    let bits = |weights: Weights| {
        let bits = weights
            .into_iter()
            .map(|(id, weight)| (id, weight.to_bits()));
        bits.collect::<Vec<_>>()
    };
    let before = bits(world.weights().await);
    for void in [true, false] {
        assert_eq!(
            store
                .corrections()
                .set_void(&[unrated], void)
                .await
                .unwrap(),
            1
        );
        world.refresh().await;
        assert_eq!(bits(world.weights().await), before);
    }
    assert!(world.notices().await.is_empty());
}

/// The process ends when some of the rows are written, and none of the weights.
#[tokio::test]
async fn a_correction_is_told_though_the_process_ends_while_rows_are_written() {
    let backend = Sqlite::new();
    let mut world = World::new(&backend).await;
    let DatabaseUrl::File(path) = backend.place("league").await else {
        panic!("a file");
    };
    let store = world.service.store().clone();
    let id = store
        .matches()
        .matches_of(&key("ann"), Timestamp(0))
        .await
        .unwrap()[3];
    assert_eq!(store.corrections().set_void(&[id], true).await.unwrap(), 1);
    common::sql(
        &path,
        "CREATE TRIGGER full BEFORE INSERT ON weights BEGIN SELECT RAISE(ABORT, 'full'); END",
    )
    .await;
    world.service.learning().refresh().await.unwrap_err();
    let from = store.learned().derived_from().await.unwrap();
    assert!(from.is_some_and(|from| from.is_unfinished()));
    world.restart(&backend, "").await;
    common::sql(&path, "DROP TRIGGER full").await;
    assert!(world.corrects(RecountCause::Void).await > 1);
    let told = world.notices().await;
    world.refresh().await;
    assert_eq!(world.notices().await, told);
}

/// Whoever counts notices must know everybody who was forgotten.
async fn notices_are_not_written_with_what_was_known_before_a_change(backend: impl Backend) {
    let store = backend.database("rows").await;
    let write = async |matches, weight, correction, changes| {
        let row = WeightRow {
            ruleset: "ctf".into(),
            key: key("ann"),
            name: "ann".into(),
            weight,
            deviation: 5.0,
            rank: None,
            games: 3,
            wins: 1,
            last_seen: Timestamp(7),
            is_pinned: false,
        };
        let since = store.learned().derived_from().await.unwrap();
        let rows = DerivedRows {
            from: DerivedFrom {
                matches,
                last_match: matches,
                settings: "one".into(),
            },
            rulings: vec![].into(),
            weights: NewWeights {
                since,
                rows: vec![row],
                ..NewWeights::default()
            },
            divisions: Vec::new(),
            seasons: Vec::new(),
            recount: Recount {
                correction,
                at: Timestamp(matches),
                changes,
            },
        };
        store
            .learned()
            .replace_derived(&rows, matches == 1, None)
            .await
            .unwrap()
    };
    let (nothing, void) = (Correction::None, Correction::Known(RecountCause::Void));
    assert!(write(1, 50.0, nothing, 0).await);
    assert!(!write(2, 52.0, void, -1).await);
    assert_eq!(
        store.learned().recounts_of(&key("ann"), 9).await.unwrap(),
        []
    );
    assert!(write(2, 52.0, void, 0).await);
    assert!(write(3, 55.0, nothing, -1).await);
    let notice = RecountRow {
        ruleset: "ctf".into(),
        at: Timestamp(2),
        cause: Some(RecountCause::Void),
        then: 50.0,
        now: 52.0,
    };
    assert_eq!(
        store.learned().recounts_of(&key("ann"), 9).await.unwrap(),
        [notice]
    );
}

on_each_database! {
    notices_are_not_written_with_what_was_known_before_a_change
    a_void_match_is_told_to_those_whose_weights_it_moves
    the_latest_match_of_players_is_made_void
    a_new_match_is_no_recount
    a_late_match_is_told_unless_it_comes_within_an_hour
    what_was_corrected_is_named
    a_pinned_weight_is_not_counted_and_a_forgotten_player_not_named
    what_changes_no_weight_leaves_all_bits
}
