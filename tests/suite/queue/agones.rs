//! Hosted matches on game servers that an allocator service chooses. The service is a fake that follows the
//! published interface of Agones; nothing here has run against a cluster.

use std::{fs, sync::mpsc};

use serde_json::json;
use tempfile::TempDir;

use crate::common::{
    self, Client, Daemon,
    allocator::{FakeAllocator, Play},
    config, process, until,
};
use evenkeel::{server::Service, session::HandClock, store};

/// A queue of duels whose matches need an instance in a region near enough.
const DUELS: &str = r#"
[queue.duel]
teams = 2
size = 1
ruleset = "baseoa.ctf"
host_wait = 600
latency = { of = "ping", at_most = 120 }

[queue.duel.attributes]
ping = "map num"
modes = "set ctf"

[[queue.duel.rule]]
name = "mode"
rule = "common"
of = "modes"
picks = "mode"
hard = true
"#;

fn toml(allocator: &FakeAllocator) -> String {
    format!("{DUELS}{}", allocator.section())
}

fn submit(ticket: &str, player: &str) -> String {
    let states = "modes=ctf ping.eu=30 ping.us=110 ping.asia=250";
    common::submit("duel", ticket, &format!("{player} {states}"))
}

/// A listening client of two players who have queued.
async fn duel(client: Client, tickets: [&str; 2]) -> Client {
    let mut client = client;
    for ticket in tickets {
        let player = format!("p-{ticket}");
        let reply = client.ask(&submit(ticket, &player)).await;
        assert!(reply.starts_with("QUEUED "), "{reply}");
    }
    client.tell("LISTEN\n").await;
    client
}

/// A game server of the fleet: it knows its name, and not the address that players reach.
async fn game_server(daemon: &Daemon, name: &str) -> Client {
    let mut client = daemon.named(name).await;
    client.send("INSTANCE 10.0.0.7:7000\n").await;
    client
}

/// Reads a SESSION of two players, and returns its match.
async fn session(client: &mut Client) -> String {
    let head = client.line().await;
    let words: Vec<&str> = head.split(' ').collect();
    let ["*", "SESSION", id, "duel", "ctf", "-", "2"] = words[..] else {
        panic!("{head}");
    };
    for _ in 0..2 {
        let join = client.line().await;
        assert!(join.starts_with("* JOIN "), "{join}");
    }
    id.to_owned()
}

/// Plays a match of a game server to its end.
async fn play(server: &mut Client, id: &str) {
    server.tell(&format!("READY {id}\n")).await;
    server.tell("START\nSCORE 0\n").await;
    let end = server.ask("END 0\n").await;
    assert!(end.starts_with(&format!("END {id}")), "{end}");
}

/// Reads up to the line that calls a player, and returns it.
async fn call(client: &mut Client) -> String {
    loop {
        let line = client.line().await;
        assert!(!line.is_empty(), "the connection has ended");
        if line.starts_with("* GO ") {
            return line;
        }
    }
}

/// Lets the clock run until the service has had so many requests.
async fn asked(allocator: &FakeAllocator, clock: &HandClock, count: usize) {
    until(async || {
        clock.pass(50);
        allocator.requests().len() >= count
    })
    .await;
}

#[tokio::test]
async fn a_match_is_played_on_the_allocated_game_server() {
    let allocator = FakeAllocator::start(vec![Play::Server("arena-1")]);
    let (daemon, clock) = Daemon::start_by_hand(&toml(&allocator)).await;
    // A game server that is connected and not allocated gets no match.
    let mut idle = game_server(&daemon, "arena-0").await;
    let mut lobby = duel(daemon.named("lobby").await, ["t1", "t2"]).await;
    until(async || !allocator.requests().is_empty()).await;
    let mut server = game_server(&daemon, "arena-1").await;
    let id = session(&mut server).await;
    let labels = |region: &str| json!({"matchLabels": {"agones.dev/fleet": "arena", "mode": "ctf", "region": region}});
    let expected = json!({
        "namespace": "games",
        "gameServerSelectors": [labels("eu"), labels("us")],
        "metadata": {"annotations": {
            "evenkeel/match": id, "evenkeel/queue": "duel", "evenkeel/mode": "ctf",
        }},
    });
    assert_eq!(allocator.requests(), [expected]);
    // A game server that believes to host it, and does not, is told so.
    let mut thief = daemon.client().await;
    let refused = thief.ask(&format!("HELLO arena-0 match={id}\n")).await;
    assert_eq!(
        refused,
        "ERROR not-allowed this instance does not host this match"
    );
    server.tell(&format!("READY {id}\n")).await;
    let go = call(&mut lobby).await;
    assert!(
        go.starts_with(&format!("* GO {id} 203.0.113.7:7463 ")),
        "{go}"
    );
    play_on(&mut server, &clock, &id).await;
    let stored = daemon.service.store();
    let stored = stored.matches().match_with_id(id.parse().unwrap()).await;
    let record = stored.unwrap().unwrap().record;
    assert_eq!(record.server, "arena-1");
    // It is rated: a player of it has a weight.
    let mut asking = daemon.client().await;
    until(async || {
        let weight = asking.ask("GAME baseoa.ctf\nPLAYER p-t1\n").await;
        weight.split(' ').count() == 3
    })
    .await;
    idle.tell("").await; // no SESSION has come before the answer
    assert_eq!(allocator.requests().len(), 1);
}

