//! Tests each limit of the server with the attack that it stops. Where a time limit matters, the
//! clock is paused and the connection is a pipe in memory.

use std::time::Duration;

use crate::common::{Client, Daemon, config, game, gate, service, until};
use evenkeel::{
    model::{Kind, access::Holder},
    server::{ConnectionLimits, Peer, serve},
    session::{AskerClass, CoreTurn, TurnAsker},
};
use tokio::{
    io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt},
    time::{Instant, sleep},
};
use tokio_util::sync::CancellationToken;

/// Records matches of p0 to p99 until their weights differ, so that finding even teams takes long.
async fn teach_a_hundred(daemon: &Daemon) {
    let names: Vec<String> = (0..100).map(|n| format!("p{n}")).collect();
    let player = |n: usize| (Kind::Human, names[n % 100].as_str());
    for round in 0..20usize {
        let red: Vec<_> = (0..50)
            .map(|n| player(n * (2 * round + 3) + round))
            .collect();
        let red: Vec<_> = red
            .iter()
            .copied()
            .collect::<std::collections::BTreeSet<_>>()
            .into_iter()
            .collect();
        let blue: Vec<_> = (0..100).map(player).filter(|p| !red.contains(p)).collect();
        let scores = [(round % 7) as f64, (round * 3 % 11) as f64 + 0.5];
        let mut game = game(20 * round as i64, &red, &blue, scores.map(f64::floor));
        game.server = format!("{round}");
        daemon
            .service
            .store()
            .matches()
            .record(&game)
            .await
            .unwrap();
    }
    daemon.service.learning().refresh().await.unwrap();
}

/// Takes the turns of all cores, until the returned ones are dropped.
async fn hold_the_cores(daemon: &Daemon) -> Vec<CoreTurn> {
    let sessions = daemon.service.sessions();
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let mut turns = Vec::new();
    for number in 0..cores as u64 {
        let asker = TurnAsker::new(
            AskerClass::GameServer,
            Holder::ThisMachine,
            u64::MAX - number,
        );
        turns.push(sessions.turn(asker).await.unwrap());
    }
    assert_eq!(sessions.running_turns(), cores);
    turns
}

/// Opens clients, each with a game of these players and before any request for teams.
async fn games(daemon: &Daemon, number: usize, script: &str) -> Vec<Client> {
    let mut clients = Vec::new();
    for _ in 0..number {
        let mut client = daemon.client().await;
        client.tell(script).await;
        clients.push(client);
    }
    clients
}

#[tokio::test]
async fn game_servers_wait_for_their_turn_and_nobody_else_waits() {
    // The deadline counts from the turn on, however short it is.
    let daemon = Daemon::start("[balance]\ndeadline_ms = 20").await;
    teach_a_hundred(&daemon).await;
    let mut script = String::from("GAME ctf\nTEAMS 8\n");
    for n in 0..100 {
        script.push_str(&format!("JOIN p{n}\n"));
    }
    let mut busy = games(&daemon, 60, &script).await;
    let held = hold_the_cores(&daemon).await;
    for client in &mut busy {
        client.send("BALANCE\nPING\n").await;
    }
    let sessions = daemon.service.sessions();
    until(async || sessions.levels().waiting_questions[0] == 60).await;
    // A question about a weight needs no core.
    let reply = daemon.client().await.talk("GAME ctf\nMEANBOT\n").await;
    assert!(
        reply.starts_with("MEANBOT ") && reply.ends_with(" 0\n"),
        "{reply}"
    );
    // Others are refused in time, and told when they may try again.
    for (class, seconds) in [(AskerClass::Program, 2), (AskerClass::Visitor, 1)] {
        let asker = TurnAsker::new(class, Holder::Client("bot".into()), 0);
        let began = Instant::now();
        let refused = sessions.turn(asker).await.unwrap_err().to_string();
        let text = format!("wait at most {seconds} s for their turn; try again in ");
        assert!(refused.contains(&text), "{refused}");
        let waited = began.elapsed();
        assert!(waited.as_secs() == seconds, "{waited:?}");
    }
    drop(held);
    for client in &mut busy {
        let head = client.line().await;
        assert!(head.starts_with("BALANCE 108 "), "{head}");
        client.lines(108).await;
        assert_eq!(client.line().await, "PONG");
    }
    assert_eq!(sessions.running_turns(), 0);
}

