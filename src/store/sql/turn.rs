//! Writes what a turn has changed of tickets and of the matches formed of them: a few statements for each table, however
//! much has changed.

use std::collections::{BTreeMap, BTreeSet};

use super::{
    later_seats, pools, queue_hours,
    rows::{Target, insert, with_given},
    tickets::word,
};
use crate::{
    domain::{MatchId, Timestamp},
    lifecycle::{Change, Match, Reason, SearchedPool, Seat, State, TicketNumber, TicketRecord},
    store::{StoreError, db::*},
};

const TICKETS: Target = Target::new(
    "tickets",
    "number, owner, ticket, queue, players, content, submitted_at, state, match_id, reason, changed_at, told",
);
const MATCHES: Target = Target::new(
    "formed_matches",
    "match_id, queue, size, mode, map, penalty, chance, seed, searched_at, formed_at, open_until, pool_id, why, \
     ruleset, partition",
);
const SEATS: Target = Target::new(
    "formed_seats",
    "match_id, seat, team, ticket, player, accepted, later",
);

/// The last state of a ticket that has changed.
struct Became {
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
    /// The tickets that must be in a queue before this turn, and the match that takes them.
    taken: BTreeMap<TicketNumber, MatchId>,
}

/// Writes the changes of tickets, and of what was formed of them, in the partition with this slot; any other change is
/// left to [`hosting`](super::hosting).
///
/// # Errors
/// Fails if a match takes a ticket that is in no queue, which the holder of the lease would know: even if it is wrong,
/// no ticket is in two matches. A ticket whose player was forgotten is gone, and its match is formed without it.
pub(super) async fn write(
    tx: &mut Connection,
    changes: &[Change],
    partition: i64,
) -> Result<(), StoreError> {
    let turn = Turn::of(changes)?;
    turn.require_queued(tx).await?;
    turn.insert(tx, partition).await?;
    let formed = turn.formed.iter().copied();
    queue_hours::count_matches(tx, formed, &turn.closed).await?;
    let became = turn.became.iter();
    let became = became.map(|(ticket, became)| (*ticket, became.state, became.reason, became.at));
    queue_hours::count_tickets(tx, became).await?;
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
                state,
                reason,
                at,
            } => {
                self.sent.remove(ticket);
                self.states.insert(*ticket, *state);
                let became = Became {
                    state: *state,
                    reason: *reason,
                    at: *at,
                    is_sent: false,
                };
                self.became.insert(*ticket, became);
            }
            Change::Sent(ticket) => match self.became.get_mut(ticket) {
                Some(became) => became.is_sent = true,
                None => drop(self.sent.insert(*ticket)),
            },
            Change::Forgotten(ticket) => self.forgotten.push(*ticket),
            Change::Searched(id, pool) => self.searched.push((*id, pool)),
            Change::Formed(formed) => {
                self.take(formed.id, &formed.seats)?;
                self.formed.push(formed);
            }
            Change::Accepted { id, player } => self.accepted.push((*id, player)),
            Change::Closed(id) => self.closed.push(*id),
            Change::Seated { id, seats, .. } => {
                self.take(*id, seats)?;
                self.later.push(change);
            }
            Change::Unseated { .. } => self.later.push(change),
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

    /// A match takes the tickets of these seats, which must be in a queue at this point of the turn.
    fn take(&mut self, id: MatchId, seats: &[Seat]) -> Result<(), StoreError> {
        let tickets: BTreeSet<TicketNumber> = seats.iter().map(|seat| seat.ticket).collect();
        for ticket in tickets {
            let is_free = match self.states.get(&ticket) {
                Some(state) => *state == State::Queued,
                // As the database knows it.
                None => self.taken.insert(ticket, id).is_none(),
            };
            if !is_free {
                return Err(StoreError::TicketTaken(id));
            }
        }
        Ok(())
    }

    async fn require_queued(&self, tx: &mut Connection) -> Result<(), StoreError> {
        let taken = with_given(
            tx,
            "number BIGINT, match_id BIGINT",
            "SELECT given.match_id FROM {given} JOIN tickets t ON t.number = given.number
             WHERE t.state <> 'queued' LIMIT 1",
            self.taken.iter().map(|(ticket, id)| values![ticket, id]),
        )
        .await?;
        match taken.first() {
            None => Ok(()),
            Some(row) => Err(StoreError::TicketTaken(row.get("match_id")?)),
        }
    }

    async fn insert(&self, tx: &mut Connection, partition: i64) -> Result<(), StoreError> {
        let tickets = self.submitted.iter().map(|record| ticket(record));
        let tickets = tickets.collect::<Result<Vec<_>, _>>()?;
        insert(tx, TICKETS, "", tickets.into_iter()).await?;
        for (id, pool) in &self.searched {
            pools::insert(tx, *id, pool).await?;
        }
        let matches = self.formed.iter().map(|formed| matched(formed, partition));
        let matches = matches.collect::<Result<Vec<_>, _>>()?;
        insert(tx, MATCHES, "", matches.into_iter()).await?;
        let seats = self.formed.iter().flat_map(|formed| {
            let seats = formed.seats.iter().enumerate();
            seats.map(|(at, seat)| {
                let accepted = formed.accepted.contains(&seat.player);
                values![
                    formed.id,
                    at,
                    seat.team,
                    seat.ticket,
                    &seat.player,
                    accepted,
                    seat.later
                ]
            })
        });
        let seats: Vec<_> = seats.collect();
        insert(tx, SEATS, "", seats.into_iter()).await
    }

    async fn update(&self, tx: &mut Connection) -> Result<(), StoreError> {
        let became = self.became.iter().map(|(ticket, became)| {
            let Became {
                state,
                reason,
                at,
                is_sent,
            } = became;
            values![
                ticket,
                word(*state),
                state.match_id(),
                reason.as_str(),
                *at,
                *is_sent
            ]
        });
        with_given(
            tx,
            "number BIGINT, state TEXT, match_id BIGINT, reason TEXT, changed_at BIGINT, told BOOLEAN",
            "UPDATE tickets SET state = given.state, match_id = given.match_id, reason = given.reason,
                                changed_at = given.changed_at, told = given.told
             FROM {given} WHERE tickets.number = given.number",
            became,
        )
        .await?;
        with_given(
            tx,
            "number BIGINT",
            "UPDATE tickets SET told = TRUE FROM {given} WHERE tickets.number = given.number",
            self.sent.iter().map(|ticket| values![ticket]),
        )
        .await?;
        with_given(
            tx,
            "match_id BIGINT, player TEXT",
            "UPDATE formed_seats SET accepted = TRUE FROM {given}
             WHERE formed_seats.match_id = given.match_id AND formed_seats.player = given.player",
            self.accepted
                .iter()
                .map(|(id, player)| values![id, *player]),
        )
        .await?;
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

fn ticket(record: &TicketRecord) -> Result<Vec<Value>, StoreError> {
    let players = serde_json::to_string(&record.ticket.players);
    let players = players.map_err(|error| StoreError::BadValue(error.to_string()))?;
    Ok(values![
        record.number,
        &record.ticket.owner,
        &record.ticket.id,
        &record.ticket.queue,
        players,
        &record.ticket.content,
        record.submitted_at,
        word(record.state),
        record.state.match_id(),
        record.reason.as_str(),
        record.changed_at,
        record.is_sent,
    ])
}

fn matched(formed: &Match, partition: i64) -> Result<Vec<Value>, StoreError> {
    let proposal = &formed.proposal;
    let why = serde_json::to_string(&proposal.why);
    let why = why.map_err(|error| StoreError::BadValue(error.to_string()))?;
    Ok(values![
        formed.id,
        &formed.queue,
        proposal.size,
        proposal.mode.clone(),
        proposal.map.clone(),
        proposal.penalty,
        proposal.chance,
        proposal.seed.to_string(),
        proposal.searched_at,
        formed.formed_at,
        formed.open_until,
        formed.pool_id,
        why,
        &proposal.ruleset,
        partition,
    ])
}
