//! What is kept once for the whole database: a number and a text, each under its name.

use crate::store::{StoreError, db::*, shown::Bytes};

/// The state that counts the changes of what an operator has said.
pub(in crate::store) const PLAYER_CHANGES: &str = "player_changes";

/// A number that every database has.
pub(in crate::store) async fn number(
    tx: &mut PooledConnection,
    name: &str,
) -> Result<i64, StoreError> {
    let query = scalar("SELECT number FROM state WHERE name = $1").bind(name);
    query.fetch_one(tx).await
}

/// Counts one up.
pub(in crate::store) async fn count(
    tx: &mut PooledConnection,
    name: &str,
) -> Result<(), StoreError> {
    let query = sql("UPDATE state SET number = number + 1 WHERE name = $1").bind(name);
    query.execute(tx).await.map(drop)
}

/// A text; `None` if there is none.
pub(in crate::store) async fn text(
    on: impl Into<Executor<'_>>,
    name: &str,
) -> Result<Option<String>, StoreError> {
    let query = scalar("SELECT text FROM state WHERE name = $1 AND text IS NOT NULL").bind(name);
    query.fetch_optional(on).await
}

/// Sets both the number and the text.
pub(in crate::store) async fn set(
    tx: &mut PooledConnection,
    name: &str,
    number: Option<i64>,
    text: Option<&str>,
) -> Result<(), StoreError> {
    let query = sql("INSERT INTO state (name, number, text) VALUES ($1, $2, $3)
         ON CONFLICT (name) DO UPDATE SET number = excluded.number, text = excluded.text");
    let query = query.bind(name).bind(number).bind(text);
    query.execute(tx).await.map(drop)
}

/// Removes what has this name.
pub(in crate::store) async fn remove(
    tx: &mut PooledConnection,
    name: &str,
) -> Result<(), StoreError> {
    let query = sql("DELETE FROM state WHERE name = $1").bind(name);
    query.execute(tx).await.map(drop)
}

/// The key of the players' handles, and of the hashes of those who were forgotten.
pub(in crate::store) async fn handle_key(tx: &mut PooledConnection) -> Result<Vec<u8>, StoreError> {
    let digits = text(tx, "handle_key").await?.unwrap_or_default();
    let bytes = Bytes::try_from(digits).map_err(|why| StoreError::BadValue(why.to_owned()))?;
    match bytes.0.len() {
        32 => Ok(bytes.0),
        _ => Err(StoreError::BadValue("the key of the handles".to_owned())),
    }
}
