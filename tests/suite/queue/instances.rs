//! Instances and hosted matches on the wire.

use std::{io::Write, path::Path};

use crate::common::{
    Client, Daemon,
    backends::{execute, rows},
    process::{self, Process, configured},
    submit, until,
};

/// A queue of duels whose matches need an instance.
const DUELS: &str = r#"
[queue.duel]
teams = 2
size = 1
ruleset = "baseoa.ctf"
host_wait = 60

[coordinator]
return_seconds = 0
rest_seconds = 0
"#;

const HELLO: &str = "HELLO evenkeel/";

/// An instance that has joined.
async fn instance(daemon: &Daemon, name: &str, slots: u32) -> Client {
    let mut client = daemon.named(name).await;
    let lines = format!("INSTANCE {name}.example:27960 slots={slots}\n");
    client.tell(&lines).await;
    client
}

/// A listening client whose players ann and bob have queued.
async fn duel(daemon: &Daemon) -> Client {
    let mut client = daemon.named("lobby").await;
    client.tell("LISTEN\n").await;
    for (ticket, player) in [("t1", "ann"), ("t2", "bob")] {
        let reply = client.ask(&submit("duel", ticket, player)).await;
        assert!(reply.starts_with("QUEUED "), "{reply}");
    }
    client
}

/// Reads the next reply. The queues were read from disk again, so that the lines of SESSION may come before it.
async fn reply(client: &mut Client) -> String {
    loop {
        let line = client.line().await;
        if !line.starts_with("* ") {
            return line;
        }
    }
}

/// Reads a SESSION of two players, and returns its match and its passes.
async fn session(client: &mut Client) -> (String, Vec<String>) {
    let head = client.line().await;
    let words: Vec<&str> = head.split(' ').collect();
    let ["*", "SESSION", id, "duel", "-", "-", "2"] = words[..] else {
        panic!("{head}");
    };
    let joins = client.lines(2).await;
    let pass = |join: &String| {
        assert!(join.starts_with("* JOIN "), "{join}");
        join.split_once("pass=").unwrap().1.to_owned()
    };
    (id.to_owned(), joins.iter().map(pass).collect())
}

/// Reads what the client of both players is sent of a match, and returns the lines with GO.
async fn called(client: &mut Client, id: &str) -> Vec<String> {
    let matched = client.lines(6).await;
    assert_eq!(matched[0], format!("* MATCHED {id} t1 - - 2"));
    assert_eq!(matched[3], format!("* MATCHED {id} t2 - - 2"));
    let go = client.lines(2).await;
    assert!(go[0].starts_with(&format!("* GO {id} ")), "{go:?}");
    go
}

/// A line without the pass and the team, which are drawn.
fn without_chance(line: &str) -> String {
    let words = line.split(' ').enumerate().map(|(at, word)| {
        let drawn_team = word.starts_with("team=") || line.contains(" TEAM ") && at == 3;
        let hidden = word.len() == 32 && word.bytes().all(|b| b.is_ascii_hexdigit());
        match word.split_once("pass=") {
            Some(_) => "pass=?",
            None if drawn_team || hidden => "?",
            None => word,
        }
    });
    words.collect::<Vec<_>>().join(" ")
}

#[tokio::test]
async fn the_documented_session_is_true() {
    let page = include_str!("../../../docs/reference/protocol.md");
    let (_, section) = page.split_once("## A session with an instance").unwrap();
    let block = |fence: &str| {
        let (_, rest) = section.split_once(fence).unwrap();
        rest.split_once("```").unwrap().0
    };
    let (daemon, clock) = Daemon::start_by_hand(block("```toml")).await;
    let (mut lobby, mut server) = (daemon.client().await, daemon.client().await);
    let mut said = 0;
    let mut team = String::new();
    for line in block("```text").lines().filter(|line| !line.is_empty()) {
        let (mark, text) = line.split_at(3);
        let client = if mark.starts_with('a') {
            &mut lobby
        } else {
            &mut server
        };
        if mark.ends_with("> ") {
            if text.starts_with("END") {
                client.tell("").await; // START has been handled
                clock.pass(600_000);
            }
            // The teams are drawn: BACKFILL is for the one that ann has left.
            let text = text.replace("BACKFILL 1 0", &format!("BACKFILL 1 {team}"));
            client.send(&format!("{text}\n")).await;
            continue;
        }
        let line = client.line().await;
        if let Some(own) = line.strip_prefix("* JOIN ann team=") {
            team = own[..1].to_owned();
        }
        assert_eq!(without_chance(&line), without_chance(text));
        said += 1;
    }
    assert!(said > 10);
}

