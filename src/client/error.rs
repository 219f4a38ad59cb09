//! Why a request got no reply.

use std::{io, time::Duration};

use crate::protocol::{MalformedReply, Refusal, Reply};

/// Why a request got no reply.
#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    /// The address cannot be connected to.
    #[error("cannot connect: {0}")]
    Connect(#[source] io::Error),
    /// The address did not answer within [`ClientSettings::connect_timeout`].
    ///
    /// [`ClientSettings::connect_timeout`]: super::ClientSettings::connect_timeout
    #[error("no connection within {0:?}")]
    ConnectTimeout(Duration),
    /// The certificates to trust are not usable, or the host's name is none.
    #[error("the daemon's certificate cannot be checked: {0}")]
    Trust(String),
    /// The connection broke.
    #[error("the connection broke: {0}")]
    Io(#[from] io::Error),
    /// The server closed the connection.
    #[error("the server closed the connection")]
    Closed,
    /// The whole reply did not come within [`ClientSettings::reply_timeout`].
    ///
    /// [`ClientSettings::reply_timeout`]: super::ClientSettings::reply_timeout
    #[error("no reply within {0:?}")]
    ReplyTimeout(Duration),
    /// The server refused the request, which changed nothing.
    #[error("refused: {0}")]
    Refused(Refusal),
    /// A web server answers at the address.
    #[error(
        "this is the port of the pages: game servers connect to that of [server] listen, 7997 by default"
    )]
    Pages,
    /// The server sent a line that is too long.
    #[error("the server sent a line of more than {0} bytes")]
    LineTooLong(usize),
    /// The server sent a line that is no reply.
    #[error(transparent)]
    Malformed(#[from] MalformedReply),
    /// The server sent a reply that does not belong to the request.
    #[error("the server sent a reply to another request: {0:?}")]
    Unexpected(Box<Reply>),
    /// The number of replies and pushes that wait to be received exceeds
    /// [`ClientSettings::max_backlog`].
    ///
    /// [`ClientSettings::max_backlog`]: super::ClientSettings::max_backlog
    #[error("more than {0} replies wait to be received")]
    Backlog(usize),
    /// An earlier request failed or was cancelled before its reply came, so that later replies cannot
    /// be assigned to requests. Connect again.
    #[error("an earlier request was given up before its reply came")]
    OutOfStep,
}
