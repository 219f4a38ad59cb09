//! Webhooks of a daemon in a process of its own.

use std::{fs, io::Write, net::TcpStream, path::Path};

use serde_json::Value;
use tempfile::TempDir;

use super::{
    receiver::{Receiver, Reply, SECRET},
    section,
};
use crate::common::process::{self, Process};

const DUELS: &str = "
[queue.duel]
teams = 2
size = 1
ruleset = 'baseoa.ctf'

[coordinator]
return_seconds = 0
";

fn folder(url: &str, lines: &str) -> TempDir {
    let folder = TempDir::new().unwrap();
    let toml = section(url, lines) + DUELS;
    fs::write(folder.path().join("evenkeel.toml"), toml).unwrap();
    folder
}

fn start(folder: &Path) -> Process {
    Process::start_with(folder, &[("EVENKEEL_CONFIG", "evenkeel.toml")])
}

/// A client that sends lines, and reads pushes.
struct Wire(std::io::BufReader<TcpStream>);

impl Wire {
    fn new(daemon: &Process, hello: &str) -> Self {
        let mut wire = Self(daemon.connect());
        assert!(wire.ask(hello).starts_with("HELLO evenkeel/"));
        wire
    }

    fn send(&mut self, lines: &str) {
        self.0
            .get_mut()
            .write_all(format!("{lines}\n").as_bytes())
            .unwrap();
    }

    fn ask(&mut self, lines: &str) -> String {
        self.send(lines);
        process::line(&mut self.0)
    }

    /// Waits until the lines are carried out, past any pushes.
    fn tell(&mut self, lines: &str) {
        self.send(lines);
        self.send("PING");
        while process::line(&mut self.0) != "PONG" {}
    }

    /// The next push that begins so.
    fn push(&mut self, head: &str) -> String {
        loop {
            let line = process::line(&mut self.0);
            assert!(!line.is_empty(), "the connection is closed");
            if line.starts_with(head) {
                return line;
            }
        }
    }
}

/// Plays a duel of ann and bob on an instance, up to END. Returns the id of the match and the passes.
fn duel(daemon: &Process, tickets: [&str; 2]) -> (String, Vec<String>) {
    let mut instance = Wire::new(daemon, "HELLO arena bots=no");
    instance.tell("INSTANCE arena.example:27960 slots=2");
    let mut lobby = Wire::new(daemon, "HELLO lobby");
    for (ticket, player) in tickets.into_iter().zip(["ann", "bob"]) {
        let reply = lobby.ask(&format!("ENQUEUE duel {ticket}\nSEAT {player}\nSUBMIT"));
        assert!(reply.starts_with("QUEUED"), "{reply}");
    }
    let session = instance.push("* SESSION ");
    let id = session.split(' ').nth(2).unwrap().to_owned();
    let joins = [instance.push("* JOIN "), instance.push("* JOIN ")];
    let pass = |line: &String| line.split_once("pass=").unwrap().1[..32].to_owned();
    instance.tell(&format!("READY {id}"));
    let mut game = Wire::new(daemon, &format!("HELLO arena match={id} bots=no"));
    let here = joins.iter().map(|join| join.split(' ').nth(2).unwrap());
    let here: Vec<String> = here.map(|player| format!("JOIN {player}")).collect();
    game.tell(&format!(
        "{}\nSTART\nSCORE 0\nSCORE 0\nSCORE 1",
        here.join("\n")
    ));
    let end = game.ask("END");
    assert!(end.starts_with("END "), "{end}");
    (id, joins.iter().map(pass).collect())
}

