//! Writes matches, with rows of many in each statement, and removes them.
//!
//! A row has its match as a line of the interchange format, compressed. The form is zlib's (RFC 1950): deflated, with
//! a dictionary, and with a checksum of the line. The first bytes name the dictionary by its Adler-32 checksum, so
//! that another one can be added without a change to the rows that exist. A dictionary itself never changes.
//!
//! Rows come from the database, which other programs can write. So the length is bounded, and each fault is an error.

use std::{
    borrow::Cow,
    cell::RefCell,
    collections::{HashMap, HashSet},
};

use flate2::{Compress, Compression, Decompress, FlushCompress, FlushDecompress, Status};
use futures_util::{FutureExt, future::BoxFuture};

use crate::{
    ingest::jsonl::{read_record, write_record},
    model::{
        Kind, MatchRecord, Outcome, Participant, access::Holder, fingerprint::Fingerprint,
        record::score_text,
    },
    store::{
        Recorded, StoreError,
        db::{
            query::{ROWS, Target, insert, write},
            *,
        },
        matches::chances::link_formed_matches,
    },
};

/// A match that is not on disk yet.
struct NewMatch<'a> {
    fingerprint: Fingerprint,
    /// As this database can store it.
    record: &'a MatchRecord,
    /// The id that it gets; `None` for the next free one.
    id: Option<i64>,
}

impl<'a> NewMatch<'a> {
    /// A match that gets the next free id.
    fn new(fingerprint: Fingerprint, record: &'a MatchRecord) -> Self {
        Self {
            fingerprint,
            record,
            id: None,
        }
    }
}

/// A match, and the id with which the rows of its players are written.
pub(in crate::store) type New<'a> = (i64, &'a MatchRecord);

/// Writes each match unless it is on disk already, as a match or as half of another.
pub(super) async fn insert_matches(
    tx: &mut PooledConnection,
    records: &[(Cow<'_, MatchRecord>, Fingerprint)],
) -> Result<Vec<Recorded>, StoreError> {
    let prints: Vec<Fingerprint> = records.iter().map(|&(_, print)| print).collect();
    let mut on_disk = known_all(tx, &prints).await?;
    let mut seen = HashSet::new();
    let new: Vec<NewMatch<'_>> = records
        .iter()
        .filter(|(_, print)| !on_disk.contains_key(print) && seen.insert(*print))
        .map(|(record, print)| NewMatch::new(*print, record))
        .collect();
    let mut written = insert_new(tx, &new).await?;
    let mut recorded = Vec::with_capacity(records.len());
    for (_, print) in records {
        recorded.push(match written.remove(print) {
            Some(id) => {
                on_disk.insert(*print, id);
                Recorded::New(id)
            }
            None => Recorded::Duplicate(id_of(&on_disk, *print)?),
        });
    }
    Ok(recorded)
}

/// Writes matches that are not on disk, and have different fingerprints. Returns their ids.
fn insert_new<'a>(
    tx: &'a mut PooledConnection,
    new: &'a [NewMatch<'a>],
) -> BoxFuture<'a, Result<HashMap<Fingerprint, i64>, StoreError>> {
    let written = async move {
        let ids = insert_heads(tx, new).await?;
        let mut with_ids: Vec<New<'_>> = Vec::with_capacity(new.len());
        for one in new {
            with_ids.push((id_of(&ids, one.fingerprint)?, one.record));
        }
        insert_players(tx, &with_ids).await?;
        link_formed_matches(tx, &with_ids).await?;
        Ok(ids)
    };
    written.boxed()
}

/// The id of a match that was read or written.
fn id_of(ids: &HashMap<Fingerprint, i64>, print: Fingerprint) -> Result<i64, StoreError> {
    let id = ids.get(&print).copied();
    id.ok_or_else(|| StoreError::from(sqlx::Error::RowNotFound))
}

/// Writes a match unless it is on disk already, as a match or as half of another.
pub(super) async fn insert_if_new(
    tx: &mut PooledConnection,
    record: &MatchRecord,
    fingerprint: Fingerprint,
) -> Result<Recorded, StoreError> {
    insert_as(tx, record, fingerprint, None).await
}