#[tokio::test]
async fn the_players_pass_is_theirs_and_the_result_has_the_id_of_the_match() {
    let daemon = Daemon::start(DUELS).await;
    let mut server = instance(&daemon, "one", 1).await;
    let mut lobby = duel(&daemon).await;
    let (id, passes) = session(&mut server).await;
    assert_ne!(passes[0], passes[1]);
    assert!(passes.iter().all(|pass| pass.len() == 32));
    server.tell(&format!("READY {id}\n")).await;
    let go = called(&mut lobby, &id).await;
    for line in &go {
        let pass = line.split(' ').nth(4).unwrap();
        assert!(passes.iter().any(|known| known == pass), "{line}");
        assert!(line.contains(" one.example:27960 "), "{line}");
    }
    // Another name learns nothing, and too late is too late.
    let mut other = daemon.named("other").await;
    let unknown = other.ask("TICKET t1\n").await;
    assert!(unknown.starts_with("ERROR bad-argument"), "{unknown}");
    let state = lobby.ask("CANCEL t1\n").await;
    assert_eq!(state, format!("{} 0", go[0].trim_start_matches("* ")));
    // The lobby has the roster, so that questions work as ever.
    let placed = server.ask("PLACE ann\n").await;
    assert!(placed.starts_with("PLACE ann "), "{placed}");
    server.tell("START\nSCORE 0\n").await;
    let taken = lobby.ask(&submit("duel", "t3", "ann")).await;
    assert_eq!(
        taken,
        "ERROR not-allowed ann is in a match that is being played"
    );
    server.tell("LEAVE ann\n").await;
    let queued = lobby.ask(&submit("duel", "t3", "ann")).await;
    assert!(queued.starts_with("QUEUED t3 "), "{queued}");
    let end = server.ask("END\n").await;
    assert!(end.starts_with(&format!("END {id} ")), "{end}");
    assert_eq!(server.ask("END\n").await, end);
    assert_eq!(lobby.ask("TICKET t1\n").await, format!("MATCHED {id} t1"));
    let stored = daemon
        .service
        .store()
        .matches()
        .match_with_id(id.parse().unwrap())
        .await;
    let record = stored.unwrap().unwrap().record;
    assert_eq!(
        (record.server.as_str(), record.participants.len()),
        ("one", 2)
    );
    // The slot is free for the next match.
    let queued = lobby.ask(&submit("duel", "t4", "bob")).await;
    assert!(queued.starts_with("QUEUED t4 "), "{queued}");
    let (next, _) = session(&mut server).await;
    assert_ne!(next, id);
}

