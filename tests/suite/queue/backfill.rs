//! Free seats of matches in play on the wire: situations 7 to 10 of `crates/matchmaking/src/tests/backfill.rs`.

use crate::common::{
    Client, Daemon,
    process::{self, Process},
    until,
};

/// A queue of two against two whose matches need an instance.
const PAIRS: &str = r#"
[queue.pair]
teams = 2
size = 2
ruleset = "baseoa.ctf"
host_wait = 60

[coordinator]
heartbeat_seconds = 3600
return_seconds = 30
"#;

async fn submit(client: &mut Client, ticket: &str, players: &[&str]) {
    let seats: String = players.iter().map(|one| format!("SEAT {one}\n")).collect();
    let lines = format!("ENQUEUE pair {ticket}\n{seats}SUBMIT\n");
    let reply = client.ask(&lines).await;
    assert!(reply.starts_with(&format!("QUEUED {ticket} ")), "{reply}");
}

/// The words of the next line, which must begin with these.
async fn words(client: &mut Client, start: &str) -> Vec<String> {
    let line = client.line().await;
    assert!(line.starts_with(start), "{line:?} is not {start:?}");
    line.split(' ').map(str::to_owned).collect()
}

/// A match in play: its id, and the team of each of a, b, c and d.
async fn play(server: &mut Client, lobby: &mut Client) -> (String, Vec<(String, String)>) {
    for player in ["a", "b", "c", "d"] {
        submit(lobby, &format!("t{player}"), &[player]).await;
    }
    let id = words(server, "* SESSION ").await[2].clone();
    let mut teams = Vec::new();
    for _ in 0..4 {
        let join = words(server, "* JOIN ").await;
        teams.push((join[2].clone(), join[3].replace("team=", "")));
    }
    server.tell(&format!("READY {id}\nSTART\n")).await;
    (id, teams)
}

fn team(teams: &[(String, String)], player: &str) -> String {
    let own = teams.iter().find(|(id, _)| id == player);
    own.unwrap().1.clone()
}

async fn started() -> (
    Daemon,
    std::sync::Arc<evenkeel::session::HandClock>,
    Client,
    Client,
) {
    let (daemon, clock) = Daemon::start_by_hand(PAIRS).await;
    let mut server = daemon.named("one").await;
    server.tell("INSTANCE one.example:1\n").await;
    let lobby = daemon.named("lobby").await;
    (daemon, clock, server, lobby)
}

