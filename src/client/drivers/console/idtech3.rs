//! The remote console of an id Tech 3 server. Commands go into a file; one packet makes the server execute it.

use std::{
    fs::{self, File},
    io::{self, Write},
    net::SocketAddr,
    path::{Path, PathBuf},
    time::Duration,
};

use async_trait::async_trait;
use tokio::{net::UdpSocket, time::Instant};

use super::{
    ANSWERS, ConsoleEvent, Password, RemoteConsole, connected,
    datagram::{MAX_DATAGRAM, OUT_OF_BAND, text_in},
    overdue,
    questions::{Answered, Questions},
    shown,
};
use crate::client::drivers::DriverError;

/// A part of the answer with which the game server reports that it executes a file; the operator of an agent is not
/// shown it.
const EXECUTING: &str = ": execing ";
/// What the game server is made to print at the start, so that the operator knows at once whether it answers.
const MARK: &str = "evenkeel asks whether this console answers";
/// How long its answer may take.
const PATIENCE: Duration = Duration::from_secs(3);

/// The remote console of one game server. Servers accept about one packet per second, so all
/// commands go with one packet.
#[derive(Debug)]
pub struct IdTech3Console {
    socket: UdpSocket,
    password: Password,
    folder: PathBuf,
    /// The name of the file of commands, unique to this game server.
    name: String,
    /// For an agent, which also asks the game server.
    questions: Option<Questions>,
    /// When the answer to the question of the start is overdue.
    due: Option<Instant>,
}

impl IdTech3Console {
    /// Opens a socket to the console and writes an empty file of commands. Sends nothing.
    ///
    /// # Errors
    /// Fails if the folder cannot be written to, or the socket cannot be opened.
    pub async fn open(
        address: SocketAddr,
        password: Password,
        folder: &Path,
    ) -> Result<Self, DriverError> {
        let socket = connected(address).await?;
        let console = Self {
            socket,
            password,
            folder: folder.to_owned(),
            name: format!("evenkeel-{}.cfg", address.port()),
            questions: None,
            due: None,
        };
        console.write(&[]).map_err(|source| DriverError::File {
            path: console.folder.join(&console.name),
            source,
        })?;
        Ok(console)
    }

    /// The console of an agent, which asks the game server at this address.
    pub fn asking(self, address: SocketAddr) -> Self {
        let questions = Some(Questions::new(address));
        Self { questions, ..self }
    }

    /// Asks the game server to print a line, which changes nothing. The next event says whether it has.
    pub async fn checked(self) -> Self {
        // A server that cannot be reached now is reported when its answer is overdue.
        let _ = self
            .socket
            .send(&self.packet(&format!("echo {MARK}")))
            .await;
        let due = Some(Instant::now() + PATIENCE);
        Self { due, ..self }
    }

    /// The datagram that makes the game server execute a command.
    fn packet(&self, command: &str) -> Vec<u8> {
        let text = format!("rcon {} {command}", self.password.text());
        [OUT_OF_BAND, text.as_bytes()].concat()
    }

    /// Writes a temporary file and renames it, so that the game never reads half of it.
    fn write(&self, commands: &[String]) -> io::Result<()> {
        let fresh = self
            .folder
            .join(format!(".{}.{}", self.name, std::process::id()));
        let _ = fs::remove_file(&fresh);
        let mut file = File::options().write(true).create_new(true).open(&fresh)?;
        for command in commands {
            writeln!(file, "{command}")?;
        }
        drop(file);
        fs::rename(&fresh, self.folder.join(&self.name))
    }
}

#[async_trait]
impl RemoteConsole for IdTech3Console {
    /// Writes the file, and sends a packet that makes the server execute it. The packet can be lost.
    async fn send(&mut self, commands: &[String]) -> io::Result<()> {
        self.write(commands)?;
        let packet = self.packet(&format!("exec {}", self.name));
        self.socket.send(&packet).await?;
        Ok(())
    }

    async fn next_event(&mut self) -> ConsoleEvent {
        let asks = self.questions.is_some();
        loop {
            tokio::select! {
                line = printed(&self.socket) => {
                    self.due = None;
                    if line.contains(MARK) {
                        return ConsoleEvent::Note(ANSWERS.to_owned());
                    }
                    if !(asks && line.contains(EXECUTING)) {
                        return ConsoleEvent::Note(line);
                    }
                }
                () = overdue(self.due) => {
                    self.due = None;
                    let text = "the game server does not answer on its remote console: is it running, and is the \
                                address right?";
                    return ConsoleEvent::Note(text.to_owned());
                }
                (id, text) = answered(self.questions.as_mut()) => {
                    return ConsoleEvent::Answer(id, text);
                }
            }
        }
    }

    fn ask(&mut self, id: u64, command: &str) {
        if let Some(questions) = &self.questions {
            questions.ask(id, self.packet(command));
        }
    }
}

/// Waits for the next line for the operator. Can be dropped before it completes.
async fn printed(socket: &UdpSocket) -> String {
    let mut datagram = [0; MAX_DATAGRAM];
    loop {
        match socket.recv(&mut datagram).await {
            Ok(count) => {
                let text = text_in(&datagram[..count]).map(|text| text.trim_ascii());
                if let Some(text) = text.filter(|text| !text.is_empty()) {
                    return format!("the game server answers: {}", shown(text));
                }
            }
            // An ICMP answer reported that the port is closed now; the server may come back.
            Err(error) => return format!("the game server cannot be reached: {error}"),
        }
    }
}

/// Waits for the next answer; without questions, for ever.
async fn answered(questions: Option<&mut Questions>) -> Answered {
    match questions {
        Some(questions) => questions.next().await,
        None => std::future::pending().await,
    }
}
