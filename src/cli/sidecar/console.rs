//! The game server's remote console. Commands go into a file; one packet makes the server execute
//! it.

use std::{
    fs::{self, File},
    io::{self, Write},
    net::SocketAddr,
    path::{Path, PathBuf},
};

use async_trait::async_trait;
use tokio::net::UdpSocket;

use super::{CliError, RemoteConsole};

/// The start of every packet outside a client's connection.
pub(super) const OUT_OF_BAND: &[u8] = b"\xff\xff\xff\xff";
/// The longest answer that is read, in bytes. Servers split longer ones.
const ANSWER: usize = 2_048;
/// How many characters of an answer are shown to the operator.
const SHOWN: usize = 200;
/// The longest password, in bytes. The game's own limit is lower.
const MAX_PASSWORD: usize = 256;

/// The password of the console. Its `Debug` form does not contain it.
#[derive(Clone)]
pub(super) struct Password(String);

impl Password {
    /// # Errors
    /// Fails if the text is empty or too long, or contains characters that end an argument in the
    /// game's console.
    pub(super) fn new(text: &str) -> Result<Self, &'static str> {
        if text.is_empty() {
            return Err(
                "the rcon password is missing: set --password-file or EVENKEEL_RCON_PASSWORD",
            );
        }
        let fits = |b: u8| b.is_ascii_graphic() && !b"\";\\".contains(&b);
        if text.len() > MAX_PASSWORD || !text.bytes().all(fits) {
            return Err("the rcon password must be visible ASCII without blanks, quotes, ; and \\");
        }
        Ok(Self(text.to_owned()))
    }

    /// The password as the game server expects it.
    pub(super) fn text(&self) -> &str {
        &self.0
    }
}

impl std::fmt::Debug for Password {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Password")
    }
}

/// The remote console of one game server. Servers accept about one packet per second, so all
/// commands go with one packet.
#[derive(Debug)]
pub(super) struct Console {
    socket: UdpSocket,
    password: Password,
    folder: PathBuf,
    /// The name of the file of commands, unique to this game server.
    name: String,
}

impl Console {
    /// Opens a socket to the console and writes an empty file of commands. Sends nothing.
    ///
    /// # Errors
    /// Fails if the folder cannot be written to, or the socket cannot be opened.
    pub(super) async fn open(
        address: SocketAddr,
        password: Password,
        folder: &Path,
    ) -> Result<Self, CliError> {
        let socket = connected(address).await?;
        let console = Self {
            socket,
            password,
            folder: folder.to_owned(),
            name: format!("evenkeel-{}.cfg", address.port()),
        };
        console.write(&[]).map_err(|source| CliError::File {
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
impl RemoteConsole for Console {
    /// Writes the file, and sends a packet that makes the server execute it. The packet can be lost.
    async fn send(&mut self, commands: &[String]) -> io::Result<()> {
        self.write(commands)?;
        let mut packet = OUT_OF_BAND.to_vec();
        packet.extend(format!("rcon {} exec {}", self.password.0, self.name).bytes());
        self.socket.send(&packet).await?;
        Ok(())
    }

    async fn answer(&mut self) -> String {
        let mut answer = [0; ANSWER];
        loop {
            match self.socket.recv(&mut answer).await {
                Ok(count) => {
                    let text = answer[..count].strip_prefix(OUT_OF_BAND);
                    let text = text.and_then(|text| text.strip_prefix(b"print\n"));
                    if let Some(text) = text.map(|text| text.trim_ascii()).filter(|t| !t.is_empty())
                    {
                        return format!("the game server answers: {}", shown(text));
                    }
                }
                // An ICMP answer reported that the port is closed now; the server may come back.
                Err(error) => return format!("the game server cannot be reached: {error}"),
            }
        }
    }
}

/// A socket that exchanges datagrams with this address only.
pub(super) async fn connected(address: SocketAddr) -> io::Result<UdpSocket> {
    let unspecified = if address.is_ipv4() {
        "0.0.0.0:0"
    } else {
        "[::]:0"
    };
    let socket = UdpSocket::bind(unspecified).await?;
    socket.connect(address).await?;
    Ok(socket)
}

/// A text of the game server as one line of bounded length, without control characters.
pub(super) fn shown(text: &[u8]) -> String {
    let text = String::from_utf8_lossy(text);
    let plain = |c: char| if c.is_control() { ' ' } else { c };
    text.chars().map(plain).take(SHOWN).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passwords() {
        for wrong in [
            "",
            "a b",
            "a;quit",
            "a\"b",
            "a\\b",
            "é",
            "a\nb",
            &"x".repeat(257),
        ] {
            assert!(Password::new(wrong).is_err(), "{wrong:?}");
        }
        let secret = Password::new("s3cret!").unwrap();
        assert!(!format!("{secret:?}").contains("s3cret"));
    }
}