/// Like [`insert_if_new`]. With an id, which no match has, the match gets that one.
pub(super) async fn insert_as(
    tx: &mut PooledConnection,
    record: &MatchRecord,
    fingerprint: Fingerprint,
    id: Option<i64>,
) -> Result<Recorded, StoreError> {
    if let Some(id) = known(tx, fingerprint).await? {
        return Ok(Recorded::Duplicate(id));
    }
    let record = checked(tx.dialect(), record, fingerprint)?;
    let new = NewMatch {
        fingerprint,
        record: &record,
        id,
    };
    let ids = insert_new(tx, &[new]).await?;
    Ok(Recorded::New(id_of(&ids, fingerprint)?))
}

/// Writes matches of which none is on disk, each with its id.
///
/// # Errors
/// Fails if one is on disk, or fails [`MatchRecord::check`].
pub(in crate::store) async fn insert_all_as(
    tx: &mut PooledConnection,
    matches: &[(MatchRecord, Fingerprint, i64)],
) -> Result<(), StoreError> {
    let dialect = tx.dialect();
    let checked = matches.iter().map(|(record, print, id)| {
        let record = checked(dialect, record, *print)?;
        Ok((record, *print, *id))
    });
    let checked = checked.collect::<Result<Vec<_>, StoreError>>()?;
    let new: Vec<NewMatch<'_>> = checked
        .iter()
        .map(|(record, fingerprint, id)| NewMatch {
            fingerprint: *fingerprint,
            record,
            id: Some(*id),
        })
        .collect();
    insert_new(tx, &new).await.map(drop)
}

/// Writes a match that is not on disk, and returns its id.
pub(super) async fn insert_match(
    tx: &mut PooledConnection,
    record: &MatchRecord,
    fingerprint: Fingerprint,
) -> Result<i64, StoreError> {
    let record = checked(tx.dialect(), record, fingerprint)?;
    let ids = insert_new(tx, &[NewMatch::new(fingerprint, &record)]).await?;
    id_of(&ids, fingerprint)
}

/// The record as this database can store it. Refuses one that must not be stored.
pub(in crate::store) fn checked(
    dialect: Dialect,
    record: &MatchRecord,
    fingerprint: Fingerprint,
) -> Result<Cow<'_, MatchRecord>, StoreError> {
    let record = dialect.storable(record);
    record.check().map_err(|why| StoreError::BadRecord {
        what: fingerprint.to_string(),
        why,
    })?;
    Ok(record)
}

/// The match with this fingerprint, or the one that it is half of.
pub(in crate::store) async fn known(
    tx: &mut PooledConnection,
    fingerprint: Fingerprint,
) -> Result<Option<i64>, StoreError> {
    let found = known_all(tx, &[fingerprint]).await?;
    Ok(found.get(&fingerprint).copied())
}

/// Those of these fingerprints that a match has, or half of one, each with the match's id.
async fn known_all(
    tx: &mut PooledConnection,
    prints: &[Fingerprint],
) -> Result<HashMap<Fingerprint, i64>, StoreError> {
    let mut found = HashMap::new();
    for some in prints.chunks(ROWS) {
        for table in [
            "SELECT fingerprint, id FROM matches WHERE fingerprint IN ",
            "SELECT fingerprint, match_id FROM match_halves WHERE fingerprint IN ",
        ] {
            let mut query = Sql::new(table);
            query.list(some.iter().copied());
            let rows: Vec<(Fingerprint, i64)> = query.build_tuple().fetch_all(&mut *tx).await?;
            for (print, id) in rows {
                found.entry(print).or_insert(id);
            }
        }
    }
    Ok(found)
}

/// The columns of a match without its id.
macro_rules! head_columns {
    () => {
        "fingerprint, started_at, ended_at, untimed, server, client, map, game_type, mutators, mode, outcome, winner, scores, \
         gap, humans, bots, record, too_many_new"
    };
}
pub(super) use head_columns;

