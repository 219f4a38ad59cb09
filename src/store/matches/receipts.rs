//! Matches that clients record over HTTP, and the keys under which they do: a repetition gets the first answer.

use super::{
    Matches, chances,
    insert::{checked, insert_as},
};
use crate::{
    model::{Fingerprint, MatchChances, MatchRecord, Timestamp},
    store::{StoreError, corrections::remove_from, db::*},
};

/// A match that a client records, and what the client is answered.
#[derive(Clone, Debug)]
pub struct ReportedMatch {
    /// The record of the match.
    pub record: MatchRecord,
    /// The fingerprint under which it is recorded.
    pub fingerprint: Fingerprint,
    /// What was predicted of its teams.
    pub chances: MatchChances,
    /// The keys that the client has given it.
    pub keys: Vec<Receipt>,
    /// The code of the reason why it is not rated.
    pub unrated: Option<String>,
    /// The number of the decision that picked its teams.
    pub decision: Option<i64>,
}

/// A key of a client, and what the client has sent under it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Receipt {
    /// The key.
    pub key: String,
    /// A hash of what was sent.
    pub body: [u8; 32],
}

/// What became of matches that a client has sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reported {
    /// All are on disk: the id of each, and why it is not rated. What was sent before has the first answer.
    Recorded(Vec<(i64, Option<String>)>),
    /// None is, because something else was sent under this key before.
    OtherBody(String),
}

impl Matches<'_> {
    /// Writes the matches of a client that it has not sent before, all or none, and notes their keys. They are on
    /// disk, and survive a power cut, when this returns.
    ///
    /// # Errors
    /// Fails if a record fails [`MatchRecord::check`].
    pub async fn record_reported(
        self,
        client: &str,
        now: Timestamp,
        matches: &[ReportedMatch],
    ) -> Result<Reported, StoreError> {
        for one in matches {
            checked(self.0.dialect(), &one.record, one.fingerprint)?;
        }
        let mut tx = self.0.begin_alone().await?;
        let mut recorded = Vec::with_capacity(matches.len());
        for one in matches {
            let (id, unrated) = match first_answer(&mut tx, client, one).await? {
                Answered::Same(id, unrated) => (id, unrated),
                Answered::Never => {
                    let id = insert(&mut tx, client, now, one).await?;
                    (id, one.unrated.clone())
                }
                Answered::Other(key) => {
                    tx.abandon().await?;
                    return Ok(Reported::OtherBody(key));
                }
            };
            for receipt in &one.keys {
                note(&mut tx, (client, now), receipt, (id, unrated.as_deref())).await?;
            }
            recorded.push((id, unrated));
        }
        self.0.commit(tx).await?;
        Ok(Reported::Recorded(recorded))
    }

    /// The client that has recorded a match over HTTP, and when.
    pub async fn reporter_of(self, id: i64) -> Result<Option<(String, Timestamp)>, StoreError> {
        let query = tuple(
            "SELECT client, reported_at FROM matches WHERE id = $1 AND reported_at IS NOT NULL",
        );
        query.bind(id).fetch_optional(&self.0.readers).await
    }

    /// Deletes the keys of matches that were recorded before an instant.
    pub async fn drop_receipts(self, before: Timestamp) -> Result<u64, StoreError> {
        let old = "made_at < $1";
        self.0.delete_old("receipts", old, before).await
    }
}

/// What a client was answered that has sent a match before.
enum Answered {
    Never,
    Same(i64, Option<String>),
    /// Something else was sent under this key.
    Other(String),
}

async fn first_answer(
    tx: &mut PooledConnection,
    client: &str,
    one: &ReportedMatch,
) -> Result<Answered, StoreError> {
    let mut found = Answered::Never;
    for receipt in &one.keys {
        let query =
            sql("SELECT body, match_id, unrated FROM receipts WHERE client = $1 AND key = $2");
        let query = query.bind(client).bind(&receipt.key);
        let Some(row) = query.fetch_optional(&mut *tx).await? else {
            continue;
        };
        if row.get::<&[u8]>("body")? != receipt.body {
            return Ok(Answered::Other(receipt.key.clone()));
        }
        found = Answered::Same(row.get("match_id")?, row.get("unrated")?);
    }
    Ok(found)
}

/// Writes a match without its keys. Returns its id.
pub(in crate::store) async fn insert(
    tx: &mut PooledConnection,
    client: &str,
    now: Timestamp,
    one: &ReportedMatch,
) -> Result<i64, StoreError> {
    let mut record = one.record.clone();
    client.clone_into(&mut record.client);
    remove_from(tx, &mut record).await?;
    let recorded = insert_as(tx, &record, one.fingerprint, None).await?;
    chances::insert(tx, recorded, &record, &one.chances).await?;
    let id = recorded.id();
    // Not of a match that another client has brought before.
    let reported = "UPDATE matches SET reported_at = $2
                     WHERE id = $1 AND client = $3 AND reported_at IS NULL";
    let query = sql(reported).bind(id).bind(now).bind(client);
    query.execute(&mut *tx).await?;
    if let Some(decision) = one.decision {
        let tie = "UPDATE decisions SET match_id = $2 WHERE id = $1 AND match_id IS NULL";
        let query = sql(tie).bind(decision).bind(id);
        query.execute(&mut *tx).await?;
    }
    Ok(id)
}

/// Notes what a client was answered that has sent a match under this key, unless that is known.
async fn note(
    tx: &mut PooledConnection,
    (client, now): (&str, Timestamp),
    receipt: &Receipt,
    (id, unrated): (i64, Option<&str>),
) -> Result<(), StoreError> {
    let note = "INSERT INTO receipts (client, key, body, match_id, unrated, made_at)
                    VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT DO NOTHING";
    let query = sql(note).bind(client);
    let query = query.bind(&receipt.key);
    let query = query.bind(&receipt.body[..]).bind(id);
    query.bind(unrated).bind(now).execute(tx).await?;
    Ok(())
}
