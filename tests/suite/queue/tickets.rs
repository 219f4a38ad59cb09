//! The queue on the wire: tickets of several clients, ready checks, cancels, restarts.

use std::{collections::BTreeSet, io::Write};

use crate::common::{
    Daemon,
    process::{self, Process, configured},
    queue_kills::kill_during_submits,
    submit, until,
};

/// A queue with a ready check, one without, and one in which nobody ever finds a match.
const QUEUES: &str = r#"
[queue.duel]
teams = 2
size = 1
ruleset = "baseoa.ctf"
host = "none"
ready_check = 30

[queue.quick]
teams = 2
size = 1
ruleset = "baseoa.ctf"
host = "none"
ttl = 100

[queue.roles]
teams = 2
size = 3
ruleset = "baseoa.ctf"
host = "none"

[queue.roles.attributes]
tier = "int 1..10"
maps = "set"

[[queue.roles.rule]]
name = "maps in common"
rule = "common"
of = "maps"
picks = "map"
hard = true
"#;

/// A line without the team, which depends on the seed.
fn without_team(line: &str) -> String {
    let words: Vec<&str> = line.split(' ').collect();
    match words[..] {
        ["*", "TEAM", id, _, ..] => format!("* TEAM {id} ? {}", words[4..].join(" ")),
        _ => line.to_owned(),
    }
}

#[tokio::test]
async fn the_documented_session_is_true() {
    let page = include_str!("../../../docs/reference/protocol.md");
    let (_, section) = page.split_once("## A session of the queue").unwrap();
    let block = |fence: &str| {
        let (_, rest) = section.split_once(fence).unwrap();
        rest.split_once("```").unwrap().0
    };
    let (daemon, _clock) = Daemon::start_by_hand(block("```toml")).await;
    let (mut one, mut other) = (daemon.client().await, daemon.client().await);
    let mut teams = BTreeSet::new();
    for line in block("```text").lines().filter(|line| !line.is_empty()) {
        let (mark, text) = line
            .split_once("> ")
            .or_else(|| line.split_once("< "))
            .unwrap();
        let client = if mark == "a" { &mut one } else { &mut other };
        if line[1..].starts_with('>') {
            client.send(&format!("{text}\n")).await;
            continue;
        }
        let got = client.line().await;
        assert_eq!(without_team(&got), without_team(text));
        if let Some(rest) = got.strip_prefix("* TEAM ") {
            teams.insert(rest.to_owned());
        }
    }
    assert_eq!(
        teams.len(),
        2,
        "both clients are sent the same teams: {teams:?}"
    );
}

#[tokio::test]
async fn what_is_sent_twice_happens_once() {
    let daemon = Daemon::start(QUEUES).await;
    let mut one = daemon.named("one").await;
    for _ in 0..2 {
        let queued = one.ask(&submit("duel", "t1", "ann")).await;
        assert!(queued.starts_with("QUEUED t1 "), "{queued}");
        let again = one.ask("SUBMIT\n").await;
        assert!(again.starts_with("QUEUED t1 "), "{again}");
    }
    let queues = one.ask("QUEUES\n").await;
    assert_eq!(queues, "QUEUES 3");
    let lines = [one.line().await, one.line().await, one.line().await];
    assert_eq!(
        lines,
        ["QUEUE duel 1 1 -", "QUEUE quick 0 0 -", "QUEUE roles 0 0 -"]
    );
    let other = one.ask(&submit("duel", "t1", "bob")).await;
    assert!(other.starts_with("ERROR bad-argument "), "{other}");
    let taken = one.ask(&submit("quick", "t2", "ann")).await;
    assert_eq!(taken, "ERROR not-allowed ann is in another ticket");
    // Ids belong to a name.
    let mut two = daemon.named("two").await;
    assert_eq!(
        two.ask("TICKET t1\n").await,
        "ERROR bad-argument there is no such ticket"
    );
    assert_eq!(
        two.ask("CANCEL t1\n").await,
        "ERROR bad-argument there is no such ticket"
    );
    for _ in 0..2 {
        assert_eq!(one.ask("CANCEL t1\n").await, "CANCELLED t1");
        assert_eq!(one.ask("TICKET t1\n").await, "CANCELLED t1");
    }
    assert_eq!(one.ask(&submit("duel", "t1", "ann")).await, "CANCELLED t1");
}

