//! An attacker for each share of the daemon, beside an honest game server that must not notice.
#![allow(
    clippy::disallowed_methods,
    reason = "how long an answer takes is measured in real time"
)]

use std::{
    io::{BufRead, BufReader, Write},
    net::{SocketAddr, TcpStream},
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use serde_json::{Value, json};

use crate::{
    PROCESS,
    common::{
        api::Api,
        http::HttpAnswer,
        process::{HANG, poll},
    },
};

/// How often the honest game server asks.
const ASKED: usize = 200;
/// The pause between an answer and its next question.
const PAUSE: Duration = Duration::from_millis(50);
/// What a thread of this busy machine may wait until it runs.
const NOISE: Duration = Duration::from_millis(10);

/// A connection of the line protocol.
struct Line(BufReader<TcpStream>);

impl Line {
    fn connect(address: SocketAddr) -> Self {
        let stream = TcpStream::connect(address).unwrap();
        stream.set_read_timeout(Some(HANG)).unwrap();
        stream.set_nodelay(true).unwrap();
        Self(BufReader::new(stream))
    }

    fn send(&mut self, lines: &str) {
        self.0.get_mut().write_all(lines.as_bytes()).unwrap();
    }

    fn line(&mut self) -> String {
        let mut line = String::new();
        self.0.read_line(&mut line).unwrap();
        line.trim_end().to_owned()
    }

    /// A game of this many players on this many teams.
    fn begin(&mut self, hello: &str, teams: usize, players: usize) {
        let joins: String = (0..players).map(|n| format!("JOIN p{n}\n")).collect();
        self.send(&format!(
            "HELLO {hello}\nGAME ctf\nTEAMS {teams}\n{joins}PING\n"
        ));
        assert!(self.line().starts_with("HELLO "));
        assert_eq!(self.line(), "PONG");
    }

    /// Asks for teams; returns the first line of the answer.
    fn balance(&mut self) -> String {
        self.send("BALANCE\n");
        let head = self.line();
        let count = head
            .strip_prefix("BALANCE ")
            .and_then(|rest| rest.split(' ').next());
        for _ in 0..count.map_or(0, |count| count.parse().unwrap()) {
            self.line();
        }
        head
    }
}

/// Those who attack until this is dropped.
struct Attackers {
    stop: Arc<AtomicBool>,
    threads: Vec<JoinHandle<()>>,
    answered: Arc<AtomicUsize>,
}

impl Attackers {
    /// Starts this many threads, each of which does `attack` again and again.
    fn start<A: FnMut() + Send + 'static>(number: usize, attacker: impl Fn(usize) -> A) -> Self {
        let (stop, answered) = (
            Arc::new(AtomicBool::new(false)),
            Arc::new(AtomicUsize::new(0)),
        );
        let thread = |number| {
            let (stop, answered, mut attack) = (stop.clone(), answered.clone(), attacker(number));
            thread::spawn(move || {
                while !stop.load(Ordering::Relaxed) {
                    attack();
                    answered.fetch_add(1, Ordering::Relaxed);
                }
            })
        };
        let threads = (0..number).map(thread).collect();
        Self {
            stop,
            threads,
            answered,
        }
    }
}

impl Drop for Attackers {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        for thread in self.threads.drain(..) {
            thread.join().unwrap();
        }
    }
}

/// Asks again and again for teams, and returns the time that 99 % of the answers do not exceed.
fn honest(api: &Api) -> Duration {
    let mut line = Line::connect(api.pages.daemon.address);
    line.begin("club club-token", 2, 12);
    let mut took = Vec::new();
    for _ in 0..ASKED {
        let began = Instant::now();
        let head = line.balance();
        took.push(began.elapsed());
        assert!(head.starts_with("BALANCE 14 "), "{head}");
        thread::sleep(PAUSE);
    }
    took.sort();
    took[ASKED * 99 / 100 - 1]
}

/// Reports matches of 128 players until their weights differ, so that finding even teams takes long.
fn teach(api: &Api) {
    let names = |round: usize, red: bool| -> Vec<String> {
        let is_red = |n: &usize| (n * (2 * round + 3) + round) % 128 < 64;
        let members = (0..128).filter(|n| is_red(n) == red);
        members.map(|n| format!("p{n}")).collect()
    };
    let played = |round| json!({"ruleset": "ctf", "teams": [names(round, true), names(round, false)], "winner": round % 2});
    let matches: Vec<Value> = (0..12).map(played).collect();
    let (status, answer) = api.call("club", "POST", "/v1/matches", &json!(matches));
    assert_eq!(status, 201, "{answer}");
    poll(|| {
        let path = "/v1/ratings?ids=p0&ruleset=ctf";
        let (_, answer) = api.call("asker", "GET", path, &Value::Null);
        match answer["ratings"][0]["known"] == true {
            true => Ok(()),
            false => Err(answer),
        }
    });
}

/// A request for 128 players on eight teams, as bytes.
fn request(address: SocketAddr, token: Option<&str>) -> Vec<u8> {
    let player = |n: usize| {
        let weight = ((n * 245_489 + n * n * 104_729) % 10_007) as f64 / 100.0;
        json!({"id": format!("p{n}"), "weight": weight, "party": format!("{}", n / 3)})
    };
    let players: Vec<Value> = (0..128).map(player).collect();
    let body = json!({"ruleset": "ctf", "teams": 8, "players": players}).to_string();
    let token = token.map_or(String::new(), |token| {
        format!("Authorization: Bearer {token}\r\n")
    });
    let head = format!(
        "POST /v1/teams HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n{token}\
         Content-Type: application/json\r\nContent-Length: {}\r\n\r\n",
        body.len()
    );
    [head.into_bytes(), body.into_bytes()].concat()
}

