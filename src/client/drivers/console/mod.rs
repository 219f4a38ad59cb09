//! The remote consoles of game servers: one file per engine, behind [`RemoteConsole`].
//!
//! Several engines have theirs on a TCP connection, which is made again whenever it ends.

mod datagrams;
mod streams;

pub use datagrams::IdTech3Console;
pub use datagrams::{DarkPlacesConsole, Security};
pub use streams::SourceConsole;
pub use streams::TeeworldsConsole;

use std::{io, marker::PhantomData, net::SocketAddr, time::Duration};

use async_trait::async_trait;
use tokio::{
    net::{TcpStream, UdpSocket},
    sync::{mpsc, watch},
    task::JoinHandle,
    time::{Instant, sleep, sleep_until, timeout},
};

use crate::model::time::Backoff;

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

/// The time limit for connecting and for logging in.
const LOGIN: Duration = Duration::from_secs(5);
/// The delays between attempts to connect.
const PAUSES: Backoff = Backoff::new(Duration::from_millis(500), Duration::from_secs(30));
/// The delay after a wrong password. A server bans an address that fails often.
const REFUSED_PAUSE: Duration = Duration::from_secs(60);
/// The most lists of commands that wait to be sent, and the most events that wait to be read.
const QUEUE: usize = 64;

/// Why a connection to the console ended or failed.
#[derive(Debug, thiserror::Error)]
pub enum ConsoleError {
    /// There is no connection.
    #[error("cannot connect to the remote console of the game server: {0}")]
    Connect(io::Error),
    /// The server refuses the password.
    #[error("the game server refuses the rcon password")]
    Password,
    /// The connection has ended.
    #[error("the connection to the remote console ended: {0}")]
    Io(#[from] io::Error),
    /// The server has sent what nobody can read.
    #[error("the remote console sent {0}")]
    Packet(String),
    /// The server does not answer.
    #[error("the remote console does not answer")]
    Silent,
}

/// A connection to the console of one engine.
#[async_trait]
pub trait TcpLink: Sized + Send + 'static {
    /// Connects and logs in.
    async fn open(address: SocketAddr, password: &Password) -> Result<Self, ConsoleError>;

    /// Executes commands until the connection ends, or the queue does.
    async fn serve(
        &mut self,
        queue: &mut mpsc::Receiver<Vec<String>>,
        events: &mpsc::Sender<ConsoleEvent>,
    ) -> Result<(), ConsoleError>;

    /// The text of a line that answers a command; `None` for other lines.
    fn answer(_line: &[u8]) -> Option<&[u8]> {
        None
    }
}

/// Opens a TCP connection to a console.
async fn connect(address: SocketAddr) -> Result<TcpStream, ConsoleError> {
    let stream = timeout(LOGIN, TcpStream::connect(address))
        .await
        .map_err(|_| ConsoleError::Connect(io::ErrorKind::TimedOut.into()))?
        .map_err(ConsoleError::Connect)?;
    stream.set_nodelay(true)?;
    Ok(stream)
}

/// The remote console of one game server. Dropping it ends its connection.
pub struct TcpConsole<L> {
    commands: mpsc::Sender<Vec<String>>,
    events: mpsc::Receiver<ConsoleEvent>,
    connected: watch::Receiver<bool>,
    /// The question of an agent that was sent last, and has no answer yet.
    asked: Option<u64>,
    /// A question that could not be sent.
    unsent: Option<u64>,
    task: JoinHandle<()>,
    link: PhantomData<fn() -> L>,
}

impl<L: TcpLink> TcpConsole<L> {
    /// Starts a task that connects, and connects again.
    pub fn open(address: SocketAddr, password: Password) -> Self {
        let (commands, queue) = mpsc::channel(QUEUE);
        let (sender, events) = mpsc::channel(QUEUE);
        let (state, connected) = watch::channel(false);
        let work = keep_connected::<L>(address, password, queue, sender, state);
        let task = tokio::spawn(work);
        Self {
            commands,
            events,
            connected,
            asked: None,
            unsent: None,
            task,
            link: PhantomData,
        }
    }

    /// Sends commands. Returns false without a connection.
    fn execute(&self, commands: Vec<String>) -> bool {
        let connected = *self.connected.borrow();
        connected && self.commands.try_send(commands).is_ok()
    }
}

impl<L> Drop for TcpConsole<L> {
    fn drop(&mut self) {
        self.task.abort();
    }
}

#[async_trait]
impl<L: TcpLink> RemoteConsole for TcpConsole<L> {
    /// Fails without a connection: a move that is carried out later than ordered could be wrong.
    async fn send(&mut self, commands: &[String]) -> io::Result<()> {
        match self.execute(commands.to_vec()) {
            true => Ok(()),
            false => Err(io::ErrorKind::NotConnected.into()),
        }
    }

    async fn next_event(&mut self) -> ConsoleEvent {
        if let Some(id) = self.unsent.take() {
            return ConsoleEvent::Answer(id, None);
        }
        match self.events.recv().await {
            Some(ConsoleEvent::Line(line)) => {
                let answer = self.asked.and_then(|id| Some((id, L::answer(&line)?)));
                let Some((id, text)) = answer else {
                    return ConsoleEvent::Line(line);
                };
                self.asked = None;
                ConsoleEvent::Answer(id, Some(text.to_vec()))
            }
            Some(event) => event,
            None => std::future::pending().await,
        }
    }

    /// The next line that answers a command is taken for the answer. An agent has one open question at a time.
    fn ask(&mut self, id: u64, command: &str) {
        let sent = self.execute(vec![command.to_owned()]);
        (self.asked, self.unsent) = match sent {
            true => (Some(id), None),
            false => (None, Some(id)),
        };
    }
}

async fn keep_connected<L: TcpLink>(
    address: SocketAddr,
    password: Password,
    mut queue: mpsc::Receiver<Vec<String>>,
    events: mpsc::Sender<ConsoleEvent>,
    state: watch::Sender<bool>,
) {
    let mut failures = 0u32;
    // Report consecutive failures once.
    let mut reported = String::new();
    loop {
        let error = match L::open(address, &password).await {
            Ok(mut connection) => {
                while queue.try_recv().is_ok() {}
                let _ = state.send(true);
                let text = "connected to the remote console".to_owned();
                let _ = events.send(ConsoleEvent::Note(text)).await;
                (failures, reported) = (0, String::new());
                let ended = connection.serve(&mut queue, &events).await;
                let _ = state.send(false);
                match ended {
                    Err(error) => error,
                    Ok(()) => return,
                }
            }
            Err(error) => error,
        };
        let text = error.to_string();
        if text != reported {
            reported.clone_from(&text);
            if events.send(ConsoleEvent::Note(text)).await.is_err() {
                return;
            }
        }
        failures = failures.saturating_add(1);
        sleep(match error {
            ConsoleError::Password => REFUSED_PAUSE,
            _ => PAUSES.after(failures),
        })
        .await;
    }
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