#[tokio::test]
async fn wrong_tickets_are_refused_and_change_nothing() {
    let daemon = Daemon::start(QUEUES).await;
    let mut nameless = daemon.client().await;
    let first = nameless.ask("SUBMIT\n").await;
    assert_eq!(first, "ERROR not-allowed say HELLO <name> first");
    let mut one = daemon.named("one").await;
    for (lines, start) in [
        ("SEAT ann\n", "ERROR not-allowed send ENQUEUE first"),
        ("SUBMIT\n", "ERROR not-allowed send ENQUEUE first"),
        (
            "ENQUEUE nowhere t\n",
            "ERROR bad-argument there is no queue nowhere",
        ),
        (
            "ENQUEUE roles t\nSUBMIT\n",
            "ERROR bad-argument a ticket of 0 players",
        ),
        (
            "SEAT ann tier=11 maps=a\nSUBMIT\n",
            "ERROR bad-argument ann: tier must be",
        ),
        (
            "ENQUEUE roles t\nSEAT ann maps=a\nSUBMIT\n",
            "ERROR bad-argument ann: tier is missing",
        ),
        (
            "SEAT ann tier=3 size=9\nSUBMIT\n",
            "ERROR bad-argument ann: the queue has no attribute size",
        ),
        (
            "ENQUEUE roles t\nSEAT ann tier=1 @weight=9\nSUBMIT\n",
            "ERROR bad-argument ann: the queue has no attribute @weight",
        ),
        ("SEAT 000\n", "ERROR bad-argument this id stands"),
        ("ACCEPT 7 ann\n", "ERROR not-allowed no such match"),
    ] {
        let reply = one.ask(lines).await;
        assert!(reply.starts_with(start), "{lines:?}: {reply}");
    }
    let long = "x".repeat(900);
    let many: String = (0..100)
        .map(|n| format!("SEAT ann a{n}={long}\n"))
        .collect();
    let reply = one.ask(&format!("ENQUEUE roles t\n{many}")).await;
    assert_eq!(reply, "ERROR bad-argument the ticket is too large");
    // A name in any case, and a set in several lines.
    let sound = "ENQUEUE roles t\nSEAT ann TIER=3 maps=a\nSEAT ann Maps=b\nSUBMIT\n";
    let mut two = daemon.named("two").await;
    assert!(two.ask(sound).await.starts_with("QUEUED t "));
    assert_eq!(two.ask("EXPLAIN t\n").await, "EXPLAIN 5");
    let waits = two.line().await;
    assert!(
        waits.ends_with("; waiting in roles: 1 ticket, 1 player"),
        "{waits}"
    );
    assert_eq!(
        two.line().await,
        "WHY held back by too few candidates: maps in common leaves 1 ticket"
    );
}

#[tokio::test]
async fn who_declines_leaves_and_the_others_get_the_next_match() {
    let (daemon, clock) = Daemon::start_by_hand(QUEUES).await;
    let mut one = daemon.named("one").await;
    one.tell("LISTEN\nLISTEN\n").await;
    for (ticket, player) in [("t1", "ann"), ("t2", "bob")] {
        assert!(
            one.ask(&submit("duel", ticket, player))
                .await
                .starts_with("QUEUED")
        );
    }
    let proposed = [one.line().await, one.line().await];
    assert_eq!(proposed, ["* PROPOSED 1 t1 30", "* PROPOSED 1 t2 30"]);
    assert_eq!(one.ask("TICKET t1\n").await, "PROPOSED 1 t1 30");
    assert_eq!(
        one.ask("ACCEPT 1 cid\nPING\n").await,
        "ERROR unknown-player the player is in no ticket of yours in this match"
    );
    assert_eq!(one.line().await, "PONG");
    one.send("ACCEPT 1 ann\nDECLINE 1 bob\n").await;
    let news = [one.line().await, one.line().await];
    assert_eq!(news, ["* REQUEUED t1 declined", "* CANCELLED t2"]);
    assert!(
        one.ask(&submit("duel", "t3", "cid"))
            .await
            .starts_with("QUEUED")
    );
    let proposed = [one.line().await, one.line().await];
    assert_eq!(proposed, ["* PROPOSED 2 t1 30", "* PROPOSED 2 t3 30"]);
    one.tell("ACCEPT 2 ann\n").await;
    clock.pass(30_000);
    let news = [one.line().await, one.line().await];
    assert_eq!(news, ["* REQUEUED t1 unanswered", "* CANCELLED t3"]);
    clock.pass(600_000);
    assert_eq!(one.line().await, "* EXPIRED t1");
    assert_eq!(one.ask("CANCEL t1\n").await, "EXPIRED t1");
}

