//! Games that several daemons record at the same time: each is recorded once, and none is lost.

use std::{
    collections::HashSet,
    sync::Arc,
    time::{Duration, Instant},
};

use evenkeel::{
    model::{
        Kind::{Bot, Human},
        MatchRecord, PlayerKey, Timestamp,
        fingerprint::Fingerprint,
        match_chances::{MatchChances, TeamChances},
    },
    store::{self, Cursor, DecisionRow, HookKind, Recorded, Store},
};
use futures_util::future::join_all;
use tokio::sync::Mutex;

use crate::common::{
    self,
    backends::{Backend, Postgres, Sqlite, on_each_database},
    game,
    postgres::Server,
};

/// A game of two players whom no other game has.
fn duel(number: i64) -> MatchRecord {
    let (ann, bob) = (format!("a{number}"), format!("b{number}"));
    game(number, &[(Human, &ann)], &[(Human, &bob)], [2.0, 1.0])
}

fn chances() -> MatchChances {
    MatchChances {
        started: Some(TeamChances {
            win: vec![0.75, 0.25],
            humans: vec![1, 1],
            bots: vec![0, 0],
        }),
        ..MatchChances::default()
    }
}

/// Records these games at the same time. Returns what became of each.
async fn record(store: &Arc<Store>, numbers: impl Iterator<Item = i64>) -> Vec<Recorded> {
    let games = numbers.map(|number| async move {
        loop {
            match store
                .matches()
                .record_game(&duel(number), &chances(), number)
                .await
            {
                Ok(recorded) => return recorded,
                Err(error) => assert!(error.to_string().contains("locked"), "{error}"), // a daemon tries again
            }
        }
    });
    join_all(games).await
}

async fn all(store: &Store) -> Vec<MatchRecord> {
    let (matches, _) = store.matches().after(Cursor::START, 1_000).await.unwrap();
    matches.into_iter().map(|stored| stored.record).collect()
}

/// Two daemons record the same hundred games, in different orders.
async fn the_same_games_at_two_daemons(open: impl Backend) {
    let (one, other) = (open.database("one").await, open.database("one").await);
    let (first, second) = tokio::join!(record(&one, 0..100), record(&other, (0..100).rev()));
    let ids: HashSet<i64> = first.iter().map(|recorded| recorded.id()).collect();
    assert_eq!(ids.len(), 100);
    let again: Vec<i64> = second.iter().rev().map(|recorded| recorded.id()).collect();
    let first_ids: Vec<i64> = first.iter().map(|recorded| recorded.id()).collect();
    assert_eq!(again, first_ids);
    let both = first.iter().chain(&second);
    let new = both.filter(|recorded| matches!(recorded, Recorded::New(_)));
    assert_eq!(new.count(), 100, "each is new once");
    for store in [&one, &other] {
        assert_eq!(store.matches().extent().await.unwrap().0, 100);
        assert_eq!(all(store).await, (0..100).map(duel).collect::<Vec<_>>());
        assert_eq!(store.orphans().await.unwrap(), Vec::<String>::new());
    }
    for (number, id) in (0..).zip(&first_ids) {
        assert_eq!(
            one.matches().match_of_game(number).await.unwrap(),
            Some(*id)
        );
        let page = one.matches().page_match(*id).await.unwrap().unwrap();
        assert_eq!(page.line.chances.started, chances().started);
    }
    // Whoever got no answer sends END again.
    let repeated = record(&other, 0..100).await;
    let repeated: Vec<i64> = repeated.iter().map(|recorded| recorded.id()).collect();
    assert_eq!(repeated, first_ids);
    assert_eq!(one.matches().extent().await.unwrap().0, 100);
}

/// A player who is forgotten while games are running is not in their matches.
async fn forgotten_meanwhile(open: impl Backend) {
    let store = open.database("one").await;
    let ann = PlayerKey {
        kind: Human,
        id: "a3".into(),
    };
    let now = Timestamp(duel(3).start.0 + 1);
    store.corrections().forget_player(&ann, now).await.unwrap();
    record(&store, 0..8).await;
    let players: Vec<String> = all(&store)
        .await
        .into_iter()
        .flat_map(|record| record.participants)
        .map(|participant| participant.key.id)
        .collect();
    assert_eq!(players.len(), 16);
    assert!(!players.contains(&"a3".to_owned()), "{players:?}");
    assert!(players.contains(&"b3".to_owned()) && players.contains(&"a4".to_owned()));
}

/// Decisions belong to the match of their game, whichever of both is on disk first.
async fn decisions_of_a_game(open: impl Backend) {
    let store = open.database("one").await;
    let decision = |game: i64| DecisionRow {
        made_at: duel(game).start,
        server: "test".into(),
        ruleset: "ctf".into(),
        game,
        kind: "balance".into(),
        seed: 1,
        chance: None,
        decision: format!("{{\"of\":{game}}}"),
    };
    store
        .decisions()
        .write_decisions(&[decision(1)])
        .await
        .unwrap();
    let recorded = record(&store, 1..4).await;
    let later = [decision(2), decision(3), decision(9)];
    store.decisions().write_decisions(&later).await.unwrap();
    for (number, recorded) in (1..).zip(recorded) {
        let page = store
            .matches()
            .page_match(recorded.id())
            .await
            .unwrap()
            .unwrap();
        assert_eq!(page.balance, Some(format!("{{\"of\":{number}}}")));
    }
}

