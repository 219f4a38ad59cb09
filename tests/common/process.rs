//! The program in a process of its own.
#![allow(
    clippy::disallowed_methods,
    reason = "time-outs of real processes are measured in real time"
)]

use std::{
    fmt::Debug,
    fs,
    io::{BufRead, BufReader, Read, Write},
    net::{SocketAddr, TcpStream},
    path::Path,
    process::{Child, Command, ExitStatus, Output, Stdio},
    sync::mpsc,
    thread,
    time::{Duration, Instant},
};

use tempfile::TempDir;

pub const BINARY: &str = env!("CARGO_BIN_EXE_evenkeel");
/// Far longer than anything here takes: a wait of this length is a hang.
pub const HANG: Duration = Duration::from_secs(60);

/// The program; a benchmark runs another build of it if this variable names one.
pub fn evenkeel(folder: &Path) -> Command {
    let other = std::env::var_os("EVENKEEL_BENCH_PROGRAM");
    inside(folder, Command::new(other.unwrap_or(BINARY.into())))
}

/// Runs a command of the program; returns the exit code, and what it has printed.
pub fn run(folder: &Path, words: &[&str]) -> (i32, String, String) {
    run_with(folder, words, "")
}

/// Runs a command of the program that reads this from standard input.
pub fn run_with(folder: &Path, words: &[&str], stdin: &str) -> (i32, String, String) {
    let mut command = assert_cmd::Command::from_std(evenkeel(folder));
    let command = command.args(words).write_stdin(stdin).timeout(5 * HANG);
    printed(command.output().unwrap())
}

/// The exit code of a command, and what it has printed.
pub fn printed(output: Output) -> (i32, String, String) {
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    let code = output.status.code().unwrap();
    (code, text(output.stdout), text(output.stderr))
}

/// A folder with this configuration, for [`Process::start_configured`].
pub fn configured(toml: &str) -> TempDir {
    let folder = TempDir::new().unwrap();
    fs::write(folder.path().join("evenkeel.toml"), toml).unwrap();
    folder
}

/// The command in this folder, without the environment's configuration.
pub fn inside(folder: &Path, mut command: Command) -> Command {
    for (name, _) in std::env::vars().filter(|(name, _)| name.starts_with("EVENKEEL_")) {
        command.env_remove(name);
    }
    // A configuration of this machine changes no test.
    command.env("EVENKEEL_SYSTEM_CONFIG", "");
    // A test of pages sets their address.
    command.env("EVENKEEL_WEB_LISTEN", "off");
    command.current_dir(folder);
    command
}

/// A daemon in a process of its own, which is killed when this is dropped.
pub struct Process {
    pub child: Child,
    pub address: SocketAddr,
    /// The address for encrypted connections, if there is one.
    pub tls: Option<SocketAddr>,
    /// What it logs up to the line that names the address.
    pub before: String,
    /// The lines that it logs after that.
    pub log: mpsc::Receiver<String>,
}

impl Process {
    pub fn start(folder: &Path) -> Self {
        Self::start_with(folder, &[])
    }

    /// Starts it with the configuration in the folder.
    pub fn start_configured(folder: &Path) -> Self {
        Self::start_with(folder, &[("EVENKEEL_CONFIG", "evenkeel.toml")])
    }

    /// Starts it with variables that change its configuration.
    pub fn start_with(folder: &Path, variables: &[(&str, &str)]) -> Self {
        Self::run(folder, &["serve", "--listen", "127.0.0.1:0"], variables)
    }

    /// Starts it at the address that the variables give.
    pub fn start_at(folder: &Path, variables: &[(&str, &str)]) -> Self {
        Self::run(folder, &["serve"], variables)
    }

    pub fn run(folder: &Path, words: &[&str], variables: &[(&str, &str)]) -> Self {
        Self::of(folder, evenkeel(folder), words, variables)
    }

