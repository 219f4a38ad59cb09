//! What teams over HTTP cost: `POST /v1/teams` beside BALANCE on the line, calls at three rates, and the latency of
//! PLAYER on the line beside 200 calls a second, to the daemon and to a server that does nothing.
//!
//! `cargo bench --bench api`. Runs with and without calls alternate, and the medians of the rounds are printed, because
//! one round on a busy machine varies too much. The callers run on the machine of the daemon, and take their share of it.

#![allow(clippy::unwrap_used)]
#![allow(clippy::disallowed_methods, reason = "a benchmark measures time")]

use std::{
    io::{BufRead, BufReader, Read, Write},
    net::{SocketAddr, TcpListener, TcpStream},
    sync::atomic::{AtomicBool, Ordering::Relaxed},
    thread::{scope, sleep, spawn},
    time::{Duration, Instant},
};

use evenkeel::{config::Config, daemon::Daemon};
use tempfile::TempDir;
use tokio::{runtime::Runtime, sync::oneshot};

/// Players of each question.
const PLAYERS: usize = 12;
/// Answers per figure, where one question follows the other.
const QUESTIONS: usize = 500;
const ROUNDS: usize = 9;
/// The calls per second beside which a game server asks.
const BESIDE: u32 = 200;
/// The callers among whom a rate is divided.
const CALLERS: u32 = 8;
/// The time between two questions of the game server.
const PAUSE: Duration = Duration::from_millis(2);

const CONFIG: &str = r#"
server.listen = "127.0.0.1:0"
api.enabled = true
web.requests_per_second = 10000
limits = { lines_per_second = 100000, lines_burst = 100000, decisions_per_second = 100000, decisions_burst = 100000 }
[[clients]]
name = "game"
networks = ["127.0.0.1/32"]
rights = ["ask", "report"]
[[clients]]
name = "club"
token = "a-token-of-a-benchmark-that-nobody-guesses"
rights = ["ask", "report"]
"#;

fn main() {
    let folder = TempDir::new().unwrap();
    // The daemon binds this port again at once.
    let pages = TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap();
    let database = folder.path().join("bench.db").display().to_string();
    let config = format!("store.database = {database:?}\nweb.listen = \"{pages}\"\n{CONFIG}");
    let config = Config::load(&config, []).unwrap();
    let runtime = Runtime::new().unwrap();
    let daemon = runtime.block_on(Daemon::open(&config)).unwrap();
    let lines = daemon.local_addr().unwrap();
    let (stop, stopped) = oneshot::channel::<()>();
    let daemon = runtime.spawn(daemon.run(async move {
        let _ = stopped.await;
    }));
    one_by_one(lines, pages);
    at_rates(pages);
    beside_calls(lines, pages);
    stop.send(()).unwrap();
    runtime.block_on(daemon).unwrap();
}

/// A connection of lines.
struct Line(BufReader<TcpStream>);

impl Line {
    /// A game with all players.
    fn connect(address: SocketAddr) -> Self {
        let stream = TcpStream::connect(address).unwrap();
        stream.set_nodelay(true).unwrap();
        let mut line = Self(BufReader::new(stream));
        let joins: String = (0..PLAYERS).map(|n| format!("JOIN player{n}\n")).collect();
        // JOIN has no answer; the question after it has.
        line.ask(&format!("GAME futsal\n{joins}PLAYER player0\n"));
        line
    }

    fn ask(&mut self, question: &str) -> String {
        self.0.get_mut().write_all(question.as_bytes()).unwrap();
        self.line()
    }

    fn line(&mut self) -> String {
        let mut answer = String::new();
        self.0.read_line(&mut answer).unwrap();
        assert!(!answer.starts_with("ERROR"), "{answer}");
        answer
    }

    /// Asks for teams; the first line says how many follow.
    fn balance(&mut self) {
        let answer = self.ask("BALANCE\n");
        let mut words = answer.split_whitespace();
        assert_eq!(words.next(), Some("BALANCE"));
        let lines: usize = words.next().unwrap().parse().unwrap();
        assert!(lines >= PLAYERS, "{answer}");
        (0..lines).for_each(|_| drop(self.line()));
    }
}

/// A connection of HTTP that is used again.
struct Caller {
    stream: BufReader<TcpStream>,
    request: String,
}

impl Caller {
    fn connect(address: SocketAddr, keep: bool) -> Self {
        let stream = TcpStream::connect(address).unwrap();
        stream.set_nodelay(true).unwrap();
        let players: Vec<_> = (0..PLAYERS)
            .map(|n| format!("{{\"id\":\"player{n}\"}}"))
            .collect();
        let players = players.join(",");
        let body = format!("{{\"ruleset\":\"futsal\",\"keep\":{keep},\"players\":[{players}]}}");
        let request = format!(
            "POST /v1/teams HTTP/1.1\r\nHost: {address}\r\nContent-Type: application/json\r\n\
             Authorization: Bearer a-token-of-a-benchmark-that-nobody-guesses\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        );
        Self {
            stream: BufReader::new(stream),
            request,
        }
    }

    fn call(&mut self) {
        self.stream
            .get_mut()
            .write_all(self.request.as_bytes())
            .unwrap();
        let (mut length, mut line) = (0, String::new());
        self.stream.read_line(&mut line).unwrap();
        assert!(line.starts_with("HTTP/1.1 200"), "{line}");
        loop {
            line.clear();
            self.stream.read_line(&mut line).unwrap();
            if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
                length = value.trim().parse().unwrap();
            }
            if line == "\r\n" {
                break;
            }
        }
        let mut body = vec![0; length];
        self.stream.read_exact(&mut body).unwrap();
    }
}