/// Whatever bytes the fingerprints have, also those that end a text, their sum is that of all matches up to a place.
async fn content_to_a_place(backend: impl Backend) {
    let store = backend.database("one").await;
    assert_eq!(
        store.matches().content_to(Cursor::START).await.unwrap(),
        (0, 0)
    );
    let records = (0..300).map(|number| {
        let bytes = u128::from_be_bytes(Fingerprint::of(&duel(number)).0);
        let odd = [bytes, bytes << 64, u128::MAX - bytes, number as u128];
        (
            duel(number),
            Fingerprint(odd[number as usize % 4].to_be_bytes()),
        )
    });
    let records: Vec<_> = records.collect();
    store.matches().record_all(&records).await.unwrap();
    let (mut expected, mut cursor) = ((0, 0_u128), Cursor::START);
    loop {
        let (matches, next) = store.matches().after(cursor, 60).await.unwrap();
        if matches.is_empty() {
            break;
        }
        for stored in matches {
            let number = u128::from_be_bytes(stored.fingerprint.0);
            expected = (expected.0 + 1, expected.1.wrapping_add(number));
        }
        cursor = next;
        assert_eq!(store.matches().content_to(cursor).await.unwrap(), expected);
    }
    assert_eq!(expected.0, 300);
}

/// Each once, however many matches they have, and humans and bots of one name apart; and those of the last matches alone.
async fn everybody_who_is_in_a_match(backend: impl Backend) {
    let store = backend.database("one").await;
    let known = async |last| {
        let mut all = store.matches().participants(last).await.unwrap();
        all.sort();
        all
    };
    assert_eq!(known(0).await, []);
    let all = [
        (Human, "b"),
        (Bot, "b"),
        (Human, "Ω'"),
        (Bot, "a"),
        (Human, "B"),
    ];
    let matches = (0..9).map(|number: i64| {
        let [one, other] = [number as usize % 5, (number as usize + 2) % 5];
        let record = game(number, &[all[one]], &[all[other]], [2.0, 1.0]);
        let fingerprint = Fingerprint::of(&record);
        (record, fingerprint)
    });
    let matches: Vec<_> = matches.collect();
    store.matches().record_all(&matches).await.unwrap();
    let mut expected = all.map(|(kind, id)| PlayerKey {
        kind,
        id: id.into(),
    });
    expected.sort();
    assert_eq!(known(0).await, expected);
    // The last two are between 2 and 4, and 3 and 0; nobody has a page yet.
    let (_, last) = store.matches().extent().await.unwrap();
    let newest = expected.into_iter();
    let newest: Vec<_> = newest
        .filter(|player| (player.kind, &*player.id) != (Bot, "b"))
        .collect();
    assert_eq!(known(last - 2).await, newest);
    assert_eq!(known(last).await, []);
}

on_each_database! {
    everybody_who_is_in_a_match
    the_same_games_at_two_daemons forgotten_meanwhile decisions_of_a_game content_to_a_place
}

/// A match that another process commits late, with the end of an earlier one, is counted once it can be seen.
#[tokio::test]
async fn a_late_commit_is_counted() {
    let Some(open) = Postgres::shared() else {
        return;
    };
    let store = open.database("one").await;
    record(&store, 0..3).await;
    assert_eq!(store.matches().extent().await.unwrap().0, 3);
    let mut late = open.connect("one").await;
    let begin = sqlx::raw_sql(
        "BEGIN;
        INSERT INTO matches (fingerprint, untimed, server, client, started_at, ended_at, map, game_type, mutators, mode,
                             outcome, winner, humans, bots, record)
        SELECT substr(sha256('late'), 1, 16), untimed, server, client, started_at, ended_at, map, game_type, mutators, mode,
               outcome, winner, humans, bots, record
        FROM matches WHERE id = 1",
    );
    begin.execute(&mut late).await.unwrap();
    record(&store, 3..6).await;
    for _ in 0..2 {
        assert_eq!(store.matches().extent().await.unwrap().0, 6);
    }
    sqlx::raw_sql("COMMIT").execute(&mut late).await.unwrap();
    for _ in 0..2 {
        assert_eq!(store.matches().extent().await.unwrap().0, 7);
    }
    let (first, next) = store.matches().after(Cursor::START, 1).await.unwrap();
    assert_eq!(first[0].record.end, duel(0).end);
    assert_eq!(store.matches().extent_to(next).await.unwrap().0, 1);
    // A match that is removed is not counted any more.
    let removed = "DELETE FROM matches WHERE fingerprint = substr(sha256('late'), 1, 16); UPDATE state SET number = number + 1 WHERE name = 'player_changes'";
    sqlx::raw_sql(removed).execute(&mut late).await.unwrap();
    assert_eq!(store.matches().extent().await.unwrap().0, 6);
}

