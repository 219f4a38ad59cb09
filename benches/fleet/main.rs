//! Several daemons on one database: how many matches they record, how long END and SUBMIT take, how many tickets find
//! a match, and how soon a weight is known at another daemon. And what they wait for meanwhile.
//!
//! `cargo bench --bench fleet` takes about six minutes; `cargo bench --bench fleet -- weights` only measures what the
//! word names: `matches`, `submit`, `tickets`, `partitions` or `weights`. Daemons and the database are processes of their own on
//! this machine. The PostgreSQL server is a new one with its default durability. Without PostgreSQL, only SQLite is
//! measured.

#![allow(clippy::unwrap_used)]
#![allow(clippy::disallowed_methods, reason = "a benchmark measures time")]

#[path = "../../tests/common/authority.rs"]
#[allow(dead_code)] // tests use it
mod authority;
mod load;
#[path = "../../tests/common/postgres.rs"]
#[allow(dead_code)] // tests use the rest
mod postgres;
#[path = "../../tests/common/process.rs"]
#[allow(dead_code)] // tests use the rest
mod process;
mod waits;

use std::{
    fs,
    net::SocketAddr,
    thread,
    time::{Duration, Instant},
};

use load::{Peer, percentile};
use postgres::Server;
use process::Process;
use sqlx::Connection;
use tempfile::TempDir;
use tokio::runtime::Runtime;
use waits::Waits;

/// How long each row is measured.
const ROW: Duration = Duration::from_secs(5);
/// Game servers, or clients of the queue, at all daemons together.
const CLIENTS: [usize; 2] = [8, 48];
const CONFIG: &str = r#"
[rating]
min_seconds = 0

[log]
filter = "warn,evenkeel::daemon=info"
"#;

/// Queues of duels, each in a partition of its own.
fn queues(partitions: usize) -> String {
    let queue = |number: usize| {
        format!(
            "[queue.duel{number}]\nteams = 2\nsize = 1\nruleset = \"ctf\"\nhost = \"none\"\npartition = \"p{number}\"\n"
        )
    };
    (0..partitions).map(queue).collect()
}

/// Daemons on one new database, which is removed with them.
struct Fleet<'a> {
    daemons: Vec<Process>,
    /// The server and the URL of the database; `None` on SQLite.
    server: Option<(&'a Server, String)>,
    _folder: TempDir,
}

impl<'a> Fleet<'a> {
    fn start(
        runtime: &Runtime,
        server: Option<&'a Server>,
        count: usize,
        partitions: usize,
    ) -> Self {
        let folder = TempDir::new().unwrap();
        let config = format!("{CONFIG}\n{}", queues(partitions));
        fs::write(folder.path().join("evenkeel.toml"), config).unwrap();
        let server = server.map(|server| {
            let name = server.unused_name();
            runtime.block_on(server.create(&name));
            (server, server.url(&name))
        });
        let start = |number: usize| {
            let journal = format!("games{number}");
            let url = server.as_ref().map_or("", |(_, url)| url);
            let variables = [
                ("EVENKEEL_CONFIG", "evenkeel.toml"),
                ("EVENKEEL_STORE_URL", url),
                ("EVENKEEL_STORE_JOURNAL", &journal),
            ];
            Process::start_with(folder.path(), &variables)
        };
        let daemons: Vec<Process> = (0..count).map(start).collect();
        for daemon in &daemons {
            // Until it has the queues, or knows who has.
            while !Peer::open(daemon.address, "asks")
                .ask("QUEUES")
                .starts_with("QUEUES ")
            {
                thread::sleep(Duration::from_millis(20));
            }
        }
        Self {
            daemons,
            server,
            _folder: folder,
        }
    }

    fn name(&self) -> String {
        let count = self.daemons.len();
        match self.server {
            Some(_) => format!(
                "PostgreSQL, {count} daemon{}",
                if count == 1 { "" } else { "s" }
            ),
            None => "SQLite, 1 daemon".to_owned(),
        }
    }

