//! The time and the size of each statistics page, with 100,000 matches and 20,000 players.
//!
//! `cargo bench --bench web`. The matches are drawn at random: eight of the players, two teams, 400 maps and
//! three rulesets; some players play a hundred times as often as others. They are written to a new database and
//! learned from, which takes a few minutes; with `EVENKEEL_BENCH_WEB=FOLDER`, the database stays in that folder
//! for the next time. Then one visitor asks for one page after the other over loopback: first alone, then while
//! a client of the same daemon asks for weights as fast as it gets answers.

#![allow(clippy::unwrap_used)]
#![allow(clippy::disallowed_methods, reason = "a benchmark measures time")]

use std::{
    io::{BufRead, BufReader, Read, Write},
    net::{SocketAddr, TcpStream},
    path::PathBuf,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use evenkeel::{
    config::Config,
    daemon,
    domain::{
        Fingerprint, Kind, MatchRecord, Participant, PlayerKey, Presence, ScoreEvent, Span,
        Timestamp,
    },
    server::{Gate, Listeners},
    service::Service,
    web::{self, Site},
};
use rand::{RngExt, SeedableRng, rngs::ChaCha8Rng};
use tempfile::TempDir;
use tokio::{net::TcpListener, runtime::Runtime};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

const MATCHES: u32 = 100_000;
const PLAYERS: u32 = 20_000;
const REQUESTS: usize = 500;
const FURTHER: usize = 5;
const MINUTES: i64 = 10;

fn main() {
    let temporary = TempDir::new().unwrap();
    let kept = std::env::var_os("EVENKEEL_BENCH_WEB").map(PathBuf::from);
    let folder = kept.unwrap_or_else(|| temporary.path().to_owned());
    std::fs::create_dir_all(&folder).unwrap();
    let database = folder.join("evenkeel.db");
    // Through the text of a file, as a path may contain anything.
    let toml = format!(
        "[store]\ndatabase = {:?}\n[web]\nrequests_per_second = 0\n",
        database.display().to_string()
    );
    let config = Config::load(&toml, []).unwrap();
    let runtime = Runtime::new().unwrap();
    let began = Instant::now();
    let service = runtime.block_on(async {
        let service = Arc::new(daemon::open_service(&config, true).await.unwrap());
        if service.store().extent().await.unwrap().0 == 0 {
            fill(&service).await;
        }
        service.learning().refresh().await.unwrap();
        service
    });
    let size = std::fs::metadata(&database).unwrap().len() / 1_000_000;
    println!(
        "{MATCHES} matches of {PLAYERS} players: {size} MB, written and learned in {:.0?}",
        began.elapsed()
    );
    let learned = runtime.block_on(learn_more(&service));
    println!(
        "a further match is recorded, learned and written in {learned:.0?} (median of {FURTHER})"
    );
    let (stop, tasks) = (CancellationToken::new(), TaskTracker::new());
    let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0")).unwrap();
    let address = listener.local_addr().unwrap();
    let site = Arc::new(Site::new(service.clone(), config.web.pages.clone()));
    runtime.spawn(web::run(listener, site, tasks, stop, Duration::ZERO));
    println!("\nalone:");
    measure(address);
    beside_the_wire(&config, &runtime, service, address);
}

/// Measures the pages while a client asks for weights as fast as it gets answers, and how much that disturbs
/// the client.
fn beside_the_wire(config: &Config, runtime: &Runtime, service: Arc<Service>, pages: SocketAddr) {
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
    threads.shutdown_background();
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
    let mut next = "GAME xgame.xctfgame\n".to_owned() + &questions;
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

/// Writes the matches.
async fn fill(service: &Service) {
    let mut random = ChaCha8Rng::seed_from_u64(1);
    for chunk in 0..MATCHES / 1_000 {
        let numbers = chunk * 1_000..(chunk + 1) * 1_000;
        let records = numbers.map(|number| {
            let record = game(&mut random, number);
            let fingerprint = Fingerprint::of(&record);
            (record, fingerprint)
        });
        let records: Vec<_> = records.collect();
        service.store().record_all(&records).await.unwrap();
    }
}

/// Records matches one by one, and learns from each: the median time of one.
async fn learn_more(service: &Service) -> Duration {
    let mut random = ChaCha8Rng::seed_from_u64(3);
    let mut times = Vec::new();
    for _ in 0..FURTHER {
        let (matches, _) = service.store().extent().await.unwrap();
        let record = game(&mut random, u32::try_from(matches).unwrap());
        let began = Instant::now();
        service.store().record(&record).await.unwrap();
        service.learning().refresh().await.unwrap();
        times.push(began.elapsed());
    }
    times.sort();
    times[FURTHER / 2]
}

fn identity(player: u32) -> String {
    format!("{player:032x}")
}

/// A match of ten minutes, a quarter of an hour after the one before.
fn game(random: &mut ChaCha8Rng, number: u32) -> MatchRecord {
    let start = Timestamp(1_600_000_000_000 + i64::from(number) * 900_000);
    let mut players = std::collections::BTreeSet::new();
    while players.len() < 8 {
        let share: f64 = random.random();
        players.insert((share.powi(4) * f64::from(PLAYERS)) as u32);
    }
    let mut order: Vec<u32> = players.into_iter().collect();
    let drawn: Vec<u32> = (0..8)
        .map(|_| order.swap_remove(random.random_range(0..order.len())))
        .collect();
    let millis = (MINUTES * 60_000) as u64;
    let events: Vec<ScoreEvent> = (1..=random.random_range(1..12_u64))
        .map(|at| ScoreEvent {
            at: at * millis / 12,
            team: random.random_range(0..2),
            points: 1.0,
            by: None,
        })
        .collect();
    let score = |team: u8| events.iter().filter(|event| event.team == team).count() as f64;
    let scores = vec![score(0), score(1)];
    let mut participants: Vec<Participant> = (0..)
        .zip(&drawn)
        .map(|(seat, player)| Participant {
            key: PlayerKey {
                kind: Kind::Human,
                id: identity(*player),
            },
            name: format!("^{}Player^7{player}", player % 8),
            presence: vec![Presence {
                team: u8::from(seat >= 4),
                span: Span {
                    from: 0,
                    to: millis,
                },
            }],
            points: Some(f64::from(random.random_range(0..100_u32))),
            kills: random.random_range(0..40),
            deaths: random.random_range(0..40),
            roles: vec![],
            party: None,
            left: None,
        })
        .collect();
    participants.sort_by(|a, b| a.key.cmp(&b.key));
    MatchRecord {
        server: format!("server {}", number % 5),
        start,
        end: start.plus_millis(MINUTES * 60_000),
        clock: None,
        map: format!("map_{}", random.random_range(0..400)),
        game_type: ["ctf", "tdm", "dom"][random.random_range(0..3)].to_owned(),
        mode: String::new(),
        mutators: vec![],
        outcome: MatchRecord::outcome_of(&scores),
        scores,
        participants,
        events,
    }
}

/// Asks for each kind of page, and prints how long it took.
fn measure(address: SocketAddr) {
    let mut random = ChaCha8Rng::seed_from_u64(2);
    let rulesets = ["xgame.xctfgame", "xgame.xteamgame", "xgame.xdoubledom"];
    println!("| page | p50 | p99 | largest |\n| --- | ---: | ---: | ---: |");
    type Path<'a> = (&'static str, &'a dyn Fn(&mut ChaCha8Rng) -> String);
    let ruleset = |random: &mut ChaCha8Rng| rulesets[random.random_range(0..3)];
    let frequent = |random: &mut ChaCha8Rng| {
        let share: f64 = random.random();
        identity((share.powi(4) * f64::from(PLAYERS)) as u32)
    };
    let pages: [Path<'_>; 14] = [
        ("`/`", &|_| "/".to_owned()),
        ("`/rulesets/NAME`, a random page", &|random| {
            let page = random.random_range(1..400);
            format!("/rulesets/{}?page={page}", ruleset(random))
        }),
        ("`/rulesets/NAME`, the last page", &|random| {
            format!("/rulesets/{}?page=360", ruleset(random))
        }),
        ("`/rulesets/NAME`, a search", &|random| {
            let part = random.random_range(0..1_000);
            format!("/rulesets/{}?q={part}", ruleset(random))
        }),
        ("`/rulesets/NAME`, a search without result", &|random| {
            format!("/rulesets/{}?q=nobody", ruleset(random))
        }),
        ("`/players/ID`, any player", &|random| {
            format!("/players/{}", identity(random.random_range(0..PLAYERS)))
        }),
        ("`/players/ID`, one with 2,000 matches", &|_| {
            format!("/players/{}", identity(17))
        }),
        ("`/players/ID`, by how often they play", &|random| {
            format!("/players/{}", frequent(random))
        }),
        ("`/matches/N`", &|random| {
            format!("/matches/{}", random.random_range(1..=MATCHES))
        }),
        ("`/balance`", &|random| {
            format!("/balance?ruleset={}&date=2022-01-01", ruleset(random))
        }),
        ("`/balance.json`", &|random| {
            format!("/balance.json?ruleset={}", ruleset(random))
        }),
        ("`/systems`", &|_| "/systems".to_owned()),
        ("`/live`, without games", &|_| "/live".to_owned()),
        ("`/matches.atom`", &|_| "/matches.atom".to_owned()),
    ];
    for (name, path) in pages {
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

/// Asks for a page on a connection of its own, and returns the size of the page.
fn get(address: SocketAddr, path: &str) -> usize {
    let mut stream = BufReader::new(TcpStream::connect(address).unwrap());
    let request = format!("GET {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
    stream.get_mut().write_all(request.as_bytes()).unwrap();
    let mut status = String::new();
    stream.read_line(&mut status).unwrap();
    let mut rest = Vec::new();
    stream.read_to_end(&mut rest).unwrap();
    let found =
        status.contains(" 200 ") || (status.contains(" 404 ") && path.contains("/players/"));
    assert!(found, "{path}: {status}");
    let head = rest
        .windows(4)
        .position(|bytes| bytes == b"\r\n\r\n")
        .unwrap();
    rest.len() - head - 4
}
