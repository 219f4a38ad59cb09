//! Reports about behaviour over the socket: bounds, decay, restarts, merged and forgotten players, and what
//! queues make of it.

use std::{fs, path::Path};

use evenkeel::model::{Kind, PlayerKey, Timestamp};
use tempfile::TempDir;

use crate::common::{
    Daemon,
    process::{self, Process},
    submit, until,
};

const DAY: u64 = 86_400_000;
/// When the clock that a test moves starts.
const START: i64 = 1_000_000_000_000;

/// Two game servers that may report and one that may not, and a queue in which those who spoil games meet
/// each other.
const REPORTERS: &str = r#"
[[clients]]
name = "ctf-1"
token = "one"
rights = ["report"]

[[clients]]
name = "ctf-2"
token = "two"
rights = ["report"]

[[clients]]
name = "lobby"
token = "three"
rights = ["queue", "report"]

[behaviour]
reporters = ["ctf-*"]

[queue.duel]
teams = 2
size = 1
ruleset = "baseoa.ctf"
host = "none"
rule = [{ name = "alike behaviour", rule = "spread", of = "@behaviour", at_most = 9, hard = true }]
"#;

fn score(daemon: &Daemon, player: &str, days: u64) -> f64 {
    let now = Timestamp(START).plus_millis((days * DAY) as i64);
    daemon.service.learning().behaviour().score(player, now)
}

#[tokio::test]
async fn reports_are_bounded_for_each_line_day_and_server_and_decay() {
    let (daemon, clock) = Daemon::start_by_hand(REPORTERS).await;
    let mut nameless = daemon.client().await;
    let first = nameless.ask("BEHAVIOUR ann -1\n").await;
    assert_eq!(first, "ERROR not-allowed say HELLO <server> <token> first");
    let mut lobby = daemon.named("lobby three").await;
    assert_eq!(
        lobby.ask("BEHAVIOUR ann -1\n").await,
        "ERROR not-allowed this game server may not report behaviour"
    );
    let mut one = daemon.named("ctf-1 one").await;
    for (line, error) in [
        ("BEHAVIOUR\n", "ERROR bad-argument "),
        ("BEHAVIOUR ann\n", "ERROR bad-argument "),
        ("BEHAVIOUR ann x\n", "ERROR bad-argument "),
        ("BEHAVIOUR ann NaN\n", "ERROR bad-argument "),
        ("BEHAVIOUR ann -1 -1\n", "ERROR bad-argument "),
        (
            "BEHAVIOUR ann -5.001\n",
            "ERROR bad-argument the points must be from -5 to 5",
        ),
    ] {
        let reply = one.ask(line).await;
        assert!(reply.starts_with(error), "{line}: {reply}");
    }
    assert_eq!(
        score(&daemon, "ann", 0),
        0.0,
        "what is refused changes nothing"
    );
    one.tell("behaviour ann -1.5\n").await;
    assert_eq!(score(&daemon, "ann", 0), -1.5);
    assert_eq!(score(&daemon, "ann", 14), -0.75);
    // A hostile server: all it can within a day, then every day.
    one.tell(&"BEHAVIOUR \"big john\" -5\n".repeat(50)).await;
    assert_eq!(score(&daemon, "big john", 0), -10.0);
    for _ in 1..20 {
        clock.pass(DAY);
        one.tell("BEHAVIOUR \"big john\" -5\nBEHAVIOUR \"big john\" -5\n")
            .await;
    }
    assert_eq!(score(&daemon, "big john", 19), -30.0);
    let mut two = daemon.named("ctf-2 two").await;
    two.tell("BEHAVIOUR \"big john\" 4\n").await;
    assert_eq!(score(&daemon, "big john", 19), -26.0);
    // It is the same on disk, and reports that no longer count are deleted.
    let store = daemon.service.store();
    let rows = store.behaviour().await.unwrap();
    assert_eq!(rows.days.len(), 22);
    clock.pass(200 * DAY);
    two.tell("BEHAVIOUR bob -1\n").await;
    let rows = store.behaviour().await.unwrap();
    let players: Vec<&str> = rows.days.iter().map(|one| one.player.as_str()).collect();
    assert_eq!(players, ["bob"]);
    assert_eq!(score(&daemon, "big john", 219), 0.0);
}