#[test]
fn a_match_is_reported_when_it_is_formed_hosted_and_recorded() {
    let mut receiver = Receiver::start(vec![], Reply::Status(204));
    let folder = folder(&receiver.url(), "");
    let mut daemon = start(folder.path());
    let (id, passes) = duel(&daemon, ["t1", "t2"]);
    let events = [receiver.wait(), receiver.wait(), receiver.wait()];
    let kinds = events.each_ref().map(|event| event.kind());
    assert_eq!(kinds, ["match.formed", "match.hosted", "match.recorded"]);
    for event in &events {
        event.check();
        assert_eq!(event.of(), id);
        assert_eq!(event.json()["data"]["queue"], "duel");
        assert!(
            !passes.iter().any(|pass| event.text.contains(pass)),
            "a pass is secret"
        );
    }
    let data = |at: usize| events[at].json()["data"].clone();
    assert_eq!(data(0).get("address"), None);
    assert_eq!(data(1)["address"], "arena.example:27960");
    let seat = data(1)["teams"][0]["players"][0].clone();
    assert_eq!(seat["client"], "lobby");
    assert!(["t1", "t2"].contains(&seat["ticket"].as_str().unwrap()));
    assert_eq!(
        (&data(2)["winner"], &data(2)["closeness"]),
        (&0.into(), &0.5.into())
    );
    daemon.stop();
}

/// The receiver fails until the daemon was killed; then everything comes, in order, with the same ids.
#[test]
fn after_kill_9_nothing_is_lost() {
    let mut receiver = Receiver::start(vec![], Reply::Status(503));
    let folder = folder(&receiver.url(), "");
    let mut daemon = start(folder.path());
    let (one, _) = duel(&daemon, ["t1", "t2"]);
    let first = receiver.wait();
    daemon.kill();
    let mut daemon = start(folder.path());
    let (two, _) = duel(&daemon, ["t3", "t4"]);
    daemon.kill();
    receiver.answer(Reply::Status(200));
    let mut daemon = start(folder.path());
    let mut seen = Vec::new();
    while seen.len() < 6 {
        let event = receiver.wait();
        event.check();
        if !event.is_taken {
            continue;
        }
        let of = event.of();
        seen.push((event.id().to_owned(), of, event.kind()));
    }
    assert_eq!(seen[0].0, first.id(), "an event keeps its id");
    let order: Vec<_> = seen
        .iter()
        .map(|(_, of, kind)| (of.as_str(), kind.as_str()))
        .collect();
    let kinds = ["match.formed", "match.hosted", "match.recorded"];
    let expected: Vec<_> = [&one, &two]
        .into_iter()
        .flat_map(|of| kinds.map(|kind| (of.as_str(), kind)))
        .collect();
    assert_eq!(order, expected);
    // Killed right after a delivery, it may repeat events, but with the ids that the receiver knows.
    daemon.kill();
    let mut daemon = start(folder.path());
    let (three, _) = duel(&daemon, ["t5", "t6"]);
    loop {
        let event = receiver.wait();
        if event.of() == three {
            break;
        }
        assert!(
            seen.iter().any(|(id, ..)| id == event.id()),
            "a repeated event has a new id"
        );
    }
    daemon.stop();
}

#[test]
fn a_match_with_a_ready_check_is_formed_once_all_have_accepted() {
    let mut receiver = Receiver::start(vec![], Reply::Status(200));
    let folder = TempDir::new().unwrap();
    let toml = section(&receiver.url(), "");
    let queue =
        "[queue.duel]\nteams = 2\nsize = 1\nruleset = 'ctf'\nhost = 'none'\nready_check = 60\n";
    fs::write(folder.path().join("evenkeel.toml"), toml + queue).unwrap();
    let mut daemon = start(folder.path());
    let mut lobby = Wire::new(&daemon, "HELLO lobby");
    lobby.tell("LISTEN");
    for (ticket, player) in [("t1", "ann"), ("t2", "bob")] {
        lobby.tell(&format!("ENQUEUE duel {ticket}\nSEAT {player}\nSUBMIT"));
    }
    lobby.send("ENQUEUE duel t3\nSEAT eve\nSUBMIT");
    let id = lobby
        .push("* PROPOSED ")
        .split(' ')
        .nth(2)
        .unwrap()
        .to_owned();
    lobby.tell(&format!("ACCEPT {id} ann"));
    assert!(receiver.requests.try_recv().is_err());
    lobby.tell(&format!("ACCEPT {id} bob"));
    let event = receiver.wait();
    assert_eq!((event.kind().as_str(), event.of()), ("match.formed", id));
    daemon.stop();
}

