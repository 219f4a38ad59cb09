//! What operators do with a database as a whole: they copy it, and check that nothing in it is damaged.

use std::path::Path;

use async_trait::async_trait;

use super::StoreError;

/// Access to a database file for backups and checks. It is never migrated, so that a new program can copy the database
/// of an old one before it changes it.
#[async_trait]
pub trait Care: Send + Sync {
    /// Writes a copy of the database, as it is at this moment, to a new file. Meanwhile others read and write
    /// the database without waiting.
    ///
    /// # Errors
    /// Fails if the file exists already, or if the database or the disk fails.
    async fn back_up(&self, to: &Path) -> Result<(), StoreError>;

    /// What is damaged in the file, one sentence each: pages, indexes, and rows that belong to others which are
    /// missing.
    ///
    /// # Errors
    /// Fails if the database cannot be read at all.
    async fn faults(&self) -> Result<Vec<String>, StoreError>;

    /// The number of rows in each table, by name.
    ///
    /// # Errors
    /// Fails if the database does.
    async fn counts(&self) -> Result<Vec<(String, i64)>, StoreError>;

    /// A hash of the content of each derived table, by name. Equal content has equal hashes, to the last bit
    /// of every number.
    ///
    /// # Errors
    /// Fails if the database does.
    async fn derived_hashes(&self) -> Result<Vec<(String, String)>, StoreError>;

    /// How many changes to players the file contains, and when it last forgot one.
    ///
    /// # Errors
    /// Fails if the database does.
    async fn forgotten(&self) -> Result<Forgotten, StoreError>;
}

/// Counts an operator's changes to players.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Forgotten {
    /// The number of changes so far.
    pub changes: i64,
    /// The number of changes after the latest one that made the database forget a player; 0 if none has.
    pub latest: i64,
}

impl Forgotten {
    /// Whether an older copy of the same database contains a player whom this one has forgotten since.
    pub fn outdates(&self, copy: Self) -> bool {
        copy.changes < self.latest
    }
}
