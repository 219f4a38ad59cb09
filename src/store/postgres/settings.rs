//! How a PostgreSQL server is used.

use std::time::Duration;

/// How many connections a process makes to a PostgreSQL server, and for how long it waits for the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PoolSettings {
    /// The most connections that read, without those of statistics pages.
    pub readers: u32,
    /// The most connections of statistics pages.
    pub pages: u32,
    /// How long a caller waits for a connection, which has to be made if none is free.
    pub connect: Duration,
    /// How long one statement may take.
    pub statement: Duration,
}

impl Default for PoolSettings {
    fn default() -> Self {
        Self {
            readers: 4,
            pages: 2,
            connect: Duration::from_secs(5),
            statement: Duration::from_secs(60),
        }
    }
}