/// Plays a match for which READY has been sent for ten minutes, and finds it rated.
async fn play_on(server: &mut Client, clock: &HandClock, id: &str) {
    server.tell("START\nSCORE 0\nSCORE 0\n").await;
    clock.pass(600_000);
    let end = server.ask("END\n").await;
    assert_eq!(end, format!("END {id} recorded"), "it is rated");
}

#[tokio::test]
async fn a_match_asks_again_until_it_has_a_game_server() {
    let allocator = FakeAllocator::start(vec![
        Play::Status(429, 8),
        Play::Status(503, 14),
        Play::Status(409, 10),
        Play::Status(500, 13),
        Play::Hang,
        Play::Cut,
        Play::Garbage,
        Play::Words,
        Play::Flood,
        Play::Server("arena-1"),
    ]);
    let (daemon, clock) = Daemon::start_by_hand(&toml(&allocator)).await;
    let mut server = game_server(&daemon, "arena-1").await;
    let mut lobby = duel(daemon.named("lobby").await, ["t1", "t2"]).await;
    asked(&allocator, &clock, 10).await;
    let id = session(&mut server).await;
    play(&mut server, &id).await;
    assert!(call(&mut lobby).await.contains(" 203.0.113.7:7463 "));
    let requests = allocator.requests();
    assert_eq!(requests.len(), 10);
    assert!(requests.iter().all(|request| *request == requests[0]));
}

#[tokio::test]
async fn a_game_server_is_not_given_two_matches() {
    let allocator = FakeAllocator::start(vec![
        Play::Server("arena-1"),
        Play::Server("arena-1"),
        Play::Server("arena-2"),
    ]);
    let (daemon, clock) = Daemon::start_by_hand(&toml(&allocator)).await;
    let mut first = game_server(&daemon, "arena-1").await;
    duel(daemon.named("lobby").await, ["t1", "t2"]).await;
    let id = session(&mut first).await;
    duel(daemon.named("lobby").await, ["t3", "t4"]).await;
    asked(&allocator, &clock, 3).await;
    // It was marked with the other match, which it does not host.
    let close = first.line().await;
    let words: Vec<&str> = close.split(' ').collect();
    let ["*", "CLOSE", other, "lost"] = words[..] else {
        panic!("{close}");
    };
    assert_ne!(other, id);
    let mut second = game_server(&daemon, "arena-2").await;
    assert_eq!(session(&mut second).await, other);
    play(&mut first, &id).await;
    play(&mut second, other).await;
}

#[tokio::test]
async fn certificates_are_checked_on_both_sides_and_read_again() {
    let allocator = FakeAllocator::start(vec![Play::Server("arena-1")]);
    let copy = |from: &str, to: &str| {
        fs::copy(allocator.path(from), allocator.path(to)).unwrap();
    };
    for (own, kept) in [
        ("client.crt", "good.crt"),
        ("client.key", "good.key"),
        ("ca.crt", "good-ca.crt"),
    ] {
        copy(own, kept);
    }
    copy("stranger.crt", "client.crt");
    copy("stranger.key", "client.key");
    let (daemon, clock) = Daemon::start_by_hand(&toml(&allocator)).await;
    let mut server = game_server(&daemon, "arena-1").await;
    duel(daemon.named("lobby").await, ["t1", "t2"]).await;
    let tick = async || {
        clock.pass(50);
        tokio::task::yield_now().await;
    };
    until(async || {
        tick().await;
        allocator.refused() >= 2
    })
    .await;
    // Now the daemon does not accept the service. A file that is being written is no reason to stop.
    fs::write(allocator.path("client.crt"), "half a file").unwrap();
    copy("stranger-ca.crt", "ca.crt");
    let refused = allocator.refused();
    until(async || {
        tick().await;
        allocator.refused() > refused
    })
    .await;
    assert_eq!(allocator.requests().len(), 0);
    copy("good.crt", "client.crt");
    copy("good.key", "client.key");
    copy("good-ca.crt", "ca.crt");
    asked(&allocator, &clock, 1).await;
    let id = session(&mut server).await;
    play(&mut server, &id).await;
}