const HEADS: Target = Target::new("matches", head_columns!());
const HEADS_WITH_ID: Target = Target::new("matches", concat!(head_columns!(), ", id"));
pub(in crate::store) const PLAYERS: Target = Target::new(
    "match_players",
    "match_id, seat, kind, player, name, team, share, points, kills, deaths",
);

/// Writes the rows of matches, without those of their players. Returns their ids.
async fn insert_heads(
    tx: &mut PooledConnection,
    new: &[NewMatch<'_>],
) -> Result<HashMap<Fingerprint, i64>, StoreError> {
    let mut ids = HashMap::with_capacity(new.len());
    let returned = " RETURNING fingerprint, id";
    for (target, has_id) in [(HEADS, false), (HEADS_WITH_ID, true)] {
        let some = new.iter().filter(|one| one.id.is_some() == has_id);
        for row in write(tx, target, returned, some.map(head_with_id)).await? {
            ids.insert(row.get("fingerprint")?, row.get("id")?);
        }
    }
    Ok(ids)
}

fn head_with_id(new: &NewMatch<'_>) -> Vec<SqlValue> {
    let mut row = head(new.fingerprint, new.record);
    row.extend(new.id.map(SqlValue::from));
    row
}

/// The row of a match without its id.
pub(in crate::store) fn head(fingerprint: Fingerprint, record: &MatchRecord) -> Vec<SqlValue> {
    let (outcome, winner) = match record.outcome {
        Outcome::Won(team) => ("won", Some(team)),
        Outcome::Draw => ("draw", None),
        Outcome::Undecided => ("undecided", None),
        Outcome::Abandoned => ("abandoned", None),
    };
    let count = |kind| {
        record
            .participants
            .iter()
            .filter(|p| p.key.kind == kind)
            .count()
    };
    values![
        fingerprint,
        record.start,
        record.end,
        record.untimed,
        &record.server,
        &record.client,
        &record.map,
        &record.game_type,
        record.mutators.join(" "),
        &record.mode,
        outcome,
        winner,
        record
            .has_teams()
            .then(|| score_text(&record.known_scores())),
        record.score_gap(),
        count(Kind::Human),
        count(Kind::Bot),
        pack(record, fingerprint),
        record.too_many_new.as_ref().map(Holder::to_string),
    ]
}

/// The scores, of which each may not be known; none from NULL.
impl FromColumn<'_> for Vec<Option<f64>> {
    fn read(row: &Row, at: At<'_>) -> Result<Self, StoreError> {
        let text: Option<&str> = FromColumn::read(row, at)?;
        let scores = text.into_iter().flat_map(|text| text.split(':'));
        Ok(scores.map(|score| score.parse().ok()).collect())
    }
}

/// Writes the rows of the players of matches.
pub(super) async fn insert_players(
    tx: &mut PooledConnection,
    new: &[New<'_>],
) -> Result<(), StoreError> {
    insert(tx, PLAYERS, "", players(new)).await
}

pub(in crate::store) fn players<'a>(
    new: &'a [New<'a>],
) -> impl Iterator<Item = Vec<SqlValue>> + Send {
    new.iter().flat_map(|&(id, record)| {
        let seats = (0_i64..).zip(&record.participants);
        seats.map(move |(seat, p)| {
            let team = p.main_team().filter(|_| record.has_teams());
            let (kind, share) = (p.key.kind, share(p, record.millis()));
            values![
                id, seat, kind, &p.key.id, &p.name, team, share, p.points, p.kills, p.deaths
            ]
        })
    })
}

/// The share of a match of so many milliseconds in which a participant was there.
pub(in crate::store) fn share(participant: &Participant, millis: u64) -> f64 {
    match millis {
        0 => 0.0,
        _ => (participant.millis() as f64 / millis as f64).min(1.0),
    }
}

