//! Each limit of the server, by the attack it is there for. Where time matters it is paused, and the
//! connection is a pipe in memory.

#![allow(clippy::unwrap_used, clippy::expect_used)] // a test may fail by unwrapping

mod common;

use std::time::Duration;

use common::{Client, Daemon, config, service};
use evenkeel::server::{Limits, serve};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    time::{Instant, sleep},
};
use tokio_util::sync::CancellationToken;

#[tokio::test]
async fn a_line_of_a_gigabyte_is_one_error_and_the_connection_goes_on() {
    let daemon = Daemon::start("").await;
    let mut client = daemon.client().await;
    let before = memory_kib();
    let block = vec![b'x'; 1 << 20];
    for _ in 0..1_024 {
        client.stream.get_mut().write_all(&block).await.unwrap();
    }
    client.send("\nPING\n").await;
    assert_eq!(
        client.line().await,
        "ERROR too-long a line may hold 1024 bytes"
    );
    assert_eq!(client.line().await, "PONG");
    let grown = memory_kib().saturating_sub(before);
    assert!(grown < 64 * 1_024, "memory grew by {grown} KiB");
}

#[tokio::test]
async fn a_thousand_idle_connections_do_not_keep_those_inside_from_playing() {
    let daemon = Daemon::start("[server]\nmax_connections = 50").await;
    let mut inside = daemon.client().await;
    inside.send("PING\n").await;
    assert_eq!(inside.line().await, "PONG");
    let mut idle = Vec::new();
    let mut turned_away = 0;
    for n in 0..1_000 {
        let mut client = daemon.client().await;
        // The first 49 are let in; from then on each is told why it is not.
        if n >= 49 {
            assert_eq!(client.line().await, "ERROR overloaded too many connections");
            assert_eq!(client.line().await, "", "and closed");
            turned_away += 1;
        }
        idle.push(client);
    }
    assert_eq!(turned_away, 951);
    inside.send("GAME ctf\nMEANBOT\n").await;
    assert_eq!(inside.line().await, "MEANBOT 50.000 0");
    drop(idle);
    // As soon as they are gone there is room again.
    loop {
        let mut client = daemon.client().await;
        client.send("PING\n").await;
        if client.line().await == "PONG" {
            break;
        }
    }
}

#[tokio::test]
async fn random_bytes_end_in_too_many_errors() {
    let daemon = Daemon::start("[server]\nmax_errors = 5").await;
    let mut client = daemon.client().await;
    let mut noise = Vec::new();
    let mut state = 1u32;
    while noise.len() < 100_000 {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        noise.extend(state.to_be_bytes());
    }
    // The daemon may well hang up before it has all.
    let _ = client.stream.get_mut().write_all(&noise).await;
    let said = client.rest().await;
    let errors: Vec<&str> = said
        .lines()
        .filter(|line| line.starts_with("ERROR "))
        .collect();
    assert!(errors.len() <= 6, "{said}");
    assert_eq!(
        Client::connect(daemon.address).await.talk("PING\n").await,
        "PONG\n"
    );
}

#[tokio::test]
async fn errors_are_counted_since_the_last_game() {
    let daemon = Daemon::start("[server]\nmax_errors = 3").await;
    let said = daemon
        .client()
        .await
        .talk("X\nX\nGAME ctf\nX\nX\nPING\nX\nPING\n")
        .await;
    let ends: Vec<&str> = said.lines().skip(4).collect();
    assert_eq!(ends[0], "PONG");
    assert!(ends[1].starts_with("ERROR unknown-command"));
    assert_eq!(
        ends[2],
        "ERROR too-many-errors 3 errors since the last GAME"
    );
    assert_eq!(ends.len(), 3, "closed: {said}");
}

#[tokio::test]
async fn every_verb_with_wrong_arguments_is_refused_and_nothing_breaks() {
    let daemon = Daemon::start("[server]\nmax_errors = 100000").await;
    let verbs = [
        "GAME",
        "MUTATOR",
        "PLAYER",
        "BOT",
        "MEANBOT",
        "HELLO",
        "PING",
        "MAP",
        "TEAMS",
        "MINPLAYERS",
        "JOIN",
        "LEAVE",
        "MOVE",
        "BOTJOIN",
        "BOTLEAVE",
        "BALANCE",
        "BOTS",
    ];
    let arguments = [
        "",
        " ",
        " \"",
        " \"\"",
        " \"\\\"",
        " a b c d e",
        " -1",
        " 99999999999999999999",
        " =",
        " a=",
        " a =b",
        " \u{0}",
        " team=9",
        " a team=9",
        " a pin=-1",
        " \"a\"b",
        " a 9",
        " m 9 1",
        " seed=x",
        " top=0",
        " \u{fffd}\u{202e}",
        " %s%n",
        " ';DROP TABLE matches;--",
    ];
    let mut script = String::new();
    for verb in verbs {
        for argument in arguments {
            script.push_str(&format!("{verb}{argument}\n"));
        }
    }
    let said = daemon.client().await.talk(&format!("{script}PING\n")).await;
    assert!(said.ends_with("PONG\n"));
    let refused = said
        .lines()
        .filter(|line| line.starts_with("ERROR "))
        .count();
    assert!(refused > 150, "{refused} refusals");
    assert!(!said.contains("internal"), "{said}");
}

