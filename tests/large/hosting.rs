//! Figures of hosted matches: from SUBMIT of a match's last ticket to GO, with 500 instances of 4 slots,
//! and what 5,000 idle listening clients cost.
#![allow(
    clippy::disallowed_methods,
    reason = "figures are measured in real time"
)]

use std::{
    collections::HashMap,
    fs,
    net::SocketAddr,
    path::Path,
    time::{Duration, Instant},
};

use tempfile::TempDir;
use tokio::{
    io::{AsyncBufReadExt, AsyncWriteExt, BufReader},
    net::TcpStream,
    sync::mpsc,
    task::JoinSet,
};

use crate::common::{Client, process::Process};

const INSTANCES: usize = 500;
const LISTENERS: usize = 5_000;
/// Tickets a second, and for how many seconds.
const RATES: [(u64, u64); 4] = [(1, 40), (50, 20), (200, 10), (400, 10)];
const CONFIG: &str = r#"
[server]
max_connections = 20000
resume_grace_seconds = 0

[coordinator]
heartbeat_seconds = 3600

[queue.duel]
teams = 2
size = 1
ruleset = "baseoa.ctf"
"#;

fn daemon(folder: &Path) -> Process {
    fs::write(folder.join("evenkeel.toml"), CONFIG).unwrap();
    Process::start_with(
        folder,
        &[
            ("EVENKEEL_CONFIG", "evenkeel.toml"),
            ("EVENKEEL_LOG_FILTER", "info,evenkeel::session=warn"),
        ],
    )
}

/// Hosts every match that it is asked to: each begins and ends at once, on a connection of its own.
async fn host(address: SocketAddr, name: String) {
    let mut control = Client::connect(address).await;
    control.ask(&format!("HELLO {name}\n")).await;
    let region = format!("INSTANCE {name}.example:1 slots=4\n");
    control.tell(&region).await;
    let mut games = JoinSet::new();
    loop {
        let line = control.line().await;
        if line.is_empty() {
            return;
        }
        let words: Vec<&str> = line.split(' ').collect();
        if let ["*", "SESSION", id, ..] = words[..] {
            let id = id.to_owned();
            control.send(&format!("READY {id}\n")).await;
            let name = name.clone();
            games.spawn(async move {
                let mut game = Client::connect(address).await;
                // READY may still be on its way.
                let hello = format!("HELLO {name} match={id}\n");
                for _ in 0..100 {
                    if game.ask(&hello).await.starts_with("HELLO") {
                        let end = game.ask("START\nEND 0\n").await;
                        assert!(end.starts_with(&format!("END {id} ")), "{end}");
                        return;
                    }
                    tokio::time::sleep(Duration::from_millis(20)).await;
                    game = Client::connect(address).await;
                }
            });
        }
        while games.try_join_next().is_some() {}
    }
}