/// Notes which match a game has become: its decisions belong to it, too.
pub(super) async fn note_game(
    tx: &mut PooledConnection,
    game: i64,
    id: i64,
) -> Result<(), StoreError> {
    for note in [
        "UPDATE matches SET game = $1 WHERE id = $2",
        "UPDATE decisions SET match_id = $2 WHERE game = $1",
    ] {
        sql(note).bind(game).bind(id).execute(&mut *tx).await?;
    }
    Ok(())
}

/// Deletes a match and everything that belongs to it. The tables that are not named here have foreign keys.
pub(in crate::store) async fn remove(tx: &mut PooledConnection, id: i64) -> Result<(), StoreError> {
    for delete in [
        "DELETE FROM performances WHERE match_id = $1",
        "DELETE FROM match_players WHERE match_id = $1",
        "DELETE FROM match_chances WHERE match_id = $1",
        "UPDATE decisions SET match_id = NULL WHERE match_id = $1",
        "DELETE FROM matches WHERE id = $1",
    ] {
        sql(delete).bind(id).execute(&mut *tx).await?;
    }
    Ok(())
}

/// What many lines contain, the most frequent last. With it, records of seven games take 111 to 498 bytes each, without it
/// about a hundred more.
const DICTIONARY: &str = concat!(
    r#""clock":,"mode":"","fingerprint":"0123456789abcdef","outcome":"abandoned","outcome":"undecided","outcome":"draw","#,
    r#""roles":[{"role":"commander","team":0,"share":1.0}],"party":1,"left":"other","left":"moved","left":"kicked","#,
    r#""left":"timeout","left":"left"},],"events":[{"at":0,"team":0,"points":1.0,"by":0},"#,
    r#"{"at":0,"team":1,"points":1.0,"by":1},{"at":0,"team":0,"points":-1.0},{"at":"#,
    r#"","bot":true,"stays":[{"team":0,"from":0,"to":600000}],"points":10.0,"kills":1,"deaths":1},{"id":"#,
    r#""","bot":true,"stays":[{"team":1,"from":0,"to":600000},{"team":0,"from":"#,
    r#"{"id":"[U:1:","name":"","stays":[{"team":0,"from":0,"to":900000}],"points":5.0,"kills":2,"deaths":2},"#,
    r#"{"id":"[U:1:","name":"","stays":[{"team":1,"from":0,"to":900000}],"points":-1.0,"kills":3,"deaths":3}]}"#,
    r#"{"evenkeel":1,"server":"","start":"2026-11-20T20:00:00Z","end":"2026-11-20T20:20:00Z","game":"baseoa.ctf","#,
    r#""mode":"","map":"ctf_","mutators":["instagib"],"scores":[3.0,1.0,0.0],"outcome":"won","winner":1,"#,
    r#""players":[{"id":"","scores":[1.0,0.0],"outcome":"won","winner":0,"players":[{"id":"#,
    r#""","stays":[{"team":0,"from":0,"to":1200000}],"kills":0,"deaths":0},{"id":"#,
    r#""","stays":[{"team":1,"from":0,"to":1200000}],"kills":0,"deaths":0},{"id":"#,
    "\"",
);
/// The most bytes of a line. The longest match that a log can contain has 32 MiB.
const MOST_BYTES: usize = 64 << 20;
/// Level 4 is as fast, with a tenth more bytes; level 9 saves a fiftieth.
const LEVEL: Compression = Compression::new(6);

/// The record and its fingerprint as they are stored.
pub(in crate::store) fn pack(record: &MatchRecord, fingerprint: Fingerprint) -> Vec<u8> {
    deflate(write_record(record, fingerprint).as_bytes())
}

/// The record that was stored so. Fails with what is wrong with the bytes; the caller must check the record.
pub(super) fn unpack(packed: &[u8]) -> Result<MatchRecord, String> {
    read_record(&inflate(packed)?).map_err(|why| why.into_owned())
}

thread_local! {
    // A new one clears a quarter of a megabyte, which takes as long as the line itself.
    static STREAM: RefCell<Compress> = RefCell::new(Compress::new(LEVEL, true));
}