#[tokio::test]
async fn who_has_to_introduce_themselves_gets_no_more_time_by_talking() {
    let (mut ours, task, _folder, limits) =
        pipe("[[clients]]\nname = 'a'\ntoken = 'b'\nrights = ['ask']").await;
    tokio::time::pause();
    let began = Instant::now();
    while ours.write_all(b"\n").await.is_ok() {
        sleep(Duration::from_secs(1)).await;
    }
    assert!(began.elapsed() <= limits.first_line_seconds.duration() + Duration::from_secs(3));
    task.await.unwrap();
}

const GIVES_UP: &str = "ERROR overloaded all places are taken, and your address has most of those without a \
                        running game: this one gives up its place";

#[tokio::test]
async fn a_thousand_idle_connections_do_not_keep_others_from_playing() {
    let daemon = Daemon::start("[server]\nmax_connections = 50").await;
    let mut inside = daemon.client().await;
    inside.tell("GAME ctf\n").await;
    let mut idle = Vec::new();
    for _ in 0..1_000 {
        idle.push(daemon.client().await);
    }
    // Each of them has a place, and gives it up to a later one.
    for client in &mut idle[..951] {
        assert_eq!(client.line().await, GIVES_UP);
        assert_eq!(client.line().await, "", "and closed");
    }
    assert_eq!(inside.ask("MEANBOT\n").await, "MEANBOT 50.000 0");
    let mut late = daemon.client().await;
    assert_eq!(late.ask("PING\n").await, "PONG");
    assert_eq!(idle[951].line().await, GIVES_UP);
    assert_eq!(idle[999].ask("PING\n").await, "PONG");
    let [refused, given_up] = daemon.gate.metrics().without_place();
    assert_eq!((refused, given_up), (0, 952));
}

#[tokio::test]
async fn a_running_game_keeps_its_place() {
    let daemon = Daemon::start("[server]\nmax_connections = 3").await;
    let mut playing = games(&daemon, 3, "GAME ctf\n").await;
    let mut late = daemon.client().await;
    let why = "ERROR overloaded all 3 places are taken by connections with a running game";
    assert_eq!(late.line().await, why);
    assert_eq!(late.line().await, "", "and closed");
    for client in &mut playing {
        assert_eq!(client.ask("MEANBOT\n").await, "MEANBOT 50.000 0");
    }
    // A place is free again as soon as its connection has ended.
    playing.pop();
    until(async || {
        let mut late = daemon.client().await;
        late.send("PING\nQUIT\n").await;
        late.rest().await == "PONG\n"
    })
    .await;
}

