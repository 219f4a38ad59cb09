//! Lines that the daemon sends to a session's peer without a request.

use std::task::{Context, Poll};

use tokio::sync::mpsc::{self, error::TrySendError};

use super::MailboxError;

/// The most lines queued for a connection. Further lines are dropped if the peer reads too slowly.
/// A match is a line for each of its players, at most 128, and one more.
const CAPACITY: usize = 1_024;

/// Queues lines for one connection. Clones refer to the same connection.
#[derive(Clone, Debug)]
pub struct Mailbox(mpsc::Sender<String>);

/// The receiving end of a [`Mailbox`], from which the connection sends.
#[derive(Debug)]
pub struct MailboxReceiver(mpsc::Receiver<String>);

impl Mailbox {
    /// An empty mailbox, and its receiver.
    pub fn new() -> (Self, MailboxReceiver) {
        let (sender, receiver) = mpsc::channel(CAPACITY);
        (Self(sender), MailboxReceiver(receiver))
    }

    /// Queues a line, which is sent between two replies. Never waits.
    ///
    /// # Errors
    /// Fails if the mailbox is full or the connection has ended. The line is dropped then.
    pub fn push(&self, line: String) -> Result<(), MailboxError> {
        self.0.try_send(line).map_err(|error| match error {
            TrySendError::Full(_) => MailboxError::Full,
            TrySendError::Closed(_) => MailboxError::Closed,
        })
    }
}

impl Mailbox {
    /// Whether the connection has not ended.
    pub fn is_open(&self) -> bool {
        !self.0.is_closed()
    }

    /// Queues lines that belong together: all of them or none.
    ///
    /// # Errors
    /// Fails if the mailbox has no room for them or the connection has ended.
    pub fn push_all(&self, lines: Vec<String>) -> Result<(), MailboxError> {
        let permits = self
            .0
            .try_reserve_many(lines.len())
            .map_err(|error| match error {
                TrySendError::Full(()) => MailboxError::Full,
                TrySendError::Closed(()) => MailboxError::Closed,
            })?;
        for (permit, line) in permits.zip(lines) {
            permit.send(line);
        }
        Ok(())
    }
}

impl MailboxReceiver {
    /// Waits for the next line; `None` once all mailboxes of this connection are dropped. Cancel
    /// safe.
    pub async fn receive(&mut self) -> Option<String> {
        self.0.recv().await
    }

    /// Like [`receive`](Self::receive), for futures that are written by hand.
    pub fn poll_receive(&mut self, context: &mut Context<'_>) -> Poll<Option<String>> {
        self.0.poll_recv(context)
    }

    /// The next line, if one is queued.
    pub fn try_receive(&mut self) -> Option<String> {
        self.0.try_recv().ok()
    }
}
