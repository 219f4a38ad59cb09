//! The latency of a client that behaves well beside others that do not.

use std::{
    io::{Read, Write},
    net::{SocketAddr, TcpStream},
    sync::atomic::{AtomicBool, Ordering},
    thread,
    time::{Duration, Instant},
};

use super::{load::greet, servers::Wire};

/// The connections of an attack.
const ATTACKERS: usize = 8;
/// Questions of the client in each measurement, and the time between two of them.
const QUESTIONS: usize = 2_000;
const PAUSE: Duration = Duration::from_micros(500);

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
}

const ATTACKS: [(Attack, &str); 7] = [
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
];

/// Prints a row for each attack.
pub fn measure(address: SocketAddr) {
    println!();
    println!("| a question each {PAUSE:?} beside | p50 | p99 | p50, ratio | p99, ratio |");
    println!("| --- | ---: | ---: | ---: | ---: |");
    let mut alone = None;
    for (attack, name) in ATTACKS {
        let stop = AtomicBool::new(false);
        let [p50, p99] = thread::scope(|scope| {
            scope.spawn(|| attack.run(address, &stop));
            let latencies = ask(address);
            stop.store(true, Ordering::Relaxed);
            latencies
        });
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
            read += stream.read(&mut input[read..]).unwrap();
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
            };
            if went.is_err() {
                *stream = connect();
            }
        }
    }
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