/// The daemon was restarted, and somebody holds all places, silently or with PING.
#[tokio::test]
async fn forty_game_servers_behind_one_address_come_back_beside_256_that_hold_every_place() {
    for line in ["", "PING\n"] {
        let daemon = Daemon::start("").await;
        let mut others = Vec::new();
        for _ in 0..256 {
            let mut other = daemon.client().await;
            if !line.is_empty() {
                assert_eq!(other.ask(line).await, "PONG");
            }
            others.push(other);
        }
        // All come before one of them has said a word.
        let mut servers = Vec::new();
        for _ in 0..40 {
            servers.push(daemon.client().await);
        }
        for (number, server) in servers.iter_mut().enumerate() {
            server.hello(&format!("farm-{number}")).await;
            server.tell("GAME ctf\nJOIN a\nJOIN b\n").await;
        }
        // The others come again.
        for _ in 0..256 {
            others.push(daemon.client().await);
        }
        for server in &mut servers {
            let head = server.ask("BALANCE\n").await;
            assert!(head.starts_with("BALANCE 4 "), "{head}");
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
    // The daemon may close the connection before it has read everything.
    let _ = client.stream.get_mut().write_all(&noise).await;
    let said = client.rest().await;
    let errors: Vec<&str> = said
        .lines()
        .filter(|line| line.starts_with("ERROR "))
        .collect();
    assert_eq!(errors.len(), 6, "{said}");
    assert_eq!(
        errors[5],
        "ERROR too-many-errors 5 errors since the last GAME"
    );
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

/// Serves one end of a pipe. Returns the other end, and the task that ends with the connection.
async fn pipe(
    toml: &str,
) -> (
    tokio::io::DuplexStream,
    tokio::task::JoinHandle<()>,
    tempfile::TempDir,
    ConnectionLimits,
) {
    let config = config(toml);
    let (service, folder) = service(&config).await;
    let limits = config.server.limits;
    let peer = Peer::enter(&gate(&config), [127, 0, 0, 1].into()).unwrap();
    let (ours, theirs) = tokio::io::duplex(4_096);
    let task = tokio::spawn(async move {
        serve(theirs, &service, limits, peer, CancellationToken::new()).await;
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
        began.elapsed() <= limits.line_seconds.duration() + Duration::from_secs(2),
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
    assert!(
        began.elapsed() >= limits.first_line_seconds.duration()
            && began.elapsed() < limits.idle_seconds.duration()
    );
    task.await.unwrap();

    tokio::time::resume();
    let (mut ours, _task, _folder, limits) = pipe("").await;
    tokio::time::pause();
    ours.write_all(b"PING\n").await.unwrap();
    let began = Instant::now();
    ours.read_to_end(&mut said).await.unwrap();
    assert_eq!(said, b"PONG\n");
    assert!(began.elapsed() >= limits.idle_seconds.duration());
}

#[tokio::test]
async fn who_does_not_read_is_closed() {
    let (mut ours, task, _folder, limits) = pipe("").await;
    tokio::time::pause();
    let began = Instant::now();
    // The pipe holds 4 KiB; the replies are larger, and the client does not read them.
    let flood = "PING\n".repeat(20_000);
    let _ = ours.write_all(flood.as_bytes()).await;
    task.await.unwrap();
    assert!(
        began.elapsed() >= limits.write_seconds.duration()
            && began.elapsed() <= limits.write_seconds.duration() * 3
    );
}

#[tokio::test]
async fn a_stop_sends_the_replies_owed_and_drains_in_time() {
    let mut daemon = Daemon::start("").await;
    teach_a_hundred(&daemon).await;
    let mut busy = daemon.client().await;
    // Choosing teams for 100 humans on 8 teams takes the whole deadline.
    let mut script = String::from("GAME ctf\nTEAMS 8\n");
    for n in 0..100 {
        script.push_str(&format!("JOIN p{n}\n"));
    }
    busy.send(&format!("{script}PING\nBALANCE seed=1\n")).await;
    assert_eq!(busy.line().await, "PONG");
    let mut idle = daemon.client().await;
    idle.send("PING\n").await;
    assert_eq!(idle.line().await, "PONG");
    let sessions = daemon.service.sessions().clone();
    let begun = until(async || sessions.running_turns() > 0);
    // Either the pick is still running, or its reply has arrived.
    tokio::select! {
        () = begun => {}
        reply = busy.stream.fill_buf() => assert!(!reply.unwrap().is_empty()),
    }
    daemon.stop();
    tokio::time::timeout(Duration::from_secs(5), &mut daemon.task)
        .await
        .unwrap()
        .unwrap();
    let owed = busy.rest().await;
    assert!(
        owed.starts_with("BALANCE 108 ") && owed.lines().count() == 109,
        "{owed}"
    );
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
