//! Reads what came of tickets and matches of queues, and the instances.

use sqlx::Row;

use super::super::{DbPool, DbRow};
use crate::{
    domain::Timestamp,
    store::{HostedLine, InstanceLine, QueueHour, StoreError},
};

/// The hours of all queues since one of them, in order.
pub(super) async fn hours(pool: &DbPool, since: i64) -> Result<Vec<QueueHour>, StoreError> {
    let query =
        sqlx::query("SELECT * FROM queue_hours WHERE hour >= $1 ORDER BY queue, hour LIMIT 10000");
    let hour = |row: &DbRow| {
        Ok(QueueHour {
            queue: row.try_get("queue")?,
            hour: row.try_get("hour")?,
            matched: row.try_get("matched")?,
            cancelled: row.try_get("cancelled")?,
            expired: row.try_get("expired")?,
            waited: row.try_get("waited_ms")?,
            longest: row.try_get("longest_ms")?,
            matches: row.try_get("matches")?,
            penalty: row.try_get("penalty")?,
        })
    };
    let rows = query.bind(since).fetch_all(pool).await?;
    rows.iter().map(hour).collect()
}

/// What the rules found in the latest matches of a queue that are final.
pub(super) async fn findings(
    pool: &DbPool,
    queue: &str,
    limit: i64,
) -> Result<Vec<Vec<String>>, StoreError> {
    let query = sqlx::query_scalar(
        "SELECT why FROM formed_matches WHERE queue = $1 AND open_until IS NULL
         ORDER BY match_id DESC LIMIT $2",
    );
    let rows: Vec<String> = query.bind(queue).bind(limit).fetch_all(pool).await?;
    let lines = |why: String| {
        serde_json::from_str(&why).map_err(|_| StoreError::BadValue(format!("why {why}")))
    };
    rows.into_iter().map(lines).collect()
}

/// The instances, in the order of their names.
pub(super) async fn instances(pool: &DbPool, limit: i64) -> Result<Vec<InstanceLine>, StoreError> {
    let query = sqlx::query("SELECT * FROM instances ORDER BY name LIMIT $1");
    let instance = |row: &DbRow| {
        Ok(InstanceLine {
            name: row.try_get("name")?,
            region: row.try_get("region")?,
            slots: row.try_get("slots")?,
            used: row.try_get("used")?,
            is_away: row.try_get::<Option<i64>, _>("away")?.is_some(),
            drains: row.try_get("draining")?,
        })
    };
    let rows = query.bind(limit).fetch_all(pool).await?;
    rows.iter().map(instance).collect()
}

/// The latest hosted matches, the last one first.
pub(super) async fn hosted(pool: &DbPool, limit: i64) -> Result<Vec<HostedLine>, StoreError> {
    let query = sqlx::query(
        "SELECT h.match_id, h.queue, h.state, h.since, h.instance,
                (SELECT count(*) FROM formed_seats s WHERE s.match_id = h.match_id) AS players,
                EXISTS (SELECT 1 FROM matches m WHERE m.id = h.match_id) AS recorded
         FROM hosted_matches h ORDER BY h.match_id DESC LIMIT $1",
    );
    let hosted = |row: &DbRow| {
        Ok(HostedLine {
            id: row.try_get("match_id")?,
            queue: row.try_get("queue")?,
            state: row.try_get("state")?,
            since: Timestamp(row.try_get("since")?),
            instance: row.try_get("instance")?,
            players: row.try_get("players")?,
            is_recorded: row.try_get("recorded")?,
        })
    };
    let rows = query.bind(limit).fetch_all(pool).await?;
    rows.iter().map(hosted).collect()
}
