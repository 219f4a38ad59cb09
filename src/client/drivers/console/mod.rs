//! The remote consoles of game servers: one file per engine, behind [`RemoteConsole`].

mod darkplaces;
mod idtech3;
mod source;
mod tcp;
mod teeworlds;

use std::{io, net::SocketAddr};

use async_trait::async_trait;
use tokio::{
    net::UdpSocket,
    time::{Instant, sleep_until},
};

pub use darkplaces::{DarkPlacesConsole, Security};
pub use idtech3::IdTech3Console;
pub use source::SourceConsole;
pub use teeworlds::TeeworldsConsole;

/// How many characters of an answer are shown to the operator.
const SHOWN: usize = 200;
/// What the operator is told once the game server has answered for the first time.
const ANSWERS: &str = "the game server answers on its remote console";
/// The longest password, in bytes. The games' own limits are lower.
const MAX_PASSWORD: usize = 256;

/// What a remote console hears from its game server.
#[derive(Debug)]
pub enum ConsoleEvent {
    /// A line to show to the operator.
    Note(String),
    /// The answer to the question with this number; `None` if there is none.
    Answer(u64, Option<Vec<u8>>),
    /// A line that the game server has printed, without its end.
    Line(Vec<u8>),
}

/// The remote console of a game server.
#[async_trait]
pub trait RemoteConsole: Send {
    /// Makes the server execute the commands, in this order. Only the log shows whether it has
    /// executed them.
    ///
    /// # Errors
    /// Fails if they certainly do not reach the server.
    async fn send(&mut self, commands: &[String]) -> io::Result<()>;

    /// Waits for the next event. Can be dropped before it completes.
    async fn next_event(&mut self) -> ConsoleEvent;

    /// Makes the server execute a command whose answer matters; the answer is an event. A console without an agent is
    /// not asked.
    fn ask(&mut self, _id: u64, _command: &str) {}
}

/// The password of the console. Its `Debug` form does not contain it.
#[derive(Clone)]
pub struct Password(String);

impl Password {
    /// Checks the password.
    ///
    /// # Errors
    /// Fails if the text is empty or too long, or contains characters that end an argument in the
    /// game's console.
    pub fn new(text: &str) -> Result<Self, &'static str> {
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

/// Waits until an answer is overdue; for ever if none is expected.
pub(super) async fn overdue(due: Option<Instant>) {
    match due {
        Some(due) => sleep_until(due).await,
        None => std::future::pending().await,
    }
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
