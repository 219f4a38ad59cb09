//! The program in a process of its own.

use std::{
    io::{self, BufRead, BufReader, Read, Write},
    net::{SocketAddr, TcpStream, ToSocketAddrs},
    path::Path,
    process::{Child, ChildStderr, Command, Stdio},
    time::Duration,
};

/// Far longer than anything here takes: a wait of this length is a hang.
pub const HANG: Duration = Duration::from_secs(60);

/// The program in a folder, without the variables of this environment that configure it.
pub fn evenkeel(folder: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_evenkeel"));
    for (name, _) in std::env::vars().filter(|(name, _)| name.starts_with("EVENKEEL_")) {
        command.env_remove(name);
    }
    command.current_dir(folder);
    command
}

/// A daemon on a free port.
pub fn serve(folder: &Path) -> Command {
    let mut command = evenkeel(folder);
    command.args(["serve", "--listen", "127.0.0.1:0"]);
    command
}

/// Sends lines and QUIT, and returns everything up to the end of the connection.
pub fn talk(address: impl ToSocketAddrs, lines: &str) -> String {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(HANG)).unwrap();
    let sent = format!("{lines}QUIT\n");
    stream.write_all(sent.as_bytes()).unwrap();
    let mut said = String::new();
    stream.read_to_string(&mut said).unwrap();
    said
}

/// A process that logs to stderr; killed when dropped.
pub struct Process {
    pub child: Child,
    /// `None` once it is ignored.
    log: Option<BufReader<ChildStderr>>,
    /// The lines that were read so far.
    pub lines: Vec<String>,
}

impl Process {
    pub fn start(command: &mut Command) -> Self {
        let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
        let log = child.stderr.take().map(BufReader::new);
        let lines = Vec::new();
        Self { child, log, lines }
    }

    /// Reads on to the next line with these words.
    pub fn wait_for(&mut self, words: &str) -> String {
        loop {
            let mut line = String::new();
            let log = self.log.as_mut().unwrap();
            let read = log.read_line(&mut line).unwrap();
            assert_ne!(read, 0, "it has ended without: {words}");
            self.lines.push(line.clone());
            if line.contains(words) {
                return line;
            }
        }
    }

    /// The address of a daemon, once it listens.
    pub fn address(&mut self) -> SocketAddr {
        let line = self.wait_for("listening address=");
        let (_, address) = line.split_once("listening address=").unwrap();
        address.split_whitespace().next().unwrap().parse().unwrap()
    }

    /// Reads and discards the log from now on: on a full pipe the process would block.
    pub fn ignore_log(&mut self) {
        let mut log = self.log.take().unwrap();
        std::thread::spawn(move || io::copy(&mut log, &mut io::sink()));
    }

    pub fn signal(&self, signal: &str) {
        let id = self.child.id().to_string();
        let sent = Command::new("kill").args([signal, &id]).status().unwrap();
        assert!(sent.success());
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
