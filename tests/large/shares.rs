//! One client brings new rulesets and players as fast as it can, beside an honest one. With the limits of the daemon, its
//! memory stays small; without them, the honest client's weights are still there at once.
//!
//! `EVENKEEL_ATTACK_SECONDS=60` lets it last for a minute.
#![allow(
    clippy::disallowed_methods,
    reason = "how long others wait is measured in real time"
)]

use std::{
    fmt::Write as _,
    fs,
    io::{BufReader, Write as _},
    net::{SocketAddr, TcpStream},
    sync::atomic::{AtomicBool, AtomicU64, Ordering},
    thread,
    time::{Duration, Instant, SystemTime, UNIX_EPOCH},
};

use serde_json::{Value, json};

use crate::{
    PROCESS,
    common::{
        api::Api,
        http::HttpAnswer,
        process::{ask, connect_to, line, run},
    },
    fleet::wish,
};

/// What the attacker sends on each of its connections.
#[derive(Clone, Copy, PartialEq)]
enum Attack {
    /// A new ruleset in each match.
    Rulesets,
    /// Many new players in each match.
    Players,
    /// Many more new players in each match, over HTTP.
    Reports,
}

/// What the attack and the honest client have seen.
struct Seen {
    matches: u64,
    /// The most memory of the daemon, in bytes.
    peak: u64,
    /// The longest time from END to the weights, and the median.
    longest: Duration,
    median: Duration,
}

/// Attacks a daemon for so long.
fn attack(limits: &str, attack: Attack, lasts: Duration) -> Seen {
    let toml = format!("[rating]\nmin_seconds = 0\n[limits]\n{limits}\n");
    let api = Api::start(&toml);
    let (over, sent) = (AtomicBool::new(false), AtomicU64::new(0));
    let (mut waits, mut peak) = (Vec::new(), 0);
    thread::scope(|all| {
        for connection in 0..8 {
            let (over, sent) = (&over, &sent);
            let (lines, pages) = (api.pages.daemon.address, api.pages.address);
            all.spawn(move || match attack {
                Attack::Reports => report(pages, connection, over, sent),
                _ => bring(lines, attack, connection, over, sent),
            });
        }
        let began = Instant::now();
        let mut number = 0;
        while began.elapsed() < lasts {
            waits.push(honest(&api, number));
            number += 1;
            peak = peak.max(resident(api.pages.daemon.child.id()));
            thread::sleep(Duration::from_millis(500));
        }
        over.store(true, Ordering::Relaxed);
    });
    waits.sort_unstable();
    Seen {
        matches: sent.into_inner(),
        peak,
        longest: waits[waits.len() - 1],
        median: waits[waits.len() / 2],
    }
}

