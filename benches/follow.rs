//! The latency of PLAYER while the daemon follows a log of 200 MB, compared with the latency
//! without the log.
//!
//! `cargo bench --bench follow`. The log contains a match per 53 KB, each on another day, so that
//! all are new; it is archived while it is read. The questions are spread over several seconds. The
//! two runs alternate, and the medians of their rounds are printed, because one round on a busy
//! machine varies too much.

#![allow(clippy::unwrap_used)]
#![allow(clippy::disallowed_methods, reason = "a benchmark measures time")]

use std::{
    fs::File,
    io::{BufWriter, Write},
    net::SocketAddr,
    path::Path,
    thread::sleep,
    time::{Duration, Instant},
};

use evenkeel::{
    client::Client, config::Config, daemon::Daemon, model::ident::Ident, protocol::Request, store,
};
use tempfile::TempDir;
use tokio::{
    runtime::{Builder, Runtime},
    sync::oneshot,
};

const GAME: &str = include_str!("../tests/fixtures/openarena/ctf-014.log");
const LOG_BYTES: usize = 200_000_000;
const QUESTIONS: usize = 1_000;
const ROUNDS: usize = 5;
/// The time between two questions.
const PAUSE: Duration = Duration::from_millis(3);

fn main() {
    let folder = TempDir::new().unwrap();
    let games = write_log(&folder.path().join("games.log"));
    let follow = "[[follow]]\npath = \"games.log\"\n";
    let (mut alone, mut beside) = (Vec::new(), Vec::new());
    for round in 0..ROUNDS {
        alone.push(run(folder.path(), &format!("alone{round}"), ""));
        beside.push(run(folder.path(), &format!("beside{round}"), follow));
    }
    let read = median(&beside, |run| run.matches as f64);
    println!("matches recorded meanwhile: {read} of {games}");
    println!("| {QUESTIONS} PLAYER questions, median of {ROUNDS} rounds | p50 | p99 |");
    println!("| --- | ---: | ---: |");
    let of = |runs: &[Latencies]| (median(runs, |run| run.p50), median(runs, |run| run.p99));
    let (alone, beside) = (of(&alone), of(&beside));
    for (what, (p50, p99)) in [("no log", alone), ("following 200 MB", beside)] {
        println!("| {what} | {p50:.0} µs | {p99:.0} µs |");
    }
    let (p50, p99) = (beside.0 / alone.0, beside.1 / alone.1);
    println!("| ratio | {p50:.2} | {p99:.2} |");
}

fn median(runs: &[Latencies], figure: impl Fn(&Latencies) -> f64) -> f64 {
    let mut figures: Vec<f64> = runs.iter().map(figure).collect();
    figures.sort_by(f64::total_cmp);
    figures[figures.len() / 2]
}

/// Writes the log. Returns the number of games in it.
fn write_log(path: &Path) -> usize {
    let mut file = BufWriter::new(File::create(path).unwrap());
    let games = LOG_BYTES / GAME.len();
    for game in 0..games {
        let (day, month) = (game % 28 + 1, game / 28 % 12 + 1);
        let date = format!("{}-{month:02}-{day:02}", 2000 + game / 336);
        let text = GAME.replace("2026-11-20", &date);
        file.write_all(text.as_bytes()).unwrap();
    }
    file.flush().unwrap();
    games
}

/// The latencies of one run, in microseconds.
struct Latencies {
    p50: f64,
    p99: f64,
    /// Matches recorded by the end of the run.
    matches: i64,
}

fn run(folder: &Path, name: &str, follow: &str) -> Latencies {
    let runtime = Runtime::new().unwrap();
    let quoted = |path: &Path| format!("{:?}", path.display().to_string());
    let database = folder.join(format!("{name}.db"));
    let text = format!(
        "server.listen = \"127.0.0.1:0\"\nstore.database = {}\ningest.follow_ms = 10\ningest.archive = {}\n{}",
        quoted(&database),
        quoted(&folder.join(format!("archive-{name}"))),
        follow.replace("\"games.log\"", &quoted(&folder.join("games.log"))),
    );
    let config = Config::load(&text, []).unwrap();
    let daemon = runtime.block_on(Daemon::open(&config)).unwrap();
    let address = daemon.local_addr().unwrap();
    let (stop, stopped) = oneshot::channel::<()>();
    let daemon = runtime.spawn(daemon.run(async move {
        let _ = stopped.await;
    }));
    let reader = runtime
        .block_on(store::open(&database, false, Duration::from_secs(5)))
        .unwrap();
    let recorded = || runtime.block_on(reader.matches().extent()).unwrap().0;
    while !follow.is_empty() && recorded() == 0 {
        sleep(Duration::from_millis(1));
    }
    // The game server is another program: it shares no thread with the daemon.
    let server = Builder::new_current_thread().enable_all().build().unwrap();
    let mut times = server.block_on(ask(address));
    let matches = recorded();
    runtime.block_on(reader.close());
    stop.send(()).unwrap();
    runtime.block_on(daemon).unwrap();
    times.sort_by(f64::total_cmp);
    let (p50, p99) = (times[QUESTIONS / 2], times[QUESTIONS * 99 / 100]);
    Latencies { p50, p99, matches }
}

/// Sends one question after another. Returns the time until each answer, in microseconds.
async fn ask(address: SocketAddr) -> Vec<f64> {
    let mut client = Client::connect(address).await.unwrap();
    let game = Request::Game(Ident::from_text("ctf"));
    client.ask(&game).await.unwrap();
    let mut times = Vec::with_capacity(QUESTIONS);
    for at in 0..QUESTIONS {
        let name = format!("player{:03}", at % 100);
        let question = Request::Player(Ident::from_text(&name));
        let begin = Instant::now();
        client.ask(&question).await.unwrap();
        times.push(begin.elapsed().as_secs_f64() * 1e6);
        tokio::time::sleep(PAUSE).await;
    }
    times
}
