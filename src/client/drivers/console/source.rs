//! The remote console of a Source server: a TCP connection, which is made again whenever it ends.

use std::{io, net::SocketAddr, time::Duration};

use async_trait::async_trait;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    sync::{mpsc, watch},
    task::JoinHandle,
    time::{sleep, timeout},
};

use super::{ConsoleEvent, Password, RemoteConsole, shown};
use crate::sidecar::source::rcon::{AnswerReader, PacketError, Sent, SourceAnswer, encode};

/// The time limit for connecting and for logging in.
const LOGIN: Duration = Duration::from_secs(5);
/// The time limit for the answer to a command.
const REPLY: Duration = Duration::from_secs(5);
/// The delay before the second attempt to connect; it doubles with each attempt.
const FIRST_PAUSE: Duration = Duration::from_millis(500);
/// The largest delay between two attempts to connect.
const LONGEST_PAUSE: Duration = Duration::from_secs(30);
/// The delay after a wrong password. A server bans an address that fails often.
const REFUSED_PAUSE: Duration = Duration::from_secs(60);
/// The most lists of commands that wait to be sent, and the most lines for the operator.
const QUEUE: usize = 64;
/// The longest answer to a command that is kept, in bytes.
const KEPT: usize = 4_096;

/// Why a connection to the console ended or failed.
#[derive(Debug, thiserror::Error)]
enum ConsoleError {
    #[error("cannot connect to the remote console of the game server: {0}")]
    Connect(io::Error),
    #[error("the game server refuses the rcon password")]
    Password,
    #[error("the connection to the remote console ended: {0}")]
    Io(#[from] io::Error),
    #[error("the remote console sent {0}")]
    Packet(#[from] PacketError),
    #[error("the remote console does not answer")]
    Silent,
}

/// The remote console of one game server. Dropping it ends its connection.
pub struct SourceConsole {
    commands: mpsc::Sender<Vec<String>>,
    lines: mpsc::Receiver<String>,
    connected: watch::Receiver<bool>,
    task: JoinHandle<()>,
}

impl SourceConsole {
    /// Starts a task that connects, and connects again.
    pub fn open(address: SocketAddr, password: Password) -> Self {
        let (commands, queue) = mpsc::channel(QUEUE);
        let (sender, lines) = mpsc::channel(QUEUE);
        let (state, connected) = watch::channel(false);
        let work = keep_connected(address, password, queue, sender, state);
        let task = tokio::spawn(work);
        Self {
            commands,
            lines,
            connected,
            task,
        }
    }
}

impl Drop for SourceConsole {
    fn drop(&mut self) {
        self.task.abort();
    }
}

#[async_trait]
impl RemoteConsole for SourceConsole {
    /// Fails without a connection: a move that is carried out later than ordered could be wrong.
    async fn send(&mut self, commands: &[String]) -> io::Result<()> {
        let connected = *self.connected.borrow();
        if !connected || self.commands.try_send(commands.to_vec()).is_err() {
            return Err(io::ErrorKind::NotConnected.into());
        }
        Ok(())
    }

    async fn next_event(&mut self) -> ConsoleEvent {
        match self.lines.recv().await {
            Some(line) => ConsoleEvent::Note(line),
            None => std::future::pending().await,
        }
    }
}

async fn keep_connected(
    address: SocketAddr,
    password: Password,
    mut queue: mpsc::Receiver<Vec<String>>,
    lines: mpsc::Sender<String>,
    state: watch::Sender<bool>,
) {
    let mut pause = FIRST_PAUSE;
    // Report consecutive failures once.
    let mut reported = String::new();
    loop {
        let error = match Connection::open(address, &password).await {
            Ok(mut connection) => {
                while queue.try_recv().is_ok() {}
                let _ = state.send(true);
                let _ = lines
                    .send("connected to the remote console".to_owned())
                    .await;
                (pause, reported) = (FIRST_PAUSE, String::new());
                let ended = connection.serve(&mut queue, &lines).await;
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
            if lines.send(text).await.is_err() {
                return;
            }
        }
        match error {
            ConsoleError::Password => sleep(REFUSED_PAUSE).await,
            _ => sleep(pause).await,
        }
        pause = (pause * 2).min(LONGEST_PAUSE);
    }
}

/// A connection that is logged in.
struct Connection {
    stream: TcpStream,
    reader: AnswerReader,
    answers: std::collections::VecDeque<SourceAnswer>,
    /// The id of the last request.
    id: i32,
}

impl Connection {
    async fn open(address: SocketAddr, password: &Password) -> Result<Self, ConsoleError> {
        let stream = timeout(LOGIN, TcpStream::connect(address))
            .await
            .map_err(|_| ConsoleError::Connect(io::ErrorKind::TimedOut.into()))?
            .map_err(ConsoleError::Connect)?;
        stream.set_nodelay(true)?;
        let mut connection = Self {
            stream,
            reader: AnswerReader::default(),
            answers: [].into(),
            id: 0,
        };
        connection.write(&[Sent::Login(password.text())]).await?;
        let login = async {
            loop {
                match connection.next().await? {
                    SourceAnswer::Login(true) => return Ok(()),
                    SourceAnswer::Login(false) => return Err(ConsoleError::Password),
                    SourceAnswer::Text(..) => {}
                }
            }
        };
        timeout(LOGIN, login)
            .await
            .map_err(|_| ConsoleError::Silent)??;
        Ok(connection)
    }

    /// Executes commands until the connection ends, or the queue does.
    async fn serve(
        &mut self,
        queue: &mut mpsc::Receiver<Vec<String>>,
        lines: &mpsc::Sender<String>,
    ) -> Result<(), ConsoleError> {
        loop {
            let commands = tokio::select! {
                commands = queue.recv() => match commands {
                    Some(commands) => commands,
                    None => return Ok(()),
                },
                // Notice the end of an idle connection. Answers to earlier commands are dropped.
                answer = self.next() => match answer? {
                    SourceAnswer::Login(false) => return Err(ConsoleError::Password),
                    _ => continue,
                },
            };
            for command in commands {
                let text = self.execute(&command).await?;
                let text = shown(text.trim_ascii());
                if !text.is_empty() {
                    let _ = lines.send(format!("the game server answers: {text}")).await;
                }
            }
        }
    }

    /// Executes one command, and returns what it prints.
    async fn execute(&mut self, command: &str) -> Result<Vec<u8>, ConsoleError> {
        self.write(&[Sent::Command(command), Sent::End]).await?;
        let (command, end) = (self.id - 1, self.id);
        let (mut text, mut heard) = (Vec::new(), false);
        let answer = async {
            loop {
                match self.next().await? {
                    SourceAnswer::Text(id, _) if id == end => return Ok(()),
                    SourceAnswer::Text(id, part) if id == command => {
                        heard = true;
                        let room = KEPT.saturating_sub(text.len());
                        text.extend(part.into_iter().take(room));
                    }
                    SourceAnswer::Login(false) => return Err(ConsoleError::Password),
                    _ => {}
                }
            }
        };
        match timeout(REPLY, answer).await {
            Ok(done) => done?,
            // A server that does not send the empty request back has still executed the command.
            Err(_) if heard => {}
            Err(_) => return Err(ConsoleError::Silent),
        }
        Ok(text)
    }

    async fn write(&mut self, requests: &[Sent<'_>]) -> Result<(), ConsoleError> {
        let mut packets = Vec::new();
        for request in requests {
            // Ids stay above 0: a refusal has -1.
            self.id = if self.id >= i32::MAX - 4 {
                1
            } else {
                self.id + 1
            };
            encode(self.id, *request, &mut packets);
        }
        timeout(REPLY, self.stream.write_all(&packets))
            .await
            .map_err(|_| ConsoleError::Silent)??;
        Ok(())
    }

    /// Waits for the next answer. Can be dropped before it completes.
    async fn next(&mut self) -> Result<SourceAnswer, ConsoleError> {
        loop {
            if let Some(answer) = self.answers.pop_front() {
                return Ok(answer);
            }
            let mut chunk = [0; 4_096];
            let count = self.stream.read(&mut chunk).await?;
            if count == 0 {
                return Err(io::Error::from(io::ErrorKind::UnexpectedEof).into());
            }
            let mut answers = Vec::new();
            self.reader.feed(&chunk[..count], &mut answers)?;
            self.answers.extend(answers);
        }
    }
}