fn run(folder: &Path, words: &[&str]) -> (i32, String, String) {
    process::run(folder, &[&["webhook"], words].concat())
}

#[test]
fn operators_test_and_list_webhooks() {
    let first = vec![Reply::Status(204), Reply::Status(401)];
    let mut receiver = Receiver::start(first, Reply::Status(503));
    let folder = folder(&receiver.url(), "");
    let config = ["--config", "evenkeel.toml"];
    let test = |name| run(folder.path(), &[&["test", name], &config[..]].concat());
    let (code, out, _) = test("one");
    assert_eq!(code, 0);
    assert!(
        out.starts_with(&format!(
            "one: HTTP 204, from http://{} in ",
            receiver.address
        )),
        "{out}"
    );
    assert!(!out.contains("/hook"), "the path may be secret");
    let request = receiver.wait();
    request.check();
    assert_eq!(request.kind(), "test");
    let (code, out, _) = test("one");
    assert!(code == 1 && out.starts_with("one: HTTP 401"), "{out}");
    let (code, _, err) = test("two");
    assert!(code == 4 && err.contains("no webhook two"), "{err}");

    let mut daemon = start(folder.path());
    duel(&daemon, ["t1", "t2"]);
    receiver.wait();
    receiver.wait();
    let list = || {
        let (code, out, err) = run(folder.path(), &[&["list", "--json"], &config[..]].concat());
        assert_eq!(code, 0, "{err}");
        serde_json::from_str::<Vec<Value>>(&out).unwrap().remove(0)
    };
    let began = std::time::Instant::now();
    while list()["tries"] == 0 {
        assert!(began.elapsed() < process::HANG);
    }
    let row = list();
    assert_eq!(
        (&row["webhook"], &row["waiting"]),
        (&"one".into(), &3.into())
    );
    assert_eq!(
        (&row["why"], &row["delivered"]),
        (&"HTTP 503".into(), &0.into())
    );
    let (_, table, _) = run(folder.path(), &[&["list"], &config[..]].concat());
    assert!(
        table.contains("formed hosted recorded") && table.contains("HTTP 503"),
        "{table}"
    );
    daemon.stop();
}

#[test]
fn a_secret_may_be_in_a_file() {
    let mut receiver = Receiver::start(vec![], Reply::Status(200));
    let folder = TempDir::new().unwrap();
    let section = section(&receiver.url(), "");
    let toml = section.replace(&format!("secret = '{SECRET}'"), "secret_file = 'key'");
    fs::write(folder.path().join("evenkeel.toml"), toml).unwrap();
    let test = || run(folder.path(), &["test", "one", "--config", "evenkeel.toml"]);
    let (code, _, err) = test();
    assert!(code == 3 && err.contains("key: "), "{err}");
    fs::write(folder.path().join("key"), "hunter2").unwrap();
    let (code, _, err) = test();
    assert!(
        code == 3 && err.contains("key: the secret must be whsec_"),
        "{err}"
    );
    assert!(!err.contains("hunter2"));
    fs::write(folder.path().join("key"), format!("{SECRET}\n")).unwrap();
    assert_eq!(test().0, 0);
    receiver.wait().check();
    let (_, one, _) = run(folder.path(), &["secret"]);
    let (_, two, _) = run(folder.path(), &["secret"]);
    assert!(one.starts_with("whsec_") && one != two);
    fs::write(folder.path().join("key"), one).unwrap();
    assert_eq!(test().0, 0);
}
