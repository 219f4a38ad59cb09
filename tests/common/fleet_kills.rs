//! Three daemons on one PostgreSQL database, of which the one that runs the queues is killed or paused again and
//! again, while tickets come in and are cancelled at all of them.
#![allow(
    clippy::disallowed_methods,
    reason = "when a process is killed is measured in real time"
)]

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    io::{BufRead, BufReader, Write},
    net::{SocketAddr, TcpStream},
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    thread,
    time::Duration,
};

use parking_lot::Mutex;
use sqlx::{Connection, PgConnection};
use tempfile::TempDir;

use super::{draw::Draw, postgres::Server, process::Process, submit};

const CONFIG: &str = "
store.lease_seconds = 1
store.journal = \"off\"

[queue.quick]
teams = 2
size = 1
ruleset = \"ctf\"
host = \"none\"
ttl = 86400
";
/// Tickets that are new in each round.
const NEW: usize = 60;
/// The daemon at which a client listens. It is paused, but not killed: what a killed daemon has taken for a client
/// may be lost.
const LISTENER: usize = 2;
/// Far longer than a call takes, also when the holder of the lease is killed.
const PATIENCE: Duration = Duration::from_secs(20);

/// What happened in all rounds.
#[derive(Debug, Default, PartialEq)]
pub struct FleetKills {
    pub killed: usize,
    pub paused: usize,
    /// Tickets whose SUBMIT was answered.
    pub answered: usize,
    pub cancelled: usize,
    pub matched: usize,
    /// Tickets that were answered and are not in the database.
    pub lost: usize,
    /// Tickets in two matches, or cancelled and in one, and matches of another number than two.
    pub twice: usize,
    /// Matched tickets of which the client that listens was not sent the match, or was sent another one.
    pub unheard: usize,
}

/// What the clients share.
#[derive(Default)]
struct Clients {
    addresses: Mutex<Vec<SocketAddr>>,
    answered: AtomicUsize,
    wanted: AtomicUsize,
    ended: AtomicBool,
    deaf: AtomicBool,
    /// The answers to CANCEL, by ticket.
    cancelled: Mutex<BTreeMap<String, String>>,
    /// The matches that the listener was sent, by ticket.
    heard: Mutex<BTreeMap<String, BTreeSet<String>>>,
}

impl Clients {
    /// Sends lines to any daemon, until the last reply is as expected.
    fn ask(&self, draw: &mut Draw, text: &str, good: &[&str]) -> String {
        loop {
            let addresses = self.addresses.lock().clone();
            let reply = once(addresses[draw.below(addresses.len())], text);
            if let Ok(reply) = reply
                && good.iter().any(|good| reply.starts_with(good))
            {
                return reply;
            }
            thread::sleep(Duration::from_millis(20));
        }
    }

    fn submit(&self, draw: &mut Draw) {
        let mut number = 0;
        while !self.ended.load(Ordering::Relaxed) {
            if number >= self.wanted.load(Ordering::Relaxed) {
                thread::sleep(Duration::from_millis(2));
                continue;
            }
            let text = submit("quick", &format!("t{number}"), &format!("p{number}"));
            self.ask(draw, &text, &["QUEUED ", "MATCHED "]);
            self.answered.fetch_add(1, Ordering::Relaxed);
            if number % 5 == 0 {
                let text = format!("CANCEL t{number}\n");
                let reply = self.ask(draw, &text, &["CANCELLED ", "MATCHED "]);
                let ticket = format!("t{number}");
                self.cancelled.lock().insert(ticket, reply);
            }
            number += 1;
        }
    }

    /// Listens at one daemon, and notes what it is sent.
    fn listen(&self, address: SocketAddr) {
        let mut stream = BufReader::new(TcpStream::connect(address).unwrap());
        let timeout = Some(Duration::from_millis(100));
        stream
            .get_mut()
            .write_all(b"HELLO lobby\nLISTEN\n")
            .unwrap();
        stream.get_mut().set_read_timeout(timeout).unwrap();
        let mut line = String::new();
        while !self.deaf.load(Ordering::Relaxed) {
            match stream.read_line(&mut line) {
                Ok(0) => panic!("the listener's daemon has ended"),
                Ok(_) => {}
                Err(_) => continue, // the rest of the line comes later
            }
            let words: Vec<&str> = line.split_whitespace().collect();
            if let ["*", "MATCHED", id, ticket, ..] = words[..] {
                let mut heard = self.heard.lock();
                heard
                    .entry(ticket.to_owned())
                    .or_default()
                    .insert(id.to_owned());
            }
            line.clear();
        }
    }
}

/// Sends HELLO and lines to a daemon, and returns the last reply.
fn once(address: SocketAddr, text: &str) -> std::io::Result<String> {
    let mut stream = BufReader::new(TcpStream::connect(address)?);
    stream.get_mut().set_read_timeout(Some(PATIENCE))?;
    let text = format!("HELLO lobby\n{text}QUIT\n");
    stream.get_mut().write_all(text.as_bytes())?;
    let mut last = String::new();
    for line in stream.lines() {
        last = line?;
    }
    Ok(last)
}

