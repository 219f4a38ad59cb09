//! Decisions that the people in a game would call right. Each test reads like a sentence of what was asked
//! for; `w90` is a human whose weight an operator has pinned at 90.

use std::sync::Arc;

use evenkeel::{
    domain::{Kind, PlayerKey},
    session::HandClock,
};

use crate::common::{Client, Daemon};

/// A daemon on a clock that only the test moves, which knows humans of these weights.
async fn daemon(toml: &str, weights: &[u8]) -> (Daemon, Arc<HandClock>) {
    let (daemon, clock) = Daemon::start_by_hand(toml).await;
    for weight in weights {
        let (kind, id) = (Kind::Human, format!("w{weight}"));
        let key = PlayerKey { kind, id };
        let store = daemon.service.store();
        store
            .pin_weight(&key, Some((*weight).into()))
            .await
            .unwrap();
    }
    daemon.service.learning().refresh().await.unwrap();
    (daemon, clock)
}

/// All lines of an EXPLAIN.
async fn why(client: &mut Client) -> Vec<String> {
    several(client, "EXPLAIN\n").await
}

/// The lines that follow the first line of a reply.
async fn several(client: &mut Client, ask: &str) -> Vec<String> {
    let first = client.ask(ask).await;
    let count = first.split(' ').nth(1).and_then(|count| count.parse().ok());
    let count: usize = count.unwrap_or_else(|| panic!("{first}"));
    let mut lines = vec![first];
    for _ in 0..count {
        lines.push(client.line().await);
    }
    lines
}

// 1. Bots that aren't there.

#[tokio::test]
async fn a_late_arrival_is_not_sent_to_the_larger_team_for_bots_that_never_come() {
    let (daemon, _clock) = daemon("", &[90, 40, 45, 50]).await;
    let mut client = daemon.client().await;
    let game = "GAME ctf\nMINPLAYERS 2\nJOIN w90 team=0\nJOIN w40 team=1\nJOIN w45 team=1\nSTART\nJOIN w50\n";
    assert_eq!(
        client.ask(&format!("{game}PLACE w50\n")).await,
        "PLACE w50 0 0.607143"
    );
    let why = why(&mut client).await;
    assert!(
        why.iter().any(|line| line.contains("none are expected")),
        "{why:?}"
    );
}

/// Draws weights of N(50, 15) by Box and Muller's method, from a generator of its own.
struct Crowd(u64);

impl Crowd {
    fn uniform(&mut self) -> f64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) as f64 + 0.5) / 2f64.powi(31)
    }

    fn weight(&mut self) -> u8 {
        let (a, b) = (self.uniform(), self.uniform());
        let normal = (-2.0 * a.ln()).sqrt() * (std::f64::consts::TAU * b).cos();
        (50.0 + 15.0 * normal).clamp(0.0, 100.0) as u8
    }
}

/// How many of 150 late arrivals go to the larger side.
async fn to_the_larger_side(client: &mut Client, hello: &str, few: usize, many: usize) -> usize {
    let mut crowd = Crowd(7);
    let mut larger = 0;
    for _ in 0..150 {
        let mut ids: Vec<String> = Vec::new();
        while ids.len() <= few + many {
            let id = format!("w{}", crowd.weight());
            // The same id twice would be one player.
            if !ids.contains(&id) {
                ids.push(id);
            }
        }
        let mut lines = format!("{hello}GAME ctf\n");
        for (at, id) in ids[1..].iter().enumerate() {
            lines.push_str(&format!("JOIN {id} team={}\n", usize::from(at >= few)));
        }
        client
            .tell(&format!("{lines}START\nJOIN {}\n", ids[0]))
            .await;
        let placed = client.ask(&format!("PLACE {}\n", ids[0])).await;
        let placed: Vec<&str> = placed.split(' ').collect();
        larger += usize::from(placed[2] == "1");
    }
    larger
}

