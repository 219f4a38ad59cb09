//! The time and the size of each statistics page, with a history of 100,000 matches and 20,000 players.
//!
//! `cargo bench --bench web`; `EVENKEEL_BENCH_MATCHES` and `EVENKEEL_BENCH_PLAYERS` are other numbers. The matches
//! are drawn at random: eight of the players, two teams, 400 maps and three rulesets, in three years; some players
//! play a hundred times as often as others. They are written to a new database and learned from, which takes a few
//! minutes; with `EVENKEEL_BENCH_WEB=FOLDER`, the database stays in that folder for the next time. Then one visitor
//! asks for one page after the other over loopback: first alone, then while a client of the same daemon asks for
//! weights as fast as it gets answers. `cargo bench --bench web -- /balance` asks only for the pages whose name in the table
//! contains that. The bench `learning` measures what such histories cost to learn.

#![allow(clippy::unwrap_used)]
#![allow(clippy::disallowed_methods, reason = "a benchmark measures time")]

#[path = "learning/history.rs"]
#[allow(dead_code)] // the bench `learning` uses the rest
mod history;

use std::{
    io::{BufRead, BufReader, Read, Write},
    net::{SocketAddr, TcpStream},
    path::{Path, PathBuf},
    sync::{
        Arc, LazyLock,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use evenkeel::{
    config::Config,
    daemon,
    model::fingerprint::Fingerprint,
    server::{Gate, Listeners, Service},
    web::{self, Audience, Site},
};
use history::{History, identity};
use rand::{RngExt, SeedableRng, rngs::ChaCha8Rng};
use tempfile::TempDir;
use tokio::{net::TcpListener, runtime::Runtime};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

static MATCHES: LazyLock<u32> = LazyLock::new(|| number("EVENKEEL_BENCH_MATCHES", 100_000));
static PLAYERS: LazyLock<u32> = LazyLock::new(|| number("EVENKEEL_BENCH_PLAYERS", 20_000));
const REQUESTS: usize = 500;

fn main() {
    let temporary = TempDir::new().unwrap();
    let kept = std::env::var_os("EVENKEEL_BENCH_WEB").map(PathBuf::from);
    let folder = kept.unwrap_or_else(|| temporary.path().to_owned());
    std::fs::create_dir_all(&folder).unwrap();
    let database = folder.join("evenkeel.db");
    // Through the text of a file, as a path may contain anything.
    let toml = format!(
        "[store]\ndatabase = {:?}\n[web]\nrequests_per_second = 0\n[api]\nenabled = true\n\
         [queue.quick]\nteams = 2\nsize = 4\nruleset = 'ctf'\nhost = 'none'\n",
        database.display().to_string()
    );
    let config = Config::load(&toml, []).unwrap();
    let runtime = Runtime::new().unwrap();
    let service = runtime.block_on(history(&config, &database));
    let (stop, tasks) = (CancellationToken::new(), TaskTracker::new());
    let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0")).unwrap();
    let address = listener.local_addr().unwrap();
    let gate = Arc::new(Gate::new(config.access().unwrap()));
    let site = Site::new(service.clone(), config.web.pages.clone());
    let site = Arc::new(site.with_api(config.api.clone(), gate));
    runtime.spawn(web::run(
        listener,
        (site, Audience::Visitors),
        tasks,
        stop,
        Duration::ZERO,
    ));
    let (wire, threads) = serve_lines(&config, &runtime, service);
    let game = play(wire);
    println!("\nalone:");
    measure(address);
    beside_the_wire(wire, address);
    drop(game);
    threads.shutdown_background();
}

/// Serves the lines of game servers, on a thread of its own.
fn serve_lines(config: &Config, runtime: &Runtime, service: Arc<Service>) -> (SocketAddr, Runtime) {
    // Connections have a thread of their own in the daemon, too.
    let threads = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .unwrap();
    let plain = runtime.block_on(TcpListener::bind("127.0.0.1:0")).unwrap();
    let wire = plain.local_addr().unwrap();
    let listeners = Listeners {
        plain,
        tls: None,
        runtimes: vec![threads.handle().clone()],
    };
    let gate = Arc::new(Gate::new(config.access().unwrap()));
    let forever = std::future::pending();
    let limits = config.server.limits;
    runtime.spawn(daemon::run(listeners, service, limits, gate, forever));
    (wire, threads)
}

/// A game server with a game of eight players in play and a score, as long as its connection is open.
fn play(wire: SocketAddr) -> BufReader<TcpStream> {
    let mut stream = BufReader::new(TcpStream::connect(wire).unwrap());
    let joins = (0..8).map(|n| format!("JOIN {} team={}\n", identity(n), n % 2));
    let joins: String = joins.collect();
    let lines = format!("HELLO bench\nGAME ctf\nMAP map_1\n{joins}START\nSCORE 0\nPING\n");
    stream.get_mut().write_all(lines.as_bytes()).unwrap();
    let mut line = String::new();
    while line.trim() != "PONG" {
        line.clear();
        assert!(
            stream.read_line(&mut line).unwrap() > 0,
            "the daemon is away"
        );
    }
    stream
}

/// Measures the pages while a client asks for weights as fast as it gets answers, and how much that disturbs
/// the client.
fn beside_the_wire(wire: SocketAddr, pages: SocketAddr) {
    let answers = Arc::new(AtomicU64::new(0));
    std::thread::spawn({
        let answers = answers.clone();
        move || ask_for_ever(wire, &answers)
    });
    let rate = |seconds: f64, before| (answers.load(Ordering::Relaxed) - before) as f64 / seconds;
    std::thread::sleep(Duration::from_secs(1));
    let (began, before) = (Instant::now(), answers.load(Ordering::Relaxed));
    std::thread::sleep(Duration::from_secs(3));
    let alone = rate(began.elapsed().as_secs_f64(), before);
    println!("\nbeside a client that asks for weights, 16 questions at once:");
    let (began, before) = (Instant::now(), answers.load(Ordering::Relaxed));
    measure(pages);
    let beside = rate(began.elapsed().as_secs_f64(), before);
    println!("\nthe client gets {alone:.0} answers a second, and {beside:.0} beside the visitor");
}

/// Asks for the weights of 16 players at once, again and again.
fn ask_for_ever(address: SocketAddr, answers: &AtomicU64) {
    let stream = TcpStream::connect(address).unwrap();
    stream.set_nodelay(true).unwrap();
    let mut stream = BufReader::new(stream);
    let questions: String = (0..16)
        .map(|n| format!("PLAYER {}\n", identity(n)))
        .collect();
    let mut line = String::new();
    let mut next = "GAME ctf\n".to_owned() + &questions;
    loop {
        if stream.get_mut().write_all(next.as_bytes()).is_err() {
            return;
        }
        for _ in 0..questions.lines().count() {
            line.clear();
            if !matches!(stream.read_line(&mut line), Ok(1..)) {
                return;
            }
            answers.fetch_add(1, Ordering::Relaxed);
        }
        next.clone_from(&questions);
    }
}

/// A number from the environment.
fn number(variable: &str, default: u32) -> u32 {
    std::env::var(variable).map_or(default, |text| text.parse().unwrap())
}

/// Writes and learns what is missing.
async fn history(config: &Config, database: &Path) -> Arc<Service> {
    let service = daemon::open_service(config, true).await.unwrap();
    let began = Instant::now();
    if service.store().matches().extent().await.unwrap().0 == 0 {
        fill(&service).await;
        println!(
            "{} matches are written in {:.1?}",
            *MATCHES,
            began.elapsed()
        );
        let began = Instant::now();
        let rebuilt = service.learning().rebuild(|_| ()).await.unwrap();
        let weights = rebuilt.weights;
        println!(
            "{weights} weights are derived from them in {:.1?}",
            began.elapsed()
        );
    }
    service.learning().refresh().await.unwrap();
    let size = std::fs::metadata(database).unwrap().len() / 1_000_000;
    println!("{} matches of {} players: {size} MB", *MATCHES, *PLAYERS);
    Arc::new(service)
}

/// Writes the matches.
async fn fill(service: &Service) {
    let history = History {
        matches: *MATCHES,
        players: *PLAYERS,
        types: &["ctf", "tdm", "dom"],
        everybody: false,
    };
    let mut records = history.records().peekable();
    while records.peek().is_some() {
        let some = records.by_ref().take(1_000).map(|record| {
            let fingerprint = Fingerprint::of(&record);
            (record, fingerprint)
        });
        let some: Vec<_> = some.collect();
        service.store().matches().record_all(&some).await.unwrap();
    }
}

/// The last page of a leaderboard that is sure to be there, with those who are away: most of the players are in most of the
/// rulesets. Those who are not away fill fewer pages: nobody whose last match is 60 days old is on them.
fn late_page() -> u32 {
    (*PLAYERS * 9 / 500).max(1)
}

/// A kind of page, and the address of a random one.
type Asked = (&'static str, fn(&mut ChaCha8Rng) -> String);

const RULESETS: [&str; 3] = ["ctf", "tdm", "dom"];

fn ruleset(random: &mut ChaCha8Rng) -> &'static str {
    RULESETS[random.random_range(0..3)]
}

/// A player, by how often they play.
fn frequent(random: &mut ChaCha8Rng) -> String {
    let share: f64 = random.random();
    identity((share.powi(4) * f64::from(*PLAYERS)) as u32)
}

const PAGES: [Asked; 35] = [
    ("`/`", |_| "/".to_owned()),
    ("`/rulesets/NAME`", |random| {
        format!("/rulesets/{}", ruleset(random))
    }),
    ("`/rulesets/NAME`, a random page with all", |random| {
        let page = random.random_range(1..=late_page());
        format!("/rulesets/{}?away=true&page={page}", ruleset(random))
    }),
    ("`/rulesets/NAME`, a late page with all", |random| {
        format!(
            "/rulesets/{}?away=true&page={}",
            ruleset(random),
            late_page()
        )
    }),
    ("`/rulesets/NAME`, a search", |random| {
        let part = random.random_range(0..1_000);
        format!("/rulesets/{}?q={part}", ruleset(random))
    }),
    ("`/rulesets/NAME`, a search without result", |random| {
        format!("/rulesets/{}?q=nobody", ruleset(random))
    }),
    ("`/players/ID`, any player", |random| {
        format!("/players/{}", identity(random.random_range(0..*PLAYERS)))
    }),
    ("`/players/ID`, one with 2,000 matches", |_| {
        format!("/players/{}", identity(17))
    }),
    ("`/players/ID`, by how often they play", |random| {
        format!("/players/{}", frequent(random))
    }),
    ("`/matches/N`", |random| {
        format!("/matches/{}", random.random_range(1..=*MATCHES))
    }),
    ("`/balance`", |random| {
        format!("/balance?ruleset={}&date=2022-01-01", ruleset(random))
    }),
    ("`/balance`, causes of a month", |random| {
        format!("/balance?ruleset={}&span=month", ruleset(random))
    }),
    ("`/balance.json`", |random| {
        format!("/balance.json?ruleset={}", ruleset(random))
    }),
    ("`/systems`", |_| "/systems".to_owned()),
    ("`/live`, a game of eight", |_| "/live".to_owned()),
    ("`/regulars`", |random| {
        format!("/regulars?ruleset={}", ruleset(random))
    }),
    ("`/matches`", |_| "/matches".to_owned()),
    ("`/matches` of a ruleset and a map", |random| {
        let map = random.random_range(0..400);
        format!("/matches?ruleset={}&map=map_{map}", ruleset(random))
    }),
    ("`/matches` with a cause", |random| {
        format!("/matches?ruleset={}&cause=newcomers", ruleset(random))
    }),
    (
        "`/matches` picked by Evenkeel, of which there are none",
        |_| "/matches?picked=true".to_owned(),
    ),
    ("`/matches` of a player, by how often they play", |random| {
        format!("/matches?player={}", frequent(random))
    }),
    ("`/maps/NAME`", |random| {
        format!("/maps/map_{}", random.random_range(0..400))
    }),
    ("`/servers/NAME`", |random| {
        format!("/servers/server%20{}", random.random_range(0..5))
    }),
    ("`/versus`", |random| {
        format!("/versus?a={}&b={}", frequent(random), identity(17))
    }),
    ("`/search`", |random| {
        format!("/search?q={}", random.random_range(0..1_000))
    }),
    ("`/queues`", |_| "/queues".to_owned()),
    ("`/teams`", |_| "/teams".to_owned()),
    ("`/matches.atom`", |_| "/matches.atom".to_owned()),
    ("`/rulesets/NAME.atom`", |random| {
        format!("/rulesets/{}.atom", ruleset(random))
    }),
    ("`/players/ID.atom`, by how often they play", |random| {
        format!("/players/{}.atom", frequent(random))
    }),
    ("`/players/ID.svg`, by how often they play", |random| {
        format!("/players/{}.svg", frequent(random))
    }),
    ("`/embed/rulesets/NAME`", |random| {
        format!("/embed/rulesets/{}", ruleset(random))
    }),
    ("`/embed/players/ID`, by how often they play", |random| {
        format!("/embed/players/{}", frequent(random))
    }),
    ("`/embed/matches/N`", |random| {
        format!("/embed/matches/{}", random.random_range(1..=*MATCHES))
    }),
    ("`/embed/live`, a game of eight", |_| {
        "/embed/live".to_owned()
    }),
];

/// Asks for each kind of page, and prints how long it took.
fn measure(address: SocketAddr) {
    let mut random = ChaCha8Rng::seed_from_u64(2);
    println!("| page | p50 | p99 | largest, compressed |\n| --- | ---: | ---: | ---: |");
    let wanted = std::env::args().skip(1).find(|word| !word.starts_with('-'));
    let is_wanted = |name: &str| wanted.as_ref().is_none_or(|part| name.contains(part));
    for (name, path) in PAGES.into_iter().filter(|(name, _)| is_wanted(name)) {
        let mut times = Vec::new();
        let mut largest = 0;
        for _ in 0..REQUESTS {
            let path = path(&mut random);
            let began = Instant::now();
            let bytes = get(address, &path);
            times.push(began.elapsed().as_secs_f64() * 1_000.0);
            largest = largest.max(bytes);
        }
        times.sort_by(f64::total_cmp);
        let (p50, p99) = (times[REQUESTS / 2], times[REQUESTS * 99 / 100]);
        let largest = largest as f64 / 1_000.0;
        println!("| {name} | {p50:.1} ms | {p99:.1} ms | {largest:.0} kB |");
    }
}

/// Asks for a page on a connection of its own, and returns its compressed size.
fn get(address: SocketAddr, path: &str) -> usize {
    let mut stream = BufReader::new(TcpStream::connect(address).unwrap());
    let request = format!(
        "GET {path} HTTP/1.1\r\nHost: x\r\nAccept-Encoding: gzip\r\nConnection: close\r\n\r\n"
    );
    stream.get_mut().write_all(request.as_bytes()).unwrap();
    let mut status = String::new();
    stream.read_line(&mut status).unwrap();
    let mut rest = Vec::new();
    stream.read_to_end(&mut rest).unwrap();
    // A short history has no matches of some players, and none on some maps.
    let rare = ["/players/", "player=", "/versus", "/maps/", "map="];
    let may_miss = rare.iter().any(|part| path.contains(part));
    let found = status.contains(" 200 ") || (status.contains(" 404 ") && may_miss);
    assert!(found, "{path}: {status}");
    let head = rest
        .windows(4)
        .position(|bytes| bytes == b"\r\n\r\n")
        .unwrap();
    rest.len() - head - 4
}