/// A START that cannot be noted is refused: otherwise another instance may be asked to play the match, too.
#[tokio::test]
async fn a_match_begins_once_this_is_on_disk() {
    let config = DUELS.replace("return_seconds = 0", "return_seconds = 60");
    let daemon = Daemon::start(Box::leak(config.into_boxed_str())).await;
    let mut server = instance(&daemon, "one", 1).await;
    let mut lobby = duel(&daemon).await;
    let (id, _) = session(&mut server).await;
    server.tell(&format!("READY {id}\n")).await;
    called(&mut lobby, &id).await;
    let database = daemon.folder.path().join("test.db");
    // Else the write that fails takes the note with it that the client was sent GO, which is then sent again.
    let not_told = "SELECT count(*) FROM tickets WHERE NOT announced";
    until(async || rows::<(i64,)>(&database, not_told).await == [(0,)]).await;
    execute(
        &database,
        "CREATE TRIGGER broken BEFORE INSERT ON hosted_matches WHEN NEW.state = 'playing'
         BEGIN SELECT RAISE(ABORT, 'the disk is broken'); END",
        "CREATE FUNCTION broken() RETURNS trigger LANGUAGE plpgsql
             AS 'BEGIN RAISE ''the disk is broken''; END';
         CREATE TRIGGER broken BEFORE INSERT OR UPDATE ON hosted_matches FOR EACH ROW
             WHEN (NEW.state = 'playing') EXECUTE FUNCTION broken()",
    )
    .await;
    let refused = server.ask("START\n").await;
    assert_eq!(refused, "ERROR internal the change could not be written");
    let too_early = server.ask("END\n").await;
    assert!(too_early.starts_with("ERROR not-allowed "), "{too_early}");
    execute(
        &database,
        "DROP TRIGGER broken",
        "DROP TRIGGER broken ON hosted_matches",
    )
    .await;
    until(async || {
        server.send("START\nPING\n").await;
        let reply = reply(&mut server).await;
        let begun = reply == "PONG";
        while !begun && server.line().await != "PONG" {}
        begun
    })
    .await;
    let states: Vec<(String,)> = rows(&database, "SELECT state FROM hosted_matches").await;
    assert_eq!(states, [("playing".to_owned(),)]);
    server.send("SCORE 0\nEND\n").await;
    let end = reply(&mut server).await;
    assert!(end.starts_with(&format!("END {id} ")), "{end}");
    assert_eq!(lobby.ask("TICKET t1\n").await, format!("MATCHED {id} t1"));
}

#[tokio::test]
async fn each_slot_has_a_connection_of_its_own() {
    let daemon = Daemon::start(DUELS).await;
    let mut server = instance(&daemon, "many", 2).await;
    let mut lobby = daemon.named("lobby").await;
    let mut games = Vec::new();
    for round in 0..2 {
        for player in 0..2 {
            let ticket = format!("t{round}{player}");
            lobby
                .ask(&submit("duel", &ticket, &format!("p{round}{player}")))
                .await;
        }
        let (id, _) = session(&mut server).await;
        let mut early = daemon.client().await;
        let refused = early.ask(&format!("HELLO many match={id}\n")).await;
        assert_eq!(refused, "ERROR not-allowed send READY for this match first");
        server.tell(&format!("READY {id}\n")).await;
        let mut thief = daemon.client().await;
        let refused = thief.ask(&format!("HELLO thief match={id}\n")).await;
        assert_eq!(
            refused,
            "ERROR not-allowed this instance does not host this match"
        );
        games.push((daemon.named(&format!("many match={id}")).await, id));
    }
    for player in 0..2 {
        lobby
            .ask(&submit(
                "duel",
                &format!("t2{player}"),
                &format!("p2{player}"),
            ))
            .await;
    }
    for (game, id) in &mut games {
        game.tell("START\nSCORE 1\n").await;
        let end = game.ask("END\n").await;
        assert!(end.starts_with(&format!("END {id} ")), "{end}");
    }
    let (third, _) = session(&mut server).await;
    assert!(games.iter().all(|(_, id)| *id != third));
}

#[tokio::test]
async fn an_instance_that_is_lost_before_play_is_replaced() {
    let daemon = Daemon::start(DUELS).await;
    let mut first = instance(&daemon, "first", 1).await;
    let mut lobby = duel(&daemon).await;
    let (id, passes) = session(&mut first).await;
    first.tell(&format!("READY {id}\n")).await;
    called(&mut lobby, &id).await;
    let mut second = instance(&daemon, "second", 1).await;
    drop(first);
    let (again, others) = session(&mut second).await;
    assert_eq!(again, id);
    assert!(others.iter().all(|pass| !passes.contains(pass)));
    second.tell(&format!("READY {id} second.example:1\n")).await;
    let go = called(&mut lobby, &id).await;
    assert!(
        go.iter().all(|line| line.contains(" second.example:1 ")),
        "{go:?}"
    );
    let at = lobby.ask("TICKET t2\n").await;
    assert!(at.contains(" second.example:1 "), "{at}");
    // The first one comes back, and hears that the match is not its own.
    let mut first = daemon.named("first").await;
    first.send("INSTANCE first.example:27960\n").await;
    assert!(first.line().await.starts_with(&format!("* CLOSE {id} ")));
    let refused = first.ask(&format!("READY {id}\n")).await;
    assert_eq!(
        refused,
        "ERROR not-allowed this instance does not host this match"
    );
    second.tell("START\n").await;
    assert!(
        second
            .ask("END 0\n")
            .await
            .starts_with(&format!("END {id} "))
    );
}

