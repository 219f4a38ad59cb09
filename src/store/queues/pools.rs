//! The stored pools of the queue: what the matches were found in.

use std::collections::BTreeSet;

use crate::{
    matchmaking::lifecycle::{SearchedPool, TicketNumber},
    model::MatchId,
    store::{
        StoreError,
        db::*,
        sql::rows::{Target, insert as insert_rows, with_given},
    },
};

/// The most pools that are kept, the newest.
const KEPT: i64 = 1_000;

const POOLS: Target = Target::new(
    "pools",
    "pool_id, queue, settings, seed, effort, version, searched_at, tickets, known, outlook",
)
.replacing("pool_id");

/// Writes a pool, and removes those that are too many.
pub(super) async fn insert(
    tx: &mut Connection,
    id: MatchId,
    pool: &SearchedPool,
) -> Result<(), StoreError> {
    let row = values![
        id,
        &pool.queue,
        &pool.settings,
        pool.seed.to_string(),
        pool.effort,
        &pool.version,
        pool.searched_at,
        &pool.tickets,
        &pool.known,
        &pool.outlook,
    ];
    insert_rows(tx, POOLS, "", [row].into_iter()).await?;
    let oldest = "DELETE FROM pools WHERE pool_id <=
         (SELECT pool_id FROM pools ORDER BY pool_id DESC LIMIT 1 OFFSET $1)";
    sql(oldest).bind(KEPT).execute(tx).await?;
    Ok(())
}

/// Removes matches, and the pools in which no other match was found.
pub(super) async fn drop_matches(tx: &mut Connection, ids: &[MatchId]) -> Result<(), StoreError> {
    let gone = "DELETE FROM formed_matches WHERE match_id IN (SELECT given.match_id FROM {given}) RETURNING pool_id";
    let ids = ids.iter().map(|id| values![id]);
    let gone = with_given(tx, "match_id BIGINT", gone, ids).await?;
    let pools = gone
        .iter()
        .filter_map(|row| row.get::<Option<MatchId>>("pool_id").transpose());
    let pools = pools.collect::<Result<BTreeSet<_>, _>>()?;
    let unused = "DELETE FROM pools WHERE pool_id IN (SELECT given.pool_id FROM {given})
         AND NOT EXISTS (SELECT 1 FROM formed_matches f WHERE f.pool_id = pools.pool_id)";
    let pools = pools.iter().map(|pool| values![pool]);
    with_given(tx, "pool_id BIGINT", unused, pools)
        .await
        .map(drop)
}

pub(super) fn read(row: &Row) -> Result<SearchedPool, StoreError> {
    let seed: String = row.get("seed")?;
    Ok(SearchedPool {
        queue: row.get("queue")?,
        settings: row.get("settings")?,
        seed: seed.parse().map_err(|_| StoreError::bad("seed", &seed))?,
        effort: row.get("effort")?,
        version: row.get("version")?,
        searched_at: row.get("searched_at")?,
        tickets: row.get("tickets")?,
        known: row.get("known")?,
        outlook: row.get("outlook")?,
    })
}

/// The smallest and the largest number in a text such as `3-7 9`.
pub(super) fn range(tickets: &str) -> (TicketNumber, TicketNumber) {
    let numbers = tickets.split([' ', '-']);
    let numbers = numbers.filter_map(|number| number.parse::<TicketNumber>().ok());
    numbers.fold((TicketNumber::MAX, 0), |(least, most), number| {
        (number.min(least), number.max(most))
    })
}