#[tokio::test]
async fn who_waits_takes_the_seat_of_who_has_left() {
    let (daemon, _, mut server, mut lobby) = started().await;
    let early = server.ask("BACKFILL 1 0 1\n").await;
    assert_eq!(
        early,
        "ERROR not-allowed this instance does not host this match"
    );
    let (id, teams) = play(&mut server, &mut lobby).await;
    let own = team(&teams, "a");
    let ask = format!("BACKFILL {id} {own} 1\n");
    assert_eq!(
        server.ask(&ask).await,
        format!("BACKFILL {id} 0"),
        "no seat is free"
    );
    server.tell("LEAVE a\n").await;
    assert_eq!(server.ask(&ask).await, format!("BACKFILL {id} 1"));
    assert_eq!(
        server.ask(&ask).await,
        format!("BACKFILL {id} 1"),
        "the same"
    );
    let more = server.ask(&format!("BACKFILL {id} {own} 2\n")).await;
    assert_eq!(more, format!("BACKFILL {id} 1"), "as many as are free");
    let wrong = server.ask(&format!("BACKFILL {id} 2 1\n")).await;
    assert_eq!(wrong, "ERROR not-allowed the match has no such team");
    let mut other = daemon.named("two").await;
    let refused = other.ask(&ask).await;
    assert_eq!(
        refused,
        "ERROR not-allowed this instance does not host this match"
    );
    // Who has left this match does not come back, a party does not fit, and a solo does.
    submit(&mut lobby, "again", &["a"]).await;
    submit(&mut lobby, "party", &["p", "q"]).await;
    let mut phone = daemon.named("phone").await;
    phone.tell("LISTEN\n").await;
    submit(&mut phone, "t", &["e"]).await;
    let join = words(&mut server, "* JOIN e ").await;
    assert_eq!(join[3], format!("team={own}"));
    let pass = join[4].replace("pass=", "");
    let matched = words(&mut phone, &format!("* MATCHED {id} t - - 4")).await;
    assert_eq!(matched.len(), 7);
    let mut told = Vec::new();
    for _ in 0..4 {
        told.push(words(&mut phone, &format!("* TEAM {id} ")).await[4].clone());
    }
    assert!(
        !told.contains(&"a".to_owned()) && told.contains(&"e".to_owned()),
        "{told:?}"
    );
    let go = phone.line().await;
    assert_eq!(go, format!("* GO {id} one.example:1 {pass} e"));
    // The lobby has the player on that team, and the seat is not sought any more.
    server.tell("JOIN e\n").await;
    assert_eq!(
        phone.ask("TICKET t\n").await,
        format!("GO {id} one.example:1 {pass} e 0")
    );
    let none = server.ask(&ask).await;
    assert_eq!(none, format!("BACKFILL {id} 0"));
    let placed = server.ask("PLACE e\n").await;
    assert!(placed.starts_with(&format!("PLACE e {own} ")), "{placed}");
    let why = phone.ask(&format!("EXPLAIN {id}\n")).await;
    let lines: usize = why.replace("EXPLAIN ", "").parse().unwrap();
    let mut backfill = 0;
    for _ in 0..lines {
        backfill += usize::from(phone.line().await.contains("backfill: a ticket"));
    }
    assert_eq!(backfill, 1);
    let refused = phone.ask("ENQUEUE pair t2\nSEAT e\nSUBMIT\n").await;
    assert_eq!(
        refused,
        "ERROR not-allowed e is in a match that is being played"
    );
    let end = server.ask("END 0\n").await;
    assert!(end.starts_with(&format!("END {id} ")), "{end}");
    assert_eq!(phone.ask("TICKET t\n").await, format!("MATCHED {id} t"));
    let over = server.ask(&ask).await;
    assert_eq!(
        over,
        "ERROR not-allowed this instance does not host this match"
    );
}

#[tokio::test]
async fn who_does_not_come_loses_the_seat_to_the_next() {
    let (_daemon, clock, mut server, mut lobby) = started().await;
    let (id, teams) = play(&mut server, &mut lobby).await;
    let own = team(&teams, "b");
    server.tell("LEAVE b\n").await;
    server.ask(&format!("BACKFILL {id} {own} 1\n")).await;
    submit(&mut lobby, "te", &["e"]).await;
    words(&mut server, "* JOIN e ").await;
    submit(&mut lobby, "tf", &["f"]).await;
    clock.pass(60_000);
    assert_eq!(server.line().await, "* LEAVE e");
    words(&mut server, "* JOIN f ").await;
    assert_eq!(lobby.ask("TICKET te\n").await, "CANCELLED te");
    // The match ends before f comes: f goes back, with the time that has passed.
    let end = server.ask("END 0\n").await;
    assert!(end.starts_with(&format!("END {id} ")), "{end}");
    let queued = lobby.ask("TICKET tf\n").await;
    assert!(queued.starts_with("QUEUED tf "), "{queued}");
    submit(&mut lobby, "te2", &["e"]).await;
}

#[tokio::test]
async fn a_seat_that_the_server_has_filled_or_taken_back_is_not_sought() {
    let (_daemon, clock, mut server, mut lobby) = started().await;
    let (id, teams) = play(&mut server, &mut lobby).await;
    let own = team(&teams, "c");
    let ask = format!("BACKFILL {id} {own} 1\n");
    server.tell("LEAVE c\n").await;
    server.ask(&ask).await;
    let none = server.ask(&format!("BACKFILL {id} {own} 0\n")).await;
    assert_eq!(none, format!("BACKFILL {id} 0"));
    submit(&mut lobby, "te", &["e"]).await;
    clock.pass(2_000);
    // Somebody joins without the queue. The seat is asked for once more, and is taken.
    server.tell(&format!("JOIN walker team={own}\n")).await;
    assert_eq!(server.ask(&ask).await, format!("BACKFILL {id} 0"));
    server.tell("LEAVE walker\n").await;
    let waits = lobby.ask("TICKET te\n").await;
    assert!(waits.starts_with("QUEUED te "), "{waits}");
    assert_eq!(server.ask(&ask).await, format!("BACKFILL {id} 1"));
    words(&mut server, "* JOIN e ").await;
}

