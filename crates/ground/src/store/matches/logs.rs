//! Matches that are read from logs: the links between an archived log and its matches, and matches that are told twice, as
//! two halves of a log, or by the line of a game server and by its log. Each of these is one match.
//!
//! A match that the line has reported to its end stays as it is, and the log's stands for it from then on. Of a match that
//! broke off on the line, the log has the whole, and replaces it under the same id. What is known from the line alone, the
//! decisions and what was predicted as the teams were picked, belongs to the match in either case.

use std::cmp::Reverse;

use sha2::{Digest, Sha256};

use crate::{
    ingest::same_match::{is_same_match, overlap},
    model::{
        MatchRecord, Outcome, fingerprint::Fingerprint, match_chances::MatchChances, time::DAY,
    },
    store::{
        HalfRecorded, JoinHalves, Recorded, RecountCause, StoreError, StoredMatch,
        corrections::{VOID, changed, corrected, set_void},
        db::{query::ROWS, *},
        learned::persons::is_forgotten,
        matches::{
            Matches, chances,
            insert::{insert_as, insert_if_new, insert_match, known, note_game, remove},
            read_matches::fetch,
        },
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

/// The most matches of one server and map that are tried as the other half.
const TRIED: i64 = 8;

/// Does what [`Matches::record_half`](crate::store::Matches::record_half) does, within a
/// transaction.
pub(super) async fn insert_half(
    tx: &mut PooledConnection,
    record: &MatchRecord,
    fingerprint: Fingerprint,
    pause: i64,
    join: JoinHalves,
) -> Result<HalfRecorded, StoreError> {
    if let Some(id) = known(tx, fingerprint).await? {
        return Ok(HalfRecorded::Alone(Recorded::Duplicate(id)));
    }
    if let Some(reported) = settle_logged(tx, record, fingerprint).await? {
        return Ok(HalfRecorded::Alone(reported));
    }
    for other in candidates(tx, record, pause).await? {
        let joined = match other.record.start <= record.start {
            true => join(&other.record, record),
            false => join(record, &other.record),
        };
        if let Some(joined) = joined {
            return replace(tx, fingerprint, &other, &joined).await;
        }
    }
    Ok(HalfRecorded::Alone(
        insert_if_new(tx, record, fingerprint).await?,
    ))
}

/// Matches that could be the other half, the nearest in time first. Excludes matches that were
/// joined already.
async fn candidates(
    tx: &mut PooledConnection,
    record: &MatchRecord,
    pause: i64,
) -> Result<Vec<StoredMatch>, StoreError> {
    let ids: Vec<i64> = scalar(
        "SELECT id FROM matches m
         WHERE ended_at BETWEEN $1 AND $2 AND server = $5 AND map = $6 AND game_type = $7
           AND (ended_at <= $3 OR started_at >= $4)
           AND NOT EXISTS (SELECT 1 FROM match_halves h WHERE h.match_id = m.id)
         ORDER BY abs(julianday(started_at) - julianday($3)) LIMIT $8",
    )
    .bind(record.start.plus_millis(-pause))
    // A second half lasts at most a day.
    .bind(record.end.plus_millis(pause + DAY))
    .bind(record.start)
    .bind(record.end)
    .bind(&record.server)
    .bind(&record.map)
    .bind(&record.game_type)
    .bind(TRIED)
    .fetch_all(&mut *tx)
    .await?;
    let mut found = fetch(tx, &ids).await?;
    found.sort_by_key(|stored| ids.iter().position(|id| *id == stored.id));
    Ok(found)
}

/// A fingerprint that no match has, for the row of a half until it is removed.
fn unused_fingerprint(id: i64) -> [u8; 16] {
    let digest: [u8; 32] = Sha256::digest(format!("half {id}")).into();
    std::array::from_fn(|at| digest[at])
}

/// Replaces the half that is on disk by the joined match.
async fn replace(
    tx: &mut PooledConnection,
    half: Fingerprint,
    other: &StoredMatch,
    joined: &MatchRecord,
) -> Result<HalfRecorded, StoreError> {
    let fingerprint = Fingerprint::of(joined);
    let id = match known(tx, fingerprint).await? {
        // The first half has the same start; if it also has the same players, it has the same
        // fingerprint.
        Some(id) if id != other.id => id,
        _ => {
            sql("UPDATE matches SET fingerprint = $2 WHERE id = $1")
                .bind(other.id)
                .bind(&unused_fingerprint(other.id)[..])
                .execute(&mut *tx)
                .await?;
            insert_match(tx, joined, fingerprint).await?
        }
    };
    let carry = "INSERT INTO log_matches (log, match_id)
         SELECT log, $1 FROM log_matches WHERE match_id = $2 ON CONFLICT DO NOTHING";
    sql(carry).bind(id).bind(other.id).execute(&mut *tx).await?;
    remove(tx, other.id).await?;
    for half in [half, other.fingerprint] {
        stand_for(tx, half, id).await?;
    }
    // Existing weights may have been derived from only one half.
    changed(tx).await?;
    let instead_of = other.id;
    Ok(HalfRecorded::Joined { id, instead_of })
}

/// The most matches at the same time that are compared.
const TRIED_TWINS: i64 = 32;
/// The longest match that is found, in milliseconds.
const LONGEST: i64 = DAY;

/// What the matches that may be the same have to be.
const REPORTED: &str = "m.game IS NOT NULL";
const LOGGED: &str = "m.game IS NULL";

/// Whether game servers have reported any match at the time of these records. If not, none of them is such a match.
pub(super) async fn any_reported(
    tx: &mut PooledConnection,
    records: impl Iterator<Item = &MatchRecord> + Clone,
) -> Result<bool, StoreError> {
    let (first, last) = (
        records.clone().map(|record| record.start).min(),
        records.map(|record| record.end).max(),
    );
    let (Some(first), Some(last)) = (first, last) else {
        return Ok(false);
    };
    let query = scalar(
        "SELECT EXISTS (SELECT 1 FROM matches m WHERE ended_at > $1 AND ended_at <= $2
             AND game IS NOT NULL)",
    );
    let query = query.bind(first).bind(last.plus_millis(LONGEST));
    query.fetch_one(tx).await
}

/// Finds out whether a match of a log is one that the line has reported, and if so, notes it. `None` if the match is on
/// disk under its fingerprint, or was not reported.
pub(super) async fn settle_logged(
    tx: &mut PooledConnection,
    record: &MatchRecord,
    fingerprint: Fingerprint,
) -> Result<Option<Recorded>, StoreError> {
    if known(tx, fingerprint).await?.is_some() {
        return Ok(None);
    }
    let Some(twin) = find_twin(tx, record, REPORTED).await? else {
        return Ok(None);
    };
    let broke_off = |record: &MatchRecord| record.outcome == Outcome::Abandoned;
    if !broke_off(&twin.record) || broke_off(record) {
        stand_for(tx, fingerprint, twin.id).await?;
        return Ok(Some(Recorded::Duplicate(twin.id)));
    }
    replace_twins(tx, record, fingerprint, &twin).await?;
    Ok(Some(Recorded::New(twin.id)))
}

/// The match of a log that is the one that the line reports now, if there is one.
pub(super) async fn logged(
    tx: &mut PooledConnection,
    record: &MatchRecord,
) -> Result<Option<i64>, StoreError> {
    Ok(find_twin(tx, record, LOGGED).await?.map(|twin| twin.id))
}

/// The match of this kind that is the same as the record; of several, the one that overlaps it longest.
async fn find_twin(
    tx: &mut PooledConnection,
    record: &MatchRecord,
    kind: &'static str,
) -> Result<Option<StoredMatch>, StoreError> {
    let mut query = Sql::new(
        "SELECT id FROM matches m WHERE ended_at > $1 AND ended_at <= $2 AND started_at < $3
           AND lower(game_type) = lower($4) AND (server = $5 OR server = '' OR $5 = '') AND ",
    );
    query.push(kind).push(" ORDER BY ended_at LIMIT $6");
    let ids: Vec<i64> = query
        .build_scalar()
        .bind(record.start)
        .bind(record.end.plus_millis(LONGEST))
        .bind(record.end)
        .bind(&record.game_type)
        .bind(&record.server)
        .bind(TRIED_TWINS)
        .fetch_all(&mut *tx)
        .await?;
    let found = fetch(tx, &ids).await?;
    let same = found
        .into_iter()
        .filter(|twin| is_same_match(&twin.record, record));
    Ok(same.min_by_key(|twin| (Reverse(overlap(&twin.record, record)), twin.id)))
}

/// Notes that a match of this fingerprint is one that is on disk.
async fn stand_for(
    tx: &mut PooledConnection,
    fingerprint: Fingerprint,
    id: i64,
) -> Result<(), StoreError> {
    let note = sql(
        "INSERT INTO match_halves (fingerprint, match_id) VALUES ($1, $2) ON CONFLICT DO NOTHING",
    );
    note.bind(fingerprint).bind(id).execute(tx).await.map(drop)
}

/// Replaces a match that broke off by the whole one, which keeps its id, its server, and what the line alone knows.
async fn replace_twins(
    tx: &mut PooledConnection,
    record: &MatchRecord,
    fingerprint: Fingerprint,
    twin: &StoredMatch,
) -> Result<(), StoreError> {
    let game: Option<i64> = scalar("SELECT game FROM matches WHERE id = $1")
        .bind(twin.id)
        .fetch_one(&mut *tx)
        .await?;
    let announced = chances::read_summary(tx, twin.id).await?;
    remove(tx, twin.id).await?;
    let mut whole = record.clone();
    if whole.server.is_empty() {
        whole.server.clone_from(&twin.record.server);
    }
    let recorded = insert_as(tx, &whole, fingerprint, Some(twin.id)).await?;
    let announced = MatchChances {
        picked: announced.picked,
        started: announced.started,
        changes: Vec::new(), // they name seats of the record that is gone
    };
    chances::insert(tx, recorded, &whole, &announced).await?;
    if let Some(game) = game {
        note_game(tx, game, twin.id).await?;
    }
    stand_for(tx, twin.fingerprint, twin.id).await?;
    changed(tx).await
}
