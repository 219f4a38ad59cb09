//! What the people in a game, and their operators, would call right, where that needs a daemon: what it has learned, what
//! it keeps between connections, and its commands. Decisions that follow from a game alone are judged beside the lobby, in
//! `crates/lobby/src/tests/sense`. Each test reads like a sentence of what was asked for; `w90` is a human whose weight an
//! operator has pinned at 90.

mod accounts;
mod asked;
mod chance;
mod measured;
mod small;
mod stories;
mod streaks;
mod weights;

use std::sync::Arc;

use evenkeel::{
    model::{Kind, PlayerKey},
    session::HandClock,
};

use crate::common::{
    Client, Daemon,
    told::{Step, steps},
};

/// A daemon on a clock that only the test moves, which knows humans of these weights.
pub(crate) async fn daemon(toml: &str, weights: &[u8]) -> (Daemon, Arc<HandClock>) {
    let (daemon, clock) = Daemon::start_by_hand(toml).await;
    for weight in weights {
        let (kind, id) = (Kind::Human, format!("w{weight}"));
        let key = PlayerKey { kind, id };
        let store = daemon.service.store();
        store
            .corrections()
            .pin_weight(&key, Some((*weight).into()))
            .await
            .unwrap();
    }
    daemon.service.learning().refresh().await.unwrap();
    (daemon, clock)
}

/// All lines of an EXPLAIN.
pub(crate) async fn why(client: &mut Client) -> Vec<String> {
    several(client, "EXPLAIN\n").await
}

/// Ends the game: otherwise a GAME with the same players is the same game once more.
async fn played(client: &mut Client) {
    client.ask("START\nEND draw\n").await;
}

/// The lines that follow the first line of a reply.
pub(crate) async fn several(client: &mut Client, ask: &str) -> Vec<String> {
    let first = client.ask(ask).await;
    let count = first.split(' ').nth(1).and_then(|count| count.parse().ok());
    let count: usize = count.unwrap_or_else(|| panic!("{first}"));
    let mut lines = vec![first];
    for _ in 0..count {
        lines.push(client.line().await);
    }
    lines
}

/// The lobby hears the same: `tests::sense::one_evening_is_answered_as_it_is_told` of its crate.
#[tokio::test]
async fn a_daemon_answers_as_the_lobby_does() {
    let all: Vec<u8> = (0..=100).collect();
    let (daemon, clock) = daemon("", &all).await;
    let mut client = daemon.client().await;
    for step in steps(include_str!("../../fixtures/one-evening.txt")) {
        match step {
            Step::Sends(line) => client.send(&format!("{line}\n")).await,
            Step::Hears(line) => assert_eq!(client.line().await, line),
            Step::Waits(millis) => {
                client.tell("").await;
                clock.pass(millis);
            }
        }
    }
    client.tell("").await;
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
async fn a_session_that_sends_scores_does_so_under_every_name_of_the_game_type() {
    let toml = "[game_types.aliases]\n\"my.ctf\" = \"baseoa.ctf\"\n\"your.ctf\" = \"baseoa.ctf\"";
    for (first, second, known) in [
        ("my.ctf", "BaseOA.CTF", true),
        ("baseoa.ctf", "My.Ctf", true),
        ("my.ctf", "YOUR.CTF", true),
        ("my.ctf", "ctf", false),
    ] {
        let (daemon, clock) = daemon(toml, &[]).await;
        let mut client = daemon.client().await;
        let game = "JOIN a team=0\nJOIN b team=1\nSTART\n";
        client.tell(&format!("GAME {first}\n{game}SCORE 1\n")).await;
        clock.pass(TEN_MINUTES);
        assert!(client.ask("END\n").await.ends_with(" recorded"));
        client.tell(&format!("GAME {second}\n{game}")).await;
        clock.pass(TEN_MINUTES);
        let end = client.ask("END\n").await;
        assert_eq!(end.ends_with(" recorded"), known, "{first} {second} {end}");
    }
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
async fn scores_of_another_game_type_or_session_do_not_make_a_draw() {
    let (daemon, clock) = daemon("", &[]).await;
    let game = |of: &str| format!("GAME {of}\nJOIN a team=0\nJOIN b team=1\nSTART\n");
    let mut client = daemon.client().await;
    client.tell(&format!("{}SCORE 1\n", game("ctf"))).await;
    clock.pass(TEN_MINUTES);
    assert!(client.ask("END\n").await.ends_with(" recorded"));
    client.tell(&game("tdm")).await;
    clock.pass(TEN_MINUTES);
    let other = client.ask("END\n").await;
    assert!(other.ends_with("unrated no-scores"), "{other}");
    client.tell(&game("CTF")).await;
    clock.pass(TEN_MINUTES);
    assert!(client.ask("END\n").await.ends_with(" recorded"));
    // START again after END is another game of the session.
    client.tell("START\n").await;
    clock.pass(TEN_MINUTES);
    assert!(client.ask("END\n").await.ends_with(" recorded"));
    let mut next = daemon.client().await;
    next.tell(&game("ctf")).await;
    clock.pass(TEN_MINUTES);
    assert!(next.ask("END\n").await.ends_with("unrated no-scores"));
}