#[tokio::test]
async fn a_queue_may_keep_its_seats() {
    let text = PAIRS.replace("host_wait = 60", "backfill = false");
    let daemon = Daemon::start(&text).await;
    let mut server = daemon.named("one").await;
    server.tell("INSTANCE one.example:1\n").await;
    let mut lobby = daemon.named("lobby").await;
    let (id, _) = play(&mut server, &mut lobby).await;
    let refused = server.ask(&format!("BACKFILL {id} 0 1\n")).await;
    assert_eq!(
        refused,
        "ERROR not-allowed the queue of this match has backfill = false"
    );
}

/// The daemon is killed while a seat is sought, and again while a player is on the way.
#[tokio::test]
async fn a_sought_seat_survives_kills_of_the_daemon() {
    let folder = tempfile::TempDir::new().unwrap();
    std::fs::write(folder.path().join("evenkeel.toml"), PAIRS).unwrap();
    let start = || Process::start_with(folder.path(), &[("EVENKEEL_CONFIG", "evenkeel.toml")]);
    async fn again(daemon: &Process) -> (Client, Client) {
        let mut server = Client::connect(daemon.address).await;
        server.ask("HELLO one resume=yes\n").await;
        server.send("INSTANCE one.example:1\n").await;
        let mut lobby = Client::connect(daemon.address).await;
        lobby.ask("HELLO lobby\n").await;
        (server, lobby)
    }
    let mut daemon = start();
    let (mut server, mut lobby) = again(&daemon).await;
    let (id, teams) = play(&mut server, &mut lobby).await;
    let own = team(&teams, "d");
    server.tell("LEAVE d\n").await;
    server.ask(&format!("BACKFILL {id} {own} 1\n")).await;
    daemon.kill();
    let mut daemon = start();
    let (mut server, mut lobby) = again(&daemon).await;
    server.tell("").await;
    submit(&mut lobby, "te", &["e"]).await;
    let join = server.line().await;
    assert!(join.starts_with("* JOIN e "), "{join}");
    daemon.kill();
    let daemon = start();
    let (mut server, mut lobby) = again(&daemon).await;
    assert_eq!(server.line().await, join, "the same pass");
    submit(&mut lobby, "tf", &["f"]).await;
    server.tell("JOIN e\n").await;
    let ask = format!("BACKFILL {id} {own} 1\n");
    assert_eq!(server.ask(&ask).await, format!("BACKFILL {id} 0"));
    assert!(
        lobby
            .ask("TICKET te\n")
            .await
            .starts_with(&format!("GO {id} "))
    );
    server.ask("END 0\n").await;
    until(async || lobby.ask("TICKET te\n").await == format!("MATCHED {id} te")).await;
    assert!(lobby.ask("TICKET tf\n").await.starts_with("QUEUED tf "));
    let _ = process::evenkeel(folder.path());
}

/// In a match of a, b, c and d: a has left, and a player e of the client `phone` is on the way. Returns the
/// team of a.
async fn called(
    daemon: &Daemon,
    server: &mut Client,
    lobby: &mut Client,
) -> (String, String, Client) {
    let (id, teams) = play(server, lobby).await;
    let own = team(&teams, "a");
    server.tell("LEAVE a\n").await;
    let ask = format!("BACKFILL {id} {own} 1\n");
    assert_eq!(server.ask(&ask).await, format!("BACKFILL {id} 1"));
    let mut phone = daemon.named("phone").await;
    phone.tell("LISTEN\n").await;
    submit(&mut phone, "te", &["e"]).await;
    words(server, "* JOIN e ").await;
    words(&mut phone, &format!("* MATCHED {id} te - - 4")).await;
    for _ in 0..4 {
        words(&mut phone, &format!("* TEAM {id} ")).await;
    }
    words(&mut phone, &format!("* GO {id} ")).await;
    (id, own, phone)
}

fn behaviour(daemon: &Daemon, player: &str, clock: &evenkeel::session::HandClock) -> f64 {
    let now = evenkeel::session::Clock::now(clock);
    daemon.service.learning().behaviour().score(player, now)
}

