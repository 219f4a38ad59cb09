//! Which archived log told of which match, and what it tells when it is read again.

use sqlx::SqliteConnection;

use super::{
    Half, Recorded, Store, StoreError,
    ground::{fetch, put},
    halves::{Join, put_half},
    players::changed,
};
use crate::domain::{Fingerprint, MatchRecord};

/// What an archived log tells.
#[derive(Debug)]
pub struct Log {
    /// What it is known by.
    pub fingerprint: Fingerprint,
    /// Its games, each with what it is known by.
    pub matches: Vec<(MatchRecord, Fingerprint)>,
    /// Within how many milliseconds two of its games may be halves of a match, and how they become
    /// one; `None` where they never are.
    pub halves: Option<(i64, Join)>,
}

/// What came of reading a log again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Replaced {
    /// Matches that the log had told of before and that are gone.
    pub removed: u64,
    /// Matches that were not on record in this form.
    pub added: u64,
    /// Matches that are as they were.
    pub same: u64,
    /// Matches that were left as they are, since somebody in them has been forgotten.
    pub kept: u64,
}

impl std::ops::AddAssign for Replaced {
    fn add_assign(&mut self, other: Self) {
        self.removed += other.removed;
        self.added += other.added;
        self.same += other.same;
        self.kept += other.kept;
    }
}

impl Store {
    /// Notes that an archived log told of these matches, and that it contains the `older` ones, of
    /// which the archive lets go.
    ///
    /// # Errors
    /// The database's.
    pub async fn log_told(
        &self,
        log: Fingerprint,
        matches: &[i64],
        older: &[Fingerprint],
    ) -> Result<(), StoreError> {
        let mut tx = self.writer.begin_with("BEGIN IMMEDIATE").await?;
        for older in older {
            for statement in [
                "UPDATE OR IGNORE log_matches SET log = ?1 WHERE log = ?2",
                "DELETE FROM log_matches WHERE log = ?2 AND ?1 <> ?2",
            ] {
                let query = sqlx::query(statement).bind(&log.0[..]);
                query.bind(&older.0[..]).execute(&mut *tx).await?;
            }
        }
        for id in matches {
            tell(&mut tx, log, *id).await?;
        }
        Ok(tx.commit().await?)
    }

    /// Puts what an archived log tells now in the place of what it told before, in one transaction.
    /// What it tells as before stays as it is.
    ///
    /// # Errors
    /// A record that fails its own check, or the database's.
    pub async fn replace_log(&self, log: &Log) -> Result<Replaced, StoreError> {
        let mut tx = self.writer.begin_with("BEGIN IMMEDIATE").await?;
        let ids: Vec<i64> = sqlx::query_scalar("SELECT match_id FROM log_matches WHERE log = ?")
            .bind(&log.fingerprint.0[..])
            .fetch_all(&mut *tx)
            .await?;
        let mut replaced = Replaced::default();
        let mut kept: Vec<MatchRecord> = Vec::new();
        for chunk in ids.chunks(super::ground::ROWS) {
            for stored in fetch(&mut tx, chunk).await? {
                let same = |(record, print): &(MatchRecord, Fingerprint)| {
                    *print == stored.fingerprint && *record == stored.record
                };
                if log.matches.iter().any(same) {
                    replaced.same += 1;
                } else if is_altered(&stored.record) {
                    replaced.kept += 1;
                    kept.push(stored.record);
                } else {
                    remove(&mut tx, stored.id).await?;
                    replaced.removed += 1;
                }
            }
        }
        for (record, fingerprint) in &log.matches {
            if kept.iter().any(|other| is_same_game(other, record)) {
                continue;
            }
            let half = match log.halves {
                Some((pause, join)) => put_half(&mut tx, record, pause, join).await?,
                None => Half::Whole(put(&mut tx, record, *fingerprint).await?),
            };
            let id = match half {
                Half::Whole(Recorded::Duplicate(id)) => id,
                Half::Whole(Recorded::New(id)) | Half::Joined { id, .. } => {
                    replaced.added += 1;
                    id
                }
            };
            tell(&mut tx, log.fingerprint, id).await?;
        }
        if replaced.removed > 0 {
            changed(&mut tx).await?;
        }
        tx.commit().await?;
        Ok(replaced)
    }
}

async fn tell(tx: &mut SqliteConnection, log: Fingerprint, id: i64) -> Result<(), StoreError> {
    // A half that has become part of a match is not there any more.
    sqlx::query("INSERT OR IGNORE INTO log_matches SELECT ?, id FROM matches WHERE id = ?")
        .bind(&log.0[..])
        .bind(id)
        .execute(tx)
        .await?;
    Ok(())
}

async fn remove(tx: &mut SqliteConnection, id: i64) -> Result<(), StoreError> {
    let query = sqlx::query("DELETE FROM matches WHERE id = ?").bind(id);
    query.execute(tx).await?;
    Ok(())
}

/// Whether an operator had somebody in it forgotten, whom its log still names.
fn is_altered(record: &MatchRecord) -> bool {
    let mut all = record.participants.iter();
    all.any(|p| p.name.is_empty() && p.key.id.starts_with("forgotten-"))
}

/// Whether two records tell of one game: a server plays one at a time.
fn is_same_game(one: &MatchRecord, other: &MatchRecord) -> bool {
    one.server == other.server && one.start < other.end && other.start < one.end
}
