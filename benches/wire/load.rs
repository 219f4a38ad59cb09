//! The client: any number of connections in one thread, each with the same number of questions at once.

use std::{
    io::{ErrorKind, Read, Write},
    net::{SocketAddr, TcpStream},
    time::{Duration, Instant},
};

use mio::{Events, Interest, Poll, Token};

use super::servers::{NAMES, Server, Wire};

/// How long the client waits for an answer. Longer is a hang.
const HANG: Duration = Duration::from_secs(20);

/// Questions that are sent at once, and the length of their answers.
struct Batch {
    bytes: Vec<u8>,
    answer: usize,
}

/// One connection.
struct Peer {
    stream: mio::net::TcpStream,
    /// The batch that it sends next.
    next: usize,
    sent_at: Instant,
    /// The bytes of answers that are missing.
    missing: usize,
}

/// Connections to one server.
pub struct Load<'a> {
    server: &'a Server,
    poll: Poll,
    events: Events,
    peers: Vec<Peer>,
    batches: Vec<Batch>,
    depth: usize,
    input: Vec<u8>,
}

/// The figures of a round.
pub struct Measured {
    /// Answers per second.
    pub per_second: f64,
    /// The 99th percentile of the latency in microseconds.
    pub p99: f64,
    /// The processor time of the server for an answer, in microseconds.
    pub processor: f64,
}

impl<'a> Load<'a> {
    /// Connects, and checks the answers to all questions once.
    pub fn open(server: &'a Server, wire: Wire, connections: usize, depth: usize) -> Self {
        let poll = Poll::new().unwrap();
        let streams: Vec<TcpStream> = (0..connections)
            .map(|_| greet(server.address, wire))
            .collect();
        let batches = batches(&streams[0], wire, depth);
        let mut peers = Vec::new();
        for (at, stream) in streams.into_iter().enumerate() {
            stream.set_nonblocking(true).unwrap();
            let mut stream = mio::net::TcpStream::from_std(stream);
            poll.registry()
                .register(&mut stream, Token(at), Interest::READABLE)
                .unwrap();
            peers.push(Peer {
                stream,
                next: at * 7 % batches.len(),
                sent_at: Instant::now(),
                missing: 0,
            });
        }
        Self {
            server,
            poll,
            events: Events::with_capacity(1_024),
            peers,
            batches,
            depth,
            input: vec![0; 64 * 1024],
        }
    }

    /// Asks for so long, on all connections, then waits for the answers that are missing.
    pub fn run(&mut self, length: Duration) -> Measured {
        let processor = self.server.processor();
        let began = Instant::now();
        let end = began + length;
        let mut latencies: Vec<u32> = Vec::with_capacity(1 << 20);
        for peer in &mut self.peers {
            peer.ask(&self.batches, Instant::now());
        }
        let (mut waiting, mut last) = (self.peers.len(), began);
        while waiting > 0 {
            self.poll.poll(&mut self.events, Some(HANG)).unwrap();
            assert!(!self.events.is_empty(), "the server does not answer");
            for event in &self.events {
                let peer = &mut self.peers[event.token().0];
                if !peer.hear(&mut self.input) {
                    continue;
                }
                let now = Instant::now();
                let took = now.duration_since(peer.sent_at).as_nanos();
                latencies.push(u32::try_from(took).unwrap_or(u32::MAX));
                if now < end {
                    peer.ask(&self.batches, now);
                } else {
                    (waiting, last) = (waiting - 1, now);
                }
            }
        }
        let answers = latencies.len() * self.depth;
        latencies.sort_unstable();
        let processor = self.server.processor() - processor;
        Measured {
            processor: processor as f64 / answers as f64 / 1e3,
            per_second: answers as f64 / last.duration_since(began).as_secs_f64(),
            p99: f64::from(latencies[latencies.len() * 99 / 100]) / 1e3,
        }
    }
}

impl Peer {
    /// Sends the next questions.
    fn ask(&mut self, batches: &[Batch], now: Instant) {
        let batch = &batches[self.next];
        self.next = (self.next + 1) % batches.len();
        (self.sent_at, self.missing) = (now, batch.answer);
        // The send buffer is empty, and far larger than this.
        let sent = self.stream.write(&batch.bytes).unwrap();
        assert_eq!(sent, batch.bytes.len());
    }

    /// Reads what has arrived. Returns whether all answers are there.
    fn hear(&mut self, input: &mut [u8]) -> bool {
        match self.stream.read(input) {
            Ok(0) => panic!("the server has closed a connection"),
            Ok(read) => {
                assert!(read <= self.missing, "an answer is too long");
                self.missing -= read;
                self.missing == 0
            }
            Err(error) if error.kind() == ErrorKind::WouldBlock => false,
            Err(error) => panic!("{error}"),
        }
    }
}

/// A connection whose greeting is answered.
pub fn greet(address: SocketAddr, wire: Wire) -> TcpStream {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_nodelay(true).unwrap();
    stream.set_read_timeout(Some(HANG)).unwrap();
    let (greeting, answer) = wire.greeting();
    stream.write_all(greeting).unwrap();
    let mut heard = vec![0; answer.len()];
    stream.read_exact(&mut heard).unwrap();
    assert_eq!(heard, answer, "{}", String::from_utf8_lossy(&heard));
    stream
}

/// All questions, `depth` at a time, with answers that have been looked at. Waits until the server knows all
/// names.
fn batches(stream: &TcpStream, wire: Wire, depth: usize) -> Vec<Batch> {
    let began = Instant::now();
    (0..NAMES / depth)
        .map(|batch| {
            let questions = (0..depth).map(|at| wire.question(batch * depth + at));
            let bytes: Vec<u8> = questions.flatten().collect();
            loop {
                let answer = ask(stream, &bytes, wire.lines() * depth);
                if wire.knows(&answer) {
                    let answer = answer.len();
                    return Batch { bytes, answer };
                }
                assert!(began.elapsed() < HANG, "wrong answers: {answer}");
                std::thread::sleep(Duration::from_millis(20));
            }
        })
        .collect()
}

/// Sends questions and reads this number of lines.
fn ask(mut stream: &TcpStream, questions: &[u8], lines: usize) -> String {
    stream.write_all(questions).unwrap();
    let (mut heard, mut input) = (Vec::new(), [0; 4_096]);
    while heard.iter().filter(|&&byte| byte == b'\n').count() < lines {
        let read = stream.read(&mut input).unwrap();
        assert_ne!(read, 0, "the server has closed a connection");
        heard.extend_from_slice(&input[..read]);
    }
    String::from_utf8(heard).unwrap()
}