#[tokio::test]
async fn who_has_left_comes_back_and_the_called_player_keeps_the_place() {
    let (daemon, clock, mut server, mut lobby) = started().await;
    let (id, own, mut phone) = called(&daemon, &mut server, &mut lobby).await;
    clock.pass(20_000);
    server.send(&format!("JOIN a team={own}\n")).await;
    assert_eq!(server.line().await, "* LEAVE e");
    assert_eq!(phone.line().await, "* REQUEUED te released");
    let queued = phone.ask("TICKET te\n").await;
    assert!(queued.starts_with("QUEUED te 20 "), "{queued}");
    clock.pass(100_000);
    server.tell("").await;
    let queued = phone.ask("TICKET te\n").await;
    assert!(queued.starts_with("QUEUED te 120 "), "{queued}");
    assert_eq!(behaviour(&daemon, "e", &clock), 0.0, "nobody is to blame");
    // The seat may become free again, and the same player may come.
    server.tell("LEAVE a\n").await;
    let ask = format!("BACKFILL {id} {own} 1\n");
    assert_eq!(server.ask(&ask).await, format!("BACKFILL {id} 1"));
    words(&mut server, "* JOIN e ").await;
}

#[tokio::test]
async fn the_game_server_sends_a_called_player_away() {
    let (daemon, clock, mut server, mut lobby) = started().await;
    let (id, own, mut phone) = called(&daemon, &mut server, &mut lobby).await;
    assert_eq!(
        server.ask("LEAVE nobody\n").await,
        "ERROR unknown-player not in the roster"
    );
    server.send("LEAVE e\n").await;
    assert_eq!(server.line().await, "* LEAVE e");
    assert_eq!(phone.line().await, "* REQUEUED te released");
    // The seat is still sought, and goes to another player, not to the same one.
    submit(&mut phone, "tf", &["f"]).await;
    words(&mut server, "* JOIN f ").await;
    let queued = phone.ask("TICKET te\n").await;
    assert!(
        queued.contains("QUEUED te ") || queued.starts_with("* "),
        "{queued}"
    );
    server.tell("JOIN f\n").await;
    let none = server.ask(&format!("BACKFILL {id} {own} 1\n")).await;
    assert_eq!(none, format!("BACKFILL {id} 0"));
    assert_eq!(behaviour(&daemon, "e", &clock), 0.0);
}

#[tokio::test]
async fn while_the_game_has_no_connection_nobody_is_late() {
    let (daemon, clock, mut server, mut lobby) = started().await;
    let (_, _, mut phone) = called(&daemon, &mut server, &mut lobby).await;
    clock.pass(50_000);
    drop(server);
    let store = daemon.service.store();
    let away = async || store.queues().instance_rows(9).await.unwrap()[0].state == "away";
    until(away).await;
    clock.pass(20_000); // less than the instance has to come back
    let state = phone.ask("TICKET te\n").await;
    assert!(state.starts_with("GO "), "{state}");
    let mut server = daemon.client().await;
    let resumed = server.ask("HELLO one resume=yes\n").await;
    assert!(resumed.ends_with(" resumed"), "{resumed}");
    server.send("INSTANCE one.example:1\n").await;
    words(&mut server, "* JOIN e ").await;
    until(async || store.queues().instance_rows(9).await.unwrap()[0].state != "away").await;
    clock.pass(59_000);
    server.tell("").await;
    let state = phone.ask("TICKET te\n").await;
    assert!(state.starts_with("GO "), "{state}");
    clock.pass(1_000);
    assert_eq!(server.line().await, "* LEAVE e");
    assert_eq!(phone.line().await, "* CANCELLED te");
    assert_eq!(behaviour(&daemon, "e", &clock), -5.0);
}

#[tokio::test]
async fn a_match_that_everybody_has_left_is_not_filled() {
    let (daemon, _, mut server, mut lobby) = started().await;
    let (id, own, mut phone) = called(&daemon, &mut server, &mut lobby).await;
    server.tell("LEAVE b\nLEAVE c\n").await;
    server.send("LEAVE d\n").await;
    assert_eq!(server.line().await, "* LEAVE e");
    assert_eq!(phone.line().await, "* REQUEUED te released");
    let refused = server.ask(&format!("BACKFILL {id} {own} 1\n")).await;
    assert_eq!(
        refused,
        "ERROR not-allowed everybody has left the match: send END, and its slot is free for another one"
    );
    let end = server.ask("END\n").await;
    assert!(end.starts_with(&format!("END {id} ")), "{end}");
}

