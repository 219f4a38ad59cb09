//! Links between archived logs and the matches read from them.

use super::{
    Matches,
    halves::{insert_half, settle_logged},
    insert::{insert_if_new, remove},
    read_matches::fetch,
};
use crate::{
    model::{Fingerprint, MatchRecord},
    store::{
        HalfRecorded, JoinHalves, Recorded, RecountCause, StoreError,
        corrections::{VOID, corrected, set_void},
        db::*,
        learned::persons::is_forgotten,
        sql::rows::ROWS,
    },
};

/// The matches that an archived log contains, as the current parsers read it.
#[derive(Debug)]
pub struct LogMatches {
    /// The fingerprint of the log.
    pub fingerprint: Fingerprint,
    /// The matches of the log, each with its fingerprint.
    pub matches: Vec<(MatchRecord, Fingerprint)>,
    /// The longest pause between two halves of a match in milliseconds, and the function that joins
    /// them; `None` if matches of this format have no halves.
    pub halves: Option<(i64, JoinHalves)>,
}

/// The result of replacing the matches of a log.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LogReplaced {
    /// Number of matches removed, which the current parsers no longer read from the log.
    pub removed: u64,
    /// Number of matches added.
    pub added: u64,
    /// Number of matches that are the same as before.
    pub same: u64,
    /// Number of matches left unchanged because a player in them was forgotten.
    pub kept: u64,
}

impl std::ops::AddAssign for LogReplaced {
    fn add_assign(&mut self, other: Self) {
        self.removed += other.removed;
        self.added += other.added;
        self.same += other.same;
        self.kept += other.kept;
    }
}

impl Matches<'_> {
    /// Links matches to the log that contains them. The links of the `older` logs, whose content
    /// this log includes, become links of this log.
    pub async fn link_log(
        self,
        log: Fingerprint,
        matches: &[i64],
        older: &[Fingerprint],
    ) -> Result<(), StoreError> {
        let mut tx = self.0.begin_alone().await?;
        for older in older {
            for statement in [
                "INSERT INTO log_matches (log, match_id)
                     SELECT $1, match_id FROM log_matches WHERE log = $2 ON CONFLICT DO NOTHING",
                "DELETE FROM log_matches WHERE log = $2 AND $1 <> $2",
            ] {
                let query = sql(statement).bind(&log.0[..]);
                query.bind(&older.0[..]).execute(&mut tx).await?;
            }
        }
        for id in matches {
            link(&mut tx, log, *id).await?;
        }
        self.0.commit(tx).await
    }

    /// Replaces the matches that are linked to a log by those that it contains as read now, in one
    /// transaction. Matches that are the same do not change.
    ///
    /// # Errors
    /// Fails if a record fails [`MatchRecord::check`].
    pub async fn replace_log(self, log: &LogMatches) -> Result<LogReplaced, StoreError> {
        let mut tx = self.0.begin_alone().await?;
        let ids: Vec<i64> = scalar("SELECT match_id FROM log_matches WHERE log = $1")
            .bind(&log.fingerprint.0[..])
            .fetch_all(&mut tx)
            .await?;
        let mut replaced = LogReplaced::default();
        let (mut kept, mut void): (Vec<MatchRecord>, Vec<MatchRecord>) = (Vec::new(), Vec::new());
        for chunk in ids.chunks(ROWS) {
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
                    let was_void = is_void(&mut tx, stored.id).await?;
                    remove(&mut tx, stored.id).await?;
                    replaced.removed += 1;
                    void.extend(was_void.then_some(stored.record));
                }
            }
        }
        for (record, fingerprint) in &log.matches {
            if kept.iter().any(|other| is_same_game(other, record)) {
                continue;
            }
            let half = match log.halves {
                Some((pause, join)) => {
                    insert_half(&mut tx, record, *fingerprint, pause, join).await?
                }
                None => HalfRecorded::Alone(insert_one(&mut tx, record, *fingerprint).await?),
            };
            let id = match half {
                HalfRecorded::Alone(Recorded::Duplicate(id)) => id,
                HalfRecorded::Alone(Recorded::New(id)) | HalfRecorded::Joined { id, .. } => {
                    replaced.added += 1;
                    id
                }
            };
            // What is read better now may have another fingerprint, and stays void.
            if void.iter().any(|other| is_same_game(other, record)) {
                set_void(&mut tx, id, true).await?;
            }
            link(&mut tx, log.fingerprint, id).await?;
        }
        if replaced.removed > 0 {
            corrected(&mut tx, RecountCause::Log).await?;
        }
        self.0.commit(tx).await?;
        Ok(replaced)
    }
}

/// Whether an operator has made this match void.
async fn is_void(tx: &mut PooledConnection, id: i64) -> Result<bool, StoreError> {
    let void = scalar(format!(
        "SELECT EXISTS (SELECT 1 FROM ({VOID}) AS void WHERE match_id = $1)"
    ));
    void.bind(id).fetch_one(tx).await
}

/// Writes a match of a log, unless it is on disk or the line has reported it.
async fn insert_one(
    tx: &mut PooledConnection,
    record: &MatchRecord,
    fingerprint: Fingerprint,
) -> Result<Recorded, StoreError> {
    match settle_logged(tx, record, fingerprint).await? {
        Some(reported) => Ok(reported),
        None => insert_if_new(tx, record, fingerprint).await,
    }
}

/// Links a match to the log it was read from.
async fn link(tx: &mut PooledConnection, log: Fingerprint, id: i64) -> Result<(), StoreError> {
    // If the match was a half and has been joined with the other half, its id no longer exists, and
    // nothing is linked.
    sql(
        "INSERT INTO log_matches (log, match_id) SELECT $1, id FROM matches WHERE id = $2
         ON CONFLICT DO NOTHING",
    )
    .bind(&log.0[..])
    .bind(id)
    .execute(tx)
    .await?;
    Ok(())
}

/// Whether a player in the record was forgotten; its log still names that player.
fn is_altered(record: &MatchRecord) -> bool {
    let mut all = record.participants.iter();
    all.any(|p| is_forgotten(&p.key, &p.name))
}

/// Whether two records describe the same game. A server plays only one game at a time.
fn is_same_game(one: &MatchRecord, other: &MatchRecord) -> bool {
    one.server == other.server && one.start < other.end && other.start < one.end
}
