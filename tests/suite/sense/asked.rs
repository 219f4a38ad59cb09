//! Ten situations in which players are asked before one of them is moved, told as the players would.

use std::sync::Arc;

use evenkeel::session::HandClock;

use crate::{
    common::{Client, Daemon},
    sense::{daemon, why},
};

const ASK: &str = "rebalance.ask_seconds = 60";

/// Sends the text. Returns all lines up to the first that begins with this verb.
async fn up_to(client: &mut Client, text: &str, verb: &str) -> Vec<String> {
    client.send(text).await;
    let mut lines = vec![client.line().await];
    while !lines[lines.len() - 1].starts_with(verb) {
        lines.push(client.line().await);
    }
    lines
}

/// What comes until the daemon has answered PING after this text.
async fn after(client: &mut Client, text: &str) -> Vec<String> {
    let mut lines = up_to(client, &format!("{text}PING\n"), "PONG").await;
    lines.pop();
    lines
}

/// A game in play of w90, w50, w48 and w46 against w52 and w54, whose server asks its players.
async fn four_against_two(toml: &str) -> (Daemon, Arc<HandClock>, Client) {
    let (daemon, clock) = daemon(toml, &[90, 50, 48, 46, 52, 54, 62, 64]).await;
    let mut client = daemon.client().await;
    client.hello("s bots=no offers=yes").await;
    client.tell(FOUR_AGAINST_TWO).await;
    (daemon, clock, client)
}

const FOUR_AGAINST_TWO: &str = "GAME ctf\nMAP field\nMINPLAYERS 0\nJOIN w90 team=0\nJOIN w50 team=0\n\
    JOIN w48 team=0\nJOIN w46 team=0\nJOIN w52 team=1\nJOIN w54 team=1\nSTART\n";

/// REBALANCE, and the pushes before its reply.
async fn rebalance(client: &mut Client) -> Vec<String> {
    up_to(client, "REBALANCE seed=1\n", "REBALANCE ").await
}

#[tokio::test]
async fn they_asked_us_first_and_took_my_friend_only_when_nobody_wanted_to_go() {
    let (_daemon, clock, mut client) = four_against_two(ASK).await;
    let lines = rebalance(&mut client).await;
    let expected = ["* OFFER w50 0 1 60", "REBALANCE 0 0.452991 0.847826"];
    assert_eq!(lines, expected);
    clock.pass(59_999);
    assert!(after(&mut client, "").await.is_empty(), "nobody moves yet");
    clock.pass(1);
    assert_eq!(after(&mut client, "").await, ["* MOVE w50 0 1"]);
    let why = why(&mut client).await;
    assert!(
        why.contains(&"WHY move w50 from team 0 to team 1".to_owned()),
        "{why:?}"
    );
    assert!(why[1].contains("the time is over"), "{why:?}");
    clock.pass(600_000);
    assert!(after(&mut client, "MOVE w50 1\n").await.is_empty(), "once");
}

#[tokio::test]
async fn i_went_so_that_my_friend_could_stay() {
    let (_daemon, _clock, mut client) = four_against_two(ASK).await;
    rebalance(&mut client).await;
    let lines = up_to(&mut client, "SWITCH w48\n", "SWITCH ").await;
    assert_eq!(lines, ["* MOVE w48 0 1", "SWITCH w48 taken"]);
    let why = why(&mut client).await;
    assert!(
        why[1].starts_with("WHY volunteers move: ratio 0.827957 with these moves"),
        "{why:?}"
    );
    assert_eq!(
        client.ask("MOVE w48 1\nSWITCH w46\n").await,
        "SWITCH w46 no-offer"
    );
}

#[tokio::test]
async fn the_best_of_us_wanted_to_go_and_was_asked_to_stay() {
    let (_daemon, clock, mut client) = four_against_two(ASK).await;
    rebalance(&mut client).await;
    assert_eq!(client.ask("SWITCH w90\n").await, "SWITCH w90 less-even");
    clock.pass(60_000);
    assert_eq!(after(&mut client, "").await, ["* MOVE w50 0 1"]);
}

#[tokio::test]
async fn i_was_on_the_small_team_already_and_was_told_so() {
    let (_daemon, _clock, mut client) = four_against_two(ASK).await;
    assert_eq!(client.ask("SWITCH w52\n").await, "SWITCH w52 no-offer");
    rebalance(&mut client).await;
    assert_eq!(client.ask("SWITCH w52\n").await, "SWITCH w52 wrong-team");
    assert_eq!(
        client.ask("SWITCH nobody\n").await,
        "ERROR unknown-player not in the roster"
    );
}

#[tokio::test]
async fn my_friend_and_i_went_together() {
    let (daemon, _clock) = daemon(ASK, &[]).await;
    let mut client = daemon.client().await;
    client.hello("s bots=no offers=yes").await;
    let six = "JOIN a team=0 party=x\nJOIN b team=0 party=x\nJOIN c team=0\nJOIN d team=0\nJOIN e team=0\nJOIN f team=0\n";
    client
        .tell(&format!(
            "GAME ctf\nMAP field\n{six}JOIN g team=1\nJOIN h team=1\nSTART\n"
        ))
        .await;
    assert_eq!(
        rebalance(&mut client).await.len(),
        3,
        "two of six are to go"
    );
    assert_eq!(client.ask("SWITCH a\n").await, "SWITCH a waits");
    let lines = up_to(&mut client, "SWITCH b\n", "SWITCH ").await;
    let [one, two, answer] = &lines[..] else {
        panic!("{lines:?}")
    };
    let mut moves = [one.as_str(), two.as_str()];
    moves.sort_unstable();
    assert_eq!(moves, ["* MOVE a 0 1", "* MOVE b 0 1"]);
    assert_eq!(answer, "SWITCH b taken");
}

