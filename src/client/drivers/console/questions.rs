//! Questions of an agent to an id Tech 3 server, and their answers.

use std::{net::SocketAddr, time::Duration};

use tokio::{net::UdpSocket, sync::mpsc, time::timeout};

use super::{
    connected,
    datagram::{MAX_DATAGRAM, text_in},
};

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
