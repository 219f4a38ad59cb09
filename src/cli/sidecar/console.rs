//! The game server's remote console. Commands go into a file; one packet has the server execute it.

use std::{
    fs::{self, File},
    io::{self, Write},
    net::SocketAddr,
    path::{Path, PathBuf},
};

use tokio::net::UdpSocket;

use super::CliError;

/// The beginning of every packet that belongs to no client in the game.
const OUT_OF_BAND: &[u8] = b"\xff\xff\xff\xff";
/// The largest answer read, in bytes. Servers split longer ones.
const ANSWER: usize = 2_048;
/// How many characters of an answer the operator is shown.
const SHOWN: usize = 200;
/// The longest password, in bytes. The game's own limit is lower.
const MAX_PASSWORD: usize = 256;

/// The password of the console. Nothing prints it.
pub(super) struct Password(String);

impl Password {
    /// # Errors
    /// The text is empty, too long, or holds characters that the game would take for its end.
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
}

impl std::fmt::Debug for Password {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Password")
    }
}

/// The remote console of one game server. Servers take about one packet a second, so all commands go
/// by one.
#[derive(Debug)]
pub(super) struct Console {
    socket: UdpSocket,
    password: Password,
    folder: PathBuf,
    /// The file's name, which no other game server's sidecar uses.
    name: String,
}

impl Console {
    /// Opens a socket to the console and writes an empty file of commands. Nothing is sent.
    ///
    /// # Errors
    /// The folder cannot be written to, or the socket cannot be opened.
    pub(super) async fn open(
        address: SocketAddr,
        password: Password,
        folder: &Path,
    ) -> Result<Self, CliError> {
        let unspecified = if address.is_ipv4() {
            "0.0.0.0:0"
        } else {
            "[::]:0"
        };
        let socket = UdpSocket::bind(unspecified).await?;
        socket.connect(address).await?;
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

    /// Has the server execute the commands. Packets may be lost: only the log shows whether it did.
    pub(super) async fn send(&self, commands: &[String]) -> io::Result<()> {
        self.write(commands)?;
        let mut packet = OUT_OF_BAND.to_vec();
        packet.extend(format!("rcon {} exec {}", self.password.0, self.name).bytes());
        self.socket.send(&packet).await?;
        Ok(())
    }

    /// Writes the file under another name first, so that the game never reads half of it.
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

    /// Waits for the game server's next answer; returns it as one line that is safe for a terminal.
    pub(super) async fn answer(&self) -> String {
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
                // Nothing listens on that port now (an ICMP answer). That may change.
                Err(error) => return format!("the game server cannot be reached: {error}"),
            }
        }
    }
}

fn shown(text: &[u8]) -> String {
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
