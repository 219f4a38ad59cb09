//! Queues, instances and hosted matches as pages read them.

use crate::domain::Timestamp;

/// What became of the tickets and matches of a queue in one hour.
#[derive(Clone, Debug, PartialEq)]
pub struct QueueHour {
    /// The name of the queue.
    pub queue: String,
    /// The hour, counted from the beginning of 1970 in UTC.
    pub hour: i64,
    /// Number of tickets that were matched.
    pub matched: i64,
    /// Number of tickets that were cancelled.
    pub cancelled: i64,
    /// Number of tickets that left after the longest wait that the queue allows.
    pub expired: i64,
    /// The sum of the waits of the matched tickets, in milliseconds.
    pub waited: i64,
    /// The longest wait of one of them, in milliseconds.
    pub longest: i64,
    /// Number of matches that were formed.
    pub matches: i64,
    /// The sum of their penalties.
    pub penalty: f64,
}

/// An instance, as visitors see it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InstanceLine {
    /// The name by which it said HELLO.
    pub name: String,
    /// The region that it states, if any.
    pub region: Option<String>,
    /// How many matches it hosts at once.
    pub slots: i64,
    /// How many of its slots are in use.
    pub used: i64,
    /// Whether its connection is lost.
    pub is_away: bool,
    /// Whether it gets no further matches.
    pub drains: bool,
}

/// A hosted match, as visitors see it.
#[derive(Clone, Debug, PartialEq)]
pub struct HostedLine {
    /// The id of the match.
    pub id: i64,
    /// The queue that formed it.
    pub queue: String,
    /// The name of its state.
    pub state: String,
    /// When it got this state.
    pub since: Timestamp,
    /// The instance that hosts it, or did so last.
    pub instance: Option<String>,
    /// Number of its players.
    pub players: i64,
    /// Whether its result is on disk.
    pub is_recorded: bool,
}
