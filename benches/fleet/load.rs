//! Clients that play games and submit tickets, one after the other.

use std::{
    io::{BufRead, BufReader, Write},
    net::{SocketAddr, TcpStream},
    time::Instant,
};

/// A connection to a daemon.
pub struct Peer(BufReader<TcpStream>);

impl Peer {
    pub fn open(address: SocketAddr, name: &str) -> Self {
        let stream = TcpStream::connect(address).unwrap();
        stream.set_nodelay(true).unwrap();
        let mut peer = Self(BufReader::new(stream));
        let hello = peer.ask(&format!("HELLO {name}"));
        assert!(hello.starts_with("HELLO "), "{hello}");
        peer
    }

    pub fn send(&mut self, text: &str) {
        let stream = self.0.get_mut();
        stream.write_all(format!("{text}\n").as_bytes()).unwrap();
    }

    /// Sends lines, and returns the first line of the reply.
    pub fn ask(&mut self, text: &str) -> String {
        self.send(text);
        let mut line = String::new();
        self.0.read_line(&mut line).unwrap();
        assert!(!line.is_empty(), "the daemon closed the connection");
        line.truncate(line.trim_end().len());
        line
    }
}

/// Plays a game of four against four with six goals. Returns the seconds from END to its answer.
pub fn game(peer: &mut Peer, client: usize, number: usize) -> f64 {
    let mut lines = format!("GAME ctf\nMAP m{client}.{number}\n");
    for seat in 0..8 {
        // One player is new; the others come back.
        let player = match seat {
            0 => format!("p{client}.{number}.0"),
            _ => format!("p{}", (client * 7 + number * 13 + seat * 31) % 997),
        };
        lines += &format!("JOIN {player} team={}\n", seat % 2);
    }
    lines += "START\n";
    for goal in 0..6 {
        lines += &format!("SCORE {}\n", (number + goal * goal) % 2);
    }
    let pong = peer.ask(&format!("{lines}PING"));
    assert_eq!(pong, "PONG");
    let since = Instant::now();
    let end = peer.ask("END");
    assert!(end.ends_with(" recorded"), "{end}");
    since.elapsed().as_secs_f64()
}

/// Submits a ticket of one player for the queue with this number. Returns the seconds from SUBMIT to its answer.
pub fn submit(peer: &mut Peer, queue: usize, client: usize, number: usize) -> f64 {
    let ticket = format!("t{client}.{number}");
    peer.send(&format!(
        "ENQUEUE duel{queue} {ticket}\nSEAT q{client}.{number}"
    ));
    let since = Instant::now();
    let reply = peer.ask("SUBMIT");
    assert!(
        reply.starts_with("QUEUED ") || reply.starts_with("MATCHED "),
        "{reply}"
    );
    since.elapsed().as_secs_f64()
}

/// The value that this share of the values does not exceed.
pub fn percentile(values: &mut [f64], share: f64) -> f64 {
    values.sort_by(f64::total_cmp);
    values[((values.len() - 1) as f64 * share) as usize]
}
