//! What became of the tickets and the matches of each queue, by hour: a read model for the page of queues.

use std::collections::BTreeMap;

use super::{rows::with_given, tickets::word};
use crate::{
    domain::{MatchId, Timestamp},
    lifecycle::{Match, Reason, State, TicketNumber},
    store::{StoreError, db::*},
};

const HOUR: i64 = 3_600_000;
/// How many hours are kept.
const KEPT: i64 = 31 * 24;

/// Counts the tickets that leave their queues, of those that get these states at these times. Call it before their states
/// change.
pub(super) async fn count_tickets(
    tx: &mut Connection,
    became: impl Iterator<Item = (TicketNumber, State, Reason, Timestamp)>,
) -> Result<(), StoreError> {
    // A ticket waits until its match is formed, or until it joins one in play.
    let count = "INSERT INTO queue_hours
             (queue, hour, matched, cancelled, expired, waited_ms, longest_ms, matches, penalty, unready)
         SELECT queue, hour, CAST(sum(matched) AS BIGINT), CAST(sum(cancelled) AS BIGINT),
                CAST(sum(expired) AS BIGINT), CAST(sum(wait * matched) AS BIGINT), max(wait * matched), 0, 0,
                CAST(sum(unready) AS BIGINT)
         FROM (SELECT t.queue, given.at / 3600000 AS hour,
                      CASE given.state WHEN 'matched' THEN 1 ELSE 0 END AS matched,
                      CASE given.state WHEN 'cancelled' THEN 1 ELSE 0 END AS cancelled,
                      CASE given.state WHEN 'expired' THEN 1 ELSE 0 END AS expired,
                      CASE WHEN given.state = 'cancelled' AND given.reason IN ('declined', 'unanswered')
                           THEN 1 ELSE 0 END AS unready,
                      CASE WHEN f.formed_at >= t.submitted_at THEN f.formed_at - t.submitted_at
                           WHEN given.at > t.submitted_at THEN given.at - t.submitted_at ELSE 0 END AS wait
               FROM {given} JOIN tickets t ON t.number = given.number
               LEFT JOIN formed_matches f ON f.match_id = given.match_id
               WHERE t.state NOT IN ('matched', 'cancelled', 'expired')) AS left_tickets
         GROUP BY queue, hour
         ON CONFLICT (queue, hour) DO UPDATE SET
             matched = queue_hours.matched + excluded.matched,
             cancelled = queue_hours.cancelled + excluded.cancelled,
             expired = queue_hours.expired + excluded.expired,
             unready = queue_hours.unready + excluded.unready,
             waited_ms = queue_hours.waited_ms + excluded.waited_ms,
             longest_ms = CASE WHEN queue_hours.longest_ms > excluded.longest_ms
                               THEN queue_hours.longest_ms ELSE excluded.longest_ms END";
    let left = became.filter(|(_, state, ..)| state.is_final());
    let left = left.map(|(ticket, state, reason, at)| {
        values![ticket, word(state), reason.as_str(), at, state.match_id()]
    });
    let columns = "number BIGINT, state TEXT, reason TEXT, at BIGINT, match_id BIGINT";
    with_given(tx, columns, count, left).await.map(drop)
}

/// Counts matches that are final as they are formed, and those that all players have accepted. Call it once the
/// former are on disk, and before the latter are closed.
pub(super) async fn count_matches<'a>(
    tx: &mut Connection,
    formed: impl Iterator<Item = &'a Match> + Clone,
    accepted: &[MatchId],
) -> Result<(), StoreError> {
    let queues: BTreeMap<&String, i64> = formed
        .clone()
        .map(|one| (&one.queue, one.formed_at.0))
        .collect();
    for (queue, at) in queues {
        let old = sql("DELETE FROM queue_hours WHERE queue = $1 AND hour < $2");
        old.bind(queue)
            .bind(at / HOUR - KEPT)
            .execute(&mut *tx)
            .await?;
    }
    let count = "INSERT INTO queue_hours
             (queue, hour, matched, cancelled, expired, waited_ms, longest_ms, matches, penalty)
         SELECT f.queue, f.formed_at / 3600000, 0, 0, 0, 0, 0, count(*), sum(f.penalty)
         FROM {given} JOIN formed_matches f ON f.match_id = given.match_id
         WHERE (f.open_until IS NOT NULL) = given.is_open
         GROUP BY f.queue, f.formed_at / 3600000
         ON CONFLICT (queue, hour) DO UPDATE SET
             matches = queue_hours.matches + excluded.matches, penalty = queue_hours.penalty + excluded.penalty";
    let formed = formed.filter(|one| one.open_until.is_none());
    let formed = formed.map(|one| values![one.id, false]);
    let accepted = accepted.iter().map(|id| values![id, true]);
    let columns = "match_id BIGINT, is_open BOOLEAN";
    with_given(tx, columns, count, formed.chain(accepted))
        .await
        .map(drop)
}
