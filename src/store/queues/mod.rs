//! The tables of the queues: tickets, the matches that are formed of them, instances and what they host, and what daemons ask
//! each other.
//!
//! [`Queues`] writes these tables, and no others but the reports about behaviour, which a no-show adds to, and the numbers
//! of matches, which it reserves.

mod hosting;
mod hours;
mod own_tickets;
mod pages;
mod partitions;
mod pools;
mod requests;
mod stored_tickets;
mod tickets;
pub(in crate::store) mod turn;

use super::{
    Lease, Store, StoreError, leases,
    sql::behaviour::{self, BehaviourReport},
};
use crate::lifecycle::Change;

pub use hosting::{HostedRow, InstanceRow, QueueRow};
pub use own_tickets::{OwnTicket, TicketMatch};
pub use pages::{QueueEvenness, QueueHour, WaitingTicket};
pub use partitions::ticket_base;
pub use requests::{
    Decided, HostNoticeRow, MAX_REQUEST, MAX_REQUESTS, NewHostNotice, NewRequest, Request,
};
pub use stored_tickets::{StoredTicket, TicketKey};
pub use tickets::FoundMatch;

/// The tables of the queues of a database.
#[derive(Clone, Copy, Debug)]
pub struct Queues<'a>(&'a Store);

impl Store {
    /// The tables of the queues.
    pub fn queues(&self) -> Queues<'_> {
        Queues(self)
    }
}

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

impl Queues<'_> {
    /// Applies changes, adds the no-shows that they have made, and writes what was decided for other daemons: all or
    /// none. Returns the version of the reports about behaviour if there are no-shows.
    ///
    /// # Errors
    /// Fails if the lease is lost ([`StoreError::LeaseLost`]), if a ticket is in another state than before its change
    /// ([`StoreError::OtherState`]), a match not open to be accepted ([`StoreError::NoCheck`]) or a player in another
    /// ticket of the group ([`StoreError::InAnother`]), or if a request was withdrawn that was carried out ([`StoreError::Withdrawn`]).
    pub async fn write_queues(self, write: QueueWrite<'_>) -> Result<Option<i64>, StoreError> {
        let adds_reports = !write.no_shows.days.is_empty();
        let mut tx = self.0.begin_turn(adds_reports).await?;
        if let Err(error) = leases::check(&mut tx, write.lease).await {
            tx.abandon().await?; // at once, for the holder
            return Err(error);
        }
        turn::write(&mut tx, write.changes, write.partition).await?;
        hosting::write(&mut tx, write.changes, write.partition).await?;
        let version = match adds_reports {
            false => None,
            true => Some(behaviour::add(&mut tx, write.no_shows).await?),
        };
        requests::decide(&mut tx, &write).await?;
        tx.commit().await?;
        Ok(version)
    }
}
