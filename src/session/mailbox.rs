//! Lines that the daemon sends to a session's peer without a request.

use tokio::sync::mpsc::{self, error::TrySendError};

use super::MailboxError;

/// The most lines queued for a connection. Further lines are dropped if the peer reads too slowly.
const CAPACITY: usize = 64;

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

impl MailboxReceiver {
    /// Waits for the next line; `None` once all mailboxes of this connection are dropped. Cancel
    /// safe.
    pub async fn receive(&mut self) -> Option<String> {
        self.0.recv().await
    }

    /// The next line, if one is queued.
    pub fn try_receive(&mut self) -> Option<String> {
        self.0.try_recv().ok()
    }
}
