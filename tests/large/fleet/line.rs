//! What the clients share: where the daemons are, and connections that a fault can cut.

use std::{
    collections::BTreeMap,
    io::{self, BufRead, BufReader, Write},
    net::{Shutdown, SocketAddr, TcpStream},
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    thread,
    time::Duration,
};

use parking_lot::Mutex;

use crate::common::draw::Draw;

pub const DAEMONS: usize = 3;
/// Longer than the daemon withdraws a call of its own accord.
const PATIENCE: Duration = Duration::from_secs(12);

/// Where the daemons are, and what the test wants.
#[derive(Default)]
pub struct World {
    pub addresses: Mutex<Vec<SocketAddr>>,
    /// Clients begin nothing new.
    pub ending: AtomicBool,
    /// Instances leave.
    pub ended: AtomicBool,
    /// Open connections, by number.
    open: Mutex<BTreeMap<u64, TcpStream>>,
    numbers: AtomicU64,
    /// How often each error was answered, by its code.
    pub errors: Mutex<BTreeMap<String, usize>>,
    /// Matches whose END was answered, for the operator.
    pub recorded: Mutex<Vec<i64>>,
    /// Players of recorded matches who never come again.
    pub leavers: Mutex<Vec<String>>,
}

impl World {
    pub fn is_ending(&self) -> bool {
        self.ending.load(Ordering::Relaxed)
    }

    pub fn has_ended(&self) -> bool {
        self.ended.load(Ordering::Relaxed)
    }

    /// Cuts about half of the open connections, and returns how many.
    pub fn cut(&self, draw: &mut Draw) -> usize {
        let open = self.open.lock();
        let cut = open.values().filter(|_| draw.below(2) == 0);
        // A connection that has ended meanwhile counts, too.
        cut.inspect(|stream| drop(stream.shutdown(Shutdown::Both)))
            .count()
    }

    /// Notes an error that a client was answered.
    pub fn note_error(&self, reply: &str) {
        let code = reply.split(' ').take(2).collect::<Vec<_>>().join(" ");
        *self.errors.lock().entry(code).or_default() += 1;
    }
}

/// A connection to a daemon.
pub struct Line {
    stream: BufReader<TcpStream>,
    world: Arc<World>,
    number: u64,
    /// The pushes that have arrived, without the `* `.
    pub pushes: Vec<String>,
}

impl Line {
    /// Connects to a daemon, and returns the connection and the reply to HELLO.
    pub fn open(world: &Arc<World>, daemon: usize, hello: &str) -> io::Result<(Self, String)> {
        let address = world.addresses.lock()[daemon];
        let stream = TcpStream::connect(address)?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        let number = world.numbers.fetch_add(1, Ordering::Relaxed);
        world.open.lock().insert(number, stream.try_clone()?);
        let mut line = Self {
            stream: BufReader::new(stream),
            world: world.clone(),
            number,
            pushes: Vec::new(),
        };
        let reply = line.ask(&format!("HELLO {hello}"))?;
        Ok((line, reply))
    }

    /// Sends a line, and returns the next one that is no push.
    pub fn ask(&mut self, text: &str) -> io::Result<String> {
        let stream = self.stream.get_mut();
        stream.write_all(format!("{text}\n").as_bytes())?;
        self.reply()
    }

    /// Sends a line, and returns once it is carried out, with the first line of the reply if there is one.
    pub fn tell(&mut self, text: &str) -> io::Result<Option<String>> {
        let first = self.ask(&format!("{text}\nPING"))?;
        if first == "PONG" {
            return Ok(None);
        }
        while self.reply()? != "PONG" {}
        Ok(Some(first))
    }

    fn reply(&mut self) -> io::Result<String> {
        loop {
            let mut line = String::new();
            self.stream.read_line(&mut line)?;
            let Some(whole) = line.strip_suffix('\n') else {
                return Err(io::ErrorKind::UnexpectedEof.into());
            };
            match whole.strip_prefix("* ") {
                Some(push) => self.pushes.push(push.to_owned()),
                None => {
                    if whole.starts_with("ERROR ") {
                        self.world.note_error(whole);
                    }
                    return Ok(whole.to_owned());
                }
            }
        }
    }
}

impl Drop for Line {
    fn drop(&mut self) {
        self.world.open.lock().remove(&self.number);
    }
}

/// Waits before something is tried again.
pub fn pause(millis: usize) {
    thread::sleep(Duration::from_millis(millis as u64));
}