fn deflate(line: &[u8]) -> Vec<u8> {
    STREAM.with_borrow_mut(|stream| deflate_with(stream, line))
}

fn deflate_with(stream: &mut Compress, line: &[u8]) -> Vec<u8> {
    stream.reset();
    // It is refused only by a stream that has begun.
    let _ = stream.set_dictionary(DICTIONARY.as_bytes());
    let mut packed = Vec::with_capacity(line.len() / 4 + 64);
    loop {
        let rest = line.get(to_len(stream.total_in())..).unwrap_or_default();
        let done = stream.compress_vec(rest, &mut packed, FlushCompress::Finish);
        match done {
            Ok(Status::StreamEnd) | Err(_) => return packed,
            Ok(_) => packed.reserve(packed.len().max(64)),
        }
    }
}

fn inflate(packed: &[u8]) -> Result<Vec<u8>, String> {
    let mut stream = Decompress::new(true);
    let mut line = Vec::with_capacity(packed.len().saturating_mul(8).min(MOST_BYTES));
    loop {
        let rest = packed.get(to_len(stream.total_in())..).unwrap_or_default();
        let before = (stream.total_in(), stream.total_out());
        match stream.decompress_vec(rest, &mut line, FlushDecompress::Finish) {
            Ok(_) if line.len() > MOST_BYTES => return Err("it is too long".to_owned()),
            Ok(Status::StreamEnd) if to_len(stream.total_in()) == packed.len() => return Ok(line),
            Ok(Status::StreamEnd) => return Err("something follows it".to_owned()),
            Ok(_) if line.len() == line.capacity() => line.reserve(line.len().max(256)),
            Ok(_) if (stream.total_in(), stream.total_out()) == before => {
                return Err("it is cut off".to_owned());
            }
            Ok(_) => {}
            Err(error) if error.needs_dictionary().is_some() => {
                let known = stream.set_dictionary(DICTIONARY.as_bytes());
                known.map_err(|_| "it needs a dictionary that this version does not have")?;
            }
            Err(error) => return Err(error.to_string()),
        }
    }
}

fn to_len(bytes: u64) -> usize {
    usize::try_from(bytes).unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::model::Outcome;

    #[test]
    fn a_record_is_read_back() {
        let record = MatchRecord {
            game_type: "XGame.xCTFGame".to_owned(),
            scores: vec![3.0, 1.5],
            outcome: Outcome::Won(0),
            ..MatchRecord::default()
        };
        let packed = pack(&record, Fingerprint([7; 16]));
        assert_eq!(unpack(&packed), Ok(record));
        assert!(packed.len() < 80, "{} bytes", packed.len());
    }

    #[test]
    fn damage_is_an_error() {
        let packed = deflate(b"{\"evenkeel\":1,\"players\":[]}");
        for cut in 0..packed.len() {
            assert!(inflate(&packed[..cut]).is_err(), "{cut}");
        }
        for at in 0..packed.len() {
            for bit in 0..8 {
                let mut other = packed.clone();
                other[at] ^= 1 << bit;
                assert!(inflate(&other).is_err(), "byte {at}, bit {bit}");
            }
        }
        let more = [&packed[..], b"x"].concat();
        assert_eq!(inflate(&more), Err("something follows it".to_owned()));
        assert!(inflate(&deflate(&vec![b' '; MOST_BYTES + 1])).is_err());
    }

    #[test]
    fn the_dictionary_stays() {
        let packed = deflate(b"{}");
        // Header, then the checksum of the dictionary.
        assert_eq!(packed[1] & 0x20, 0x20);
        assert_eq!(packed[2..6], 0x9e09_5f0f_u32.to_be_bytes());
    }

    proptest! {
        #[test]
        fn all_bytes_are_read_back(line in prop::collection::vec(any::<u8>(), 0..5_000)) {
            prop_assert_eq!(inflate(&deflate(&line)), Ok(line));
        }

        #[test]
        fn strange_bytes_do_no_harm(bytes in prop::collection::vec(any::<u8>(), 0..500)) {
            let _ = inflate(&bytes);
        }
    }
}
