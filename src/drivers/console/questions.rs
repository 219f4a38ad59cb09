//! The remote console of an id Tech 3 server that an agent runs: it also asks the server, and reads its answers.

use std::{io, net::SocketAddr, time::Duration};

use async_trait::async_trait;
use tokio::{net::UdpSocket, sync::mpsc, time::timeout};

use super::{
    ConsoleEvent, IdTech3Console, Password, RemoteConsole, connected, idtech3::OUT_OF_BAND,
};

/// How long the first datagram of an answer may take.
const FIRST: Duration = Duration::from_secs(2);
/// How long after a datagram the next one of the same answer may come.
const NEXT: Duration = Duration::from_millis(150);
/// The longest answer that is read, in bytes.
const MAX_ANSWER: usize = 16 * 1_024;
/// The longest datagram that is read, in bytes.
const MAX_DATAGRAM: usize = 2_048;
/// What precedes the text in each datagram.
const PRINT: &[u8] = b"print\n";
/// A part of the answer with which the game server reports that it executes a file; it is not shown.
const EXECUTING: &str = ": execing ";

/// The number of a question, and its answer, if there is one.
type Answer = (u64, Option<Vec<u8>>);

/// The console of one game server. Each question has a socket of its own, so that a late answer is never taken
/// for that to another question.
pub struct AgentConsole {
    console: IdTech3Console,
    server: SocketAddr,
    password: Password,
    answers: mpsc::UnboundedReceiver<Answer>,
    sender: mpsc::UnboundedSender<Answer>,
}

impl AgentConsole {
    /// Asks the server of this console, at this address.
    pub fn new(console: IdTech3Console, server: SocketAddr, password: Password) -> Self {
        // The agent has at most one open question.
        let (sender, answers) = mpsc::unbounded_channel();
        Self {
            console,
            server,
            password,
            answers,
            sender,
        }
    }
}

#[async_trait]
impl RemoteConsole for AgentConsole {
    async fn send(&mut self, commands: &[String]) -> io::Result<()> {
        self.console.send(commands).await
    }

    async fn next_event(&mut self) -> ConsoleEvent {
        loop {
            tokio::select! {
                event = self.console.next_event() => match event {
                    ConsoleEvent::Note(line) if line.contains(EXECUTING) => {}
                    event => return event,
                },
                // The channel cannot close, because `self` holds a sender.
                Some((id, answer)) = self.answers.recv() => {
                    return ConsoleEvent::Answer(id, answer);
                }
            }
        }
    }

    fn ask(&mut self, id: u64, command: &str) {
        let (server, sender) = (self.server, self.sender.clone());
        let mut packet = OUT_OF_BAND.to_vec();
        packet.extend(format!("rcon {} {command}", self.password.text()).bytes());
        tokio::spawn(async move {
            let answer = exchange(server, &packet).await;
            // The agent may have ended.
            let _ = sender.send((id, answer));
        });
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
        let text = datagram[..count].strip_prefix(OUT_OF_BAND);
        if let Some(text) = text.and_then(|text| text.strip_prefix(PRINT)) {
            return Some(text.to_vec());
        }
    }
}