#[tokio::test]
async fn i_wanted_to_go_with_the_others_and_then_had_to_leave() {
    let (daemon, clock) = daemon(ASK, &[90, 60, 30, 40, 20, 10]).await;
    let mut client = daemon.client().await;
    client.hello("s bots=no offers=yes").await;
    let three = "JOIN w90 team=0\nJOIN w60 team=0\nJOIN w30 team=0\n";
    client
        .tell(&format!(
            "GAME ctf\nMAP field\n{three}JOIN w40 team=1\nJOIN w20 team=1\nJOIN w10 team=1\nSTART\n"
        ))
        .await;
    let lines = rebalance(&mut client).await;
    let words: Vec<&str> = lines[0].split(' ').collect();
    assert_eq!((lines.len(), words[3]), (3, "0"), "a swap: {lines:?}");
    let me = words[2].to_owned();
    assert_eq!(
        client.ask(&format!("SWITCH {me}\n")).await,
        format!("SWITCH {me} waits")
    );
    // Without me, other moves are right, or none.
    let lines = after(&mut client, &format!("LEAVE {me}\n")).await;
    assert_eq!(
        lines
            .iter()
            .filter(|line| line.starts_with("* WITHDRAWN"))
            .count(),
        2,
        "{lines:?}"
    );
    clock.pass(60_000);
    let moved = after(&mut client, "").await;
    assert!(!moved.iter().any(|line| line.contains(&me)), "{moved:?}");
}

#[tokio::test]
async fn two_came_to_the_others_and_nobody_had_to_go() {
    let (_daemon, clock, mut client) = four_against_two(ASK).await;
    rebalance(&mut client).await;
    // After the first of them, the teams are still uneven: the offer goes on, or another one does.
    after(&mut client, "JOIN w62 team=1\n").await;
    let lines = after(&mut client, "JOIN w64 team=1\n").await;
    assert!(
        lines.iter().all(|line| line.ends_with(" even")),
        "{lines:?}"
    );
    clock.pass(600_000);
    assert!(after(&mut client, "").await.is_empty());
}

#[tokio::test]
async fn he_carried_the_flag_when_the_time_was_over_and_another_one_was_warned() {
    let (_daemon, clock, mut client) = four_against_two(ASK).await;
    rebalance(&mut client).await;
    client.tell("PROTECT w50\n").await;
    clock.pass(60_000);
    let lines = after(&mut client, "").await;
    assert_eq!(lines, ["* WITHDRAWN w50 changed", "* OFFER w48 0 1 20"]);
    clock.pass(20_000);
    assert_eq!(after(&mut client, "").await, ["* MOVE w48 0 1"]);
}

#[tokio::test]
async fn the_game_ended_or_teams_were_made_anew_while_we_were_asked() {
    for (line, verb) in [
        ("END 0\n", "END"),
        ("GAME ctf\nPING\n", "PONG"),
        ("BALANCE seed=1\n", "BALANCE"),
    ] {
        let (_daemon, clock, mut client) = four_against_two(ASK).await;
        rebalance(&mut client).await;
        // Time passes, so that the match is a match.
        clock.pass(30_000);
        let lines = up_to(&mut client, line, verb).await;
        assert_eq!(lines[0], "* WITHDRAWN w50 over", "{line}");
        client.send("PING\n").await;
        while client.line().await != "PONG" {}
        clock.pass(60_000);
        assert!(after(&mut client, "").await.is_empty(), "{line}");
    }
}

#[tokio::test]
async fn the_vote_passed_twice_and_we_were_asked_once() {
    let (_daemon, clock, mut client) = four_against_two(ASK).await;
    rebalance(&mut client).await;
    clock.pass(10_000);
    let lines = up_to(&mut client, "REBALANCE\n", "REBALANCE ").await;
    assert_eq!(lines[0], "* OFFER w50 0 1 50");
    clock.pass(50_000);
    assert_eq!(after(&mut client, "").await, ["* MOVE w50 0 1"]);
}

#[tokio::test]
async fn our_old_mutator_heard_nothing_of_it_and_the_admin_was_in_a_hurry() {
    let at_once = ["REBALANCE 1 0.452991 0.847826", "MOVE w50 0 1"];
    for (toml, hello, ask) in [
        (ASK, "s bots=no", ""),
        (ASK, "s bots=no offers=no", ""),
        (ASK, "s bots=no offers=yes", " ask=no"),
        ("", "s bots=no offers=yes", ""),
    ] {
        let (daemon, clock) = daemon(toml, &[90, 50, 48, 46, 52, 54]).await;
        let mut client = daemon.client().await;
        client.hello(hello).await;
        client.tell(FOUR_AGAINST_TWO).await;
        let lines = up_to(&mut client, &format!("REBALANCE seed=1{ask}\n"), "MOVE ").await;
        assert_eq!(lines, at_once, "{hello}");
        clock.pass(600_000);
        assert!(after(&mut client, "").await.is_empty(), "{hello}");
        assert_eq!(client.ask("SWITCH w48\n").await, "SWITCH w48 no-offer");
    }
}