#[tokio::test]
async fn who_refuses_is_not_asked_first_again() {
    let text = DUELS.replace("rest_seconds = 0", "rest_seconds = 3600");
    let daemon = Daemon::start(&text).await;
    let mut first = instance(&daemon, "a", 1).await;
    let mut lobby = duel(&daemon).await;
    let (id, _) = session(&mut first).await;
    first.tell(&format!("REFUSE {id} map is missing\n")).await;
    let mut second = instance(&daemon, "b", 1).await;
    assert_eq!(session(&mut second).await.0, id);
    second.tell(&format!("READY {id}\n")).await;
    called(&mut lobby, &id).await;
    // A game server that begins another game gives the match up.
    second.tell("GAME baseoa.ctf\n").await;
    let matched = lobby.lines(6).await;
    assert_eq!(matched[0], format!("* MATCHED {id} t1 - - 2"));
}

#[tokio::test]
async fn without_an_instance_the_tickets_go_back() {
    let (daemon, clock) = Daemon::start_by_hand(DUELS).await;
    let mut lobby = duel(&daemon).await;
    let matched = lobby.lines(6).await;
    assert_eq!(matched[0], "* MATCHED 1 t1 - - 2");
    clock.pass(60_000);
    let back = lobby.lines(2).await;
    assert_eq!(back, ["* REQUEUED t1 unhosted", "* REQUEUED t2 unhosted"]);
    let again = lobby.line().await;
    assert_eq!(again, "* MATCHED 2 t1 - - 2");
}

/// The game's connection stays open while the match goes to another instance.
#[tokio::test]
async fn a_match_that_was_taken_away_cannot_begin() {
    let text = DUELS.replace("rest_seconds = 0", "heartbeat_seconds = 3600");
    let (daemon, clock) = Daemon::start_by_hand(&text).await;
    let mut server = instance(&daemon, "many", 2).await;
    let mut lobby = duel(&daemon).await;
    let (id, _) = session(&mut server).await;
    server.tell(&format!("READY {id}\n")).await;
    called(&mut lobby, &id).await;
    let mut game = daemon.named(&format!("many match={id}")).await;
    game.tell("JOIN bob\n").await;
    // Only bob comes. Later than the game should have begun, ann's ticket has left the queue.
    clock.pass(300_000);
    assert_eq!(server.line().await, format!("* CLOSE {id} not-started"));
    let told = lobby.lines(2).await;
    assert_eq!(told, ["* CANCELLED t1", "* REQUEUED t2 unhosted"]);
    let refused = game.ask("START\n").await;
    assert_eq!(
        refused,
        "ERROR not-allowed this instance does not host this match"
    );
}

#[tokio::test]
async fn what_an_instance_must_not_send_is_refused() {
    let daemon = Daemon::start(DUELS).await;
    let mut nameless = daemon.client().await;
    let reply = nameless.ask("INSTANCE x.example:1\n").await;
    assert_eq!(reply, "ERROR not-allowed say HELLO <server> first");
    let mut server = daemon.named("x").await;
    for (line, start) in [
        ("READY 7\n", "ERROR not-allowed this instance does not host"),
        (
            "REFUSE 7 no\n",
            "ERROR not-allowed this instance does not host",
        ),
        (
            "LOAD 0.5\n",
            "ERROR not-allowed this instance does not host",
        ),
        ("LOAD 2\n", "ERROR bad-argument"),
        ("INSTANCE\n", "ERROR bad-argument"),
        ("HELLO \"x match=7\"\n", "ERROR bad-argument"),
    ] {
        let reply = server.ask(line).await;
        assert!(reply.starts_with(start), "{line}: {reply}");
    }
}

fn command(folder: &Path, words: &[&str]) -> String {
    let mut command = process::evenkeel(folder);
    let output = command
        .args(words)
        .args(["--config", "evenkeel.toml"])
        .output()
        .unwrap();
    let said = String::from_utf8(output.stdout).unwrap();
    said + &String::from_utf8(output.stderr).unwrap()
}

