//! The remote consoles that take datagrams: those of id Tech 3 and of DarkPlaces.
//!
//! For an id Tech 3 server, commands go into a file; one packet makes the server execute it. All packets are datagrams outside a
//! client's connection. An agent also asks the server questions by them, and reads the answers. A DarkPlaces server, such as
//! Xonotic's, gets the commands in the datagrams.

use std::{
    collections::VecDeque,
    fs::{self, File},
    io::{self, Write},
    net::SocketAddr,
    path::{Path, PathBuf},
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use async_trait::async_trait;
use tokio::{
    net::UdpSocket,
    sync::mpsc,
    time::{Instant, timeout},
};

use super::{ANSWERS, ConsoleEvent, Password, RemoteConsole, connected, overdue, shown};
use crate::{
    client::drivers::DriverError,
    sidecar::xonotic::{DarkPlacesAnswer, PasswordProof, answer, ask_challenge, encode, lists},
};

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

/// The start of every such datagram.
pub(super) const OUT_OF_BAND: &[u8] = b"\xff\xff\xff\xff";
/// The longest datagram that is read, in bytes. Servers split longer answers.
const MAX_DATAGRAM: usize = 2_048;
/// What precedes the text in each datagram of the server.
const PRINT: &[u8] = b"print\n";

/// The text of a datagram of the game server.
fn text_in(datagram: &[u8]) -> Option<&[u8]> {
    datagram.strip_prefix(OUT_OF_BAND)?.strip_prefix(PRINT)
}

/// How long the first datagram of an answer may take.
const FIRST: Duration = Duration::from_secs(2);
/// How long after a datagram the next one of the same answer may come.
const NEXT: Duration = Duration::from_millis(150);
/// The longest answer that is read, in bytes.
const MAX_ANSWER: usize = 16 * 1_024;

/// The number of a question, and its answer, if there is one.
pub(super) type Answered = (u64, Option<Vec<u8>>);

/// Asks one game server. Each question has a socket of its own, so that a late answer is never taken
/// for that to another question.
#[derive(Debug)]
pub(super) struct Questions {
    server: SocketAddr,
    answers: mpsc::UnboundedReceiver<Answered>,
    sender: mpsc::UnboundedSender<Answered>,
}

impl Questions {
    pub(super) fn new(server: SocketAddr) -> Self {
        // The agent has at most one open question.
        let (sender, answers) = mpsc::unbounded_channel();
        Self {
            server,
            answers,
            sender,
        }
    }

    /// Sends a datagram with a question; its answer comes later.
    pub(super) fn ask(&self, id: u64, packet: Vec<u8>) {
        let (server, sender) = (self.server, self.sender.clone());
        tokio::spawn(async move {
            let answer = exchange(server, &packet).await;
            // The agent may have ended.
            let _ = sender.send((id, answer));
        });
    }

    /// Waits for the next answer. Can be dropped before it completes.
    pub(super) async fn next(&mut self) -> Answered {
        match self.answers.recv().await {
            Some(answer) => answer,
            // The channel cannot close, because `self` holds a sender.
            None => std::future::pending().await,
        }
    }
}

async fn exchange(server: SocketAddr, packet: &[u8]) -> Option<Vec<u8>> {
    let socket = connected(server).await.ok()?;
    socket.send(packet).await.ok()?;
    let mut answer = timeout(FIRST, receive(&socket)).await.ok()??;
    while answer.len() < MAX_ANSWER
        && let Ok(Some(more)) = timeout(NEXT, receive(&socket)).await
    {
        answer.extend(more);
    }
    Some(answer)
}

/// The text of the next datagram; `None` if the server cannot be reached.
async fn receive(socket: &UdpSocket) -> Option<Vec<u8>> {
    let mut datagram = [0; MAX_DATAGRAM];
    loop {
        let count = socket.recv(&mut datagram).await.ok()?;
        if let Some(text) = text_in(&datagram[..count]) {
            return Some(text.to_vec());
        }
    }
}

/// What the server prints after each list of commands, so that its answer shows that it has executed
/// them.
const DONE: &str = "evenkeel: done";
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
                let first = !text.windows(DONE.len()).any(|part| part == DONE.as_bytes());
                if !first && self.waiting.is_empty() {
                    self.due = None;
                }
                let text = shown(text.trim_ascii()).replace(DONE, "");
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
        commands.push(format!("echo {DONE}"));
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
