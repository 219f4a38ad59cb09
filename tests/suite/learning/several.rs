//! Several daemons on one database: each learns for itself, and all know the same.

use evenkeel::{
    learning::{Learning, View},
    model::{
        Kind::{Bot, Human},
        PlayerKey, Ruleset, Timestamp,
        win_model::LineupPlayer,
    },
    store::DerivedFrom,
};
use rand::{RngExt, SeedableRng, rngs::ChaCha8Rng, seq::SliceRandom};

use super::shared_weights::Node;
use crate::common::{backends::Postgres, game, until};

const PLAYERS: [&str; 9] = [
    "ann", "bob", "cat", "dan", "eve", "fay", "gil", "hal", "ida",
];

/// A bot who plays now and then.
const BOT: &str = "grunt";

fn ruleset(learning: &Learning) -> Ruleset {
    learning.rulebook().ruleset::<&str>("ctf", &[])
}

/// The bits of everybody's weight, its deviation and the strength.
fn weights(node: &Node) -> Vec<Option<[u64; 3]>> {
    let learning = node.service.learning();
    known(&learning.standings().view(&ruleset(learning)))
}

/// The same in the season of a minute.
fn weights_at(node: &Node, minute: i64) -> Vec<Option<[u64; 3]>> {
    let learning = node.service.learning();
    let standings = learning.standings_at(Timestamp(60_000 * minute));
    known(&standings.view(&ruleset(learning)))
}

fn known(view: &View) -> Vec<Option<[u64; 3]>> {
    let humans = PLAYERS.iter().map(|id| (Human, *id));
    let bits = |(kind, id)| {
        let (weight, deviation) = view.measure(kind, id)?;
        let strength = view.strength(kind, id)?;
        Some([weight, deviation, strength].map(f64::to_bits))
    };
    humans.chain([(Bot, BOT)]).map(bits).collect()
}

/// The chance of the first three against the next three.
fn chance(node: &Node) -> Option<u64> {
    let learning = node.service.learning();
    let player = |id: &&str| {
        LineupPlayer::from(PlayerKey {
            kind: Human,
            id: (*id).to_owned(),
        })
    };
    let teams = [&PLAYERS[..3], &PLAYERS[3..6]].map(|team| team.iter().map(player).collect());
    let chance = learning.standings().chance(&ruleset(learning), "", &teams);
    chance.map(f64::to_bits)
}

