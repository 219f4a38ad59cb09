//! Runs sidecars and agents: reads a game server's log, drives its remote console and its process, and keeps a
//! connection to the daemon.
//!
//! The room `sidecar` makes the decisions; this one gives it log lines, replies and the time, and does what it says.
//! [`Driver`] is the loop, with the process that an agent starts. `game_log` reads logs, `console` has a remote console
//! for each engine, `daemon` is the connection. The file with the match that a killed agent leaves to the next one is
//! here, and so is the address of the daemon. The command line has the options.
//!
//! A command for the game server is either carried out soon or dropped: a move that comes late could be wrong.

#![allow(
    clippy::disallowed_methods,
    reason = "the clock of a sidecar begins when it starts"
)]

mod console;
mod daemon;
mod game_log;

pub use console::{
    ConsoleEvent, DarkPlacesConsole, IdTech3Console, Password, RemoteConsole, Security,
    SourceConsole, TeeworldsConsole,
};
pub use daemon::DaemonConnection;
pub use game_log::GameLog;

use std::{
    collections::VecDeque,
    ffi::OsString,
    fmt,
    fs::{self, File, OpenOptions},
    future::Future,
    io::{self, Read, Write},
    net::SocketAddr,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use tokio::time::{MissedTickBehavior, interval, sleep};

use crate::{
    client::{Client, ClientError, ClientSettings, Trust, drivers::daemon::DaemonEvent},
    sidecar::{Act, Sidecar, agent::AgentMatch},
};

/// Why a sidecar or an agent could not start, or ended.
#[derive(Debug, thiserror::Error)]
pub enum DriverError {
    /// A file cannot be read or written, or a program cannot be started.
    #[error("{}: {source}", path.display())]
    File {
        /// The file, or the program.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// The operator has to change something.
    #[error("{0}")]
    Input(String),
    /// A socket cannot be opened, or a line cannot be printed.
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// The daemon's plain address, or the one for encrypted connections.
#[derive(Clone, Debug)]
pub enum DaemonEndpoint {
    /// A plain connection.
    Plain(SocketAddr),
    /// An encrypted connection to this host and port, with the certificates that are trusted.
    Encrypted(String, u16, Trust),
}

impl fmt::Display for DaemonEndpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Plain(address) => address.fmt(f),
            Self::Encrypted(host, port, _) => write!(f, "tls://{host}:{port}"),
        }
    }
}

impl DaemonEndpoint {
    /// Connects.
    ///
    /// # Errors
    /// Fails for the reasons of [`Client::connect`] and [`Client::connect_encrypted`].
    async fn connect(&self) -> Result<Client, ClientError> {
        match self {
            Self::Plain(address) => Client::connect(address).await,
            Self::Encrypted(host, port, trust) => {
                let settings = ClientSettings::default();
                Client::connect_encrypted((host.as_str(), *port), trust, settings).await
            }
        }
    }
}

/// The longest file that is read, in bytes.
const MAX_FILE: u64 = 1 << 20;

/// The file. It contains the passes of the players, so only its owner can read it.
pub struct KeptMatch {
    path: PathBuf,
}

impl KeptMatch {
    /// The file at this path, which need not exist.
    pub fn new(path: PathBuf) -> Self {
        Self { path }
    }

    /// The match in the file, if there is one.
    ///
    /// # Errors
    /// Fails if the file cannot be read, or contains something else.
    fn read(&self) -> Result<Option<AgentMatch>, DriverError> {
        let file = match File::open(&self.path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            file => file.map_err(|source| self.error(source))?,
        };
        let mut text = Vec::new();
        let read = file.take(MAX_FILE).read_to_end(&mut text);
        read.map_err(|source| self.error(source))?;
        let kept = serde_json::from_slice(&text);
        Ok(Some(kept.map_err(|error| self.error(error.into()))?))
    }