/// The time of a call, in microseconds.
fn timed(act: impl FnOnce()) -> f64 {
    let began = Instant::now();
    act();
    began.elapsed().as_secs_f64() * 1e6
}

/// The value below which this share of the figures is.
fn quantile(figures: &mut [f64], share: f64) -> f64 {
    figures.sort_by(f64::total_cmp);
    figures[((figures.len() - 1) as f64 * share) as usize]
}

/// The three ways to ask in turns, each question after the answer before.
fn one_by_one(lines: SocketAddr, pages: SocketAddr) {
    let mut line = Line::connect(lines);
    let (mut asks, mut keeps) = (Caller::connect(pages, false), Caller::connect(pages, true));
    let mut times = [const { Vec::new() }; 3];
    for _ in 0..QUESTIONS {
        times[0].push(timed(|| line.balance()));
        times[1].push(timed(|| asks.call()));
        times[2].push(timed(|| keeps.call()));
    }
    println!("| teams of {PLAYERS} players, {QUESTIONS} times in turns | p50 | p99 |");
    println!("| --- | ---: | ---: |");
    let names = ["BALANCE on the line", "POST /v1/teams", "the same, kept"];
    for (name, times) in names.iter().zip(&mut times) {
        let (p50, p99) = (quantile(times, 0.5), quantile(times, 0.99));
        println!("| {name} | {p50:.0} µs | {p99:.0} µs |");
    }
}

/// Calls at this rate, until `done` says so. Returns the time of each from when it was due, in microseconds.
fn call_at(pages: SocketAddr, rate: u32, done: impl Fn() -> bool + Sync) -> Vec<f64> {
    let callers = CALLERS.min(rate);
    let (began, done) = (Instant::now(), &done);
    let call = |caller: u32| {
        let mut connection = Caller::connect(pages, false);
        let mut times = Vec::new();
        for number in 0.. {
            let due = Duration::from_secs(1) * (number * callers + caller) / rate;
            sleep(due.saturating_sub(began.elapsed()));
            if done() {
                break;
            }
            connection.call();
            times.push((began.elapsed().saturating_sub(due)).as_secs_f64() * 1e6);
        }
        times
    };
    scope(|scope| {
        let threads: Vec<_> = (0..callers)
            .map(|caller| scope.spawn(move || call(caller)))
            .collect();
        threads
            .into_iter()
            .flat_map(|thread| thread.join().unwrap())
            .collect()
    })
}

fn at_rates(pages: SocketAddr) {
    println!("\n| calls per second | answered | p50 | p99 |");
    println!("| ---: | ---: | ---: | ---: |");
    for (rate, seconds) in [(1, 20), (50, 10), (400, 10)] {
        let began = Instant::now();
        let mut times = call_at(pages, rate, || {
            began.elapsed() >= Duration::from_secs(seconds)
        });
        let (p50, p99) = (quantile(&mut times, 0.5), quantile(&mut times, 0.99));
        println!("| {rate} | {} | {p50:.0} µs | {p99:.0} µs |", times.len());
    }
}

/// Answers calls without any work, as a daemon would that has nothing to do: what the callers alone cost.
fn idle_server() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let serve = |mut stream: TcpStream| {
        let mut call = [0; 4_096];
        while stream.read(&mut call).is_ok_and(|read| read > 0) {
            let answer = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}";
            if stream.write_all(answer).is_err() {
                break;
            }
        }
    };
    spawn(move || {
        for stream in listener.incoming().flatten() {
            spawn(move || serve(stream));
        }
    });
    address
}

/// PLAYER on the line: alone, beside callers whom another server answers, and beside callers of the daemon.
fn beside_calls(lines: SocketAddr, pages: SocketAddr) {
    let mut line = Line::connect(lines);
    let mut run = || {
        let mut times: Vec<f64> = (0..2 * QUESTIONS)
            .map(|at| {
                sleep(PAUSE);
                timed(|| drop(line.ask(&format!("PLAYER player{}\n", at % PLAYERS))))
            })
            .collect();
        [0.5, 0.99].map(|share| quantile(&mut times, share))
    };
    let mut beside = |callee: Option<SocketAddr>| {
        let done = AtomicBool::new(false);
        scope(|scope| {
            if let Some(callee) = callee {
                let done = &done;
                scope.spawn(move || call_at(callee, BESIDE, || done.load(Relaxed)));
            }
            let figures = run();
            done.store(true, Relaxed);
            figures
        })
    };
    let rows = [
        ("alone", None),
        ("beside callers of another server", Some(idle_server())),
        ("beside callers of the daemon", Some(pages)),
    ];
    let mut figures = rows.map(|_| [const { Vec::new() }; 2]);
    for _ in 0..ROUNDS {
        for ((_, callee), all) in rows.iter().zip(&mut figures) {
            for (figure, all) in beside(*callee).into_iter().zip(all) {
                all.push(figure);
            }
        }
    }
    println!(
        "\n| PLAYER on the line, medians of {ROUNDS} rounds, {BESIDE} calls a second | p50 | p99 |"
    );
    println!("| --- | ---: | ---: |");
    for ((name, _), figures) in rows.iter().zip(figures) {
        let [p50, p99] = figures.map(|mut all| quantile(&mut all, 0.5));
        println!("| {name} | {p50:.0} µs | {p99:.0} µs |");
    }
}
