//! A GAME that comes again, as when a server restarts its map after the warm-up: what BALANCE has decided stands, and is
//! that of the match.

use crate::common::{Client, Daemon, backends::rows};

const JOINS: &str = "JOIN a team=0\nJOIN b team=1\nJOIN c team=0\nJOIN d team=1\n";

fn game(map: &str, joins: &str) -> String {
    format!("GAME ctf\nMINPLAYERS 0\nMAP {map}\n{joins}")
}

/// BALANCE for these many humans. Returns their teams as JOIN lines.
async fn balance(client: &mut Client, humans: usize) -> String {
    let head = client.ask("BALANCE seed=5\n").await;
    assert!(head.starts_with("BALANCE "), "{head}");
    let mut joins = String::new();
    for line in client.lines(humans + 2).await {
        if let Some(placed) = line.strip_prefix("TEAM ") {
            let (team, id) = placed.split_once(' ').unwrap();
            joins.push_str(&format!("JOIN {id} team={team}\n"));
        }
    }
    joins
}

/// The match of each decision, in the order in which they were made.
async fn decided(daemon: &Daemon) -> Vec<Option<i64>> {
    daemon.service.sessions().write_backlog().await.unwrap();
    let sql = "SELECT match_id FROM decisions ORDER BY id";
    let found: Vec<(Option<i64>,)> = rows(&daemon.folder.path().join("test.db"), sql).await;
    found.into_iter().map(|(id,)| id).collect()
}

/// The id, the map and the milliseconds of each stored match, in the order in which they began.
async fn stored(daemon: &Daemon) -> Vec<(i64, String, i64)> {
    daemon.service.sessions().write_backlog().await.unwrap();
    let sql = "SELECT id, map, CAST(round((julianday(ended_at) - julianday(started_at)) * 86400000) AS BIGINT) FROM matches ORDER BY started_at";
    rows(&daemon.folder.path().join("test.db"), sql).await
}

/// How many matches count as picked.
async fn picked(daemon: &Daemon) -> i64 {
    let sql = "SELECT count(*) FROM match_chances WHERE cause = 'picked'";
    let found: Vec<(i64,)> = rows(&daemon.folder.path().join("test.db"), sql).await;
    found[0].0
}

#[tokio::test]
async fn the_decision_of_the_warm_up_is_that_of_the_match() {
    let (daemon, clock) = Daemon::start_by_hand("").await;
    let mut client = daemon.named("s").await;
    for number in 1..=3 {
        client.tell(&game("q3ctf1", JOINS)).await;
        let joins = balance(&mut client, 4).await;
        clock.pass(20_000);
        // Twice, as some servers do.
        client.tell(&game("q3ctf1", "")).await;
        client.tell(&game("q3ctf1", &joins)).await;
        client.tell("START\n").await;
        let why = client.reasons("EXPLAIN\n").await;
        assert!(why[0].contains("ratio"), "{why:?}");
        clock.pass(300_000);
        let end = client.ask("SCORE 0\nEND\n").await;
        assert_eq!(end, format!("END {number} recorded"));
    }
    assert_eq!(decided(&daemon).await, [Some(1), Some(2), Some(3)]);
    assert_eq!(picked(&daemon).await, 3);
}

#[tokio::test]
async fn teams_that_were_picked_after_a_match_are_those_of_the_next_one() {
    let (daemon, clock) = Daemon::start_by_hand("").await;
    let mut client = daemon.named("s").await;
    client.tell(&game("q3ctf1", JOINS)).await;
    client.tell("START\n").await;
    clock.pass(300_000);
    assert_eq!(client.ask("SCORE 0\nEND\n").await, "END 1 recorded");
    let joins = balance(&mut client, 4).await;
    client.tell(&game("q3ctf1", &joins)).await;
    client.tell("START\n").await;
    clock.pass(300_000);
    assert_eq!(client.ask("SCORE 0\nEND\n").await, "END 2 recorded");
    assert_eq!(decided(&daemon).await, [Some(2)]);
    assert_eq!(picked(&daemon).await, 1);
}

