//! What the daemons of a database ask each other.

/// The longest text of a request or an answer, in bytes.
pub const MAX_REQUEST: usize = 1 << 20;
/// The most requests that wait for the daemon that runs a partition.
pub const MAX_REQUESTS: i64 = 20_000;

/// A request that is about to be written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewRequest {
    /// The name of the partition whose daemon is asked.
    pub partition: String,
    /// Its number at the daemon that asks, which gives each number once.
    pub key: i64,
    /// What is asked.
    pub body: String,
}

/// A request without an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// The name of the daemon that asks.
    pub daemon: String,
    /// Its number at that daemon.
    pub key: i64,
    /// What is asked.
    pub body: String,
    /// Whether that daemon is alive, so that it can read the answer.
    pub is_alive: bool,
}

/// What has become of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decided {
    /// The name of the daemon that has asked.
    pub daemon: String,
    /// The number of the request there.
    pub key: i64,
    /// The answer; `None` if nobody waits for one: the request is removed.
    pub answer: Option<String>,
    /// Whether the answer is that something has changed: then the request must not have been withdrawn.
    pub is_binding: bool,
}

/// What a connection of an instance to another daemon is to be sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewHostNotice {
    /// The name of the daemon.
    pub daemon: String,
    /// Its number of the connection.
    pub link: i64,
    /// The notice.
    pub body: String,
}

/// The same, as that daemon reads it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostNoticeRow {
    /// The number of the row.
    pub number: i64,
    /// The number of the connection.
    pub link: i64,
    /// The notice.
    pub body: String,
}