    /// The daemon that runs the queues.
    fn holder(&self, runtime: &Runtime) -> usize {
        let Some((_, url)) = &self.server else {
            return 0;
        };
        let query = "SELECT holder FROM leases WHERE name LIKE 'queue%' AND ends_at > clock()";
        let holder: String = runtime.block_on(async {
            let mut db = sqlx::PgConnection::connect(url).await.unwrap();
            sqlx::query_scalar(query).fetch_one(&mut db).await.unwrap()
        });
        let pid: u32 = holder.split('-').next().unwrap().parse().unwrap();
        let at = self.daemons.iter().position(|one| one.child.id() == pid);
        at.unwrap()
    }

    /// Lets so many clients work at all daemons for the length of a row. Returns the seconds of each thing they did,
    /// and what was waited for.
    fn load(
        &self,
        clients: usize,
        work: impl Fn(&mut Peer, usize, usize) -> f64 + Sync,
    ) -> (Vec<f64>, Waits) {
        self.load_at_most(f64::INFINITY, clients, work)
    }

    /// The same, but the clients together do no more than `rate` things a second.
    fn load_at_most(
        &self,
        rate: f64,
        clients: usize,
        work: impl Fn(&mut Peer, usize, usize) -> f64 + Sync,
    ) -> (Vec<f64>, Waits) {
        let since = Instant::now();
        let until = since + ROW;
        let addresses: Vec<SocketAddr> = self.daemons.iter().map(|one| one.address).collect();
        let run = &|client: usize| {
            let mut peer = Peer::open(addresses[client % addresses.len()], &format!("c{client}"));
            let mut seconds = Vec::new();
            while Instant::now() < until {
                let turn = (client + clients * seconds.len()) as f64 / rate;
                let turn = since + Duration::from_secs_f64(turn);
                thread::sleep(turn.saturating_duration_since(Instant::now()));
                seconds.push(work(&mut peer, client, seconds.len()));
            }
            seconds
        };
        thread::scope(|scope| {
            let threads: Vec<_> = (0..clients)
                .map(|client| scope.spawn(move || run(client)))
                .collect();
            let url = self.server.as_ref().map(|(_, url)| url.as_str());
            let waits = Waits::watch(&self.daemons, url, until);
            let seconds = threads.into_iter().flat_map(|one| one.join().unwrap());
            (seconds.collect(), waits)
        })
    }
}

fn main() {
    let words: Vec<String> = std::env::args()
        .skip(1)
        .filter(|word| !word.starts_with('-'))
        .collect();
    let wanted = |name: &str| words.is_empty() || words.iter().any(|word| name.contains(word));
    let runtime = Runtime::new().unwrap();
    let server = Server::start_durable();
    let mut places = vec![(None, 1)];
    match &server {
        Some(server) => places.extend([1, 2, 4].map(|count| (Some(server), count))),
        None => {
            println!("skipped: only SQLite is measured, there is no PostgreSQL on this machine")
        }
    }
    if wanted("matches") {
        println!(
            "| database | game servers | matches a second | END p50 | p99 | p99 at half load | cost of 1,000 | what was waited for |"
        );
        println!("| --- | ---: | ---: | ---: | ---: | ---: | --- | --- |");
        rows(&runtime, &places, load::game);
    }
    if wanted("tickets") {
        println!(
            "\n| database | clients | tickets submitted a second | SUBMIT p50 | p99 | p99 at half load | cost of 1,000 | what was waited for |"
        );
        println!("| --- | ---: | ---: | ---: | ---: | ---: | --- | --- |");
        rows(&runtime, &places, |peer, client, number| {
            load::submit(peer, 0, client, number)
        });
    }
    if let Some(server) = &server
        && wanted("partitions")
    {
        partitions(&runtime, server);
    }
    if wanted("submit") {
        submits(&runtime, &places);
    }
    if let Some(server) = &server
        && wanted("weights")
    {
        weights(&Fleet::start(&runtime, Some(server), 2, 1));
    }
}

