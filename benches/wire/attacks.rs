//! The latency of a client that behaves well beside others that do not.

use std::{
    io::{Read, Write},
    net::{SocketAddr, TcpStream},
    sync::atomic::{AtomicBool, AtomicU64, Ordering},
    thread,
    time::{Duration, Instant},
};

use super::{
    load::greet,
    servers::{Server, Wire},
};

/// The connections of an attack.
const ATTACKERS: usize = 8;
/// Questions of the client in each measurement, and the time between two of them.
const QUESTIONS: usize = 2_000;
const PAUSE: Duration = Duration::from_micros(500);
/// How long a visitor waits for pages.
const HANG: Duration = Duration::from_secs(20);
/// How the answer to a request begins.
const START: &[u8] = b"HTTP/1.1 ";

/// What the others do.
#[derive(Clone, Copy)]
enum Attack {
    /// Nothing at all.
    Nothing,
    /// They only use up a core: what any program on the same machine can do.
    Compute,
    /// They ask as fast as they can, 600 questions at a time, and read the answers.
    Ask,
    /// They send lines of a megabyte.
    LongLines,
    /// They send what is no request, and connect again when they are thrown out.
    Nonsense,
    /// They connect and leave.
    Come,
    /// They send a byte at a time of a line without an end.
    Trickle,
    /// They ask for the page that costs most, and do not read it before they have asked 32 times.
    Browse,
    /// The same, while the daemon limits no visitor.
    BrowseUnlimited,
}

const ATTACKS: [(Attack, &str); 9] = [
    (Attack::Nothing, "nobody else"),
    (Attack::Compute, "a thread that computes"),
    (Attack::Ask, "questions without a pause"),
    (Attack::LongLines, "lines of a megabyte"),
    (
        Attack::Nonsense,
        "nonsense, and back after being thrown out",
    ),
    (Attack::Come, "connections that come and go"),
    (Attack::Trickle, "lines byte by byte"),
    (Attack::Browse, "requests for `/balance`"),
    (
        Attack::BrowseUnlimited,
        "the same without a limit for visitors",
    ),
];
/// Requests for a page that are sent at once.
const REQUESTS: usize = 32;

/// Prints a row for each attack on a daemon, and on one that does not limit the visitors of its pages.
pub fn measure(server: &Server, unlimited: &Server) {
    println!();
    println!("| a question each {PAUSE:?} beside | p50 | p99 | p50, ratio | p99, ratio |");
    println!("| --- | ---: | ---: | ---: | ---: |");
    let mut alone = None;
    for (attack, name) in ATTACKS {
        let server = match attack {
            Attack::BrowseUnlimited => unlimited,
            _ => server,
        };
        let (address, visited) = (server.address, server.pages);
        let (stop, pages) = (AtomicBool::new(false), AtomicU64::new(0));
        let began = Instant::now();
        let [p50, p99] = thread::scope(|scope| {
            scope.spawn(|| match (attack, visited) {
                (Attack::Browse | Attack::BrowseUnlimited, Some(visited)) => {
                    browse(visited, &stop, &pages);
                }
                _ => attack.run(address, &stop),
            });
            let latencies = ask(address);
            stop.store(true, Ordering::Relaxed);
            latencies
        });
        let pages = pages.into_inner() as f64 / began.elapsed().as_secs_f64();
        let name = match pages > 0.0 {
            true => format!("{name}, {pages:.0} a second"),
            false => name.to_owned(),
        };
        let [first, last] = *alone.get_or_insert([p50, p99]);
        let ratios = (p50 / first, p99 / last);
        println!(
            "| {name} | {p50:.0} µs | {p99:.0} µs | {:.2} | {:.2} |",
            ratios.0, ratios.1
        );
    }
}

/// Asks one question after the other. Returns the median and the 99th percentile of the latency in microseconds.
fn ask(address: SocketAddr) -> [f64; 2] {
    let mut stream = greet(address, Wire::Player);
    let mut latencies = Vec::with_capacity(QUESTIONS);
    let mut input = [0; 256];
    for number in 0..QUESTIONS {
        thread::sleep(PAUSE);
        let began = Instant::now();
        stream
            .write_all(&Wire::Player.question(number % 100))
            .unwrap();
        let mut read = 0;
        while read == 0 || input[read - 1] != b'\n' {
            let more = stream.read(&mut input[read..]).unwrap();
            assert_ne!(more, 0, "the daemon has closed the connection");
            read += more;
        }
        latencies.push(began.elapsed().as_secs_f64() * 1e6);
    }
    latencies.sort_by(f64::total_cmp);
    [latencies[QUESTIONS / 2], latencies[QUESTIONS * 99 / 100]]
}

