//! The limits of a client.

use std::time::Duration;

/// The limits of a client. The default suits a daemon in the same network.
#[derive(Clone, Copy, Debug)]
pub struct ClientSettings {
    /// How long connecting may take.
    pub connect_timeout: Duration,
    /// How long [`Client::ask`](super::Client::ask) waits for the whole reply.
    pub reply_timeout: Duration,
    /// The longest line accepted from the server, in bytes, not counting its line end.
    pub max_line_bytes: usize,
    /// The most replies and pushes that [`Client::ask`](super::Client::ask) keeps for
    /// [`Client::receive`](super::Client::receive).
    pub max_backlog: usize,
}

impl Default for ClientSettings {
    fn default() -> Self {
        Self {
            connect_timeout: Duration::from_secs(5),
            reply_timeout: Duration::from_secs(30),
            max_line_bytes: 4_096,
            max_backlog: 4_096,
        }
    }
}
