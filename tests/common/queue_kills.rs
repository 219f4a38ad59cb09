//! A daemon that is killed again and again while tickets come in, and a client that counts what it was
//! answered.
#![allow(
    clippy::disallowed_methods,
    reason = "when a process is killed is measured in real time"
)]

use std::{
    collections::BTreeMap,
    fs,
    io::{BufRead, Write},
    sync::mpsc,
    thread,
    time::{Duration, Instant},
};

use tempfile::TempDir;

use super::{
    draw::Draw,
    process::{HANG, Process},
};

/// Tickets that are new in each round.
const NEW: usize = 40;
const CONFIG: &str = "
[queue.quick]
teams = 2
size = 1
ruleset = \"ctf\"
host = \"none\"
ttl = 86400
";

/// What happened in all rounds.
#[derive(Debug, Default)]
pub struct QueueKills {
    /// Tickets that were sent.
    pub sent: usize,
    /// Tickets whose SUBMIT was answered before a kill.
    pub answered: usize,
    /// Of those, how many the daemon did not know in the end, or not in the match that it had named.
    pub lost: usize,
    /// Tickets in a match that does not consist of two.
    pub twice: usize,
    /// Matches in the end.
    pub matches: usize,
}

/// Kills a daemon this often, each time while tickets of one player come in, half of them twice.
pub fn kill_during_submits(rounds: usize) -> QueueKills {
    let folder = TempDir::new().unwrap();
    fs::write(folder.path().join("evenkeel.toml"), CONFIG).unwrap();
    let start = || Process::start_with(folder.path(), &[("EVENKEEL_CONFIG", "evenkeel.toml")]);
    let mut draw = Draw(rounds as u64);
    let mut kills = QueueKills::default();
    // The last answer to each ticket.
    let mut answers: BTreeMap<String, String> = BTreeMap::new();
    for _ in 0..rounds {
        let mut daemon = start();
        // Those of the round before are sent again, answered or not.
        let first = kills.sent.saturating_sub(NEW);
        let mut lines = "HELLO one\n".to_owned();
        for n in first..kills.sent + NEW {
            lines += &submit(n);
        }
        kills.sent += NEW;
        let mut stream = daemon.connect();
        let mut writer = stream.get_ref().try_clone().unwrap();
        let writing = thread::spawn(move || writer.write_all(lines.as_bytes()));
        let (heard, hearing) = mpsc::channel();
        thread::spawn(move || {
            let mut line = String::new();
            while stream.read_line(&mut line).is_ok_and(|read| read > 0) && line.ends_with('\n') {
                let _ = heard.send(std::mem::take(&mut line).trim_end().to_owned());
            }
        });
        // Killed after a random answer, HELLO's included, and a random moment.
        for _ in 0..=draw.below(kills.sent - first) {
            note(&mut answers, &hearing.recv_timeout(HANG).unwrap());
        }
        thread::sleep(Duration::from_micros(draw.below(2_000) as u64));
        daemon.kill();
        let _ = writing.join().unwrap();
        for line in hearing {
            note(&mut answers, &line);
        }
    }
    kills.answered = answers.len();
    count(&start(), &answers, &mut kills);
    kills
}

fn submit(n: usize) -> String {
    super::submit("quick", &format!("t{n}"), &format!("p{n}"))
}

fn note(answers: &mut BTreeMap<String, String>, line: &str) {
    let words: Vec<&str> = line.split(' ').collect();
    match words[..] {
        ["QUEUED", ticket, ..] => {
            let before = answers.insert(ticket.to_owned(), "QUEUED".to_owned());
            assert!(before.is_none_or(|before| before == "QUEUED"), "{line}");
        }
        ["MATCHED", id, ticket] => {
            let before = answers.insert(ticket.to_owned(), id.to_owned());
            assert!(
                before.is_none_or(|before| before == "QUEUED" || before == id),
                "{line}"
            );
        }
        ["HELLO", ..] => {}
        _ => panic!("{line}"),
    }
}

/// Sends everything once more, waits until nobody finds a match any more, and counts.
fn count(daemon: &Process, answers: &BTreeMap<String, String>, kills: &mut QueueKills) {
    let tickets: String = (0..kills.sent).map(|n| format!("TICKET t{n}\n")).collect();
    let known = daemon.ask(&format!("HELLO one\n{tickets}"));
    for (n, line) in known.lines().skip(1).enumerate() {
        let answered = answers.contains_key(&format!("t{n}"));
        kills.lost += usize::from(answered && line.starts_with("ERROR"));
    }
    let all: String = (0..kills.sent).map(submit).collect();
    let _ = daemon.ask(&format!("HELLO one\n{all}"));
    let began = Instant::now();
    let states = loop {
        let said = daemon.ask(&format!("HELLO one\n{tickets}"));
        let states: Vec<String> = said.lines().skip(1).map(str::to_owned).collect();
        let waiting = states
            .iter()
            .filter(|state| state.starts_with("QUEUED"))
            .count();
        if waiting <= kills.sent % 2 {
            break states;
        }
        assert!(began.elapsed() < HANG, "{waiting} tickets find no match");
    };
    let mut matches: BTreeMap<String, usize> = BTreeMap::new();
    for (n, state) in states.iter().enumerate() {
        let Some(rest) = state.strip_prefix("MATCHED ") else {
            continue;
        };
        let id = rest.split(' ').next().unwrap().to_owned();
        let told = answers.get(&format!("t{n}"));
        kills.lost += usize::from(told.is_some_and(|told| told != "QUEUED" && *told != id));
        *matches.entry(id).or_default() += 1;
    }
    kills.matches = matches.len();
    kills.twice = matches.values().filter(|&&tickets| tickets != 2).sum();
}
