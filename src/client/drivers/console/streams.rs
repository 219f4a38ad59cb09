//! The remote consoles behind a TCP connection, which is made again whenever it ends: those of Source, in packets, and of
//! Teeworlds, in lines in both directions. The latter prints what the server does.

use std::{collections::VecDeque, io, net::SocketAddr, time::Duration};

use async_trait::async_trait;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    sync::mpsc,
    time::timeout,
};

use crate::{
    client::drivers::console::{
        ConsoleError, ConsoleEvent, LOGIN, Password, TcpConsole, TcpLink, connect, shown,
    },
    ingest::lines::{Framed, Lines},
    sidecar::source::{AnswerReader, Sent, SourceAnswer, encode},
};

/// The time limit for the answer to a command.
const REPLY: Duration = Duration::from_secs(5);
/// The longest answer to a command that is kept, in bytes.
const KEPT: usize = 4_096;

/// Waits for what is done within a time; a server that takes longer is silent.
async fn in_time<T, E: Into<ConsoleError>>(
    limit: Duration,
    doing: impl Future<Output = Result<T, E>>,
) -> Result<T, ConsoleError> {
    let done = timeout(limit, doing).await;
    done.map_err(|_| ConsoleError::Silent)?.map_err(Into::into)
}

/// The remote console of one game server.
pub type SourceConsole = TcpConsole<SourceLink>;

/// A connection that is logged in.
pub struct SourceLink {
    stream: TcpStream,
    reader: AnswerReader,
    answers: VecDeque<SourceAnswer>,
    /// The id of the last request.
    id: i32,
}

#[async_trait]
impl TcpLink for SourceLink {
    async fn open(address: SocketAddr, password: &Password) -> Result<Self, ConsoleError> {
        let mut connection = Self {
            stream: connect(address).await?,
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
        in_time(LOGIN, login).await?;
        Ok(connection)
    }

    async fn serve(
        &mut self,
        queue: &mut mpsc::Receiver<Vec<String>>,
        events: &mpsc::Sender<ConsoleEvent>,
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
                    let text = format!("the game server answers: {text}");
                    let _ = events.send(ConsoleEvent::Note(text)).await;
                }
            }
        }
    }
}

impl SourceLink {
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
        in_time(REPLY, self.stream.write_all(&packets)).await
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
            self.reader
                .feed(&chunk[..count], &mut answers)
                .map_err(|error| ConsoleError::Packet(error.to_string()))?;
            self.answers.extend(answers);
        }
    }
}

/// The time limit for sending commands.
const SENDING: Duration = Duration::from_secs(5);
/// The longest line that is read, in bytes; the server prints at most 1,024.
const MAX_LINE: usize = 4_096;
/// The first command: without it, the console does not print what happens in the game.
const PRINT_ALL: &str = "ec_output_level 2";
/// What the console answers to a wrong command begins so, after its time.
const ANSWER: &[u8] = b"][Console]: ";

/// The external console of one game server.
pub type TeeworldsConsole = TcpConsole<TeeworldsLink>;

/// A connection that is logged in.
pub struct TeeworldsLink {
    stream: TcpStream,
    lines: Lines,
    read: VecDeque<Vec<u8>>,
}

#[async_trait]
impl TcpLink for TeeworldsLink {
    async fn open(address: SocketAddr, password: &Password) -> Result<Self, ConsoleError> {
        let mut link = Self {
            stream: connect(address).await?,
            lines: Lines::new(MAX_LINE),
            read: VecDeque::new(),
        };
        link.write(&[password.text()]).await?;
        let login = async {
            loop {
                let line = link.next().await?;
                if line.starts_with(b"Authentication successful") {
                    return Ok(());
                }
                if line.starts_with(b"Wrong password") {
                    return Err(ConsoleError::Password);
                }
            }
        };
        in_time(LOGIN, login).await?;
        link.write(&[PRINT_ALL]).await?;
        Ok(link)
    }

    async fn serve(
        &mut self,
        queue: &mut mpsc::Receiver<Vec<String>>,
        events: &mpsc::Sender<ConsoleEvent>,
    ) -> Result<(), ConsoleError> {
        loop {
            tokio::select! {
                commands = queue.recv() => match commands {
                    Some(commands) => {
                        let lines: Vec<&str> = commands.iter().map(String::as_str).collect();
                        self.write(&lines).await?;
                    }
                    None => return Ok(()),
                },
                line = self.next() => {
                    let line = line?;
                    if let Some(text) = complaint(&line) {
                        let text = format!("the game server answers: {}", shown(text));
                        let _ = events.send(ConsoleEvent::Note(text)).await;
                    }
                    let _ = events.send(ConsoleEvent::Line(line)).await;
                }
            }
        }
    }

    fn answer(line: &[u8]) -> Option<&[u8]> {
        answer(line)
    }
}

/// What the console answers to a command.
fn answer(line: &[u8]) -> Option<&[u8]> {
    let at = memchr::memmem::find(&line[..line.len().min(32)], ANSWER)?;
    Some(&line[at + ANSWER.len()..])
}

/// What the console says about a command that it cannot execute.
fn complaint(line: &[u8]) -> Option<&[u8]> {
    answer(line).filter(|text| !text.starts_with(b"Value: "))
}

impl TeeworldsLink {
    async fn write(&mut self, lines: &[&str]) -> Result<(), ConsoleError> {
        let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
        in_time(SENDING, self.stream.write_all(text.as_bytes())).await
    }

    /// Waits for the next line. Can be dropped before it completes.
    async fn next(&mut self) -> Result<Vec<u8>, ConsoleError> {
        loop {
            if let Some(line) = self.read.pop_front() {
                return Ok(line);
            }
            let mut chunk = [0; 4_096];
            let count = self.stream.read(&mut chunk).await?;
            if count == 0 {
                return Err(io::Error::from(io::ErrorKind::UnexpectedEof).into());
            }
            let read = &mut self.read;
            self.lines.feed(&chunk[..count], |framed| {
                if let Framed::Line(line) = framed {
                    // Two bytes of zero follow the end of each line.
                    let zeros = line.bytes.iter().take_while(|&&b| b == 0).count();
                    read.push_back(line.bytes[zeros..].to_vec());
                }
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wrong_command_is_shown_and_a_value_is_not() {
        let text = complaint(b"[20:06:20][Console]: No such command: x.");
        assert_eq!(text, Some(&b"No such command: x."[..]));
        for other in [
            "[20:06:21][Console]: Value: ctf5",
            "[20:06:20][chat]: 1:0:x: ][Console]: y",
            "",
        ] {
            assert_eq!(complaint(other.as_bytes()), None);
        }
    }
}