/// A known matchmaker strands 12 to 38 of 600 tickets after six cancels during one pass.
#[tokio::test]
async fn cancels_in_mid_search_strand_nobody() {
    let daemon = Daemon::start(QUEUES).await;
    let mut one = daemon.named("one").await;
    let mut lines = String::new();
    for n in 0..600 {
        lines += &submit("quick", &format!("t{n}"), &format!("p{n}"));
        if n % 100 == 50 {
            lines += &format!("CANCEL t{n}\n");
        }
    }
    one.send(&lines).await;
    let mut gone = BTreeSet::new();
    for _ in 0..606 {
        let line = one.line().await;
        if let Some(ticket) = line.strip_prefix("CANCELLED ") {
            gone.insert(ticket.to_owned());
        } else {
            assert!(
                line.starts_with("QUEUED ") || line.starts_with("MATCHED "),
                "{line}"
            );
        }
    }
    let mut queue = String::new();
    until(async || {
        assert_eq!(one.ask("QUEUES\n").await, "QUEUES 3");
        let lines = [one.line().await, one.line().await, one.line().await];
        queue = lines[1].clone();
        queue.starts_with("QUEUE quick 0 ") || queue.starts_with("QUEUE quick 1 ")
    })
    .await;
    let mut matches: Vec<String> = Vec::new();
    for n in 0..600 {
        let ticket = format!("t{n}");
        let state = one.ask(&format!("TICKET {ticket}\n")).await;
        match state.strip_prefix("MATCHED ") {
            Some(rest) => matches.push(rest.split(' ').next().unwrap().to_owned()),
            None if gone.contains(&ticket) => assert_eq!(state, format!("CANCELLED {ticket}")),
            None => assert!(
                state.starts_with("QUEUED ") && queue.starts_with("QUEUE quick 1 "),
                "{state}"
            ),
        }
    }
    matches.sort();
    assert!(
        matches
            .chunks(2)
            .all(|two| two.len() == 2 && two[0] == two[1]),
        "two tickets a match"
    );
}

#[test]
fn after_a_restart_a_name_hears_what_it_has_missed() {
    let folder = configured(QUEUES);
    let mut daemon = Process::start_configured(folder.path());
    let hello = "HELLO one\n";
    let said = daemon.ask(&format!(
        "{hello}{}{}",
        submit("quick", "t1", "ann"),
        submit("duel", "t2", "bob")
    ));
    assert!(
        said.contains("QUEUED t1 ") && said.contains("QUEUED t2 "),
        "{said}"
    );
    let said = daemon.ask(&format!("{hello}CANCEL t2\n"));
    assert!(said.ends_with("CANCELLED t2\n"), "{said}");
    daemon.kill();
    let daemon = Process::start_configured(folder.path());
    let mut stream = daemon.connect();
    stream.get_mut().write_all(b"HELLO one\nLISTEN\n").unwrap();
    let mut line = || process::line(&mut stream);
    assert!(line().starts_with("HELLO "));
    assert_eq!(line(), "* CANCELLED t2");
    let said = daemon.ask(&format!("HELLO two\n{}", submit("quick", "t1", "cid")));
    assert!(
        said.contains("QUEUED t1 ") || said.contains("MATCHED "),
        "{said}"
    );
    assert_eq!(line(), "* MATCHED 1 t1 - - 2");
    let mut players: Vec<String> = [line(), line()].into();
    players.sort_by_key(|line| line.chars().last());
    assert_eq!(
        players
            .iter()
            .map(|line| without_team(line))
            .collect::<Vec<_>>(),
        ["* TEAM 1 ? cid", "* TEAM 1 ? ann"]
    );
}

#[test]
fn what_was_answered_survives_a_kill() {
    let kills = kill_during_submits(3);
    assert!(kills.answered > 0, "{kills:?}");
    assert_eq!((kills.lost, kills.twice), (0, 0), "{kills:?}");
}
