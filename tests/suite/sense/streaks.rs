//! Streaks, as players would tell them: they have won three times, by far, and nothing was done about it.

use std::sync::Arc;

use evenkeel::session::HandClock;

use crate::{
    common::{Client, Daemon},
    sense::chance::{after, equal, ids, teams},
};

/// A daemon whose matches usually end two or three goals apart.
async fn learned(toml: &str) -> (Daemon, Arc<HandClock>) {
    after(toml, 61, 80, equal).await
}

/// What comes until the daemon has answered PING after this text.
async fn told(client: &mut Client, text: &str) -> Vec<String> {
    client.send(&format!("{text}PING\n")).await;
    let mut lines = Vec::new();
    loop {
        match client.line().await {
            line if line == "PONG" => return lines,
            line => lines.push(line),
        }
    }
}

async fn asking(daemon: &Daemon, words: &str) -> Client {
    let mut client = daemon.client().await;
    client.hello(&format!("s bots=no {words}")).await;
    client
}

fn begin(red: &[String], blue: &[String]) -> String {
    format!("{}START\n", teams(red, blue))
}

/// A match that team 0 wins by this number of goals. Returns what comes before the reply to END.
async fn won(
    client: &mut Client,
    clock: &HandClock,
    red: &[String],
    blue: &[String],
    goals: u32,
) -> Vec<String> {
    client.tell(&begin(red, blue)).await;
    clock.pass(600_000);
    // As a total: a single score is no row of rounds.
    let mut lines = told(client, &format!("SCORE 0 total={goals}\nEND\n")).await;
    let end = lines.pop().unwrap();
    assert!(end.starts_with("END "), "{end}");
    lines
}

#[tokio::test]
async fn they_won_three_rounds_in_a_row_and_the_server_heard_of_it() {
    let (daemon, clock) = learned("").await;
    let mut client = asking(&daemon, "streaks=yes").await;
    let players = ids(12);
    client.tell(&begin(&players[..6], &players[6..])).await;
    clock.pass(60_000);
    assert!(told(&mut client, "SCORE 0\n").await.is_empty());
    assert!(told(&mut client, "SCORE 0\n").await.is_empty());
    let third = told(&mut client, "SCORE 0\n").await;
    assert_eq!(third, ["* STREAK 0 3 rounds"]);
    assert!(told(&mut client, "SCORE 0\n").await.is_empty(), "once");
}

#[tokio::test]
async fn they_won_three_rounds_in_a_row_and_we_got_other_teams() {
    let (daemon, clock) = learned("").await;
    let mut client = asking(&daemon, "streaks=yes").await;
    let players = ids(12);
    let joins: String = players.iter().map(|id| format!("JOIN {id}\n")).collect();
    let all = format!("GAME ctf\nMAP field\nMINPLAYERS 0\n{joins}");
    let mut mixed = 0;
    for seed in 0..10 {
        client.tell(&all).await;
        let first = told(&mut client, &format!("BALANCE seed={seed}\n")).await;
        client.tell("START\n").await;
        clock.pass(60_000);
        // Nobody has come or gone: without a streak, the teams stay.
        let again = told(&mut client, "BALANCE seed=99\n").await;
        assert_eq!(first[1..], again[1..], "{first:?}");
        let streak = told(&mut client, "SCORE 0\nSCORE 0\nSCORE 0\n").await;
        assert_eq!(streak, ["* STREAK 0 3 rounds"]);
        let other = told(&mut client, "BALANCE seed=99\n").await;
        mixed += u32::from(other[1..] != first[1..]);
    }
    assert!(mixed >= 8, "{mixed} of 10");
}

#[tokio::test]
async fn we_won_one_of_five_rounds_and_it_was_no_streak() {
    let (daemon, clock) = learned("").await;
    let mut client = asking(&daemon, "streaks=yes").await;
    let players = ids(12);
    client.tell(&begin(&players[..6], &players[6..])).await;
    clock.pass(60_000);
    let rounds = "SCORE 0\nSCORE 0\nSCORE 1\nSCORE 0\nSCORE 0\n";
    assert!(told(&mut client, rounds).await.is_empty());
}

#[tokio::test]
async fn teams_were_mixed_and_counting_began_anew() {
    let (daemon, clock) = learned("").await;
    let mut client = asking(&daemon, "streaks=yes").await;
    let players = ids(12);
    client.tell(&begin(&players[..6], &players[6..])).await;
    clock.pass(60_000);
    client.tell("SCORE 0\nSCORE 0\n").await;
    told(&mut client, "BALANCE seed=1\n").await;
    assert!(told(&mut client, "SCORE 0\nSCORE 0\n").await.is_empty());
}

#[tokio::test]
async fn the_same_people_won_two_matches_by_far() {
    let (daemon, clock) = learned("").await;
    let mut client = asking(&daemon, "streaks=yes").await;
    let players = ids(12);
    let (red, blue) = players.split_at(6);
    assert!(won(&mut client, &clock, red, blue, 9).await.is_empty());
    // One of them has gone to the others.
    let (mut same, mut rest) = (red.to_vec(), blue.to_vec());
    std::mem::swap(&mut same[0], &mut rest[0]);
    let lines = won(&mut client, &clock, &same, &rest, 9).await;
    assert_eq!(lines, ["* STREAK 0 2 matches"]);
}

#[tokio::test]
async fn close_matches_and_other_people_are_no_streak() {
    let (daemon, clock) = learned("").await;
    let players = ids(12);
    let (red, blue) = players.split_at(6);
    let mut client = asking(&daemon, "streaks=yes").await;
    for _ in 0..3 {
        assert!(won(&mut client, &clock, red, blue, 1).await.is_empty());
    }
    let mut client = daemon.client().await;
    client.hello("t bots=no streaks=yes").await;
    assert!(won(&mut client, &clock, red, blue, 9).await.is_empty());
    let lines = won(&mut client, &clock, blue, red, 9).await;
    assert!(lines.is_empty(), "the others have won: {lines:?}");
}

#[tokio::test]
async fn nobody_hears_of_streaks_who_does_not_want_to() {
    for (toml, words) in [
        ("", ""),
        ("", "streaks=no"),
        ("auto_balance.streak = false", "streaks=yes"),
        ("auto_balance.rules = 'off'", "streaks=yes"),
        ("auto_balance.tournament = ['ctf']", "streaks=yes"),
    ] {
        let (daemon, clock) = learned(toml).await;
        let mut client = asking(&daemon, words).await;
        let players = ids(12);
        client.tell(&begin(&players[..6], &players[6..])).await;
        clock.pass(60_000);
        let lines = told(&mut client, "SCORE 0\nSCORE 0\nSCORE 0\n").await;
        assert!(lines.is_empty(), "{toml} {words}: {lines:?}");
    }
}