/// The process that holds the lease, and its epoch.
async fn holder(connection: &mut PgConnection) -> (u32, i64) {
    let query = "SELECT holder, epoch FROM leases WHERE name LIKE 'queues%' AND ends_at > clock()";
    loop {
        let row: Option<(String, i64)> = sqlx::query_as(query)
            .fetch_optional(&mut *connection)
            .await
            .unwrap();
        if let Some((holder, epoch)) = row {
            return (holder.split_once('-').unwrap().0.parse().unwrap(), epoch);
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

/// Kills or pauses the daemon that runs the queues this often; `None` where PostgreSQL is not installed.
pub fn chaos(rounds: usize) -> Option<FleetKills> {
    let server = Server::shared()?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    let name = server.unused_name();
    runtime.block_on(server.create(&name));
    let url = server.url(&name);
    let folder = TempDir::new().unwrap();
    fs::write(folder.path().join("evenkeel.toml"), CONFIG).unwrap();
    let variables = [
        ("EVENKEEL_CONFIG", "evenkeel.toml"),
        ("EVENKEEL_STORE_URL", &*url),
    ];
    let start = || Process::start_with(folder.path(), &variables);
    let mut daemons = [start(), start(), start()];
    let clients = Arc::new(Clients::default());
    let tell = |daemons: &[Process; 3]| {
        let addresses = daemons.iter().map(|one| one.address).collect();
        *clients.addresses.lock() = addresses;
    };
    tell(&daemons);
    let (one, other) = (clients.clone(), clients.clone());
    let listens_at = daemons[LISTENER].address;
    let listener = thread::spawn(move || one.listen(listens_at));
    let submitter = thread::spawn(move || other.submit(&mut Draw(rounds as u64)));
    let mut kills = FleetKills::default();
    let mut connection = runtime.block_on(PgConnection::connect(&url)).unwrap();
    for round in 0..rounds {
        let wanted = (round + 1) * NEW;
        clients.wanted.store(wanted, Ordering::Relaxed);
        let some = wanted - NEW / 2;
        wait(|| clients.answered.load(Ordering::Relaxed) >= some);
        let (pid, epoch) = runtime.block_on(holder(&mut connection));
        let at = daemons
            .iter()
            .position(|one| one.child.id() == pid)
            .unwrap();
        if round % 2 == 0 && at != LISTENER {
            daemons[at].kill();
            kills.killed += 1;
            daemons[at] = start();
            tell(&daemons);
        } else {
            daemons[at].signal("-STOP");
            kills.paused += 1;
            // Longer than its lease: another one has taken over.
            wait(|| runtime.block_on(holder(&mut connection)).1 > epoch);
            daemons[at].signal("-CONT");
        }
        wait(|| clients.answered.load(Ordering::Relaxed) >= wanted);
    }
    let has_all = |connection: &mut PgConnection| {
        let heard = clients.heard.lock();
        runtime
            .block_on(matched(connection))
            .keys()
            .all(|ticket| heard.contains_key(ticket))
    };
    clients.ended.store(true, Ordering::Relaxed);
    submitter.join().unwrap();
    wait(|| runtime.block_on(waiting(&mut connection)) <= 1);
    let has_heard = patiently(|| has_all(&mut connection));
    clients.deaf.store(true, Ordering::Relaxed);
    listener.join().unwrap();
    runtime.block_on(count(&mut connection, &clients, &mut kills));
    assert!(has_heard, "{kills:?}");
    Some(kills)
}

/// The number of tickets that wait for a match.
async fn waiting(connection: &mut PgConnection) -> i64 {
    let query = sqlx::query_scalar("SELECT count(*) FROM tickets WHERE state = 'queued'");
    query.fetch_one(connection).await.unwrap()
}

/// The matches of the tickets that are matched.
async fn matched(connection: &mut PgConnection) -> BTreeMap<String, i64> {
    let query = "SELECT ticket, match_id FROM tickets WHERE state = 'matched'";
    let rows: Vec<(String, i64)> = sqlx::query_as(query).fetch_all(connection).await.unwrap();
    rows.into_iter().collect()
}

async fn count(connection: &mut PgConnection, clients: &Clients, kills: &mut FleetKills) {
    kills.answered = clients.answered.load(Ordering::Relaxed);
    let number = |query: &'static str| sqlx::query_scalar::<_, i64>(query);
    let stored = number("SELECT count(*) FROM tickets")
        .fetch_one(&mut *connection)
        .await
        .unwrap();
    kills.lost = kills.answered.saturating_sub(stored as usize);
    let not_two = "SELECT count(*) FROM (SELECT match_id FROM formed_seats GROUP BY match_id HAVING count(*) <> 2) wrong";
    let in_two = "SELECT count(*) FROM (SELECT ticket FROM formed_seats GROUP BY ticket HAVING count(*) <> 1) wrong";
    for query in [not_two, in_two] {
        let wrong = number(query).fetch_one(&mut *connection).await.unwrap();
        kills.twice += wrong as usize;
    }
    let matched = matched(connection).await;
    kills.matched = matched.len();
    for (ticket, reply) in clients.cancelled.lock().iter() {
        let is_cancelled = reply.starts_with("CANCELLED ");
        kills.cancelled += usize::from(is_cancelled);
        kills.twice += usize::from(is_cancelled == matched.contains_key(ticket));
    }
    let heard = clients.heard.lock();
    for (ticket, id) in &matched {
        let own = BTreeSet::from([id.to_string()]);
        if heard.get(ticket) != Some(&own) {
            eprintln!("{ticket} is in {id}, heard {:?}", heard.get(ticket));
            kills.unheard += 1;
        }
    }
}

fn wait(done: impl FnMut() -> bool) {
    assert!(patiently(done), "it does not happen");
}

fn patiently(mut done: impl FnMut() -> bool) -> bool {
    for _ in 0..3_000 {
        if done() {
            return true;
        }
        thread::sleep(Duration::from_millis(20));
    }
    false
}
