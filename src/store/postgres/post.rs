//! [`Post`] on PostgreSQL.

use std::{collections::BTreeSet, time::Duration};

use async_trait::async_trait;

use super::{DbConnection, PgStore, changes::Announcements};
use crate::store::{Changes, Letter, MAX_LETTER, MAX_LETTERS, NewLetter, Post, StoreError};

/// The channel of the notifications.
const CHANNEL: &str = "evenkeel_post";

#[async_trait]
impl Post for PgStore {
    async fn is_alive(
        &self,
        daemon: &str,
        lasts: Duration,
    ) -> Result<(bool, BTreeSet<String>), StoreError> {
        let lasts = i64::try_from(lasts.as_millis()).unwrap_or(i64::MAX);
        let mut tx = self.apart.begin("BEGIN").await?;
        let gone = "WITH gone AS (DELETE FROM daemons WHERE ends_at <= now_millis() RETURNING name)
                    DELETE FROM mail WHERE recipient IN (SELECT name FROM gone)";
        sqlx::query(gone).execute(&mut *tx).await?;
        let was_alive = "SELECT EXISTS (SELECT 1 FROM daemons WHERE name = $1)";
        let was_alive = sqlx::query_scalar(was_alive).bind(daemon);
        let was_alive: bool = was_alive.fetch_one(&mut *tx).await?;
        let alive = "INSERT INTO daemons (name, ends_at) VALUES ($1, now_millis() + $2)
                     ON CONFLICT (name) DO UPDATE SET ends_at = excluded.ends_at";
        let alive = sqlx::query(alive).bind(daemon).bind(lasts);
        alive.execute(&mut *tx).await?;
        let all: Vec<String> = sqlx::query_scalar("SELECT name FROM daemons")
            .fetch_all(&mut *tx)
            .await?;
        tx.commit().await?;
        Ok((was_alive, all.into_iter().collect()))
    }

    async fn is_gone(&self, daemon: &str) -> Result<(), StoreError> {
        let gone = "WITH gone AS (DELETE FROM daemons WHERE name = $1)
                    DELETE FROM mail WHERE recipient = $1";
        sqlx::query(gone).bind(daemon).execute(&self.apart).await?;
        Ok(())
    }

    async fn send(&self, letters: &[NewLetter]) -> Result<Vec<Option<i64>>, StoreError> {
        let mut tx = self.apart.begin("BEGIN").await?;
        let numbers = send_in(&mut tx, letters).await?;
        tx.commit().await?;
        Ok(numbers)
    }

    async fn letters(&self, to: &str, most: u32) -> Result<Vec<Letter>, StoreError> {
        let letters =
            "SELECT number, sender, body, EXISTS (SELECT 1 FROM daemons WHERE name = sender)
                       FROM mail WHERE recipient = $1 ORDER BY number LIMIT $2";
        let query = sqlx::query_as(letters).bind(to).bind(i64::from(most));
        let rows: Vec<(i64, String, String, bool)> = query.fetch_all(&self.readers).await?;
        let letter = |(number, from, body, is_answered)| Letter {
            number,
            from,
            is_answered,
            body,
        };
        Ok(rows.into_iter().map(letter).collect())
    }

    async fn discard(&self, numbers: &[i64]) -> Result<BTreeSet<i64>, StoreError> {
        let discard = "DELETE FROM mail WHERE number = ANY($1) RETURNING number";
        let query = sqlx::query_scalar(discard).bind(numbers);
        let numbers: Vec<i64> = query.fetch_all(&self.apart).await?;
        Ok(numbers.into_iter().collect())
    }

    async fn wakes(&self) -> Result<Box<dyn Changes>, StoreError> {
        let wakes = Announcements::new(&self.listeners, CHANNEL).await?;
        Ok(Box::new(wakes))
    }
}

/// Sends letters when this transaction is committed. A letter to a daemon that has ended is dropped.
async fn send_in(
    tx: &mut DbConnection,
    letters: &[NewLetter],
) -> Result<Vec<Option<i64>>, StoreError> {
    let mut numbers = Vec::with_capacity(letters.len());
    for letter in letters {
        if letter.body.len() > MAX_LETTER {
            numbers.push(None);
            continue;
        }
        let send = "INSERT INTO mail (recipient, sender, body) SELECT $1, $2, $3
                    WHERE (SELECT count(*) FROM (SELECT 1 FROM mail WHERE recipient = $1 LIMIT $4) few) < $4
                    RETURNING number";
        let query = sqlx::query_scalar(send).bind(&letter.to);
        let query = query
            .bind(&letter.from)
            .bind(&letter.body)
            .bind(MAX_LETTERS);
        numbers.push(query.fetch_optional(&mut *tx).await?);
    }
    if !letters.is_empty() {
        let wake = sqlx::query("SELECT pg_notify($1, '')").bind(CHANNEL);
        wake.execute(tx).await?;
    }
    Ok(numbers)
}

/// Discards letters and sends others when this transaction is committed.
pub(super) async fn exchange(
    tx: &mut DbConnection,
    handled: &[i64],
    letters: &[NewLetter],
) -> Result<(), StoreError> {
    if !handled.is_empty() {
        let discard = sqlx::query("DELETE FROM mail WHERE number = ANY($1)").bind(handled);
        discard.execute(&mut *tx).await?;
    }
    send_in(tx, letters).await.map(drop)
}
