//! What the queue explains, finds again and predicts: EXPLAIN on the wire, `queue replay`, a
//! configuration that is read again, and predictions beside results.

use std::{fs, io::Write, path::Path, process::Output};

use crate::common::{
    self, Daemon,
    backends::rows,
    process::{self, HANG, Process, configured},
    until,
};

/// A queue of duels between players of about the same tier.
const TIERS: &str = r#"
[queue.tiers]
teams = 2
size = 1
ruleset = "ctf"
host = "none"

[queue.tiers.attributes]
tier = "int 1..10"

[[queue.tiers.rule]]
name = "near"
rule = "spread"
of = "tier"
at_most = 1
hard = true

[[queue.tiers.rule]]
name = "even chances"
rule = "chance"
at_most = 0.05
"#;

fn submit(ticket: &str, tier: u32) -> String {
    common::submit("tiers", ticket, &format!("p{ticket} tier={tier}"))
}

#[tokio::test]
async fn a_client_is_explained_its_tickets_and_matches_and_no_others() {
    let (daemon, clock) = Daemon::start_by_hand(TIERS).await;
    let (mut one, mut two) = (daemon.named("one").await, daemon.named("two").await);
    one.ask(&submit("a", 3)).await;
    two.ask(&submit("b", 9)).await;
    clock.pass(5_000);
    assert_eq!(
        one.reasons("EXPLAIN a\n").await,
        [
            "a has waited for 5 s; waiting in tiers: 2 tickets, 2 players",
            "held back by too few candidates: near leaves 1 ticket",
            "tickets that each hard rule in turn leaves: near 1",
            "nearest match: teams of 1 and 0 of 1 players",
            "missing: 1 more player on team 1, with tier 2, 3 or 4",
        ]
    );
    two.ask(&submit("c", 4)).await;
    until(async || one.ask("TICKET a\n").await == "MATCHED 1 a").await;
    let lines = one.reasons("EXPLAIN a\n").await;
    assert_eq!(lines[0], "a is in match 1 of tiers; it waited for 5 s");
    assert!(
        lines[1].starts_with(
            "penalty 0.000; no chance is predicted; the oldest ticket waited 5.0 s; seed "
        ),
        "{lines:?}"
    );
    assert_eq!(
        lines[2],
        "near: tier ranges from 3 to 4; 1 apart is allowed"
    );
    assert_eq!(
        lines[3],
        "even chances: chances by team: 0.500 | 0.500; 0.05 from even is allowed"
    );
    assert_eq!(lines[4], "full teams: the teams have 1 and 1 players of 1");
    assert_eq!(lines.len(), 5);
    for client in [&mut one, &mut two] {
        let again = client.reasons("EXPLAIN 1\n").await;
        assert_eq!(again[0], "match 1 of tiers");
        assert_eq!(again[1..], lines[1..]);
    }
    let mut three = daemon.named("three").await;
    for id in ["a", "1", "7", "-1"] {
        assert_eq!(
            three.ask(&format!("EXPLAIN {id}\n")).await,
            "ERROR bad-argument there is no such ticket"
        );
    }
    two.ask("CANCEL b\n").await;
    assert_eq!(two.reasons("EXPLAIN b\n").await, ["b left tiers after 5 s"]);
}

fn replay(folder: &Path, id: &str) -> (bool, String) {
    let Output {
        status,
        stdout,
        stderr,
    } = process::evenkeel(folder)
        .args(["queue", "replay", id, "--config", "evenkeel.toml"])
        .output()
        .unwrap();
    let said = String::from_utf8([stdout, stderr].concat()).unwrap();
    (status.success(), said)
}