    /// Writes the match, or removes the file. It is on the disk when this returns.
    ///
    /// # Errors
    /// Fails if the file cannot be written or removed.
    fn keep(&self, kept: Option<&AgentMatch>) -> Result<(), DriverError> {
        let done = match kept {
            Some(kept) => match serde_json::to_vec(kept) {
                Ok(text) => self.write(&text),
                Err(error) => Err(error.into()),
            },
            None => fs::remove_file(&self.path),
        };
        match done {
            Err(error) if kept.is_none() && error.kind() == io::ErrorKind::NotFound => Ok(()),
            done => done.map_err(|source| self.error(source)),
        }
    }

    /// Writes a temporary file and renames it, so that the next agent never reads half of it.
    fn write(&self, text: &[u8]) -> io::Result<()> {
        let fresh = temporary(&self.path);
        let _ = fs::remove_file(&fresh);
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let mut file = options.open(&fresh)?;
        file.write_all(text)?;
        file.sync_all()?;
        drop(file);
        fs::rename(&fresh, &self.path)
    }

    fn error(&self, source: io::Error) -> DriverError {
        let path = self.path.clone();
        DriverError::File { path, source }
    }
}

fn temporary(path: &Path) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}", std::process::id()));
    path.with_file_name(name)
}

/// How often the log is polled.
const POLL: Duration = Duration::from_millis(100);
/// How long a game server that an agent has started may be silent before it is killed, in milliseconds.
const HANGS: u64 = 60_000;
/// How long such a game server may take to quit before it is killed.
const QUIT: Duration = Duration::from_secs(5);

/// Shows a line to the operator.
type Report = fn(&str) -> io::Result<()>;

/// A sidecar, and everything that it reads and drives.
pub struct Driver<S> {
    sidecar: S,
    log: GameLog,
    daemon: DaemonConnection,
    /// `None` in a dry run.
    console: Option<Box<dyn RemoteConsole>>,
    /// Whether the operator is shown how many commands the game server is sent.
    counts_commands: bool,
    kept: Option<KeptMatch>,
    server: Option<ServerProcess>,
    report: Report,
    began: Instant,
}

impl<S: Sidecar> Driver<S> {
    /// Connects to nothing yet. Without a console, commands are only shown to the operator.
    pub fn new(
        sidecar: S,
        log: GameLog,
        daemon: DaemonConnection,
        console: Option<Box<dyn RemoteConsole>>,
        report: Report,
    ) -> Self {
        Self {
            sidecar,
            log,
            daemon,
            console,
            counts_commands: true,
            kept: None,
            server: None,
            report,
            began: Instant::now(),
        }
    }

    /// The driver of an agent, which keeps its match in a file and may start the game server.
    pub fn hosting(self, kept: KeptMatch, server: Option<ServerProcess>) -> Self {
        Self {
            counts_commands: false,
            kept: Some(kept),
            server,
            ..self
        }
    }

    /// Runs until `stopped` resolves.
    ///
    /// # Errors
    /// Fails if the kept match cannot be read, the game server cannot be started, or a line cannot be shown.
    pub async fn run_until(mut self, stopped: impl Future<Output = ()>) -> Result<(), DriverError> {
        tokio::pin!(stopped);
        let mut poll = interval(POLL);
        poll.set_missed_tick_behavior(MissedTickBehavior::Delay);
        (self.report)(&self.log.describe())?;
        if self.console.is_none() {
            (self.report)("a dry run: commands for the game server are printed, and not sent")?;
        }
        // Read the existing log before the first request; its acts are out of date.
        self.read_log(&mut Vec::new());
        if let Some(kept) = &self.kept
            && let Some(kept) = kept.read()?
        {
            self.sidecar.restore(kept);
        }
        let endpoint = self.daemon.endpoint();
        (self.report)(&format!("waiting for the daemon at {endpoint}"))?;
        self.daemon.connect();
        loop {
            let mut acts = Vec::new();
            tokio::select! {
                () = &mut stopped => break,
                _ = poll.tick() => {
                    self.read_log(&mut acts);
                    self.watch_server(&mut acts)?;
                    let now = self.now();
                    self.sidecar.tick(now, &mut acts);
                }
                event = self.daemon.next_event() => self.take_daemon_event(event, &mut acts),
                event = event_of(self.console.as_mut()) => self.take_console_event(event, &mut acts)?,
            }
            self.perform(acts).await?;
        }
        self.stop().await
    }