impl Attack {
    /// Goes on until it is stopped, in one thread.
    fn run(self, address: SocketAddr, stop: &AtomicBool) {
        let connect = || greet(address, Wire::Player);
        let mut streams: Vec<TcpStream> = (0..ATTACKERS).map(|_| connect()).collect();
        let questions: Vec<u8> = (0..600)
            .flat_map(|name| Wire::Player.question(name))
            .collect();
        let long = vec![b'x'; 1 << 20];
        let mut input = vec![0; 64 * 1024];
        let mut round = 0u64;
        while !stop.load(Ordering::Relaxed) {
            round += 1;
            let stream = &mut streams[round as usize % ATTACKERS];
            let went = match self {
                Self::Nothing => {
                    thread::sleep(PAUSE);
                    Ok(())
                }
                Self::Compute => {
                    std::hint::black_box(long.iter().map(|&byte| u64::from(byte)).sum::<u64>());
                    Ok(())
                }
                Self::Ask => stream
                    .write_all(&questions)
                    .and_then(|()| read(stream, 600, &mut input)),
                Self::LongLines => stream
                    .write_all(&long)
                    .and_then(|()| stream.write_all(b"\n"))
                    .and_then(|()| read(stream, 1, &mut input)),
                Self::Nonsense => stream
                    .write_all(b"NONSENSE\n")
                    .and_then(|()| read(stream, 1, &mut input)),
                Self::Come => {
                    *stream = connect();
                    Ok(())
                }
                Self::Trickle => stream.write_all(b"x"),
                Self::Browse | Self::BrowseUnlimited => return,
            };
            if went.is_err() {
                *stream = connect();
            }
        }
    }
}

/// Asks for the page that costs most, on connections that stay open, and counts the answers.
fn browse(address: SocketAddr, stop: &AtomicBool, answers: &AtomicU64) {
    let requests = "GET /balance?ruleset=ctf HTTP/1.1\r\nHost: x\r\n\r\n".repeat(REQUESTS);
    let connect = || {
        let stream = TcpStream::connect(address).unwrap();
        stream.set_read_timeout(Some(HANG)).unwrap();
        stream
    };
    let mut streams: Vec<TcpStream> = (0..ATTACKERS).map(|_| connect()).collect();
    let mut input = vec![0; 64 * 1024];
    while !stop.load(Ordering::Relaxed) {
        for stream in &mut streams {
            let sent = stream.write_all(requests.as_bytes());
            if sent
                .and_then(|()| read_pages(stream, &mut input, answers))
                .is_err()
            {
                *stream = connect();
            }
        }
    }
}

/// Reads the answers to the requests that were sent at once.
fn read_pages(
    stream: &mut TcpStream,
    input: &mut [u8],
    answers: &AtomicU64,
) -> std::io::Result<()> {
    let (mut left, mut tail) = (REQUESTS, Vec::new());
    while left > 0 {
        let read = stream.read(input)?;
        if read == 0 {
            return Err(std::io::ErrorKind::UnexpectedEof.into());
        }
        // The beginning of an answer may be divided between two reads.
        tail.extend_from_slice(&input[..read]);
        let begins = tail.windows(START.len()).filter(|bytes| *bytes == START);
        let begins = begins.count();
        answers.fetch_add(begins as u64, Ordering::Relaxed);
        left = left.saturating_sub(begins);
        tail.drain(..tail.len().saturating_sub(START.len() - 1));
    }
    Ok(())
}

/// Reads until this number of lines has come.
fn read(stream: &mut TcpStream, lines: usize, input: &mut [u8]) -> std::io::Result<()> {
    let mut left = lines;
    while left > 0 {
        let read = stream.read(input)?;
        if read == 0 {
            return Err(std::io::ErrorKind::UnexpectedEof.into());
        }
        let ends = input[..read].iter().filter(|&&byte| byte == b'\n').count();
        left = left.saturating_sub(ends);
    }
    Ok(())
}
