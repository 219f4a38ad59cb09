//! Figures of hosted matches: from SUBMIT of a match's last ticket to GO, with 500 instances of 4 slots,
//! and what 5,000 idle listening clients cost.
#![allow(
    clippy::disallowed_methods,
    reason = "figures are measured in real time"
)]

use std::{
    collections::{HashMap, VecDeque},
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
/// The clients that submit the tickets of a run. The tickets of one connection are submitted one after the
/// other, each when it is on disk.
const CLIENTS: u64 = 8;
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

/// Hosts every match that it is asked to: each begins and ends at once, on a connection of its own. Returns
/// how many ended.
async fn host(address: SocketAddr, name: String) -> usize {
    let mut control = Client::connect(address).await;
    control.ask(&format!("HELLO {name}\n")).await;
    control
        .tell(&format!("INSTANCE {name}.example:1 slots=4\n"))
        .await;
    let mut ready = VecDeque::new();
    let mut games = JoinSet::new();
    let mut ended = 0;
    loop {
        let line = control.line().await;
        if line.is_empty() {
            return ended;
        }
        let words: Vec<&str> = line.split(' ').collect();
        match words[..] {
            ["*", "SESSION", id, ..] => {
                // READY has no reply. When the reply to PING comes, READY has been handled.
                control.send(&format!("READY {id}\nPING\n")).await;
                ready.push_back(id.to_owned());
            }
            ["PONG"] => {
                let id = ready.pop_front().unwrap();
                games.spawn(play(address, name.clone(), id));
            }
            _ => {}
        }
        while let Some(game) = games.try_join_next() {
            game.unwrap();
            ended += 1;
        }
    }
}

/// Plays one match.
async fn play(address: SocketAddr, name: String, id: String) {
    let mut game = Client::connect(address).await;
    let hello = game.ask(&format!("HELLO {name} match={id}\n")).await;
    assert!(hello.starts_with("HELLO"), "{id}: {hello}");
    let end = game.ask("START\nEND 0\n").await;
    assert!(end.starts_with(&format!("END {id} ")), "{id}: {end}");
}

/// A GO that a client got: the match and the player.
type Call = (String, String, Instant);

/// A client that submits every [`CLIENTS`]th ticket of a run, and forwards each GO. Returns when it submitted
/// each player.
async fn lobby(
    address: SocketAddr,
    (run, own): (u64, u64),
    (rate, seconds): (u64, u64),
    calls: mpsc::UnboundedSender<Call>,
) -> HashMap<String, Instant> {
    let stream = TcpStream::connect(address).await.unwrap();
    stream.set_nodelay(true).unwrap();
    let (reader, mut writer) = stream.into_split();
    tokio::spawn(async move {
        let mut lines = BufReader::new(reader).lines();
        while let Ok(Some(line)) = lines.next_line().await {
            assert!(!line.starts_with("ERROR"), "{line}");
            let words: Vec<&str> = line.split(' ').collect();
            if let ["*", "GO", id, _, _, player] = words[..] {
                let _ = calls.send((id.to_owned(), player.to_owned(), Instant::now()));
            }
        }
    });
    let hello = format!("HELLO lobby{run}-{own}\nLISTEN\n");
    writer.write_all(hello.as_bytes()).await.unwrap();
    let began = Instant::now();
    let mut submitted = HashMap::new();
    for n in (own..(rate * seconds) & !1).step_by(CLIENTS as usize) {
        let at = Duration::from_secs_f64(n as f64 / rate as f64);
        tokio::time::sleep(at.saturating_sub(began.elapsed())).await;
        let player = format!("p{run}-{n}");
        let lines = format!("ENQUEUE duel t{n}\nSEAT {player}\nSUBMIT\n");
        submitted.insert(player, Instant::now());
        writer.write_all(lines.as_bytes()).await.unwrap();
    }
    tokio::time::sleep(Duration::from_secs(20)).await; // for the last pushes
    submitted
}

/// Submits tickets at a rate, and returns the milliseconds from the last SUBMIT of each match to its second GO.
async fn waits(address: SocketAddr, run: u64, rate: u64, seconds: u64) -> Vec<f64> {
    let (sender, mut calls) = mpsc::unbounded_channel();
    let mut clients = JoinSet::new();
    for own in 0..CLIENTS {
        clients.spawn(lobby(address, (run, own), (rate, seconds), sender.clone()));
    }
    let mut at = HashMap::new();
    while let Some(submitted) = clients.join_next().await {
        at.extend(submitted.unwrap());
    }
    let mut matches: HashMap<String, Vec<(String, Instant)>> = HashMap::new();
    while let Ok((id, player, when)) = calls.try_recv() {
        matches.entry(id).or_default().push((player, when));
    }
    let whole = matches.values().filter(|calls| calls.len() == 2);
    let millis = whole.map(|calls| {
        let last = calls.iter().map(|(player, _)| at[player]).max().unwrap();
        let called = calls.iter().map(|(_, when)| *when).max().unwrap();
        (called - last).as_secs_f64() * 1_000.0
    });
    let mut millis: Vec<f64> = millis.collect();
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
        let used = cpu(pid);
        let millis = waits(address, run, rate, seconds).await;
        let busy = (cpu(pid) - used) / seconds as f64;
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
    // Their connections are memory of this process, which others measure.
    let _turn = crate::alone().await;
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
