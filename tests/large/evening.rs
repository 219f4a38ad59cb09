//! A whole evening: ten clients with two hundred players, three instances, and kills of all kinds.
//!
//! Clients and instances are the Python programs of `integrations/instance`, each in a process of its
//! own. What the instances and the clients have observed is compared with the database.
#![allow(
    clippy::disallowed_methods,
    reason = "what real processes do is waited for in real time"
)]

use std::{
    collections::{BTreeMap, BTreeSet},
    fs::{self, File},
    io::{BufRead, BufReader},
    net::{SocketAddr, TcpListener},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    thread::sleep,
    time::{Duration, Instant},
};

use serde_json::Value;
use tempfile::TempDir;

use crate::common::process::{self, Process};

const CLIENTS: usize = 10;
const PLAYERS: usize = 20;
/// Far longer than the evening takes.
const LIMIT: Duration = Duration::from_secs(150);

const CONFIG: &str = r#"
[server]
resume_grace_seconds = 3

[coordinator]
heartbeat_seconds = 2
return_seconds = 2
open_seconds = 3
join_seconds = 4
rest_seconds = 1

[queue.quick]
teams = 2
size = 2
ruleset = "baseoa.ctf"
host_wait = 5
ttl = 25
"#;

fn script(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("integrations/instance");
    folder.join(name)
}

/// A Python program whose output goes to a file, and that is killed when this is dropped.
struct Program {
    child: Child,
    output: PathBuf,
}

impl Program {
    fn start(name: &str, output: PathBuf, words: &[String]) -> Self {
        let child = Command::new("python3")
            .arg(script(name))
            .args(words)
            .stdout(File::create(&output).unwrap())
            .stderr(Stdio::inherit())
            .spawn()
            .unwrap();
        Self { child, output }
    }

    fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// The JSON lines that it has printed; a last one that was cut off is left out.
    fn lines(&self) -> Vec<Value> {
        let lines = BufReader::new(File::open(&self.output).unwrap()).lines();
        let parsed = lines.map(|line| serde_json::from_str(&line.unwrap()));
        parsed.filter_map(Result::ok).collect()
    }

    fn has(&self, event: &str) -> usize {
        let lines = self.lines().into_iter();
        lines.filter(|line| line["event"] == event).count()
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A port that was free a moment ago: the daemon must have the same one after each kill.
fn free_address() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.local_addr().unwrap()
}

struct Evening {
    folder: TempDir,
    address: SocketAddr,
    instances: Vec<Program>,
}

impl Evening {
    fn daemon(&self) -> Process {
        let listen = self.address.to_string();
        let variables = [
            ("EVENKEEL_CONFIG", "evenkeel.toml"),
            ("EVENKEEL_LISTEN", listen.as_str()),
        ];
        Process::start_at(self.folder.path(), &variables)
    }

    fn instance(&mut self, name: &str, slots: usize, seconds: f64) -> usize {
        let number = self.instances.len();
        let output = self.folder.path().join(format!("instance-{number}"));
        let slots = format!("--slots={slots}");
        let seconds = format!("--seconds={seconds}");
        let words = [self.address.to_string(), name.to_owned(), slots, seconds];
        self.instances
            .push(Program::start("instance.py", output, &words));
        number
    }

