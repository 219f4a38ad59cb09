//! What became of the tickets and the matches of each queue, by hour: a read model for the page of queues.

use crate::{
    domain::{MatchId, Timestamp},
    lifecycle::{Match, State, TicketNumber},
    store::{StoreError, db::*},
};

const HOUR: i64 = 3_600_000;
/// How many hours are kept.
const KEPT: i64 = 31 * 24;

/// Counts a ticket that leaves its queue. Call it before the ticket's state changes.
pub(super) async fn count_ticket(
    tx: &mut Connection,
    ticket: TicketNumber,
    state: State,
    at: Timestamp,
) -> Result<(), StoreError> {
    let (matched, cancelled, expired) = match state {
        State::Matched(_) => (1_i64, 0_i64, 0_i64),
        State::Cancelled => (0, 1, 0),
        State::Expired => (0, 0, 1),
        _ => return Ok(()),
    };
    // A ticket waits until its match is formed, or until it joins one in play.
    let query = sql(
        "INSERT INTO queue_hours
         SELECT queue, $2 / 3600000, $3, $4, $5, wait * $3, wait * $3, 0, 0
         FROM (SELECT t.queue, CASE WHEN f.formed_at >= t.submitted_at THEN f.formed_at - t.submitted_at
                                    WHEN $2 > t.submitted_at THEN $2 - t.submitted_at ELSE 0 END AS wait
               FROM tickets t LEFT JOIN formed_matches f ON f.match_id = $6
               WHERE t.number = $1 AND t.state NOT IN ('matched', 'cancelled', 'expired')) AS left_ticket
         WHERE true
         ON CONFLICT (queue, hour) DO UPDATE SET
             matched = queue_hours.matched + excluded.matched,
             cancelled = queue_hours.cancelled + excluded.cancelled,
             expired = queue_hours.expired + excluded.expired,
             waited_ms = queue_hours.waited_ms + excluded.waited_ms,
             longest_ms = CASE WHEN queue_hours.longest_ms > excluded.longest_ms
                               THEN queue_hours.longest_ms ELSE excluded.longest_ms END",
    );
    let query = query.bind(ticket).bind(at.0);
    let query = query.bind(matched).bind(cancelled).bind(expired);
    query.bind(state.match_id()).execute(tx).await?;
    Ok(())
}

/// Counts a match that is final as it is formed.
pub(super) async fn count_formed(tx: &mut Connection, formed: &Match) -> Result<(), StoreError> {
    forget_old(tx, formed).await?;
    match formed.open_until {
        None => count_match(tx, formed.id, false).await,
        Some(_) => Ok(()),
    }
}

/// Counts a match that all players have accepted. Call it before the match is closed.
pub(super) async fn count_accepted(tx: &mut Connection, id: MatchId) -> Result<(), StoreError> {
    count_match(tx, id, true).await
}

/// Counts a match that is on disk, and that players can still accept or not.
async fn count_match(tx: &mut Connection, id: MatchId, is_open: bool) -> Result<(), StoreError> {
    let query = sql("INSERT INTO queue_hours
         SELECT queue, formed_at / 3600000, 0, 0, 0, 0, 0, 1, penalty FROM formed_matches
         WHERE match_id = $1 AND (open_until IS NOT NULL) = $2
         ON CONFLICT (queue, hour) DO UPDATE SET
             matches = queue_hours.matches + 1, penalty = queue_hours.penalty + excluded.penalty");
    query.bind(id).bind(is_open).execute(tx).await?;
    Ok(())
}

/// Removes hours of the queue that are no longer kept.
async fn forget_old(tx: &mut Connection, formed: &Match) -> Result<(), StoreError> {
    let query = sql("DELETE FROM queue_hours WHERE queue = $1 AND hour < $2");
    let first = formed.formed_at.0 / HOUR - KEPT;
    query.bind(&formed.queue).bind(first).execute(tx).await?;
    Ok(())
}
