//! The external console of a Teeworlds server: lines in both directions. It prints what the server prints, too.

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
};

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
        timeout(LOGIN, login)
            .await
            .map_err(|_| ConsoleError::Silent)??;
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
        timeout(SENDING, self.stream.write_all(text.as_bytes()))
            .await
            .map_err(|_| ConsoleError::Silent)??;
        Ok(())
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