/// Threads that ask over HTTP, with a token or without one.
fn over_http(api: &Api, number: usize, token: Option<&str>) -> Attackers {
    let address = api.pages.address;
    let request = request(address, token);
    Attackers::start(number, |_| {
        let request = request.clone();
        move || {
            let mut stream = TcpStream::connect(address).unwrap();
            stream.set_read_timeout(Some(HANG)).unwrap();
            let _ = stream.write_all(&request);
            let status = HttpAnswer::read(stream).status;
            assert!([200, 429, 503].contains(&status), "{status}");
        }
    })
}

/// Connections that ask by lines, for 128 players on eight teams.
fn by_line(api: &Api, number: usize) -> Attackers {
    let address = api.pages.daemon.address;
    Attackers::start(number, |_| {
        let mut line = Line::connect(address);
        line.begin("asker asker-token", 8, 128);
        move || {
            let head = line.balance();
            if !head.starts_with("BALANCE ") {
                line = Line::connect(address); // it has asked too often
                line.begin("asker asker-token", 8, 128);
            }
        }
    })
}

#[test]
#[ignore = "takes two minutes: `cargo test --test large -- --ignored`"]
fn whoever_asks_for_teams_all_the_time_the_honest_do_not_wait() {
    let _turn = PROCESS.blocking_lock();
    let api = Api::start("[api]\nenabled = true\nvisitors = true\n");
    teach(&api);
    let alone = honest(&api);
    println!("alone: p99 {alone:?}");
    let attacks: [(&str, &dyn Fn() -> Attackers); 3] = [
        ("six visitors", &|| over_http(&api, 6, None)),
        ("a program, eight times", &|| {
            over_http(&api, 8, Some("asker-token"))
        }),
        ("eight connections with games", &|| by_line(&api, 8)),
    ];
    for (what, attack) in attacks {
        let attackers = attack();
        let beside = honest(&api);
        let answered = attackers.answered.load(Ordering::Relaxed);
        println!(
            "beside {what}: p99 {beside:?}, none of {ASKED} refused, {answered} answers to the others"
        );
        assert!(answered > 0, "{what}");
        assert!(
            beside <= 2 * alone + NOISE,
            "{what}: {beside:?}, alone {alone:?}"
        );
    }
}

/// The configuration of a daemon whose queue never has a match: nobody is a medic.
const QUEUE: &str = "
[server]
max_errors = 100000
[limits]
lines_per_second = 0
reports_per_second = 0
[queue.raid]
teams = 2
size = 8
ruleset = 'ctf'
host = 'none'
[queue.raid.attributes]
roles = 'set'
[[queue.raid.rule]]
name = 'medics'
rule = 'has'
of = 'roles'
value = 'medic'
at_least = 1
hard = true
";

/// Submits this many tickets, and returns how many are accepted.
fn submit(line: &mut Line, name: &str, number: usize) -> usize {
    let mut accepted = 0;
    for first in (0..number).step_by(1_000) {
        let numbers = first..number.min(first + 1_000);
        let lines: String = numbers
            .clone()
            .map(|n| format!("ENQUEUE raid {name}{n}\nSEAT {name}{n}\nSUBMIT\n"))
            .collect();
        line.send(&lines);
        for _ in numbers {
            let reply = line.line();
            match reply.starts_with("QUEUED ") {
                true => accepted += 1,
                false => assert!(
                    reply.contains("nine times the room that is free"),
                    "{reply}"
                ),
            }
        }
    }
    accepted
}

#[test]
#[ignore = "takes a minute: `cargo test --test large -- --ignored`"]
fn whoever_takes_all_room_others_find_some() {
    let _turn = PROCESS.blocking_lock();
    let api = Api::start(QUEUE);
    let address = api.pages.daemon.address;
    let greet = |hello: &str| {
        let mut line = Line::connect(address);
        line.send(&format!("HELLO {hello}\n"));
        assert!(line.line().starts_with("HELLO "));
        line
    };
    // A club plays, and loses its connection.
    let mut club = Line::connect(address);
    club.begin("club club-token", 2, 4);
    drop(club);
    // A client with a wildcard opens and closes connections with games.
    for number in 0..300 {
        Line::connect(address).begin(&format!("game-{number} game-token"), 2, 4);
    }
    let mut club = Line::connect(address);
    club.send("HELLO club club-token resume=yes\n");
    assert!(club.line().ends_with(" resumed"), "its game was given up");
    // Somebody takes all places, silently or with PING.
    let mut held = Vec::new();
    for number in 0..300 {
        let mut line = Line::connect(address);
        if number % 2 == 0 {
            line.send("PING\n");
        }
        held.push(line);
    }
    for number in 0..40 {
        let mut line = Line::connect(address);
        line.begin(&format!("game-{number} game-token"), 2, 12);
        assert!(line.balance().starts_with("BALANCE 14 "));
        held.push(line);
    }
    assert!(
        club.balance().starts_with("BALANCE 6 "),
        "it still has its place"
    );
    // One client submits as many tickets as it can.
    let began = Instant::now();
    let taken = submit(&mut greet("lobby lobby-token"), "r", 50_000);
    println!("{taken} tickets of one client in {:?}", began.elapsed());
    assert_eq!(taken, 45_000);
    assert_eq!(submit(&mut greet("all all-token"), "h", 1_000), 1_000);
    let status = crate::common::process::run(
        api.folder.path(),
        &["status", "--web", &api.pages.address.to_string()],
    );
    println!("{}", status.1);
    let shares = ["5000 tickets refused", "connections gave up their place"];
    assert!(
        shares.iter().all(|share| status.1.contains(share)),
        "{status:?}"
    );
}