#[tokio::test]
async fn a_game_server_that_never_connects_is_replaced() {
    let allocator = FakeAllocator::start(vec![Play::Server("arena-1"), Play::Server("arena-2")]);
    let (daemon, clock) = Daemon::start_by_hand(&toml(&allocator)).await;
    duel(daemon.named("lobby").await, ["t1", "t2"]).await;
    let mut second = game_server(&daemon, "arena-2").await;
    asked(&allocator, &clock, 2).await;
    let id = session(&mut second).await;
    let mut late = game_server(&daemon, "arena-1").await;
    assert_eq!(late.line().await, format!("* CLOSE {id} lost"));
    play(&mut second, &id).await;
}

#[tokio::test]
async fn an_answer_that_comes_too_late_closes_its_game_server() {
    let (go, gate) = mpsc::channel();
    let allocator = FakeAllocator::start(vec![Play::Later("arena-1", gate)]);
    let section = toml(&allocator).replace("timeout_seconds = 1", "timeout_seconds = 30");
    let section = section.replace("host_wait = 600", "host_wait = 20");
    let (daemon, clock) = Daemon::start_by_hand(&section).await;
    let mut server = game_server(&daemon, "arena-1").await;
    let mut lobby = duel(daemon.named("lobby").await, ["t1", "t2"]).await;
    until(async || !allocator.requests().is_empty()).await;
    clock.pass(20_000); // less than the heartbeat of the game server
    loop {
        let line = lobby.line().await;
        assert!(!line.starts_with("* GO "), "{line}");
        if line.starts_with("* REQUEUED ") {
            break;
        }
    }
    drop(go);
    let close = server.line().await;
    let is_late = close.starts_with("* CLOSE ") && close.ends_with(" no-instance");
    assert!(is_late, "{close}");
}

#[test]
fn a_match_asks_again_after_the_daemon_was_killed() {
    let (_go, gate) = mpsc::channel();
    let allocator =
        FakeAllocator::start(vec![Play::Later("arena-1", gate), Play::Server("arena-2")]);
    let folder = TempDir::new().unwrap();
    let section = toml(&allocator).replace("timeout_seconds = 1", "timeout_seconds = 30");
    fs::write(folder.path().join("evenkeel.toml"), section).unwrap();
    let variables = [("EVENKEEL_CONFIG", "evenkeel.toml")];
    let mut daemon = process::Process::start_with(folder.path(), &variables);
    daemon.ask(&format!(
        "HELLO lobby\n{}{}",
        submit("t1", "ann"),
        submit("t2", "bob")
    ));
    while allocator.requests().is_empty() {
        std::thread::yield_now();
    }
    daemon.kill();
    let daemon = process::Process::start_with(folder.path(), &variables);
    while allocator.requests().len() < 2 {
        std::thread::yield_now();
    }
    let requests = allocator.requests();
    assert_eq!(requests[0], requests[1], "the same match asks");
    let mut server = daemon.connect();
    std::io::Write::write_all(server.get_mut(), b"HELLO arena-2\nINSTANCE a:1\n").unwrap();
    assert!(process::line(&mut server).starts_with("HELLO evenkeel/"));
    let session = process::line(&mut server);
    let id = requests[0]["metadata"]["annotations"]["evenkeel/match"]
        .as_str()
        .unwrap();
    assert!(
        session.starts_with(&format!("* SESSION {id} duel ctf ")),
        "{session}"
    );
}

#[tokio::test]
async fn a_daemon_without_usable_certificates_does_not_start() {
    let allocator = FakeAllocator::start(Vec::new());
    let why = async || {
        let folder = TempDir::new().unwrap();
        let path = folder.path().join("test.db");
        let store = store::open(&path, true, crate::common::BUSY).await.unwrap();
        let opened = Service::open(store, config(&toml(&allocator)).service());
        opened
            .err()
            .map(|error| error.to_string())
            .unwrap_or_default()
    };
    assert_eq!(why().await, "");
    let key = allocator.path("client.key");
    fs::copy(allocator.path("client.crt"), &key).unwrap();
    let expected = format!(
        "coordinator.agones.client_key: {} has no private key in PEM",
        key.display()
    );
    assert_eq!(why().await, expected);
    fs::remove_file(&key).unwrap();
    let why = why().await;
    assert!(
        why.starts_with("coordinator.agones.client_key: cannot read "),
        "{why}"
    );
}
