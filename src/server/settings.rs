//! The settings of connections.

use serde::Deserialize;

use crate::model::units::{Count, Seconds, UpToAWeek};

/// The limits on each connection, and on their number.
#[derive(Clone, Copy, Debug, Deserialize)]
pub struct Limits {
    /// The longest line, in bytes without the line end.
    pub max_line_bytes: Count<64, 65_536>,
    /// The most connections at the same time; further ones are refused.
    pub max_connections: Count<1, 65_536>,
    /// The most errors on a connection since its last GAME; one more closes it.
    pub max_errors: Count<1, { u32::MAX }>,
    /// The time limit from the connection to the end of the first line.
    pub first_line_seconds: UpToAWeek,
    /// The time limit from the first byte of a line to its end.
    pub line_seconds: UpToAWeek,
    /// The time limit between two lines.
    pub idle_seconds: UpToAWeek,
    /// The time limit for the peer to read a reply.
    pub write_seconds: UpToAWeek,
    /// The time limit for all connections to end after `stop` is cancelled.
    pub drain_seconds: Seconds<0, 60>,
}
