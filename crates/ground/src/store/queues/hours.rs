//! What pages show of the queues: what became of tickets and matches, by hour and lately, and the instances.

use std::collections::BTreeMap;

use crate::{
    matchmaking::lifecycle::{Match, Reason, State, TicketNumber},
    model::{Timestamp, record::MatchId, time::DAY},
    store::{
        StoreError,
        db::{query::with_given, *},
        queues::{QueueTables, word},
    },
};

/// For how many milliseconds hours are kept.
const KEPT: i64 = 31 * DAY;

/// Counts the tickets that leave their queues, of those that get these states at these times. Call it before their states
/// change.
pub(super) async fn count_tickets(
    tx: &mut PooledConnection,
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
    tx: &mut PooledConnection,
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

columns! {
    /// What became of the tickets and matches of a queue in one hour.
    #[derive(Clone, Debug, PartialEq)]
    pub struct QueueHour {
        /// The name of the queue.
        pub queue: String,
        /// When the hour began.
        pub began: Timestamp,
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
        /// Number of the cancelled tickets that left because a player declined the match or did not answer in time.
        pub unready: i64,
    }
}

impl QueueHour {
    /// The hour, counted from the beginning of 1970 in UTC.
    pub fn number(&self) -> i64 {
        self.began.0.div_euclid(3_600_000)
    }
}

/// A ticket that waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WaitingTicket {
    /// When it was submitted.
    pub since: Timestamp,
    /// The number of its players.
    pub players: usize,
}

columns! {
    /// How even the latest matches of a queue were, of those with a prediction.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct QueueEvenness {
        /// Number of matches.
        pub matches: i64,
        /// The mean chance of the favourite.
        pub favourite: Option<f64>,
        /// Number of those that were recorded and that a team has won.
        pub decided: i64,
        /// How many of these the favourite has won.
        pub favoured: i64,
    }
}

impl QueueTables<'_> {
    /// The hours of a queue that begin at `since` or later, in order.
    pub async fn queue_hours(
        self,
        queue: &str,
        since: Timestamp,
    ) -> Result<Vec<QueueHour>, StoreError> {
        let query = tuple(
            "SELECT queue, hour AS began, matched, cancelled, expired, waited_ms AS waited, longest_ms AS longest, matches, penalty,
                    unready
             FROM queue_hours WHERE queue = $1 AND hour >= $2 ORDER BY hour LIMIT 1000",
        );
        query.bind(queue).bind(since).fetch_all(&self.0.pages).await
    }

    /// The tickets of a queue that wait, the oldest first, at most `limit`.
    pub async fn waiting_tickets(
        self,
        queue: &str,
        limit: i64,
    ) -> Result<Vec<WaitingTicket>, StoreError> {
        // The players are a JSON array of identities, which may contain commas and quotation marks.
        let query = sql(
            "SELECT submitted_at, players FROM tickets WHERE queue = $1 AND state = 'queued'
             ORDER BY submitted_at LIMIT $2",
        );
        let rows = query
            .bind(queue)
            .bind(limit)
            .fetch_all(&self.0.pages)
            .await?;
        let ticket = |row: &Row| {
            let players: String = row.get("players")?;
            let players: Vec<String> = serde_json::from_str(&players)
                .map_err(|_| StoreError::BadValue("the players of a ticket".to_owned()))?;
            Ok(WaitingTicket {
                since: row.get("submitted_at")?,
                players: players.len(),
            })
        };
        rows.iter().map(ticket).collect()
    }

    /// How even the latest matches of a queue were, at most `limit`.
    pub async fn queue_evenness(
        self,
        queue: &str,
        limit: i64,
    ) -> Result<QueueEvenness, StoreError> {
        let query = tuple(
            "SELECT count(*) AS matches, avg(CASE WHEN chance < 0.5 THEN 1 - chance ELSE chance END) AS favourite,
                    count(winner) AS decided,
                    count(CASE WHEN (winner = 0) = (chance >= 0.5) THEN winner END) AS favoured
             FROM (SELECT f.chance, m.winner FROM formed_matches f LEFT JOIN matches m ON m.id = f.recorded
                   WHERE f.queue = $1 AND f.open_until IS NULL AND f.chance IS NOT NULL
                   ORDER BY f.match_id DESC LIMIT $2) AS latest",
        );
        query.bind(queue).bind(limit).fetch_one(&self.0.pages).await
    }

    /// What the rules found in the latest matches of a queue that are final: the lines of each match.
    ///
    /// # Errors
    /// Fails if it contains what no version of Evenkeel writes.
    pub async fn queue_findings(
        self,
        queue: &str,
        limit: i64,
    ) -> Result<Vec<Vec<String>>, StoreError> {
        let query = scalar(
            "SELECT why FROM formed_matches WHERE queue = $1 AND open_until IS NULL
             ORDER BY match_id DESC LIMIT $2",
        );
        let rows: Vec<String> = query
            .bind(queue)
            .bind(limit)
            .fetch_all(&self.0.pages)
            .await?;
        let lines = |why: String| {
            serde_json::from_str(&why).map_err(|_| StoreError::BadValue(format!("why {why}")))
        };
        rows.into_iter().map(lines).collect()
    }
}