/// Two teams of one to three players play, and the strong win.
async fn play(node: &Node, minute: i64, rng: &mut ChaCha8Rng) {
    let mut players = PLAYERS;
    players.shuffle(rng);
    let size = rng.random_range(1..4);
    let team = |players: &[&'static str]| players.iter().map(|id| (Human, *id)).collect::<Vec<_>>();
    let (mut red, blue) = (team(&players[..size]), team(&players[size..2 * size]));
    if minute % 40 == 0 {
        red.push((Bot, BOT));
    }
    let strength = |team: &[(_, &str)]| {
        team.iter()
            .map(|(_, id)| f64::from(id.as_bytes()[0]))
            .sum::<f64>()
    };
    let scores = match strength(&red) > strength(&blue) {
        true => [3.0, 1.0],
        false => [0.0, 2.0],
    };
    let record = game(minute, &red, &blue, scores);
    node.service
        .store()
        .matches()
        .record(&record)
        .await
        .unwrap();
    node.service.learning().match_recorded();
}

async fn agree(one: &Node, two: &Node, matches: i64) {
    until(async || {
        let derived = one.service.store().learned().derived_from().await.unwrap();
        let is_written = |from: DerivedFrom| from.matches == matches && !from.is_unfinished();
        derived.is_some_and(is_written) && weights(one) == weights(two)
    })
    .await;
}

fn learned(node: &Node) -> i64 {
    node.service.learning().metrics().learned().matches
}

/// Waits until both know the same of everything.
async fn agree_on_all(one: &Node, two: &Node, minute: i64) {
    until(async || {
        chance(one) == chance(two) && weights_at(one, minute) == weights_at(two, minute)
    })
    .await;
}

#[tokio::test]
async fn whoever_records_a_match_all_know_its_weights_and_chances() {
    let Some(backend) = Postgres::shared() else {
        return;
    };
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let one = Node::start(&backend).await;
    until(async || one.is_writer()).await;
    let two = Node::start(&backend).await;
    for (minute, node) in (0..30).map(|at| (20 * at, if at % 3 == 0 { &two } else { &one })) {
        play(node, minute, &mut rng).await;
    }
    agree(&one, &two, 30).await;
    assert_eq!((one.is_writer(), two.is_writer()), (true, false));
    agree_on_all(&one, &two, 1_000).await;
    // A match that ended earlier than the others comes late.
    play(&two, 205, &mut rng).await;
    agree(&one, &two, 31).await;
    agree_on_all(&one, &two, 1_000).await;
    assert_eq!((learned(&one), learned(&two)), (31, 31));
}

/// The first season begins after a day.
const SEASON: i64 = 24 * 60;

async fn bots_pins_and_seasons(toml: &str) {
    let Some(backend) = Postgres::shared() else {
        return;
    };
    let toml = format!("season.starts = ['1970-01-02']\n{toml}");
    let mut rng = ChaCha8Rng::seed_from_u64(3);
    let one = Node::start_with(&backend, &toml).await;
    until(async || one.is_writer()).await;
    play(&one, 0, &mut rng).await;
    let two = Node::start_with(&backend, &toml).await;
    agree(&one, &two, 1).await;
    for number in 1..25 {
        play(&one, 20 * number, &mut rng).await;
    }
    agree(&one, &two, 25).await;
    let ann = PlayerKey {
        kind: Human,
        id: PLAYERS[0].to_owned(),
    };
    let store = one.service.store();
    for pin in [Some(71.5), None] {
        store.corrections().pin_weight(&ann, pin).await.unwrap();
        let is_pinned = |node: &Node| weights(node)[0].map(|own| own[0]) == pin.map(f64::to_bits);
        until(async || {
            [&one, &two]
                .iter()
                .all(|node| is_pinned(node) == pin.is_some())
        })
        .await;
        for _ in 0..5 {
            let minute = 20 * one.service.store().matches().extent().await.unwrap().0;
            play(&two, minute, &mut rng).await;
        }
        let (matches, _) = one.service.store().matches().extent().await.unwrap();
        agree(&one, &two, matches).await;
        agree_on_all(&one, &two, SEASON - 1).await;
    }
    // The column of the table is what both answer.
    let rows = store.learned().weights("ctf", Human).await.unwrap();
    for row in rows {
        let at = PLAYERS.iter().position(|id| *id == row.key.id).unwrap();
        assert_eq!(weights(&two)[at].unwrap()[0], row.weight.to_bits());
    }
    let before = weights_at(&two, SEASON - 1);
    assert_eq!(weights_at(&one, SEASON), weights_at(&two, SEASON));
    assert_ne!(weights_at(&two, SEASON), before);
    for number in 0..4 {
        play(&two, SEASON + 20 * number, &mut rng).await;
    }
    agree_on_all(&one, &two, SEASON + 100).await;
}

#[tokio::test]
async fn all_know_bots_pinned_players_and_seasons() {
    bots_pins_and_seasons("").await;
}

#[tokio::test]
async fn all_know_the_accounts_of_another_system() {
    bots_pins_and_seasons("rating.system = 'auto'").await;
}

#[tokio::test]
async fn a_daemon_that_gets_the_lease_writes_what_the_last_one_has_not() {
    let Some(backend) = Postgres::shared() else {
        return;
    };
    let mut rng = ChaCha8Rng::seed_from_u64(2);
    let one = Node::start(&backend).await;
    until(async || one.is_writer()).await;
    play(&one, 0, &mut rng).await;
    let two = Node::start(&backend).await;
    for minute in 1..8 {
        play(&one, 20 * minute, &mut rng).await;
    }
    agree(&one, &two, 8).await;
    let service = one.service.clone();
    one.kill();
    drop(service);
    for minute in 8..12 {
        play(&two, 20 * minute, &mut rng).await;
    }
    until(async || two.is_writer() && learned(&two) == 12).await;
    let (known, expected) = (weights(&two), chance(&two));
    two.service.learning().rebuild(|_| ()).await.unwrap();
    assert_eq!(weights(&two), known);
    assert_eq!(chance(&two), expected);
}
