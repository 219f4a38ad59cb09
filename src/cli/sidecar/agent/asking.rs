//! Questions to the remote console, and their answers.

use std::{net::SocketAddr, time::Duration};

use tokio::{net::UdpSocket, sync::mpsc, time::timeout};

use crate::cli::sidecar::console::{OUT_OF_BAND, Password, connected};

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

/// The number of a question, and its answer, if there is one.
pub(super) type Answer = (u64, Option<Vec<u8>>);

/// Asks one game server. Each question has a socket of its own, so that a late answer is never taken
/// for that to another question.
pub(super) struct Questions {
    server: SocketAddr,
    password: Password,
    answers: mpsc::UnboundedReceiver<Answer>,
    sender: mpsc::UnboundedSender<Answer>,
}

impl Questions {
    pub(super) fn new(server: SocketAddr, password: Password) -> Self {
        // The agent has at most one open question.
        let (sender, answers) = mpsc::unbounded_channel();
        Self {
            server,
            password,
            answers,
            sender,
        }
    }

    /// Sends a console command; its answer comes later.
    pub(super) fn ask(&self, id: u64, command: &str) {
        let (server, sender) = (self.server, self.sender.clone());
        let mut packet = OUT_OF_BAND.to_vec();
        packet.extend(format!("rcon {} {command}", self.password.text()).bytes());
        tokio::spawn(async move {
            let answer = exchange(server, &packet).await;
            // The agent may have ended.
            let _ = sender.send((id, answer));
        });
    }

    /// Waits for the next answer. Can be dropped before it completes.
    pub(super) async fn next(&mut self) -> Answer {
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
        let text = datagram[..count].strip_prefix(OUT_OF_BAND);
        if let Some(text) = text.and_then(|text| text.strip_prefix(PRINT)) {
            return Some(text.to_vec());
        }
    }
}