#[tokio::test]
async fn a_queue_that_is_gone_is_named_as_the_reason() {
    let (daemon, _, mut server, mut lobby) = started().await;
    let (id, _) = play(&mut server, &mut lobby).await;
    server.tell("LEAVE a\n").await;
    let queues = daemon.service.queues();
    queues.configure(Default::default()).await.unwrap();
    assert_eq!(
        server.ask(&format!("BACKFILL {id} 0 1\n")).await,
        "ERROR not-allowed the configuration no longer has the queue of this match"
    );
}

/// After a kill of the daemon, MATCHED that is sent again names those who are in the match now.
#[tokio::test]
async fn who_has_left_is_in_no_line_after_a_kill_of_the_daemon() {
    let folder = tempfile::TempDir::new().unwrap();
    std::fs::write(folder.path().join("evenkeel.toml"), PAIRS).unwrap();
    let start = || Process::start_with(folder.path(), &[("EVENKEEL_CONFIG", "evenkeel.toml")]);
    let mut daemon = start();
    let mut server = Client::connect(daemon.address).await;
    server.ask("HELLO one\n").await;
    server.send("INSTANCE one.example:1\n").await;
    let mut lobby = Client::connect(daemon.address).await;
    lobby.ask("HELLO lobby\n").await;
    let (id, teams) = play(&mut server, &mut lobby).await;
    server.tell("LEAVE a\n").await;
    let own = team(&teams, "a");
    server.ask(&format!("BACKFILL {id} {own} 1\n")).await;
    submit(&mut lobby, "te", &["e"]).await;
    words(&mut server, "* JOIN e ").await;
    daemon.kill();
    let daemon = start();
    // The game server is not back yet, and nobody has listened for e.
    let mut lobby = Client::connect(daemon.address).await;
    lobby.ask("HELLO lobby\n").await;
    lobby.send("LISTEN\n").await;
    while words(&mut lobby, "* ").await[..4] != ["*", "MATCHED", &id, "te"] {}
    let mut there = Vec::new();
    for _ in 0..4 {
        there.push(words(&mut lobby, &format!("* TEAM {id} ")).await[4].clone());
    }
    there.sort();
    assert_eq!(there, ["b", "c", "d", "e"]);
    // Who has left may queue again at once.
    let mut phone = Client::connect(daemon.address).await;
    phone.ask("HELLO phone\n").await;
    submit(&mut phone, "t2", &["a"]).await;
}

/// Latency counts for a free seat as for a new match: the match has a region already.
#[tokio::test]
async fn who_is_too_far_from_the_game_server_waits_on() {
    let text = PAIRS.replace(
        "host_wait = 60",
        "host_wait = 60\nlatency = { of = \"ping\", at_most = 80 }\nattributes = { ping = \"map num\" }",
    );
    let daemon = Daemon::start(&text).await;
    let mut server = daemon.named("one").await;
    server.tell("INSTANCE one.example:1 region=eu\n").await;
    let mut lobby = daemon.named("lobby").await;
    let mut seat = async |ticket: &str, player: &str, pings: &str| {
        let lines = format!("ENQUEUE pair {ticket}\nSEAT {player} {pings}\nSUBMIT\n");
        let reply = lobby.ask(&lines).await;
        assert!(reply.starts_with(&format!("QUEUED {ticket} ")), "{reply}");
    };
    for player in ["a", "b", "c", "d"] {
        seat(&format!("t{player}"), player, "ping.eu=40").await;
    }
    let id = words(&mut server, "* SESSION ").await[2].clone();
    let mut own = String::new();
    for _ in 0..4 {
        let join = words(&mut server, "* JOIN ").await;
        if join[2] == "a" {
            own = join[3].replace("team=", "");
        }
    }
    server.tell(&format!("READY {id}\nSTART\nLEAVE a\n")).await;
    // Those who have waited longer are too far away, or do not say.
    seat("tfar", "far", "ping.eu=81 ping.us=20").await;
    seat("tmute", "mute", "ping.us=20").await;
    seat("tnear", "near", "ping.eu=80").await;
    let ask = format!("BACKFILL {id} {own} 1\n");
    assert_eq!(server.ask(&ask).await, format!("BACKFILL {id} 1"));
    words(&mut server, "* JOIN near ").await;
}