#[tokio::test]
async fn those_who_spoil_games_wait_for_each_other_and_read_why() {
    let (daemon, _clock) = Daemon::start_by_hand(REPORTERS).await;
    let mut game = daemon.named("ctf-1 one").await;
    game.tell("BEHAVIOUR ann -5\nBEHAVIOUR ann -5\nBEHAVIOUR cid -5\nBEHAVIOUR cid -4\n")
        .await;
    let mut lobby = daemon.named("lobby three").await;
    lobby.tell("LISTEN\n").await;
    for (ticket, player) in [("t1", "ann"), ("t2", "bob")] {
        let reply = lobby.ask(&submit("duel", ticket, player)).await;
        assert_eq!(reply, format!("QUEUED {ticket} 0 -"));
    }
    let explained = lobby.ask("EXPLAIN t1\n").await;
    assert!(explained.starts_with("EXPLAIN "), "{explained}");
    let count: usize = explained[8..].parse().unwrap();
    let why = lobby.lines(count).await.join("\n");
    assert!(
        why.contains("held back by too few candidates: alike behaviour leaves 1 ticket"),
        "{why}"
    );
    lobby.send(&submit("duel", "t3", "cid")).await;
    let news = lobby.lines(7).await;
    let matched: Vec<&String> = news
        .iter()
        .filter(|line| line.starts_with("* MATCHED "))
        .collect();
    assert_eq!(matched.len(), 2, "{news:?}");
    assert!(
        matched.iter().all(|line| !line.contains(" t2 ")),
        "{news:?}"
    );
    let waits = lobby.ask("TICKET t2\n").await;
    assert!(waits.starts_with("QUEUED t2 "), "{waits}");
}

#[tokio::test]
async fn merged_players_count_together_and_forgotten_ones_not_at_all() {
    let (daemon, _clock) = Daemon::start_by_hand(REPORTERS).await;
    let mut game = daemon.named("ctf-1 one").await;
    game.tell("BEHAVIOUR ann -3\nBEHAVIOUR annie -2\n").await;
    let key = |id: &str| PlayerKey {
        kind: Kind::Human,
        id: id.to_owned(),
    };
    let (store, book) = (
        daemon.service.store(),
        daemon.service.learning().behaviour(),
    );
    store
        .corrections()
        .merge_player(&key("annie"), &key("ann"))
        .await
        .unwrap();
    book.refresh().await.unwrap();
    assert_eq!(
        (score(&daemon, "ann", 0), score(&daemon, "annie", 0)),
        (-5.0, -5.0)
    );
    // What is reported afterwards counts at once, under either identity.
    game.tell("BEHAVIOUR annie -1\n").await;
    assert_eq!(
        (score(&daemon, "ann", 0), score(&daemon, "annie", 0)),
        (-6.0, -6.0)
    );
    store
        .corrections()
        .split_player(&key("annie"))
        .await
        .unwrap();
    book.refresh().await.unwrap();
    assert_eq!(
        (score(&daemon, "ann", 0), score(&daemon, "annie", 0)),
        (-3.0, -3.0)
    );
    store
        .corrections()
        .merge_player(&key("annie"), &key("ann"))
        .await
        .unwrap();
    store
        .corrections()
        .forget_player(&key("ann"), Timestamp(0))
        .await
        .unwrap();
    // The task of the queues notices the changes of other processes by itself.
    until(async || score(&daemon, "ann", 0) == 0.0).await;
    assert_eq!(score(&daemon, "annie", 0), 0.0);
    assert!(store.behaviour().await.unwrap().days.is_empty());
}

#[tokio::test]
async fn without_tokens_all_connections_share_the_limits_of_one_server() {
    let (daemon, _clock) = Daemon::start_by_hand("").await;
    for name in ["a", "b", "c", "d"] {
        let mut client = daemon.named(name).await;
        client.tell("BEHAVIOUR ann -5\n").await;
    }
    assert_eq!(score(&daemon, "ann", 0), -10.0);
    let mut client = daemon.client().await;
    client.tell(&"BEHAVIOUR bob -1\n".repeat(100)).await;
    assert_eq!(score(&daemon, "bob", 0), -10.0);
    let (daemon, _clock) = Daemon::start_by_hand("[behaviour]\nreporters = []\n").await;
    assert_eq!(
        daemon.client().await.ask("BEHAVIOUR ann -1\n").await,
        "ERROR not-allowed this game server may not report behaviour"
    );
}