    /// Starts it by a command that becomes the daemon.
    pub fn of(folder: &Path, command: Command, words: &[&str], variables: &[(&str, &str)]) -> Self {
        let mut command = inside(folder, command);
        command.args(words).envs(variables.iter().copied());
        let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
        let log = BufReader::new(child.stderr.take().unwrap());
        // The daemon would block on a full pipe, so its log is read, whether anybody wants it or not.
        let (sender, lines) = mpsc::channel();
        thread::spawn(move || {
            for line in log.lines().map_while(Result::ok) {
                let _ = sender.send(line);
            }
        });
        let (mut said, mut tls) = (String::new(), None);
        let address = loop {
            let line = lines.recv_timeout(5 * HANG).unwrap_or_else(|error| {
                let _ = child.kill();
                panic!("the daemon does not listen ({error}): {said}")
            });
            if let Some((_, rest)) = line.split_once("listening address=") {
                break rest.split_whitespace().next().unwrap().parse().unwrap();
            }
            if let Some((_, rest)) = line.split_once(" tls=") {
                tls = rest.split_whitespace().next().unwrap().parse().ok();
            }
            said.push_str(&line);
            said.push('\n');
        };
        Self {
            child,
            address,
            tls,
            before: said,
            log: lines,
        }
    }

    pub fn connect(&self) -> BufReader<TcpStream> {
        connect_to(self.address)
    }

    /// Sends lines and QUIT, and returns all replies.
    pub fn ask(&self, lines: &str) -> String {
        let mut stream = self.connect();
        let text = format!("{lines}QUIT\n");
        stream.get_mut().write_all(text.as_bytes()).unwrap();
        let mut said = String::new();
        stream.read_to_string(&mut said).unwrap();
        said
    }

    pub fn signal(&self, signal: &str) {
        let sent = Command::new("kill")
            .args([signal, &self.child.id().to_string()])
            .status()
            .unwrap();
        assert!(sent.success());
    }

    /// Kills it as `kill -9` does, and waits for its end.
    pub fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Stops it as SIGTERM does, and waits for its end.
    pub fn stop(&mut self) {
        self.signal("-TERM");
        assert!(wait(&mut self.child).success());
    }
}

/// A connection to a daemon.
pub fn connect_to(address: SocketAddr) -> BufReader<TcpStream> {
    let stream = TcpStream::connect(address).unwrap();
    stream.set_nodelay(true).unwrap();
    stream.set_read_timeout(Some(HANG)).unwrap();
    BufReader::new(stream)
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

pub fn wait(child: &mut Child) -> ExitStatus {
    wait_for(child, HANG)
}

/// Waits for the end of a process, at most for `limit`.
pub fn wait_for(child: &mut Child, limit: Duration) -> ExitStatus {
    poll_for(limit, || {
        child.try_wait().unwrap().ok_or("the process hangs")
    })
}

/// Looks again and again until `look` finds something. Panics with what it saw last if that takes too long. It blocks
/// the thread.
pub fn poll<T, E: Debug>(look: impl FnMut() -> Result<T, E>) -> T {
    poll_for(HANG, look)
}

/// The same, at most for `limit`.
pub fn poll_for<T, E: Debug>(limit: Duration, mut look: impl FnMut() -> Result<T, E>) -> T {
    let began = Instant::now();
    loop {
        match look() {
            Ok(found) => return found,
            Err(seen) => assert!(began.elapsed() < limit, "{seen:?}"),
        }
        thread::sleep(Duration::from_millis(5));
    }
}

/// One line from the connection, without its end; empty once it is closed.
pub fn line(stream: &mut BufReader<TcpStream>) -> String {
    let mut line = String::new();
    stream.read_line(&mut line).unwrap();
    line.trim_end_matches('\n').to_owned()
}

/// Sends `text` and returns the next line that arrives.
pub fn ask(stream: &mut BufReader<TcpStream>, text: &str) -> String {
    stream.get_mut().write_all(text.as_bytes()).unwrap();
    line(stream)
}