/// A webhook that has read an event asks only for later ones: no event may become visible after one with a higher number.
#[tokio::test]
async fn an_event_waits_for_those_before_it() {
    let Some(open) = Postgres::shared() else {
        return;
    };
    let store = open.database("events").await;
    let hooks = [("hook".to_owned(), vec![HookKind::Recorded])];
    store.hooks().set_webhooks(&hooks).await.unwrap();
    let insert = "INSERT INTO matches (fingerprint, untimed, server, client, started_at, ended_at, map, game_type, mutators,
                             mode, outcome, humans, bots, record)
        VALUES (uuid_send(gen_random_uuid()), false, '', '', clock(), clock(), '', 'ctf', '', '',
                'draw', 0, 0, '')";
    let (mut first, mut second) = (open.connect("events").await, open.connect("events").await);
    sqlx::raw_sql("BEGIN").execute(&mut first).await.unwrap();
    sqlx::raw_sql(insert).execute(&mut first).await.unwrap();
    let later = tokio::spawn(async move { sqlx::raw_sql(insert).execute(&mut second).await });
    common::until(async || {
        let waits = "SELECT EXISTS (SELECT 1 FROM pg_locks l JOIN pg_database d ON d.oid = l.database
                      WHERE d.datname = current_database() AND l.locktype = 'advisory' AND NOT l.granted)";
        sqlx::query_scalar(waits).fetch_one(&mut first).await.unwrap()
    })
    .await;
    assert!(
        store
            .hooks()
            .next_events("hook", 0, 9)
            .await
            .unwrap()
            .is_empty()
    );
    sqlx::raw_sql("COMMIT").execute(&mut first).await.unwrap();
    later.await.unwrap().unwrap();
    let events = store.hooks().next_events("hook", 0, 9).await.unwrap();
    assert_eq!(events.len(), 2);
    assert!(events[0].number < events[1].number);
}

/// A game of seven against seven.
fn full_game(number: i64) -> MatchRecord {
    let names: Vec<String> = (0..14)
        .map(|seat| format!("p{}", (number * 14 + seat) % 400))
        .collect();
    let players: Vec<_> = names.iter().map(|name| (Human, name.as_str())).collect();
    game(number, &players[..7], &players[7..], [5.0, 3.0])
}

/// So many game servers end their games as fast as they can: those of a round, whose numbers begin with `first`. With groups,
/// games that end at the same time share a transaction; without, each waits until the one before it is on disk, and has one
/// of its own. Returns how many games are recorded in a second.
async fn rate(store: &Arc<Store>, first: i64, in_groups: bool) -> f64 {
    let alone = Arc::new(Mutex::new(()));
    let ends = (0..SERVERS).map(|server| {
        let (store, alone) = (store.clone(), alone.clone());
        tokio::spawn(async move {
            for number in server * GAMES..(server + 1) * GAMES {
                let (number, record) = (first + number, full_game(first + number));
                let _turn = match in_groups {
                    true => None,
                    false => Some(alone.lock().await),
                };
                store
                    .matches()
                    .record_game(&record, &chances(), number)
                    .await
                    .unwrap();
            }
        })
    });
    let began = Instant::now();
    for end in join_all(ends).await {
        end.unwrap();
    }
    (SERVERS * GAMES) as f64 / began.elapsed().as_secs_f64()
}

const SERVERS: i64 = 48;
const GAMES: i64 = 20;

/// Prints the medians of some rounds with and without groups, in turns.
async fn measure(kind: &str, store: Arc<Store>) {
    const ROUNDS: usize = 7;
    let mut rates = [Vec::new(), Vec::new()];
    let mut first = 0;
    for round in 0..ROUNDS {
        for turn in 0..2 {
            let in_groups = (round + turn) % 2;
            let rate = rate(&store, first, in_groups == 1).await;
            rates[in_groups].push(rate);
            first += SERVERS * GAMES;
        }
    }
    let [alone, groups] = rates.map(|mut rates| {
        rates.sort_by(f64::total_cmp);
        rates[rates.len() / 2]
    });
    println!("{kind}: {groups:.0} games a second in groups, {alone:.0} one by one");
}

/// Run it with `cargo test --release --test suite recording -- --ignored --nocapture`.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "measures how many games that end at once are recorded in a second"]
async fn how_many_games_are_recorded_in_a_second() {
    let sqlite = Sqlite::new();
    measure("SQLite", sqlite.database("one").await).await;
    if let Some(server) = Server::start_durable() {
        server.create("rounds").await;
        let store = store::open_at(&server.place("rounds"), true, Duration::from_secs(20)).await;
        measure("PostgreSQL", store.unwrap()).await;
    }
}
