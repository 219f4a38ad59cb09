//! Runs sidecars and agents: reads a game server's log, drives its remote console and its process, and keeps a
//! connection to the daemon.
//!
//! The room `sidecar` makes the decisions; this one gives it log lines, replies and the time, and does what it says.
//! `driver` is the loop, with the process that an agent starts. `game_log` reads logs, `console` has a remote console
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
mod driver;
mod game_log;

pub use console::{
    ConsoleEvent, DarkPlacesConsole, IdTech3Console, Password, RemoteConsole, Security,
    SourceConsole, TeeworldsConsole,
};
pub use daemon::DaemonConnection;
pub use driver::{Driver, ServerProcess};
pub use game_log::GameLog;

use std::{
    fmt,
    fs::{self, File, OpenOptions},
    io::{self, Read, Write},
    net::SocketAddr,
    path::{Path, PathBuf},
};

use crate::{
    client::{Client, ClientError, ClientSettings, Trust},
    sidecar::agent::AgentMatch,
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