#[tokio::test]
async fn the_short_side_comes_first() {
    let all: Vec<u8> = (0..=100).collect();
    let (daemon, _clock) = daemon("store.keep_decisions = 0", &all).await;
    let mut silent = daemon.client().await;
    for few in 1..=5 {
        assert_eq!(
            to_the_larger_side(&mut silent, "", few, few + 1).await,
            0,
            "{few}"
        );
        assert_eq!(
            to_the_larger_side(&mut silent, "", few, few + 2).await,
            0,
            "{few}"
        );
    }
    let mut filled = daemon.client().await;
    assert!(filled.ask("HELLO s bots=yes\n").await.starts_with("HELLO"));
    let mut larger = 0;
    for few in 1..=5 {
        larger += to_the_larger_side(&mut filled, "", few, few + 1).await;
        assert_eq!(
            to_the_larger_side(&mut filled, "", few, few + 2).await,
            0,
            "{few}"
        );
    }
    assert!(larger * 100 <= 5 * 150 * 3, "{larger} of 750");
}

#[tokio::test]
async fn rebalance_sees_that_four_against_one_is_not_even() {
    let (daemon, _clock) = daemon("", &[]).await;
    for others in ["JOIN e team=1\n", ""] {
        let mut client = daemon.client().await;
        let four = "JOIN a team=0\nJOIN b team=0\nJOIN c team=0\nJOIN d team=0\n";
        let game = format!("GAME ctf\n{four}{others}START\n");
        client.tell(&game).await;
        let advice = several(&mut client, "REBALANCE seed=1\n").await;
        let moves = if others.is_empty() { 2 } else { 1 };
        assert_eq!(advice.len(), 1 + moves, "{advice:?}");
    }
}

#[tokio::test]
async fn bots_are_expected_from_who_shows_that_they_come_over_game_and_resume() {
    let (daemon, clock) = daemon("", &[]).await;
    let four = "JOIN a team=0\nJOIN b team=0\nJOIN c team=0\nJOIN d team=0\nJOIN e team=1\n";
    let no_moves = "REBALANCE 0 0.250000 1.000000";
    for (n, shown) in [
        "BOTJOIN x 0\nBOTLEAVE x\n",
        "BOT x\n",
        "MEANBOT\n",
        "BOTS\n",
    ]
    .into_iter()
    .enumerate()
    {
        let mut client = daemon.client().await;
        client.ask(&format!("HELLO s{n}\n")).await;
        client.send(&format!("GAME ctf\n{shown}PING\n")).await;
        while client.line().await != "PONG" {}
        let ask = format!("GAME ctf\n{four}REBALANCE\n");
        assert_eq!(client.ask(&ask).await, no_moves, "{shown}");
        // Another connection goes on with the game.
        let mut next = daemon.client().await;
        assert!(
            next.ask(&format!("HELLO s{n} resume=yes\n"))
                .await
                .ends_with(" resumed")
        );
        assert_eq!(next.ask("REBALANCE\n").await, no_moves, "{shown}");
        next.talk("GAME ctf\n").await;
        clock.pass(1_000_000);
    }
    let mut client = daemon.client().await;
    client.ask("HELLO t bots=yes\n").await;
    assert_eq!(
        client.ask(&format!("GAME ctf\n{four}REBALANCE\n")).await,
        no_moves
    );
    let mut none = daemon.client().await;
    none.ask("HELLO u bots=no\n").await;
    let ask = format!("GAME ctf\nBOTJOIN x 0\nBOTLEAVE x\n{four}REBALANCE\n");
    assert!(none.ask(&ask).await.starts_with("REBALANCE 1 "));
}

#[tokio::test]
async fn balance_and_bots_go_on_saying_how_many_should_come() {
    let (daemon, _clock) = daemon("", &[]).await;
    let mut client = daemon.client().await;
    client.tell("GAME ctf\nJOIN a\nJOIN b\nJOIN c\n").await;
    let balanced = several(&mut client, "BALANCE\n").await;
    let bots: u32 = balanced[4..]
        .iter()
        .map(|line| line[7..].parse::<u32>().unwrap())
        .sum();
    assert_eq!(bots, 3, "{balanced:?}");
    assert!(client.ask("BOTS\n").await.starts_with("BOTS 6 "));
}

// 3. Parties.