#[tokio::test]
async fn who_does_not_come_to_a_match_loses_points() {
    let text = "[queue.duel]\nteams = 2\nsize = 1\nruleset = 'baseoa.ctf'\n\
                [coordinator]\nreturn_seconds = 0\nheartbeat_seconds = 3600\n";
    let (daemon, clock) = Daemon::start_by_hand(text).await;
    let mut server = daemon.named("many").await;
    server.tell("INSTANCE many.example:27960 slots=2\n").await;
    let mut lobby = daemon.named("lobby").await;
    for (ticket, player) in [("t1", "ann"), ("t2", "bob")] {
        let submit = submit("duel", ticket, player);
        assert!(lobby.ask(&submit).await.starts_with("QUEUED "));
    }
    let head = server.line().await;
    let id = head.split(' ').nth(2).unwrap().to_owned();
    server.lines(2).await;
    server.tell(&format!("READY {id}\n")).await;
    let mut game = daemon.named(&format!("many match={id}")).await;
    game.tell("JOIN bob\n").await;
    clock.pass(300_000);
    assert_eq!(server.line().await, format!("* CLOSE {id} not-started"));
    until(async || score(&daemon, "ann", 0) == -5.0).await;
    assert_eq!(score(&daemon, "bob", 0), 0.0);
    let rows = daemon.service.store().behaviour().await.unwrap();
    assert_eq!(
        (rows.days[0].reporter.as_str(), rows.days[0].no_shows),
        ("", 1)
    );
}

fn command(folder: &Path, words: &[&str]) -> (bool, String) {
    let mut command = process::evenkeel(folder);
    let output = command
        .args(words)
        .args(["--config", "evenkeel.toml"])
        .output()
        .unwrap();
    let said = String::from_utf8(output.stdout).unwrap();
    let errors = String::from_utf8(output.stderr).unwrap();
    (output.status.success(), said + &errors)
}

/// What `evenkeel player show ann` prints, and whether it succeeds.
fn shown(folder: &Path) -> (bool, String) {
    command(folder, &["player", "show", "ann"])
}

#[test]
fn reports_survive_a_kill_and_the_operator_sees_and_forgets_them() {
    let folder = TempDir::new().unwrap();
    let folder = folder.path();
    fs::write(
        folder.join("evenkeel.toml"),
        "[behaviour]\nday_limit = 3.0\n",
    )
    .unwrap();
    let start = || Process::start_with(folder, &[("EVENKEEL_CONFIG", "evenkeel.toml")]);
    let mut daemon = start();
    let said = daemon.ask("BEHAVIOUR ann -2\nBEHAVIOUR ann -2\nPING\n");
    assert_eq!(
        said, "PONG\n",
        "the reports are on disk before the next reply"
    );
    daemon.kill();
    let (good, said) = shown(folder);
    assert!(good && said.contains("behaviour -3.0"), "{said}");
    for text in ["reported by", "no-shows"] {
        assert!(said.contains(text), "{text}: {said}");
    }
    let (_, json) = command(folder, &["player", "show", "ann", "--json"]);
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["reports"][0]["reporter"], "*");
    assert_eq!(json["reports"][0]["reports"], 2);
    let behaviour = json["behaviour"].as_f64().unwrap();
    assert!((behaviour + 3.0).abs() < 0.01, "{behaviour}");
    // The limit of a day holds over a restart.
    let daemon = start();
    daemon.ask("BEHAVIOUR ann -2\nPING\n");
    let (_, said) = shown(folder);
    assert!(said.contains("behaviour -3.0"), "{said}");
    let (good, said) = command(folder, &["player", "forget", "ann"]);
    assert!(good, "{said}");
    assert!(!shown(folder).0, "nothing is left");
    drop(daemon);
}
