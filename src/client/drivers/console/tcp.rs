//! A remote console that is a TCP connection, which is made again whenever it ends.

use std::{io, marker::PhantomData, net::SocketAddr, time::Duration};

use async_trait::async_trait;
use tokio::{
    net::TcpStream,
    sync::{mpsc, watch},
    task::JoinHandle,
    time::{sleep, timeout},
};

use super::{ConsoleEvent, Password, RemoteConsole};
use crate::model::time::Backoff;

/// The time limit for connecting and for logging in.
pub(super) const LOGIN: Duration = Duration::from_secs(5);
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
pub(super) async fn connect(address: SocketAddr) -> Result<TcpStream, ConsoleError> {
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
