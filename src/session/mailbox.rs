//! Lines that a session's peer is sent without a request.

use tokio::sync::mpsc::{self, error::TrySendError};

/// How many lines may wait for a connection. A peer that reads so slowly loses those beyond.
const CAPACITY: usize = 64;

/// Takes lines for one connection. Clones lead to the same connection.
#[derive(Clone, Debug)]
pub struct Mailbox(mpsc::Sender<String>);

/// The other end of a [`Mailbox`], from which the connection sends.
#[derive(Debug)]
pub struct MailboxReceiver(mpsc::Receiver<String>);

/// Why a line was not taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MailboxError {
    /// The peer reads too slowly, or not at all.
    #[error("too many lines wait for this connection")]
    Full,
    /// The connection has ended.
    #[error("the connection has ended")]
    Closed,
}

impl Mailbox {
    /// An empty mailbox, and its other end.
    pub fn new() -> (Self, MailboxReceiver) {
        let (sender, receiver) = mpsc::channel(CAPACITY);
        (Self(sender), MailboxReceiver(receiver))
    }

    /// Leaves a line, which is sent between two replies. It never waits.
    ///
    /// # Errors
    /// The mailbox is full or the connection has ended. The line is dropped.
    pub fn push(&self, line: String) -> Result<(), MailboxError> {
        self.0.try_send(line).map_err(|error| match error {
            TrySendError::Full(_) => MailboxError::Full,
            TrySendError::Closed(_) => MailboxError::Closed,
        })
    }
}

impl MailboxReceiver {
    /// Waits for the next line; `None` if no mailbox leads here any more. It is cancel safe.
    pub async fn receive(&mut self) -> Option<String> {
        self.0.recv().await
    }

    /// The next line, if one is there.
    pub fn try_receive(&mut self) -> Option<String> {
        self.0.try_recv().ok()
    }
}