#[test]
fn a_match_is_found_again_also_after_the_configuration_has_changed() {
    let folder = configured(TIERS);
    let daemon = Process::start_configured(folder.path());
    let tickets: String = (0..7)
        .map(|n| submit(&format!("t{n}"), 1 + n % 4))
        .collect();
    daemon.ask(&format!("HELLO one\n{tickets}"));
    let matched = |ticket: &str| {
        let said = daemon.ask(&format!("HELLO one\nTICKET {ticket}\n"));
        said.contains("MATCHED ").then_some(said)
    };
    let began = std::time::Instant::now();
    let said = loop {
        match matched("t0") {
            Some(said) => break said,
            None => assert!(began.elapsed() < HANG, "no match"),
        }
    };
    let (_, rest) = said.split_once("MATCHED ").unwrap();
    let id = rest.split(' ').next().unwrap();
    let (same, said) = replay(folder.path(), id);
    assert!(same && said.contains(": the same teams\n"), "{said}");
    assert!(
        said.starts_with(r#"{"map":null,"match":"#) && said.contains("near: tier ranges from "),
        "{said}"
    );
    assert!(!said.contains("has changed"), "{said}");

    let other = TIERS.replace("at_most = 1\n", "at_most = 2\n");
    fs::write(folder.path().join("evenkeel.toml"), other).unwrap();
    let (same, said) = replay(folder.path(), id);
    assert!(same, "{said}");
    assert!(
        said.contains(
            "the configuration of tiers has changed since; this search used the one of then\n"
        ),
        "{said}"
    );
    let (found, said) = replay(folder.path(), "99");
    assert!(
        !found && said.contains("99: there is no such match"),
        "{said}"
    );
    drop(daemon);
    let path = folder.path().join("evenkeel.db");
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(crate::common::sql(&path, "DELETE FROM pools"));
    let (found, said) = replay(folder.path(), id);
    assert!(!found && said.contains("its pool is not stored"), "{said}");
}

#[test]
fn a_hangup_makes_the_daemon_read_its_queues_again() {
    let both = format!(
        "{TIERS}\n[queue.other]\nteams = 2\nsize = 1\nruleset = \"ctf\"\nhost = \"none\"\ngroup = \"b\"\n"
    );
    let folder = configured(&both);
    let daemon = Process::start_configured(folder.path());
    let mut stream = daemon.connect();
    // A player may be in one ticket of each group.
    let tickets = "ENQUEUE other o\nSEAT pk tier=1\nSUBMIT\nENQUEUE other o\nSEAT pk\nSUBMIT\n";
    let lines = format!("HELLO one\nLISTEN\n{}{tickets}", submit("k", 9));
    stream.get_mut().write_all(lines.as_bytes()).unwrap();
    let mut line = || process::line(&mut stream);
    assert!(line().starts_with("HELLO "));
    assert!(line().starts_with("QUEUED k 0"));
    assert!(line().starts_with("ERROR bad-argument pk: the queue has no attribute tier"));
    assert!(line().starts_with("QUEUED o 0"));
    let hangup = |toml: &str, until: &str| {
        fs::write(folder.path().join("evenkeel.toml"), toml).unwrap();
        daemon.signal("-HUP");
        while !daemon.log.recv_timeout(HANG).unwrap().contains(until) {}
    };
    hangup(
        "[queue.tiers]\nteams = 2\n",
        "the configuration cannot be read again",
    );
    let fewer = TIERS.replace("int 1..10", "int 1..8");
    hangup(
        &fewer,
        "the queues, clients and limits of the configuration are taken over",
    );
    let mut news = [line(), line()];
    news.sort();
    assert_eq!(
        news,
        ["* CANCELLED k reconfigured", "* CANCELLED o reconfigured"]
    );
    let said = daemon.ask("HELLO one\nTICKET k\nEXPLAIN k\nQUEUES\n");
    assert!(
        said.contains("CANCELLED k\nEXPLAIN 1\nWHY k left tiers after "),
        "{said}"
    );
    assert!(
        said.contains(" s (reconfigured)\nQUEUES 1\nQUEUE tiers 0 0 -\n"),
        "{said}"
    );
}

#[tokio::test]
async fn the_queues_predictions_are_held_against_what_happened() {
    let daemon = Daemon::start(&format!("rating.min_seconds = 0\n{TIERS}")).await;
    let mut client = daemon.named("server").await;
    let played = "JOIN pa\nMOVE pa 1\nJOIN pb\nMOVE pb 0\nSTART\nSCORE 0\nSCORE 0\nEND\n";
    let game = format!("GAME ctf\nMINPLAYERS 0\n{played}");
    assert_eq!(client.ask(&game).await, "END 1 recorded");
    daemon.service.learning().refresh().await.unwrap();
    client.ask(&submit("a", 3)).await;
    client.ask(&submit("b", 3)).await;
    until(async || client.ask("TICKET a\n").await.starts_with("MATCHED ")).await;
    let lines = client.reasons("EXPLAIN a\n").await;
    assert!(
        lines[1].contains("; team 0 wins with a chance of 0."),
        "{lines:?}"
    );
    // A game of others between, and one of the same teams after the first.
    let others = "GAME ctf\nJOIN pa\nMOVE pa 1\nJOIN pc\nMOVE pc 0\nSTART\nSCORE 0\nEND\n";
    for (game, id) in [(others, 3), (&*game, 4), (&*game, 5)] {
        assert_eq!(client.ask(game).await, format!("END {id} recorded"));
    }
    daemon.service.learning().refresh().await.unwrap();
    let path = daemon.folder.path().join("test.db");
    let sql = "SELECT f.chance, s.team, f.recorded FROM formed_matches f JOIN formed_seats s USING (match_id)
               WHERE s.player = 'pb'";
    let (chance, team, recorded): (f64, i64, i64) = rows(&path, sql).await[0];
    assert_eq!(recorded, 4);
    let chance = if team == 0 { chance } else { 1.0 - chance };
    assert!(chance > 0.5, "the one who has won before");
    let sql = "SELECT count(*), count(chance_as_picked), CAST(avg(chance_as_picked) AS DOUBLE PRECISION),
                   CAST(avg(CASE WHEN chance_as_picked IS NOT NULL THEN CASE winner WHEN 0 THEN 1 ELSE 0 END END)
                        AS DOUBLE PRECISION) FROM match_report";
    let row: (i64, i64, f64, f64) = rows(&path, sql).await[0];
    assert_eq!((row.0, row.1, row.3), (4, 1, 1.0));
    assert!((row.2 - chance).abs() < 6e-4, "{row:?}, {chance}");
}

#[tokio::test]
async fn a_held_ticket_is_explained() {
    let queue = |name: &str| {
        format!("[queue.{name}]\nteams = 2\nsize = 1\nruleset = 'ctf'\ngroup = '{name}'\n")
    };
    let daemon = Daemon::start(&(queue("noon") + &queue("night"))).await;
    let mut lobby = daemon.named("lobby").await;
    for (name, ticket, player) in [
        ("night", "t1", "ann"),
        ("noon", "t2", "ann"),
        ("noon", "t3", "bob"),
    ] {
        lobby.ask(&common::submit(name, ticket, player)).await;
    }
    // The match of ann and bob waits for an instance.
    let held = "ann is in match 1: no search includes the ticket until that is over";
    until(async || {
        let lines = lobby.reasons("EXPLAIN t1\n").await;
        lines.iter().any(|line| line == held)
    })
    .await;
    lobby.ask(&common::submit("night", "t4", "cid")).await;
    let missing = "missing: 1 more player on team 1";
    until(async || {
        let lines = lobby.reasons("EXPLAIN t4\n").await;
        lines.iter().any(|line| line.starts_with(missing))
    })
    .await;
    let state = lobby.ask("TICKET t4\n").await;
    assert!(state.starts_with("QUEUED t4 "), "{state}");
}