/// The daemon is killed while players join, and again in play; the instance connects again each time.
#[tokio::test]
async fn a_hosted_match_survives_two_kills_of_the_daemon() {
    let folder = configured(
        DUELS
            .replace("return_seconds = 0", "return_seconds = 30")
            .as_str(),
    );
    let mut daemon = Process::start_configured(folder.path());
    let mut server = Client::connect(daemon.address).await;
    server.ask("HELLO one resume=yes\n").await;
    server.tell("INSTANCE one.example:1\n").await;
    let mut lobby = Client::connect(daemon.address).await;
    lobby.ask("HELLO lobby\n").await;
    lobby.tell("LISTEN\n").await;
    for (ticket, player) in [("t1", "ann"), ("t2", "bob")] {
        lobby.ask(&submit("duel", ticket, player)).await;
    }
    let (id, passes) = session(&mut server).await;
    server.tell(&format!("READY {id}\n")).await;
    called(&mut lobby, &id).await;
    daemon.kill();
    let mut daemon = Process::start_configured(folder.path());
    let mut server = Client::connect(daemon.address).await;
    let hello = server.ask("HELLO one resume=yes\n").await;
    assert!(hello.ends_with(" resumed"), "{hello}");
    server.send("INSTANCE one.example:1\n").await;
    assert_eq!(
        session(&mut server).await,
        (id.clone(), passes),
        "the same passes"
    );
    server.tell(&format!("READY {id}\nSTART\nSCORE 0\n")).await;
    let shown = command(folder.path(), &["hosting", "matches", "--json"]);
    assert!(shown.contains("\"state\": \"playing\""), "{shown}");
    daemon.kill();
    let daemon = Process::start_configured(folder.path());
    let mut server = Client::connect(daemon.address).await;
    let hello = server.ask("HELLO one resume=yes\n").await;
    assert!(hello.ends_with(" resumed"), "{hello}");
    server.tell("INSTANCE one.example:1\nSCORE 0\n").await;
    let end = server.ask("END\n").await;
    assert!(end.starts_with(&format!("END {id} ")), "{end}");
    let said = daemon.ask("HELLO lobby\nTICKET t1\n");
    assert!(said.contains(&format!("MATCHED {id} t1")), "{said}");
    let shown = command(folder.path(), &["hosting", "matches"]);
    assert!(shown.contains("over") && shown.contains("won"), "{shown}");
}

#[test]
fn operators_see_and_drain_instances() {
    let folder = configured(DUELS);
    let daemon = Process::start_configured(folder.path());
    let mut stream = daemon.connect();
    let lines = "HELLO one\nINSTANCE one.example:1 region=eu slots=3\nLOAD 0.5\nPING\n";
    stream.get_mut().write_all(lines.as_bytes()).unwrap();
    assert!(process::line(&mut stream).starts_with(HELLO));
    assert_eq!(process::line(&mut stream), "PONG");
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let shows = |words: &[&str], part: &str| {
        runtime.block_on(until(async || command(folder.path(), words).contains(part)));
    };
    shows(&["hosting", "instances", "--json"], "\"load\": 0.5");
    let said = command(folder.path(), &["hosting", "drain", "one"]);
    assert_eq!(said, "one gets no further matches\n");
    shows(&["hosting", "instances"], "draining");
    let said = command(folder.path(), &["hosting", "drain", "two"]);
    assert_eq!(said, "evenkeel: there is no instance two\n");
    let noticed = |line: &String| line.contains("get no further matches");
    assert!(daemon.log.iter().any(|line| noticed(&line)));
    daemon.ask(&format!(
        "HELLO lobby\n{}{}",
        submit("duel", "t1", "ann"),
        submit("duel", "t2", "bob")
    ));
    shows(&["queue", "status", "--json"], "\"hosted\": 2");
    shows(&["hosting", "matches", "--json"], "\"state\": \"reserved\"");
    let said = command(folder.path(), &["hosting", "drain", "one", "--off"]);
    assert_eq!(said, "one gets matches again\n");
    assert!(process::line(&mut stream).starts_with("* SESSION 1 duel "));
    shows(&["hosting", "matches"], "opening");
}
