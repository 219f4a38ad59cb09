//! Instances and hosted matches.

use super::{BehaviourReport, Decided, Lease, NewHostNotice};
use crate::store::db::columns;
use crate::{domain::Timestamp, lifecycle::Change};

/// What the daemon that runs the queues writes together.
#[derive(Clone, Copy, Debug)]
pub struct QueueWrite<'a> {
    /// The lease without which nothing is written.
    pub lease: &'a Lease,
    /// The slot of the partition that is changed.
    pub partition: i64,
    /// The changes of tickets, matches and instances, in order.
    pub changes: &'a [Change],
    /// The no-shows that they have made.
    pub no_shows: &'a BehaviourReport,
    /// What has become of the requests of other daemons.
    pub decided: &'a [Decided],
    /// What the instances that are connected to other daemons are to be sent.
    pub notices: &'a [NewHostNotice],
    /// The median waits to publish, in milliseconds, by queue.
    pub waits: &'a [(String, i64)],
    /// Whether other daemons are to look at once at what has changed.
    pub wakes: bool,
}

columns! {
    /// An instance, as operators see it.
    #[derive(Clone, Debug, PartialEq)]
    pub struct InstanceRow {
        /// The name by which it said HELLO.
        pub name: String,
        /// Where players connect.
        pub address: String,
        /// The region that it states, if any.
        pub region: Option<String>,
        /// How many matches it hosts at once.
        pub slots: i64,
        /// How many of its slots are in use.
        pub used: i64,
        /// How busy it states to be, 0 to 1.
        pub load: f64,
        /// When its connection was lost; `None` while it is connected.
        pub away: Option<Timestamp>,
        /// Whether it gets no further matches.
        pub drains: bool,
    }
}

columns! {
    /// A hosted match, as operators see it.
    #[derive(Clone, Debug, PartialEq)]
    pub struct HostedRow {
        /// The id that the match has from its forming on.
        pub id: i64,
        /// The queue that formed it.
        pub queue: String,
        /// Its state, and since when.
        pub state: String,
        /// When it got this state.
        pub since: Timestamp,
        /// Why it left its last instance, or has failed.
        pub why: String,
        /// The instance that hosts it, or did so last.
        pub instance: Option<String>,
        /// How many instances were asked to host it.
        pub tries: i64,
        /// Number of its players.
        pub players: i64,
        /// How it ended, once its result is on disk.
        pub outcome: Option<String>,
    }
}

/// A queue, as operators see it.
#[derive(Clone, Debug, PartialEq)]
pub struct QueueRow {
    /// The name of its section in the configuration.
    pub name: String,
    /// Tickets of the last day by state: queued, proposed, hosted, matched, cancelled, expired.
    pub tickets: [i64; 6],
    /// Number of players in tickets that wait.
    pub players: i64,
    /// When the oldest ticket that is queued was submitted.
    pub oldest: Option<Timestamp>,
}
