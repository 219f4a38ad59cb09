//! Instances and hosted matches.

use std::collections::BTreeSet;

use async_trait::async_trait;

use super::{BehaviourReport, Lease, NewLetter, StoreError};
use crate::{
    coordinator,
    domain::{MatchId, Timestamp},
    tickets,
};

/// What a restart needs of instances and hosted matches.
#[derive(Clone, Debug, Default)]
pub struct HostingRows {
    /// The instances.
    pub offers: Vec<coordinator::Offer>,
    /// The hosted matches that are kept.
    pub matches: Vec<coordinator::Hosted>,
    /// The matches for which instances must be sent CLOSE when they come back, and why.
    pub owed: Vec<(String, MatchId, coordinator::Why)>,
    /// The hosted matches in play whose results are on disk.
    pub recorded: BTreeSet<MatchId>,
}

/// What the daemon that runs the queues writes together.
#[derive(Clone, Copy, Debug)]
pub struct QueueWrite<'a> {
    /// The lease without which nothing is written.
    pub lease: &'a Lease,
    /// The slot of the partition that is changed.
    pub partition: i64,
    /// The changes of tickets, in order.
    pub tickets: &'a [tickets::Change],
    /// The changes of hosted matches and instances, in order.
    pub hosting: &'a [coordinator::Change],
    /// The no-shows that they have made.
    pub no_shows: &'a BehaviourReport,
    /// The numbers of the letters that have made these changes.
    pub handled: &'a [i64],
    /// The letters that report them.
    pub letters: &'a [NewLetter],
}

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

/// Instances and hosted matches in the database.
#[async_trait]
pub trait Hosting: Send + Sync {
    /// All instances and hosted matches of the partition with this slot.
    ///
    /// # Errors
    /// Fails if the database does, or if it contains a value that no version of Evenkeel writes.
    async fn hosting(&self, partition: i64) -> Result<HostingRows, StoreError>;

    /// The match that an instance hosts as the game with this number.
    ///
    /// # Errors
    /// Fails if the database does.
    async fn hosted_by(&self, instance: &str, game: i64) -> Result<Option<MatchId>, StoreError>;

    /// The hosted matches in play of the partition with this slot whose results are on disk.
    ///
    /// # Errors
    /// Fails if the database does.
    async fn recorded(&self, partition: i64) -> Result<BTreeSet<MatchId>, StoreError>;

    /// Applies changes of tickets and of hosted matches in order, adds the no-shows that they have made,
    /// discards the letters that were handled, and sends others: all or none. Returns the version of the reports about behaviour if there are no-shows.
    ///
    /// # Errors
    /// Fails if the database does, if the lease is lost ([`StoreError::LeaseLost`]), or if a match is formed
    /// of a ticket that is in no queue any more ([`StoreError::TicketTaken`]).
    async fn write_queues(&self, write: QueueWrite<'_>) -> Result<Option<i64>, StoreError>;

    /// The names of the instances that get no further matches.
    ///
    /// # Errors
    /// Fails if the database does.
    async fn draining(&self) -> Result<BTreeSet<String>, StoreError>;

    /// Sets whether an instance gets further matches. Returns whether there is such an instance.
    ///
    /// # Errors
    /// Fails if the database does.
    async fn set_draining(&self, name: &str, drains: bool) -> Result<bool, StoreError>;

    /// All instances, by name.
    ///
    /// # Errors
    /// Fails if the database does.
    async fn instance_rows(&self) -> Result<Vec<InstanceRow>, StoreError>;

    /// The hosted matches that are kept, the latest first, at most `limit`.
    ///
    /// # Errors
    /// Fails if the database does.
    async fn hosted_rows(&self, limit: u32) -> Result<Vec<HostedRow>, StoreError>;

    /// The queues with tickets, by name.
    ///
    /// # Errors
    /// Fails if the database does.
    async fn queue_rows(&self) -> Result<Vec<QueueRow>, StoreError>;
}