    /// Reads what is new in the log.
    fn read_log(&mut self, acts: &mut Vec<Act>) {
        let now = self.now();
        let (sidecar, log) = (&mut self.sidecar, &mut self.log);
        let each = |line: &[u8]| sidecar.log_line(line, now, &mut *acts);
        let read = tokio::task::block_in_place(|| log.read(each));
        if let Err(why) = read {
            acts.push(Act::Report(why));
        }
    }

    /// Starts the game server if it does not run, and kills it if it hangs.
    fn watch_server(&mut self, acts: &mut Vec<Act>) -> Result<(), DriverError> {
        let now = self.now();
        let Some(server) = &mut self.server else {
            return Ok(());
        };
        if let Some(text) = server.ended() {
            acts.push(Act::Report(text));
            self.sidecar.server_ended(now, acts);
            server.start(now)?;
        } else if !server.runs() {
            if self.sidecar.needs_server(now) && server.start(now)? {
                acts.push(Act::Report("the game server is started".to_owned()));
            }
        } else if self.sidecar.silent_for(now) >= HANGS {
            server.kill();
        }
        Ok(())
    }

    fn take_daemon_event(&mut self, event: DaemonEvent, acts: &mut Vec<Act>) {
        let now = self.now();
        let endpoint = self.daemon.endpoint();
        match event {
            DaemonEvent::Connected(_) => {
                let text = format!("connected to the daemon at {endpoint}");
                acts.push(Act::Report(text));
                self.sidecar.connected(now, acts);
            }
            DaemonEvent::Reply(reply) => self.sidecar.reply(reply, now, acts),
            DaemonEvent::Push(push) => self.sidecar.push(&push, now, acts),
            DaemonEvent::Lost(reason) => {
                self.sidecar.disconnected();
                let text = format!("no connection to the daemon at {endpoint}: {reason}");
                acts.push(Act::Report(text));
            }
        }
    }

    fn take_console_event(&mut self, event: ConsoleEvent, acts: &mut Vec<Act>) -> io::Result<()> {
        match event {
            ConsoleEvent::Note(line) => return (self.report)(&line),
            ConsoleEvent::Answer(id, text) => {
                let now = self.now();
                self.sidecar.answer(id, text.as_deref(), now, acts);
            }
            ConsoleEvent::Line(line) if self.log.is_console() => {
                let now = self.now();
                self.sidecar.log_line(&line, now, acts);
            }
            // The log has it, too.
            ConsoleEvent::Line(_) => {}
        }
        Ok(())
    }

    fn now(&self) -> u64 {
        let elapsed = self.began.elapsed().as_millis();
        elapsed.try_into().unwrap_or(u64::MAX)
    }

    async fn perform(&mut self, acts: Vec<Act>) -> io::Result<()> {
        for act in acts {
            match act {
                Act::Send(request) => self.daemon.send(request),
                Act::Report(text) => (self.report)(&text)?,
                Act::Console(commands) => self.command(&commands).await?,
                Act::Ask { id, command } => {
                    if let Some(console) = &mut self.console {
                        console.ask(id, &command);
                    }
                }
                Act::Keep(kept) => {
                    // The match goes on without the file, as long as the agent does.
                    if let Some(file) = &self.kept
                        && let Err(error) = file.keep(kept.as_ref())
                    {
                        (self.report)(&format!("the match is not kept: {error}"))?;
                    }
                }
            }
        }
        Ok(())
    }

    /// Sends the game server commands, or shows them in a dry run.
    async fn command(&mut self, commands: &[String]) -> io::Result<()> {
        let Some(console) = &mut self.console else {
            for command in commands {
                (self.report)(&format!("would do: {command}"))?;
            }
            return Ok(());
        };
        if self.counts_commands {
            (self.report)(&format!("{} commands to the game server", commands.len()))?;
        }
        if let Err(error) = console.send(commands).await {
            (self.report)(&format!("cannot send commands to the game server: {error}"))?;
        }
        Ok(())
    }