/// Prints how much of something is done by each number of clients on each database.
fn rows(
    runtime: &Runtime,
    places: &[(Option<&Server>, usize)],
    work: impl Fn(&mut Peer, usize, usize) -> f64 + Sync,
) {
    for (server, count) in places {
        for clients in CLIENTS {
            let fleet = Fleet::start(runtime, *server, *count, 1);
            let (mut seconds, waits) = fleet.load(clients, &work);
            let name = fleet.name();
            drop(fleet); // what it has still to learn would slow down the next one
            let rate = seconds.len() as f64 / ROW.as_secs_f64();
            let fleet = Fleet::start(runtime, *server, *count, 1);
            let (mut half, _) = fleet.load_at_most(rate / 2.0, clients, &work);
            println!(
                "| {name} | {clients} | {rate:.0} | {:.1} ms | {:.1} ms | {:.1} ms | {} | {waits} |",
                1e3 * percentile(&mut seconds, 0.5),
                1e3 * percentile(&mut seconds, 0.99),
                1e3 * percentile(&mut half, 0.99),
                waits.cost_of_thousand(rate),
            );
        }
    }
}

/// Prints how many tickets are matched by daemons that share the partitions of the queues.
fn partitions(runtime: &Runtime, server: &Server) {
    println!(
        "\n| database | partitions | tickets submitted a second | SUBMIT p50 | p99 | what was waited for |"
    );
    println!("| --- | ---: | ---: | ---: | ---: | --- |");
    let [_, clients] = CLIENTS;
    for (daemons, partitions) in [(1, 1), (1, 2), (1, 4), (2, 1), (2, 2), (2, 4), (4, 4)] {
        let fleet = Fleet::start(runtime, Some(server), daemons, partitions);
        thread::sleep(Duration::from_secs(3)); // until each daemon has its share of the partitions
        let work = |peer: &mut Peer, client: usize, number: usize| {
            load::submit(peer, client / daemons % partitions, client, number)
        };
        let (mut seconds, waits) = fleet.load(clients, work);
        println!(
            "| {} | {partitions} | {:.0} | {:.1} ms | {:.1} ms | {waits} |",
            fleet.name(),
            seconds.len() as f64 / ROW.as_secs_f64(),
            1e3 * percentile(&mut seconds, 0.5),
            1e3 * percentile(&mut seconds, 0.99),
        );
    }
}

/// Prints how long SUBMIT of one client takes at the daemon that runs the queues, and at another one, and how many
/// of the tickets are in a match a second later.
fn submits(runtime: &Runtime, places: &[(Option<&Server>, usize)]) {
    println!("\n| database | SUBMIT at | p50 | p99 | tickets in a match |");
    println!("| --- | --- | ---: | ---: | ---: |");
    for (server, count) in places.iter().filter(|(_, count)| *count < 4) {
        let fleet = Fleet::start(runtime, *server, *count, 1);
        let holder = fleet.holder(runtime);
        for at in 0..*count {
            let mut peer = Peer::open(fleet.daemons[at].address, &format!("lobby{at}"));
            let mut seconds: Vec<f64> = (0..200)
                .map(|n| load::submit(&mut peer, 0, at, n))
                .collect();
            thread::sleep(Duration::from_secs(1));
            let states = (0..200).map(|n| peer.ask(&format!("TICKET t{at}.{n}")));
            let matched = states.filter(|state| state.starts_with("MATCHED ")).count();
            println!(
                "| {} | {} | {:.1} ms | {:.1} ms | {matched} of 200 |",
                fleet.name(),
                if at == holder {
                    "the daemon of the queues"
                } else {
                    "another one"
                },
                1e3 * percentile(&mut seconds, 0.5),
                1e3 * percentile(&mut seconds, 0.99),
            );
        }
    }
}

/// Prints how soon after the answer to END another daemon knows the new weight.
fn weights(fleet: &Fleet<'_>) {
    let mut server = Peer::open(fleet.daemons[0].address, "server");
    let mut other = Peer::open(fleet.daemons[1].address, "other");
    other.send("GAME ctf");
    let mut seconds: Vec<f64> = (0..100)
        .map(|number| {
            load::game(&mut server, number, 0);
            let since = Instant::now();
            // A player of this match alone: unknown before.
            let question = format!("PLAYER p{number}.0.0");
            while other.ask(&question).split(' ').count() < 3 {
                assert!(since.elapsed() < Duration::from_secs(10), "{question}");
            }
            since.elapsed().as_secs_f64()
        })
        .collect();
    println!(
        "\nA weight is known at another daemon after: p50 {:.1} ms, p99 {:.1} ms, of 100 matches",
        1e3 * percentile(&mut seconds, 0.5),
        1e3 * percentile(&mut seconds, 0.99),
    );
}
