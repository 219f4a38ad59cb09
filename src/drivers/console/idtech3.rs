//! The remote console of an id Tech 3 server. Commands go into a file; one packet makes the server execute it.

use std::{
    fs::{self, File},
    io::{self, Write},
    net::SocketAddr,
    path::{Path, PathBuf},
};

use async_trait::async_trait;
use tokio::net::UdpSocket;

use super::{ConsoleEvent, Password, RemoteConsole, connected, shown};
use crate::drivers::DriverError;

/// The start of every packet outside a client's connection.
pub(super) const OUT_OF_BAND: &[u8] = b"\xff\xff\xff\xff";
/// The longest answer that is read, in bytes. Servers split longer ones.
const ANSWER: usize = 2_048;

/// The remote console of one game server. Servers accept about one packet per second, so all
/// commands go with one packet.
#[derive(Debug)]
pub struct IdTech3Console {
    socket: UdpSocket,
    password: Password,
    folder: PathBuf,
    /// The name of the file of commands, unique to this game server.
    name: String,
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
        };
        console.write(&[]).map_err(|source| DriverError::File {
            path: console.folder.join(&console.name),
            source,
        })?;
        Ok(console)
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
        let mut packet = OUT_OF_BAND.to_vec();
        packet.extend(format!("rcon {} exec {}", self.password.text(), self.name).bytes());
        self.socket.send(&packet).await?;
        Ok(())
    }

    async fn next_event(&mut self) -> ConsoleEvent {
        let mut answer = [0; ANSWER];
        loop {
            match self.socket.recv(&mut answer).await {
                Ok(count) => {
                    let text = answer[..count].strip_prefix(OUT_OF_BAND);
                    let text = text.and_then(|text| text.strip_prefix(b"print\n"));
                    if let Some(text) = text.map(|text| text.trim_ascii()).filter(|t| !t.is_empty())
                    {
                        let text = format!("the game server answers: {}", shown(text));
                        return ConsoleEvent::Note(text);
                    }
                }
                // An ICMP answer reported that the port is closed now; the server may come back.
                Err(error) => {
                    let text = format!("the game server cannot be reached: {error}");
                    return ConsoleEvent::Note(text);
                }
            }
        }
    }
}
