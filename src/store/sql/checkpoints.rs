//! Checkpoints of the learned state. Each consists of a row with its head, and of pieces that it may share with others.
//!
//! A piece is found by the hash of its content, and never changes. Pieces are written before the row that names them,
//! some at a time, so that no other write waits for a large state. What ends in between leaves pieces that no row names:
//! the next checkpoint deletes them.

use std::collections::{HashMap, HashSet};

use super::{Store, leases, rows::with_given};
use crate::store::{CheckpointRow, Lease, NewCheckpoint, PieceHash, StoreError, db::*};

impl Store {
    /// The stored checkpoints, the one of the most matches first.
    pub async fn checkpoints(&self) -> Result<Vec<CheckpointRow>, StoreError> {
        let query = tuple(
            "SELECT matches, last_match, ended_at, fingerprint, settings, bytes
             FROM derived_checkpoint ORDER BY matches DESC",
        );
        query.fetch_all(&self.readers).await
    }

    /// The head of the checkpoint after `matches` matches, and its pieces in order; `None` if there is none.
    pub async fn checkpoint(
        &self,
        matches: i64,
    ) -> Result<Option<(Vec<u8>, Vec<PieceHash>)>, StoreError> {
        let query = tuple("SELECT head, pieces FROM derived_checkpoint WHERE matches = $1");
        let found: Option<(Vec<u8>, Vec<u8>)> =
            query.bind(matches).fetch_optional(&self.readers).await?;
        Ok(found.map(|(head, pieces)| (head, hashes(&pieces))))
    }

    /// The hashes of all stored pieces.
    pub async fn piece_hashes(&self) -> Result<HashSet<PieceHash>, StoreError> {
        let query = scalar("SELECT hash FROM checkpoint_pieces");
        Ok(distinct(query.fetch_all(&self.readers).await?))
    }

    /// Those of these pieces that are on disk.
    pub async fn pieces(
        &self,
        wanted: &[PieceHash],
    ) -> Result<HashMap<PieceHash, Vec<u8>>, StoreError> {
        let mut connection = self.readers.acquire().await?;
        let found = with_given(
            &mut connection,
            "hash bytea",
            "SELECT p.hash, p.content FROM {given} JOIN checkpoint_pieces p ON p.hash = given.hash",
            wanted.iter().map(|hash| values![*hash]),
        );
        let read = |row: Row| Ok((hash(row.get("hash")?), row.get("content")?));
        found.await?.into_iter().map(read).collect()
    }

    /// Stores pieces in one transaction; no checkpoint has them yet.
    ///
    /// # Errors
    /// Fails if the lease is lost.
    pub async fn store_pieces(
        &self,
        pieces: &[(PieceHash, Vec<u8>)],
        lease: Option<&Lease>,
    ) -> Result<(), StoreError> {
        let mut tx = self.begin_with(lease).await?;
        for (hash, content) in pieces {
            sql("INSERT INTO checkpoint_pieces (hash, content) VALUES ($1, $2) ON CONFLICT (hash) DO NOTHING")
                .bind(*hash)
                .bind(content)
                .execute(&mut tx)
                .await?;
        }
        self.commit(tx).await
    }

    /// Stores checkpoints, and deletes all others but those of `kept` matches, and the pieces that none has any more, in
    /// one transaction. A checkpoint of which a piece is missing, because another process has deleted it, is left out.
    ///
    /// # Errors
    /// Fails if the lease is lost.
    pub async fn store_checkpoints(
        &self,
        new: &[NewCheckpoint],
        kept: &[i64],
        lease: Option<&Lease>,
    ) -> Result<(), StoreError> {
        let mut tx = self.begin_with(lease).await?;
        let stored: Vec<Vec<u8>> = scalar("SELECT hash FROM checkpoint_pieces")
            .fetch_all(&mut tx)
            .await?;
        let mut unused = distinct(stored);
        let is_whole = |one: &&NewCheckpoint| one.pieces.iter().all(|hash| unused.contains(hash));
        let whole: Vec<&NewCheckpoint> = new.iter().filter(is_whole).collect();
        let replaced = |matches| whole.iter().any(|one| one.row.matches == matches);
        let stored: Vec<(i64, Vec<u8>)> = tuple("SELECT matches, pieces FROM derived_checkpoint")
            .fetch_all(&mut tx)
            .await?;
        for (matches, pieces) in stored {
            if kept.contains(&matches) && !replaced(matches) {
                let used: HashSet<PieceHash> = hashes(&pieces).into_iter().collect();
                unused.retain(|hash| !used.contains(hash));
                continue;
            }
            sql("DELETE FROM derived_checkpoint WHERE matches = $1")
                .bind(matches)
                .execute(&mut tx)
                .await?;
        }
        for one in whole {
            let used: HashSet<&PieceHash> = one.pieces.iter().collect();
            unused.retain(|hash| !used.contains(hash));
            insert(&mut tx, one).await?;
        }
        let delete = "DELETE FROM checkpoint_pieces WHERE hash IN (SELECT hash FROM {given})";
        let unused = unused.iter().map(|hash| values![*hash]);
        with_given(&mut tx, "hash bytea", delete, unused).await?;
        self.commit(tx).await
    }

    /// Begins a write of who has this lease, if one is needed.
    pub(super) async fn begin_with(&self, lease: Option<&Lease>) -> Result<Write, StoreError> {
        let mut tx = self.begin().await?;
        if let Some(lease) = lease
            && let Err(error) = leases::check(&mut tx, lease).await
        {
            tx.abandon().await?;
            return Err(error);
        }
        Ok(tx)
    }
}

async fn insert(tx: &mut Connection, new: &NewCheckpoint) -> Result<(), StoreError> {
    let (ended_at, fingerprint) = new.row.cursor.place();
    sql("INSERT INTO derived_checkpoint
         (matches, last_match, ended_at, fingerprint, settings, bytes, head, pieces)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8)")
    .bind(new.row.matches)
    .bind(new.row.last_match)
    .bind(ended_at)
    .bind(&fingerprint[..])
    .bind(&new.row.settings)
    .bind(new.row.bytes)
    .bind(&new.head)
    .bind(new.pieces.concat())
    .execute(tx)
    .await?;
    Ok(())
}

/// Deletes all checkpoints, and what they contain of players.
pub(super) async fn erase(tx: &mut Connection) -> Result<(), StoreError> {
    for delete in [
        "DELETE FROM derived_checkpoint",
        "DELETE FROM checkpoint_pieces",
    ] {
        sql(delete).execute(&mut *tx).await?;
    }
    Ok(())
}

/// A hash as it is stored. One of another length, which another program has written, becomes one that no piece has.
fn hash(bytes: &[u8]) -> PieceHash {
    let mut hash = PieceHash::default();
    hash.iter_mut()
        .zip(bytes)
        .for_each(|(to, from)| *to = *from);
    hash
}

fn hashes(bytes: &[u8]) -> Vec<PieceHash> {
    bytes.chunks(size_of::<PieceHash>()).map(hash).collect()
}

fn distinct(hashes: Vec<Vec<u8>>) -> HashSet<PieceHash> {
    hashes.iter().map(|bytes| hash(bytes)).collect()
}