/// Submits tickets at a rate, and returns the milliseconds from the last SUBMIT of each match to its GO.
async fn waits(address: SocketAddr, run: u64, rate: u64, seconds: u64) -> Vec<f64> {
    let stream = TcpStream::connect(address).await.unwrap();
    stream.set_nodelay(true).unwrap();
    let (reader, mut writer) = stream.into_split();
    let (sent, mut submits) = mpsc::unbounded_channel();
    let lobby = format!("HELLO lobby{run}\nLISTEN\n");
    writer.write_all(lobby.as_bytes()).await.unwrap();
    let count = (rate * seconds) & !1;
    let sending = tokio::spawn(async move {
        let began = Instant::now();
        for n in 0..count {
            let at = Duration::from_secs_f64(n as f64 / rate as f64);
            tokio::time::sleep(at.saturating_sub(began.elapsed())).await;
            let player = format!("p{run}-{n}");
            let lines = format!("ENQUEUE duel t{n}\nSEAT {player}\nSUBMIT\n");
            sent.send((player, Instant::now())).unwrap();
            writer.write_all(lines.as_bytes()).await.unwrap();
        }
        writer
    });
    let mut lines = BufReader::new(reader).lines();
    let mut at: HashMap<String, Instant> = HashMap::new();
    let mut matches: HashMap<String, (usize, Option<Instant>)> = HashMap::new();
    let mut millis = Vec::new();
    while millis.len() < count as usize / 2 {
        let Ok(line) = tokio::time::timeout(Duration::from_secs(20), lines.next_line()).await
        else {
            break; // the figure shows how many matches are missing
        };
        let line = line.unwrap().unwrap();
        assert!(!line.starts_with("ERROR"), "{line}");
        let words: Vec<&str> = line.split(' ').collect();
        let ["*", "GO", id, _, _, player] = words[..] else {
            continue;
        };
        let now = Instant::now();
        while let Ok((player, when)) = submits.try_recv() {
            at.insert(player, when);
        }
        let (seen, last) = matches.entry(id.to_owned()).or_default();
        *seen += 1;
        *last = (*last).max(at.get(player).copied());
        if *seen == 2 {
            millis.push((now - last.unwrap()).as_secs_f64() * 1_000.0);
        }
    }
    drop(sending.await.unwrap());
    millis.sort_by(f64::total_cmp);
    millis
}

/// The processor seconds that a process has used.
fn cpu(pid: u32) -> f64 {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    let fields: Vec<&str> = stat
        .rsplit_once(')')
        .unwrap()
        .1
        .split_whitespace()
        .collect();
    let ticks: f64 = [11, 12]
        .iter()
        .map(|at| fields[*at].parse::<f64>().unwrap())
        .sum();
    ticks / 100.0
}

/// The memory of a process, in MiB.
fn memory(pid: u32) -> f64 {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmRSS:"))
        .unwrap();
    line.split_whitespace()
        .next()
        .unwrap()
        .parse::<f64>()
        .unwrap()
        / 1_024.0
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "measures: `cargo test --release --test large -- --ignored --nocapture hosting`"]
async fn from_the_last_submit_to_go() {
    let folder = TempDir::new().unwrap();
    let daemon = daemon(folder.path());
    let (address, pid) = (daemon.address, daemon.child.id());
    let mut instances = JoinSet::new();
    for n in 0..INSTANCES {
        instances.spawn(host(address, format!("i{n}")));
    }
    tokio::time::sleep(Duration::from_secs(2)).await;
    println!("{INSTANCES} instances with 4 slots: {:.0} MiB", memory(pid));
    for (run, (rate, seconds)) in (0..).zip(RATES) {
        let (began, used) = (Instant::now(), cpu(pid));
        let millis = waits(address, run, rate, seconds).await;
        let busy = (cpu(pid) - used) / began.elapsed().as_secs_f64();
        let at = |share: f64| millis[((millis.len() - 1) as f64 * share) as usize];
        println!(
            "{rate} tickets a second: {} of {} matches, SUBMIT to GO p50 {:.0} ms, p99 {:.0} ms, {:.0} % of a core",
            millis.len(),
            rate * seconds / 2,
            at(0.5),
            at(0.99),
            busy * 100.0
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "measures: `cargo test --release --test large -- --ignored --nocapture hosting`"]
async fn five_thousand_idle_listeners() {
    let folder = TempDir::new().unwrap();
    let daemon = daemon(folder.path());
    let (address, pid) = (daemon.address, daemon.child.id());
    let before = memory(pid);
    let mut clients = Vec::new();
    for n in 0..LISTENERS {
        let mut client = Client::connect(address).await;
        client.ask(&format!("HELLO c{n}\n")).await;
        client.tell("LISTEN\n").await;
        clients.push(client);
    }
    let grown = memory(pid) - before;
    let used = cpu(pid);
    tokio::time::sleep(Duration::from_secs(10)).await;
    println!(
        "{LISTENERS} listeners: {grown:.0} MiB, {:.1} % of a core",
        (cpu(pid) - used) * 10.0
    );
}
