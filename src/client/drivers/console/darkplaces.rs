//! The remote console of a DarkPlaces server, such as Xonotic's: datagrams.

use std::{
    collections::VecDeque,
    io,
    net::SocketAddr,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use async_trait::async_trait;
use tokio::{net::UdpSocket, time::Instant};

use super::{ANSWERS, ConsoleEvent, Password, RemoteConsole, connected, overdue, shown};
use crate::sidecar::xonotic::rcon::{
    DarkPlacesAnswer, PasswordProof, answer, ask_challenge, encode, lists,
};

/// How long an answer may take. The server does not answer at all if the password is wrong.
const PATIENCE: Duration = Duration::from_secs(3);
/// What the server prints after each list of commands, so that its answer shows that it has executed
/// them.
const MARK: &str = "evenkeel: done";
/// The most lists of commands that wait for the server.
const MAX_WAITING: usize = 64;
/// The longest packet that is read, in bytes.
const PACKET: usize = 4_096;

/// How packets prove that the password is known: the server's `rcon_secure`, or a higher number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Security {
    /// By the password itself.
    Password,
    /// By a code of the password and the time.
    Time,
    /// By a code of the password and a text that the server chooses.
    Challenge,
}

/// The remote console of one game server.
pub struct DarkPlacesConsole {
    socket: UdpSocket,
    password: Password,
    security: Security,
    /// Lists of commands that wait for a challenge of the server.
    waiting: VecDeque<Vec<u8>>,
    /// When the server's answer is overdue, if one is expected.
    due: Option<Instant>,
    /// Whether the server answered the last time; `None` before it was asked.
    answers: Option<bool>,
}

impl DarkPlacesConsole {
    /// Opens a socket to the console, and asks the server for an answer.
    ///
    /// # Errors
    /// Fails if the socket cannot be opened.
    pub async fn open(
        address: SocketAddr,
        password: Password,
        security: Security,
    ) -> io::Result<Self> {
        let mut console = Self {
            socket: connected(address).await?,
            password,
            security,
            waiting: VecDeque::new(),
            due: None,
            answers: None,
        };
        // A server that cannot be reached now is reported when its answer is overdue.
        let _ = console.send(&[]).await;
        Ok(console)
    }

    /// Sends a list of commands, with a proof that needs no challenge or with this one.
    async fn send_list(&self, proof: PasswordProof<'_>, list: &[u8]) -> io::Result<()> {
        let packet = encode(self.password.text(), proof, list);
        self.socket.send(&packet).await.map(|_| ())
    }

    /// Handles a packet of the server. Returns a line for the operator.
    async fn take(&mut self, packet: &[u8]) -> Option<String> {
        match answer(packet)? {
            DarkPlacesAnswer::Challenge(text) => {
                let list = self.waiting.pop_front()?;
                let mut sent = self.send_list(PasswordProof::Challenge(&text), &list).await;
                // A challenge is valid for one packet.
                if !self.waiting.is_empty() {
                    sent = sent.and(self.socket.send(&ask_challenge()).await.map(|_| ()));
                }
                let error = sent.err()?;
                Some(format!("cannot send commands to the game server: {error}"))
            }
            DarkPlacesAnswer::Text(text) => {
                let first = !text.windows(MARK.len()).any(|part| part == MARK.as_bytes());
                if !first && self.waiting.is_empty() {
                    self.due = None;
                }
                let text = shown(text.trim_ascii()).replace(MARK, "");
                let text = text.trim();
                let heard = self.answers.replace(true) != Some(true);
                match (heard, text.is_empty()) {
                    (true, _) => Some(ANSWERS.to_owned()),
                    (false, true) => None,
                    (false, false) => Some(format!("the game server answers: {text}")),
                }
            }
        }
    }

    /// Handles an overdue answer. Returns a line for the operator.
    fn overdue(&mut self) -> Option<String> {
        self.due = None;
        // A move that is carried out later than ordered could be wrong.
        self.waiting.clear();
        let text = "the game server does not answer on its remote console: is it running, and are the \
                    address, the rcon password and --rcon-secure right?";
        (self.answers.replace(false) != Some(false)).then(|| text.to_owned())
    }
}

#[async_trait]
impl RemoteConsole for DarkPlacesConsole {
    /// Sends the commands in one packet, which can be lost.
    async fn send(&mut self, commands: &[String]) -> io::Result<()> {
        let mut commands = commands.to_vec();
        commands.push(format!("echo {MARK}"));
        let lists = lists(&commands);
        self.due.get_or_insert(Instant::now() + PATIENCE);
        if self.security == Security::Challenge {
            let room = MAX_WAITING.saturating_sub(self.waiting.len());
            self.waiting.extend(lists.into_iter().take(room));
            return self.socket.send(&ask_challenge()).await.map(|_| ());
        }
        for list in lists {
            let since = SystemTime::now().duration_since(UNIX_EPOCH);
            let proof = match self.security {
                Security::Time => PasswordProof::Time(since.unwrap_or_default()),
                _ => PasswordProof::Password,
            };
            self.send_list(proof, &list).await?;
        }
        Ok(())
    }

    async fn next_event(&mut self) -> ConsoleEvent {
        let mut packet = [0; PACKET];
        loop {
            let line = tokio::select! {
                count = self.socket.recv(&mut packet) => match count {
                    Ok(count) => self.take(&packet[..count]).await,
                    // An ICMP answer reported that the port is closed now; the server may come back.
                    Err(_) => None,
                },
                () = overdue(self.due) => self.overdue(),
            };
            if let Some(line) = line {
                return ConsoleEvent::Note(line);
            }
        }
    }
}
