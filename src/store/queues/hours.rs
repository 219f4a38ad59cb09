//! What became of the tickets and the matches of each queue, by hour: a read model for the page of queues.

use std::collections::BTreeMap;

use super::tickets::word;
use crate::{
    matchmaking::lifecycle::{Match, Reason, State, TicketNumber},
    model::{DAY, MatchId, Timestamp},
    store::{StoreError, db::*, sql::rows::with_given},
};

/// For how many milliseconds hours are kept.
const KEPT: i64 = 31 * DAY;

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
                CAST(sum(expired) AS BIGINT), CAST(sum(round(days * 86400000) * matched) AS BIGINT),
                CAST(max(round(days * 86400000) * matched) AS BIGINT), 0, 0,
                CAST(sum(unready) AS BIGINT)
         FROM (SELECT t.queue, substr(given.at, 1, 13) || ':00:00' AS hour,
                      CASE given.state WHEN 'matched' THEN 1 ELSE 0 END AS matched,
                      CASE given.state WHEN 'cancelled' THEN 1 ELSE 0 END AS cancelled,
                      CASE given.state WHEN 'expired' THEN 1 ELSE 0 END AS expired,
                      CASE WHEN given.state = 'cancelled' AND given.reason IN ('declined', 'unanswered')
                           THEN 1 ELSE 0 END AS unready,
                      CASE WHEN f.formed_at >= t.submitted_at THEN julianday(f.formed_at)
                           WHEN given.at > t.submitted_at THEN julianday(given.at)
                           ELSE julianday(t.submitted_at) END - julianday(t.submitted_at) AS days
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
    let columns = "number BIGINT, state TEXT, reason TEXT, at TEXT, match_id BIGINT";
    with_given(tx, columns, count, left).await.map(drop)
}

/// Counts matches that are final as they are formed, and those that all players have accepted. Call it once the
/// former are on disk, and before the latter are closed.
pub(super) async fn count_matches<'a>(
    tx: &mut Connection,
    formed: impl Iterator<Item = &'a Match> + Clone,
    accepted: &[MatchId],
) -> Result<(), StoreError> {
    let queues: BTreeMap<&String, Timestamp> = formed
        .clone()
        .map(|one| (&one.queue, one.formed_at))
        .collect();
    for (queue, at) in queues {
        let old = sql("DELETE FROM queue_hours WHERE queue = $1 AND hour < $2");
        old.bind(queue)
            .bind(at.plus_millis(-KEPT))
            .execute(&mut *tx)
            .await?;
    }
    let count = "INSERT INTO queue_hours
             (queue, hour, matched, cancelled, expired, waited_ms, longest_ms, matches, penalty)
         SELECT f.queue, substr(f.formed_at, 1, 13) || ':00:00', 0, 0, 0, 0, 0, count(*), sum(f.penalty)
         FROM {given} JOIN formed_matches f ON f.match_id = given.match_id
         WHERE (f.open_until IS NOT NULL) = given.is_open
         GROUP BY f.queue, substr(f.formed_at, 1, 13)
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
