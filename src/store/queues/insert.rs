//! The rows of new tickets, and of the matches that are formed.

use super::Turn;
use crate::{
    matchmaking::lifecycle::{Match, TicketRecord},
    store::{
        StoreError,
        db::*,
        queues::{pools, tickets::word},
        sql::rows::{Target, insert},
    },
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

impl Turn<'_> {
    pub(super) async fn insert(
        &self,
        tx: &mut Connection,
        partition: i64,
    ) -> Result<(), StoreError> {
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
}

fn ticket(record: &TicketRecord) -> Result<Vec<Value>, StoreError> {
    let text = |json: serde_json::Result<String>| {
        json.map_err(|error| StoreError::BadValue(error.to_string()))
    };
    let players = text(serde_json::to_string(&record.ticket.players))?;
    let content = text(serde_json::to_string(&record.ticket.spec))?;
    Ok(values![
        record.number,
        &record.ticket.owner,
        &record.ticket.id,
        &record.ticket.queue,
        players,
        content,
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
