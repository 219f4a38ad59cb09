//! The tables of the queues: tickets, the matches that are formed of them, instances and what they host, and what daemons ask
//! each other.
//!
//! [`Queues`] writes these tables, and no others but the reports about behaviour, which a no-show adds to, and the numbers
//! of matches, which it reserves.

pub(in crate::store) mod conditional;
mod hosting;
mod hours;
mod insert;
mod later_seats;
mod own_tickets;
mod pages;
mod partitions;
mod pools;
mod requests;
mod stored_tickets;
mod tickets;

use std::collections::{BTreeMap, BTreeSet};

use super::{
    Lease, Store, StoreError,
    db::*,
    leases,
    sql::{
        behaviour::{self, BehaviourReport},
        rows::with_given,
    },
};
use crate::{
    matchmaking::lifecycle::{
        Change, Match, Reason, SearchedPool, State, TicketNumber, TicketPlayer, TicketRecord,
    },
    model::{MatchId, Timestamp},
};

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
        write_turn(&mut tx, write.changes, write.partition).await?;
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

/// The states of a ticket that has changed: before the turn, and after it.
struct Became {
    from: State,
    state: State,
    reason: Reason,
    at: Timestamp,
    is_sent: bool,
}

/// The changes of a turn, by what they change. A later change of the same ticket replaces an earlier one.
#[derive(Default)]
struct Turn<'a> {
    submitted: Vec<&'a TicketRecord>,
    became: BTreeMap<TicketNumber, Became>,
    /// The players who have left a ticket.
    left: Vec<&'a TicketPlayer>,
    /// The players who have entered a ticket, by group and player.
    entered: BTreeMap<(&'a str, &'a str), &'a TicketPlayer>,
    sent: BTreeSet<TicketNumber>,
    forgotten: Vec<TicketNumber>,
    searched: Vec<(MatchId, &'a SearchedPool)>,
    formed: Vec<&'a Match>,
    accepted: Vec<(MatchId, &'a String)>,
    closed: Vec<MatchId>,
    /// Seats of matches in play, in order.
    later: Vec<&'a Change>,
    dropped: Vec<MatchId>,
    /// The state of each ticket that has changed.
    states: BTreeMap<TicketNumber, State>,
}

/// Writes the changes of tickets, and of what was formed of them, in the partition with this number; any other change is
/// left to [`hosting`](super::hosting).
///
/// Every state is changed on the condition that the row has the one before it, and no player gets into a second ticket
/// of a group: even if the holder of the lease is wrong, no ticket is in two matches, and no player is in two tickets.
///
/// # Errors
/// Fails if a row contradicts the changes. A ticket whose player was forgotten is gone, and is left out.
async fn write_turn(
    tx: &mut Connection,
    changes: &[Change],
    partition: i64,
) -> Result<(), StoreError> {
    let turn = Turn::of(changes)?;
    turn.insert(tx, partition).await?;
    turn.move_players(tx, partition).await?;
    let formed = turn.formed.iter().copied();
    hours::count_matches(tx, formed, &turn.closed).await?;
    let became = turn.became.iter();
    let became = became.map(|(ticket, became)| (*ticket, became.state, became.reason, became.at));
    hours::count_tickets(tx, became).await?;
    turn.update(tx).await?;
    for change in &turn.later {
        later_seats::write(tx, change).await?;
    }
    turn.remove(tx).await
}

impl<'a> Turn<'a> {
    fn of(changes: &'a [Change]) -> Result<Self, StoreError> {
        let mut turn = Self::default();
        for change in changes {
            turn.add(change)?;
        }
        Ok(turn)
    }

    fn add(&mut self, change: &'a Change) -> Result<(), StoreError> {
        match change {
            Change::Submitted(record) => {
                self.states.insert(record.number, record.state);
                self.submitted.push(record);
            }
            Change::Became {
                ticket,
                from,
                state,
                reason,
                at,
            } => {
                let before = self.states.insert(*ticket, *state);
                if before.is_some_and(|before| before != *from) {
                    return Err(StoreError::OtherState(*ticket));
                }
                self.sent.remove(ticket);
                let first = self.became.get(ticket).map(|became| became.from);
                let became = Became {
                    from: first.unwrap_or(*from),
                    state: *state,
                    reason: *reason,
                    at: *at,
                    is_sent: false,
                };
                self.became.insert(*ticket, became);
            }
            Change::Entered(one) => {
                let other = self.entered.insert((&one.group, &one.player), one);
                if other.is_some_and(|other| other.ticket != one.ticket) {
                    return Err(StoreError::InAnother(one.player.clone()));
                }
            }
            Change::Left(one) => {
                self.entered.remove(&(&*one.group, &*one.player));
                self.left.push(one);
            }
            Change::Sent(ticket) => match self.became.get_mut(ticket) {
                Some(became) => became.is_sent = true,
                None => drop(self.sent.insert(*ticket)),
            },
            Change::Forgotten(ticket) => self.forgotten.push(*ticket),
            Change::Searched(id, pool) => self.searched.push((*id, pool)),
            Change::Formed(formed) => self.formed.push(formed),
            Change::Accepted { id, player } => self.accepted.push((*id, player)),
            Change::Closed(id) => self.closed.push(*id),
            Change::Seated { .. } | Change::Unseated { .. } => self.later.push(change),
            Change::Dropped(id) => self.dropped.push(*id),
            Change::Hosted(_)
            | Change::HostingForgotten(_)
            | Change::Instance(_)
            | Change::InstanceGone(_)
            | Change::Owed { .. }
            | Change::Settled { .. } => {}
        }
        Ok(())
    }

    async fn update(&self, tx: &mut Connection) -> Result<(), StoreError> {
        self.change_states(tx).await?;
        with_given(
            tx,
            "number BIGINT",
            "UPDATE tickets SET told = TRUE FROM {given} WHERE tickets.number = given.number",
            self.sent.iter().map(|ticket| values![ticket]),
        )
        .await?;
        self.accept(tx).await?;
        with_given(
            tx,
            "match_id BIGINT",
            "UPDATE formed_matches SET open_until = NULL FROM {given}
             WHERE formed_matches.match_id = given.match_id",
            self.closed.iter().map(|id| values![id]),
        )
        .await?;
        Ok(())
    }

    async fn remove(&self, tx: &mut Connection) -> Result<(), StoreError> {
        pools::drop_matches(tx, &self.dropped).await?;
        with_given(
            tx,
            "number BIGINT",
            "DELETE FROM tickets WHERE number IN (SELECT given.number FROM {given})",
            self.forgotten.iter().map(|ticket| values![ticket]),
        )
        .await?;
        Ok(())
    }
}