    /// Ends the conversation with the daemon, and the game server if this driver has started it.
    async fn stop(mut self) -> Result<(), DriverError> {
        let mut acts = Vec::new();
        let owned = self.server.as_ref().is_some_and(ServerProcess::runs);
        self.sidecar.stop(owned, &mut acts);
        self.perform(acts).await?;
        if let Some(mut server) = self.server.take().filter(|_| owned) {
            if let Some(console) = &mut self.console {
                console.ask(0, self.sidecar.quit_command());
            }
            let began = Instant::now();
            while server.ended().is_none() {
                if began.elapsed() >= QUIT {
                    server.kill();
                }
                sleep(POLL).await;
            }
        }
        self.daemon.close().await;
        Ok(())
    }
}

/// Waits for the console's next event; in a dry run there is none, and it waits for ever.
async fn event_of(console: Option<&mut Box<dyn RemoteConsole>>) -> ConsoleEvent {
    match console {
        Some(console) => console.next_event().await,
        None => std::future::pending().await,
    }
}

/// How often the game server is started within [`WINDOW`] before the agent gives up.
const MAX_STARTS: usize = 5;
/// The time in which starts are counted, in milliseconds.
const WINDOW: u64 = 600_000;
/// The shortest time between two starts, in milliseconds.
const PAUSE: u64 = 2_000;

/// The game server's process. It goes on if the agent is killed.
pub struct ServerProcess {
    program: OsString,
    arguments: Vec<OsString>,
    child: Option<Child>,
    starts: VecDeque<u64>,
}

impl ServerProcess {
    /// A process that is not started yet; `None` without a program.
    pub fn new(command: &[OsString]) -> Option<Self> {
        let (program, arguments) = command.split_first()?;
        Some(Self {
            program: program.clone(),
            arguments: arguments.to_vec(),
            child: None,
            starts: VecDeque::new(),
        })
    }

    /// Whether this agent has started the process, and it runs.
    fn runs(&self) -> bool {
        self.child.is_some()
    }

    /// Starts it, unless it was started a moment ago. Returns whether it was started.
    ///
    /// # Errors
    /// Fails if it cannot be started, or was started too often.
    fn start(&mut self, now: u64) -> Result<bool, DriverError> {
        self.starts.retain(|at| now < at.saturating_add(WINDOW));
        if self.starts.back().is_some_and(|at| now < at + PAUSE) {
            return Ok(false);
        }
        if self.starts.len() >= MAX_STARTS {
            let text = format!("the game server has ended {MAX_STARTS} times in ten minutes");
            return Err(DriverError::Input(text));
        }
        self.starts.push_back(now);
        let mut command = Command::new(&self.program);
        command.args(&self.arguments).stdin(Stdio::null());
        // Standard output is for what the agent reports.
        command.stdout(io::stderr()).stderr(Stdio::inherit());
        let child = command.spawn().map_err(|source| DriverError::File {
            path: self.program.clone().into(),
            source,
        })?;
        self.child = Some(child);
        Ok(true)
    }

    /// How the process has ended, once, if it has.
    fn ended(&mut self) -> Option<String> {
        let text = match self.child.as_mut()?.try_wait() {
            Ok(None) => return None,
            Ok(Some(status)) => format!("the game server has ended: {status}"),
            Err(error) => format!("the game server cannot be watched: {error}"),
        };
        self.child = None;
        Some(text)
    }

    /// Kills the process, if it still runs.
    fn kill(&mut self) {
        if let Some(child) = &mut self.child {
            // It may have ended by itself.
            let _ = child.kill();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_that_ends_at_once_is_started_a_few_times() {
        let mut server = ServerProcess::new(&["true".into()]).unwrap();
        let mut started = |now| server.start(now).map_err(|error| error.to_string());
        assert_eq!(started(0), Ok(true));
        assert_eq!(started(1_999), Ok(false));
        for now in [2_000, 4_000, 6_000, 8_000] {
            assert_eq!(started(now), Ok(true));
        }
        assert!(started(10_000).is_err());
        assert_eq!(started(600_000), Ok(true), "the first start is long ago");
        while server.runs() {
            if let Some(text) = server.ended() {
                assert!(text.contains("exit status: 0"), "{text}");
            }
        }
    }
}