/// Reports twenty matches of two hundred new players at a time.
fn report(pages: SocketAddr, connection: u32, over: &AtomicBool, sent: &AtomicU64) {
    for number in 0.. {
        let game = |at: u32| {
            let team = |team: u32| {
                let player = |player| format!("r{connection}x{number}x{at}x{team}x{player}");
                (0..100).map(player).collect::<Vec<String>>()
            };
            json!({"ruleset": "ctf", "teams": [team(0), team(1)], "winner": 0})
        };
        let all: Vec<Value> = (0..20).map(game).collect();
        let body = json!(all).to_string();
        let mut stream = TcpStream::connect(pages).unwrap();
        // The daemon may refuse before it has read everything.
        let _ = write!(
            stream,
            "POST /v1/matches HTTP/1.1\r\nHost: {pages}\r\nConnection: close\r\nAuthorization: Bearer other-token\r\n\
             Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        );
        let answer = HttpAnswer::read(stream);
        match answer.status {
            201 => sent.fetch_add(20, Ordering::Relaxed),
            429 => 0,
            _ => panic!("{}", answer.body),
        };
        if over.load(Ordering::Relaxed) {
            return;
        }
    }
}

/// Plays one match after the other.
fn bring(lines: SocketAddr, attack: Attack, connection: u32, over: &AtomicBool, sent: &AtomicU64) {
    let mut stream = connect_to(lines);
    ask(&mut stream, "HELLO other other-token\n");
    for number in 0.. {
        let mut lines = match attack {
            Attack::Rulesets => format!("GAME type{connection}x{number}\n"),
            Attack::Players | Attack::Reports => "GAME ctf\n".to_owned(),
        };
        let players = if attack == Attack::Rulesets { 2 } else { 64 };
        for player in 0..players {
            let unique = match attack {
                // Many equal games within a second are refused.
                Attack::Rulesets => format!("k{connection}x{}x{player}", number % 64),
                Attack::Players | Attack::Reports => format!("p{connection}x{number}x{player}"),
            };
            let _ = writeln!(lines, "JOIN {unique} team={}", player % 2);
        }
        let said = play(&mut stream, &lines);
        assert!(said.starts_with("END "), "{said}");
        sent.fetch_add(1, Ordering::Relaxed);
        if over.load(Ordering::Relaxed) {
            return;
        }
    }
}

/// Plays a game of these players. Returns the answer to END.
fn play(stream: &mut BufReader<TcpStream>, game: &str) -> String {
    let until = |stream: &mut BufReader<TcpStream>, lines: &str, start: &str| {
        let mut said = ask(stream, lines);
        while !said.starts_with(start) {
            assert!(!said.is_empty() && !said.starts_with("ERROR"), "{said}");
            said = line(stream);
        }
        said
    };
    until(stream, &format!("{game}START\nPING\n"), "PONG");
    // A game of no time is not rated.
    thread::sleep(Duration::from_millis(3));
    until(stream, "SCORE 0 1\nEND\n", "END ")
}

/// Plays an honest match of new players. Returns how long it takes until they have weights.
fn honest(api: &Api, number: u32) -> Duration {
    let (one, other) = (format!("honest{number}a"), format!("honest{number}b"));
    let mut stream = api.pages.daemon.connect();
    ask(&mut stream, "HELLO game-1 game-token\n");
    let game = format!("GAME arena\nJOIN {one} team=0\nJOIN {other} team=1\n");
    let said = play(&mut stream, &game);
    assert!(!said.contains("unrated"), "{said}");
    let began = Instant::now();
    loop {
        let path = format!("/v1/ratings?ids={one}&ruleset=arena");
        let (status, answer) = api.call("asker", "GET", &path, &Value::Null);
        if status == 200 && answer["ratings"][0]["games"] == 1 {
            return began.elapsed();
        }
        assert!(began.elapsed() < Duration::from_secs(60), "{answer}");
        thread::sleep(Duration::from_millis(20));
    }
}

/// The memory of a process, in bytes.
fn resident(pid: u32) -> u64 {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kib = line.and_then(|rest| rest.split_whitespace().next()?.parse::<u64>().ok());
    kib.unwrap() * 1_024
}

#[test]
#[ignore = "takes a minute: `cargo test --test large -- --ignored`"]
fn one_client_cannot_fill_the_memory_with_what_is_new() {
    let _turn = PROCESS.blocking_lock();
    let lasts = Duration::from_secs(wish("EVENKEEL_ATTACK_SECONDS", 15));
    let none = "new_rulesets_per_hour = 0\nnew_players_per_hour = 0";
    for (limits, kind, what) in [
        ("", Attack::Rulesets, "rulesets"),
        ("", Attack::Players, "players"),
        ("", Attack::Reports, "players over HTTP"),
        (none, Attack::Rulesets, "rulesets without a limit"),
        (none, Attack::Players, "players without a limit"),
        (none, Attack::Reports, "players over HTTP without a limit"),
    ] {
        let seen = attack(limits, kind, lasts);
        let (matches, megabytes) = (seen.matches, seen.peak / 1_000_000);
        let (longest, median) = (seen.longest.as_millis(), seen.median.as_millis());
        println!(
            "{what}: {matches} matches in {} s, at most {megabytes} MB; weights after {median} ms, at most {longest} ms",
            lasts.as_secs()
        );
        if limits.is_empty() {
            assert!(megabytes < 500, "{what}: {megabytes} MB");
        }
        assert!(median < 1_000, "{what}: {median} ms");
    }
}

/// The most that a client waits for its budget to be used up.
const LONG: Duration = Duration::from_secs(180);

#[test]
#[ignore = "takes a minute: `cargo test --test large -- --ignored`"]
fn late_matches_over_http_use_the_budget_of_their_client() {
    let _turn = PROCESS.blocking_lock();
    let api = Api::start("");
    let mut lines = String::new();
    for number in 0..20_000_i64 {
        let player = |seat: i64| format!("p{}", (7 * number + 31 * seat) % 200);
        let side = |team: i64| {
            let seat = move |at| json!({"id": player(4 * team + at), "team": team});
            (0..4).map(seat).collect::<Vec<Value>>()
        };
        // One after the other, in the last days.
        let ago = 20_000 - number;
        let start = now() - 12_000 * ago - 600_000;
        let players = [side(0), side(1)].concat();
        let game = json!({"evenkeel": 1, "start": start, "end": start + 600_000, "game": "ctf",
            "scores": [number % 3, 1], "players": players});
        let _ = writeln!(lines, "{game}");
    }
    fs::write(api.folder.path().join("all.jsonl"), lines).unwrap();
    let (code, _, why) = run(api.folder.path(), &["ingest", "all.jsonl"]);
    assert_eq!(code, 0, "{why}");
    let late = |hours: i64| {
        let start = now() - 300 * 86_400_000 + hours * 3_600_000;
        json!({"game": "ctf", "start": start, "end": start + 600_000, "scores": [1, 0],
            "players": [{"id": "p1", "team": 0}, {"id": "p2", "team": 1}]})
    };
    let post = |client: &str, body: &Value| api.call(client, "POST", "/v1/matches", body);
    let began = Instant::now();
    let mut hours = 0;
    let refused = loop {
        let (status, answer) = post("other", &late(hours));
        if status == 429 {
            break answer["detail"].as_str().unwrap().to_owned();
        }
        assert_eq!(status, 201, "{answer}");
        assert!(
            began.elapsed() < LONG,
            "{hours} late matches cost less than the budget"
        );
        hours += 1;
        thread::sleep(Duration::from_millis(250));
    };
    println!(
        "refused after {hours} late matches and {} s: {refused}",
        began.elapsed().as_secs()
    );
    for part in ["client other", "10 s a minute", "try again in", "ingest"] {
        assert!(refused.contains(part), "{part}: {refused}");
    }
    let now = json!({"ruleset": "ctf", "teams": [["p1"], ["p2"]], "winner": 0});
    assert_eq!(post("other", &now).0, 201, "it is not late");
    assert_eq!(
        post("club", &late(0)).0,
        201,
        "another client has a budget of its own"
    );
}

/// Milliseconds since 1970.
fn now() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    since.as_millis() as i64
}