#[tokio::test]
async fn another_map_or_other_people_are_another_game() {
    for (map, joins) in [
        ("q3ctf2", JOINS),
        (
            "q3ctf1",
            "JOIN a team=0\nJOIN x team=1\nJOIN y team=0\nJOIN z team=1\n",
        ),
    ] {
        let (daemon, clock) = Daemon::start_by_hand("").await;
        let mut client = daemon.named("s").await;
        client.tell(&game("q3ctf1", JOINS)).await;
        balance(&mut client, 4).await;
        client.tell(&game(map, joins)).await;
        client.tell("START\n").await;
        clock.pass(300_000);
        assert_eq!(client.ask("SCORE 0\nEND\n").await, "END 1 recorded");
        assert_eq!(decided(&daemon).await, [None], "{map}");
        assert_eq!(picked(&daemon).await, 0, "{map}");
    }
}

#[tokio::test]
async fn play_that_counts_ends_a_game_and_a_restart_in_its_first_minute_does_not() {
    for (millis, goes_on) in [(59_000, true), (61_000, false)] {
        let (daemon, clock) = Daemon::start_by_hand("").await;
        let mut client = daemon.named("s").await;
        client.tell(&game("q3ctf1", JOINS)).await;
        let joins = balance(&mut client, 4).await;
        client.tell("START\nSCORE 1\n").await;
        clock.pass(millis);
        client.tell(&game("q3ctf1", &joins)).await;
        client.tell("START\n").await;
        clock.pass(300_000);
        let end = client.ask("SCORE 0\nEND\n").await;
        let stored = stored(&daemon).await;
        assert!(end.ends_with(" recorded"), "{end}");
        assert_eq!(stored.len(), if goes_on { 1 } else { 2 });
        // The first match is abandoned, or never existed.
        assert_eq!(decided(&daemon).await, [Some(stored[0].0)]);
        assert_eq!(picked(&daemon).await, 1);
    }
}

#[tokio::test]
async fn a_short_game_that_another_one_follows_is_abandoned_as_ever() {
    let (daemon, clock) = Daemon::start_by_hand("").await;
    let mut client = daemon.named("s").await;
    client.tell(&game("q3ctf1", JOINS)).await;
    balance(&mut client, 4).await;
    client.tell("START\n").await;
    clock.pass(30_000);
    client.tell(&game("q3ctf2", JOINS)).await;
    client.tell("START\n").await;
    clock.pass(300_000);
    client.ask("SCORE 0\nEND\n").await;
    let stored = stored(&daemon).await;
    let (id, map, millis) = &stored[0];
    assert_eq!((map.as_str(), *millis), ("q3ctf1", 30_000));
    assert_eq!(stored.len(), 2);
    assert_eq!(decided(&daemon).await, [Some(*id)]);
}

#[tokio::test]
async fn who_has_come_since_is_placed_and_nobody_else_moves() {
    let daemon = Daemon::start("").await;
    let mut client = daemon.named("s").await;
    client.tell(&game("q3ctf1", JOINS)).await;
    let joins = balance(&mut client, 4).await;
    let more = format!("{joins}JOIN e team=0\nJOIN f team=0\n");
    client.tell(&game("q3ctf1", &more)).await;
    let placed = balance(&mut client, 6).await;
    assert!(placed.starts_with(&joins), "{joins}{placed}");
    let team = |id: &str| placed.split(&format!("JOIN {id} team=")).nth(1).unwrap()[..1].to_owned();
    assert_ne!(team("e"), team("f"), "{placed}");
    let why = client.reasons("EXPLAIN\n").await;
    let stays =
        |line: &String| line.starts_with("the teams of the last BALANCE stay: the game has");
    assert!(why.iter().any(stays), "{why:?}");
}

#[tokio::test]
async fn the_game_goes_on_over_another_connection_of_the_same_server() {
    let (daemon, clock) = Daemon::start_by_hand("").await;
    let mut client = daemon.named("s").await;
    client.tell(&game("q3ctf1", JOINS)).await;
    let joins = balance(&mut client, 4).await;
    client.talk("").await;
    let mut other = daemon.named("t").await;
    other.tell(&game("q3ctf1", &joins)).await;
    let mut client = daemon.named("s").await;
    client.tell(&game("q3ctf1", &joins)).await;
    for (client, id) in [(&mut client, 1), (&mut other, 2)] {
        client.tell("START\n").await;
        clock.pass(300_000);
        let end = client.ask("SCORE 0\nEND\n").await;
        assert_eq!(end, format!("END {id} recorded"));
    }
    assert_eq!(decided(&daemon).await, [Some(1)]);
    assert_eq!(picked(&daemon).await, 1);
}