    /// Waits until an instance is in a state in which it is to be killed.
    fn wait(&self, what: &str, is: impl Fn(&Program) -> bool, number: usize) {
        let began = Instant::now();
        while !is(&self.instances[number]) {
            assert!(began.elapsed() < LIMIT, "{what} never happens");
            sleep(Duration::from_millis(5));
        }
    }
}

/// What is counted at the end.
#[derive(Debug, Default)]
struct Counts {
    players: usize,
    tickets: BTreeMap<String, usize>,
    hosted: BTreeMap<String, usize>,
    started: usize,
    ended: usize,
    moved: usize,
    requeued: usize,
    lost: usize,
    /// Players who have left a game in play, and those who came in their place.
    left: usize,
    joined_later: usize,
    /// Tickets whose players did not come to the instance.
    no_shows: usize,
}

#[test]
#[ignore = "takes a minute: `cargo test --test large -- --ignored`"]
fn an_evening_with_kills_loses_nothing() {
    let folder = TempDir::new().unwrap();
    fs::write(folder.path().join("evenkeel.toml"), CONFIG).unwrap();
    let mut evening = Evening {
        folder,
        address: free_address(),
        instances: Vec::new(),
    };
    let mut daemon = evening.daemon();
    let first = evening.instance("one", 3, 0.4);
    let second = evening.instance("two", 2, 1.2);
    evening.instance("three", 2, 0.4);
    let clients: Vec<Program> = (0..CLIENTS)
        .map(|n| {
            let output = evening.folder.path().join(format!("client-{n}"));
            let words = [
                evening.address.to_string(),
                format!("client-{n}"),
                "quick".to_owned(),
                format!("--players={PLAYERS}"),
                "--spread=6".to_owned(),
                "--absent=0.02".to_owned(),
                "--leaves=0.08".to_owned(),
                "--limit=120".to_owned(),
            ];
            Program::start("client.py", output, &words)
        })
        .collect();
    // An instance in play is killed, and comes back without its game.
    let in_play = |one: &Program| one.has("start") > one.has("end");
    evening.wait("a game in play", in_play, second);
    evening.instances[second].kill();
    evening.instance("two", 2, 0.4);
    // The daemon is killed while matches are played.
    evening.wait("another game in play", in_play, first);
    daemon.kill();
    let mut daemon = evening.daemon();
    // An instance that has opened a match which has not begun is killed, for good.
    let before = evening.instances[first].has("start");
    evening.wait(
        "a match that has not begun",
        |one| one.has("start") > before && one.has("open") > one.has("start") + one.has("dropped"),
        first,
    );
    evening.instances[first].kill();
    // The daemon is killed again, soon after the next match has begun.
    let third = 2;
    let before = evening.instances[third].has("start");
    evening.wait("one more", |one| one.has("start") > before, third);
    daemon.kill();
    let mut daemon = evening.daemon();
    let counts = settle(&evening, clients);
    println!("{counts:?}");
    check(&counts);
    daemon.stop();
}

/// Waits for the clients, and compares what everybody has observed.
fn settle(evening: &Evening, mut clients: Vec<Program>) -> Counts {
    let mut counts = Counts::default();
    for client in &mut clients {
        assert!(process::wait_for(&mut client.child, LIMIT).success());
        let lines = client.lines();
        for (ticket, facts) in lines.last().unwrap()["tickets"].as_object().unwrap() {
            let state = facts[0].as_str().unwrap();
            let told: Vec<&str> = facts[1]
                .as_array()
                .unwrap()
                .iter()
                .map(|one| one.as_str().unwrap())
                .collect();
            *counts.tickets.entry(state.to_owned()).or_default() += 1;
            let played = facts[2].as_object().unwrap();
            counts.players += played.len();
            counts.lost += played.values().filter(|how| *how == "lost").count();
            counts.left += played.values().filter(|how| *how == "left").count();
            counts.requeued += told.iter().filter(|one| **one == "REQUEUED").count();
            // What a client was told agrees with the end.
            let called = told.contains(&"GO");
            counts.no_shows += usize::from(state == "CANCELLED" && called);
            match state {
                "MATCHED" => assert!(called, "{ticket} {told:?}"),
                state => assert_eq!(told.last(), Some(&state), "{ticket} {told:?}"),
            }
        }
    }
    observe(evening, &mut counts);
    counts
}

/// Compares the instances with the database.
fn observe(evening: &Evening, counts: &mut Counts) {
    let mut begun = BTreeSet::new();
    let mut ended = BTreeMap::new();
    let mut games: BTreeMap<String, Vec<(f64, f64)>> = BTreeMap::new();
    for instance in &evening.instances {
        let lines = instance.lines();
        let last = lines
            .last()
            .map_or(0.0, |line| line["at"].as_f64().unwrap());
        for line in lines.iter().filter(|line| line["event"] == "start") {
            let id = line["match"].as_i64().unwrap();
            assert!(begun.insert(id), "match {id} began twice");
            let end = lines
                .iter()
                .find(|one| one["event"] == "end" && one["match"] == line["match"]);
            let until = end.map_or(last, |end| end["at"].as_f64().unwrap());
            for player in line["players"].as_array().unwrap() {
                let times = games
                    .entry(player.as_str().unwrap().to_owned())
                    .or_default();
                times.push((line["at"].as_f64().unwrap(), until));
            }
            let late = lines.iter();
            let late = late.filter(|one| one["event"] == "late" && one["match"] == line["match"]);
            for one in late {
                let player = one["player"].as_str().unwrap().to_owned();
                let times = games.entry(player).or_default();
                times.push((one["at"].as_f64().unwrap(), until));
                counts.joined_later += 1;
            }
            if let Some(reply) = end.and_then(|end| end["reply"].as_str()) {
                assert!(reply.starts_with(&format!("END {id} ")), "{reply}");
                assert!(ended.insert(id, reply.to_owned()).is_none());
            }
        }
    }
    for (player, times) in &mut games {
        times.sort_by(|one, other| one.0.total_cmp(&other.0));
        let apart = times.windows(2).all(|two| two[0].1 <= two[1].0);
        assert!(apart, "{player} was in two games: {times:?}");
    }
    (counts.started, counts.ended) = (begun.len(), ended.len());
    database(evening, counts, &ended);
}

fn database(evening: &Evening, counts: &mut Counts, ended: &BTreeMap<i64, String>) {
    let mut command = process::evenkeel(evening.folder.path());
    let output = command
        .args([
            "hosting",
            "matches",
            "--json",
            "--limit",
            "10000",
            "--config",
            "evenkeel.toml",
        ])
        .output()
        .unwrap();
    let mut over = BTreeSet::new();
    let rows: Vec<Value> = serde_json::from_slice(&output.stdout).unwrap();
    for row in rows {
        let state = row["state"].as_str().unwrap().to_owned();
        if state == "over" {
            assert!(row["outcome"].is_string(), "{row}");
            over.insert(row["match"].as_i64().unwrap());
        }
        counts.moved += usize::from(row["tries"].as_i64().unwrap() > 1);
        *counts.hosted.entry(state).or_default() += 1;
    }
    // An END whose reply was lost is in the database all the same.
    let known: BTreeSet<i64> = ended.keys().copied().collect();
    assert!(known.is_subset(&over), "{known:?} {over:?}");
}

fn check(counts: &Counts) {
    assert_eq!(counts.players, CLIENTS * PLAYERS, "{counts:?}");
    let finals = ["MATCHED", "CANCELLED", "EXPIRED"];
    assert!(
        counts
            .tickets
            .keys()
            .all(|state| finals.contains(&state.as_str()))
    );
    let states = ["over", "failed"];
    assert!(
        counts
            .hosted
            .keys()
            .all(|state| states.contains(&state.as_str())),
        "{counts:?}"
    );
    assert!(counts.ended > 20, "{counts:?}");
    assert!(counts.left > 0 && counts.joined_later > 0, "{counts:?}");
    assert!(counts.moved + counts.requeued > 0, "{counts:?}");
}