#[tokio::test]
async fn a_party_comes_together_on_the_side_that_holds_it() {
    let (daemon, _clock) = daemon("", &[]).await;
    let teams = "JOIN a team=0\nJOIN b team=0\nJOIN c team=0\nJOIN d team=1\nJOIN e team=1\n";
    let party = "JOIN n1 party=P\nJOIN n2 party=P\n";
    let mut client = daemon.client().await;
    client
        .tell(&format!("GAME ctf\nMINPLAYERS 0\n{teams}{party}"))
        .await;
    assert!(client.ask("PLACE n1\n").await.starts_with("PLACE n1 1 "));
    assert!(why(&mut client).await[1].contains("with their party"));
    assert!(client.ask("PLACE n2\n").await.starts_with("PLACE n2 1 "));
    assert!(why(&mut client).await[1].contains("with their party"));
    // One against one more than that: no side holds two.
    let even = format!("GAME ctf\nMINPLAYERS 0\n{teams}JOIN f team=1\n{party}");
    client.tell(&even).await;
    let (one, two) = (
        client.ask("PLACE n1\n").await,
        client.ask("PLACE n2\n").await,
    );
    assert_ne!(one.split(' ').nth(2), two.split(' ').nth(2), "{one} {two}");
    assert!(why(&mut client).await[1].contains("party is torn"));
}

#[tokio::test]
async fn a_party_that_no_team_holds_is_torn_as_little_as_needed() {
    let (daemon, _clock) = daemon("", &[]).await;
    let mut client = daemon.client().await;
    client
        .tell("GAME ctf\nJOIN a party=p\nJOIN b party=p\nJOIN c party=p\nJOIN d\n")
        .await;
    let teams = several(&mut client, "BALANCE\n").await;
    let of: Vec<&str> = teams[1..4].iter().map(|line| &line[5..6]).collect();
    let ones = of.iter().filter(|team| **team == "1").count();
    assert!(ones == 1 || ones == 2, "{teams:?}");
    let why = why(&mut client).await;
    assert!(
        why.iter()
            .any(|line| line.contains("party of a, b, c is torn")),
        "{why:?}"
    );
}

#[tokio::test]
async fn pins_are_obeyed_and_their_cost_is_said() {
    let (daemon, _clock) = daemon("", &[]).await;
    let mut client = daemon.client().await;
    client
        .tell("GAME ctf\nMINPLAYERS 0\nJOIN a pin=1\nJOIN b pin=1\n")
        .await;
    let teams = several(&mut client, "BALANCE\n").await;
    assert_eq!(teams[1..3], ["TEAM 1 a", "TEAM 1 b"]);
    let why = why(&mut client).await;
    assert!(
        why.iter().any(|line| line.contains("pins are obeyed")),
        "{why:?}"
    );
    assert!(
        why.iter()
            .any(|line| line.contains("without the pins: ratio 1.000000")),
        "{why:?}"
    );
    assert!(
        client
            .ask("JOIN c pin=2\n")
            .await
            .starts_with("ERROR bad-argument")
    );
    // Friends who are pinned apart are no error either.
    client
        .tell("GAME ctf\nJOIN a pin=0 party=p\nJOIN b pin=1 party=p\nJOIN c party=p\n")
        .await;
    let teams = several(&mut client, "BALANCE\n").await;
    assert_eq!(teams[1..3], ["TEAM 0 a", "TEAM 1 b"]);
}

// 4. Auto-balance among equals.

/// Nine against seven unknown players, who have joined in this order.
fn nine_and_seven() -> String {
    let nine = (0..9).map(|n| format!("JOIN n{n} team=0\n"));
    let seven = (0..7).map(|n| format!("JOIN s{n} team=1\n"));
    nine.chain(seven).collect()
}

#[tokio::test]
async fn nobody_goes_from_the_seven_to_the_nine() {
    let (daemon, clock) = daemon("", &[]).await;
    let mut client = daemon.client().await;
    client
        .tell(&format!("GAME ctf\n{}START\n", nine_and_seven()))
        .await;
    clock.pass(30_000);
    for n in 0..7 {
        client.tell(&format!("DEATH s{n}\n")).await;
    }
    // Among equals without points, nobody is among the best: even the first to come moves.
    assert_eq!(client.ask("DEATH n0\n").await, "MOVE n0 0 1");
}