/// Serves one end of a pipe and gives the other; with it, whoever waits for the end.
async fn pipe(
    toml: &str,
) -> (
    tokio::io::DuplexStream,
    tokio::task::JoinHandle<()>,
    tempfile::TempDir,
    Limits,
) {
    let config = config(toml);
    let (service, folder) = service(&config).await;
    let limits = config.limits();
    let (ours, theirs) = tokio::io::duplex(4_096);
    let task = tokio::spawn(async move {
        serve(theirs, service, limits, CancellationToken::new()).await;
    });
    (ours, task, folder, limits)
}

#[tokio::test]
async fn one_byte_a_second_is_too_slow() {
    let (mut ours, task, _folder, limits) = pipe("").await;
    tokio::time::pause();
    ours.write_all(b"PING\n").await.unwrap();
    let mut pong = [0; 5];
    ours.read_exact(&mut pong).await.unwrap();
    let began = Instant::now();
    while ours.write_all(b"x").await.is_ok() {
        sleep(Duration::from_secs(1)).await;
    }
    assert!(
        began.elapsed() <= limits.line + Duration::from_secs(2),
        "{:?}",
        began.elapsed()
    );
    task.await.unwrap();
}

#[tokio::test]
async fn one_line_a_minute_is_not() {
    let (mut ours, _task, _folder, _) = pipe("").await;
    tokio::time::pause();
    for _ in 0..100 {
        ours.write_all(b"PING\n").await.unwrap();
        let mut pong = [0; 5];
        ours.read_exact(&mut pong).await.unwrap();
        sleep(Duration::from_secs(60)).await;
    }
}

#[tokio::test]
async fn who_says_nothing_is_closed_without_a_word() {
    let (mut ours, task, _folder, limits) = pipe("").await;
    tokio::time::pause();
    let began = Instant::now();
    let mut said = Vec::new();
    ours.read_to_end(&mut said).await.unwrap();
    assert_eq!(said, b"");
    assert!(began.elapsed() >= limits.first_line && began.elapsed() < limits.idle);
    task.await.unwrap();

    tokio::time::resume();
    let (mut ours, _task, _folder, limits) = pipe("").await;
    tokio::time::pause();
    ours.write_all(b"PING\n").await.unwrap();
    let began = Instant::now();
    ours.read_to_end(&mut said).await.unwrap();
    assert_eq!(said, b"PONG\n");
    assert!(began.elapsed() >= limits.idle);
}

#[tokio::test]
async fn who_does_not_read_is_closed() {
    let (mut ours, task, _folder, limits) = pipe("").await;
    tokio::time::pause();
    let began = Instant::now();
    // The pipe holds 4 KiB; the replies do not fit, and nobody takes them.
    let flood = "PING\n".repeat(20_000);
    let _ = ours.write_all(flood.as_bytes()).await;
    task.await.unwrap();
    assert!(began.elapsed() >= limits.write && began.elapsed() <= limits.write * 3);
}

#[tokio::test]
async fn a_stop_sends_the_replies_owed_and_drains_in_time() {
    let mut daemon = Daemon::start("").await;
    let mut busy = daemon.client().await;
    busy.send("GAME ctf\nMEANBOT\n").await;
    assert_eq!(busy.line().await, "MEANBOT 50.000 0");
    let mut idle = daemon.client().await;
    idle.send("PING\n").await;
    assert_eq!(idle.line().await, "PONG");
    daemon.stop();
    tokio::time::timeout(Duration::from_secs(5), &mut daemon.task)
        .await
        .unwrap()
        .unwrap();
    assert_eq!(busy.line().await, "", "closed");
    assert_eq!(idle.line().await, "", "closed");
    assert!(
        tokio::net::TcpStream::connect(daemon.address)
            .await
            .is_err(),
        "no longer listening"
    );
}

#[tokio::test]
async fn a_session_in_the_middle_of_a_line_does_not_hold_up_the_end() {
    let mut daemon = Daemon::start("").await;
    let mut client = daemon.client().await;
    client.send("PING\nPLAY").await;
    assert_eq!(client.line().await, "PONG");
    daemon.stop();
    tokio::time::timeout(Duration::from_secs(5), &mut daemon.task)
        .await
        .unwrap()
        .unwrap();
}

/// Resident memory of this process.
fn memory_kib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    line.and_then(|rest| rest.split_whitespace().next()?.parse().ok())
        .unwrap_or(0)
}