#[tokio::test]
async fn everybody_of_the_nine_may_move_where_no_points_are_reported() {
    for who in 0..9 {
        let (daemon, clock) = daemon("", &[]).await;
        let mut client = daemon.client().await;
        client
            .tell(&format!("GAME ctf\n{}START\n", nine_and_seven()))
            .await;
        clock.pass(20_000);
        let moved = client.ask(&format!("DEATH n{who}\n")).await;
        assert_eq!(moved, format!("MOVE n{who} 0 1"));
    }
}

#[tokio::test]
async fn unevenness_during_warm_up_does_not_count() {
    let (daemon, clock) = daemon("", &[]).await;
    let mut client = daemon.client().await;
    client
        .tell(&format!("GAME ctf\n{}", nine_and_seven()))
        .await;
    clock.pass(60_000);
    client.tell("START\nDEATH n0\n").await;
    clock.pass(19_999);
    client.tell("DEATH n1\n").await;
    clock.pass(1);
    assert_eq!(client.ask("DEATH n2\n").await, "MOVE n2 0 1");
}

// 8. A game whose scores were never reported, and BALANCE said again.

const TEN_MINUTES: u64 = 600_000;

#[tokio::test]
async fn a_game_whose_scores_were_never_reported_is_no_draw() {
    let (daemon, clock) = daemon("", &[]).await;
    let mut client = daemon.client().await;
    let game = "GAME ctf\nJOIN a team=0\nJOIN b team=1\nSTART\n";
    let mut play = async |reports: &str, end: &str| {
        client.tell(&format!("{game}{reports}")).await;
        clock.pass(TEN_MINUTES);
        client.ask(end).await
    };
    let silent = play("KILL a b\n", "END\n").await;
    assert!(silent.ends_with("unrated no-scores"), "{silent}");
    for end in ["END draw\n", "END 1\n"] {
        assert!(play("KILL a b\n", end).await.ends_with(" recorded"));
    }
    // A score of 0 is reported, and 0:0 a draw, from then on.
    assert!(play("SCORE 0 0\n", "END\n").await.ends_with(" recorded"));
    assert!(play("KILL a b\n", "END\n").await.ends_with(" recorded"));
}

#[tokio::test]
async fn kills_are_the_result_where_frags_count_and_there_are_no_teams() {
    let (daemon, clock) = daemon("", &[]).await;
    let mut client = daemon.client().await;
    client
        .tell("GAME XGame.xDeathMatch\nJOIN a\nJOIN b\nSTART\nKILL a b\nKILL a b\nKILL b a\n")
        .await;
    clock.pass(TEN_MINUTES);
    assert!(client.ask("END\n").await.ends_with(" recorded"));
    daemon.service.learning().refresh().await.unwrap();
    let of = |line: String| line.split(' ').nth(2).map(|w| w.parse::<f64>().unwrap());
    let a = of(client.ask("PLAYER a\n").await).unwrap();
    let b = of(client.ask("PLAYER b\n").await).unwrap();
    assert!(a > b, "{a} {b}");
}

#[tokio::test]
async fn balance_said_again_keeps_the_teams() {
    let (daemon, _clock) = daemon("", &[10, 20, 30, 40, 50, 60, 70, 80]).await;
    let mut client = daemon.client().await;
    let joins: String = (1..=8).map(|n| format!("JOIN w{n}0\n")).collect();
    client.tell(&format!("GAME ctf\n{joins}")).await;
    let first = several(&mut client, "BALANCE seed=1\n").await;
    for seed in 2..20 {
        let again = several(&mut client, &format!("BALANCE seed={seed}\n")).await;
        assert_eq!(again[1..], first[1..], "{seed}");
    }
    client.tell("JOIN new\n").await;
    assert_eq!(several(&mut client, "BALANCE\n").await.len(), 12);
}
