//! Reads matches, whether they are in the tables or archived.

use std::{
    collections::{BTreeMap, HashMap, HashSet},
    sync::Arc,
};

use super::{Chunk, MatchParts, ROWS, StoreError, apart, bad, head};
use crate::{
    domain::{Fingerprint, Kind, MatchRecord, PlayerKey},
    store::{Stored, chunk::ChunkCache, db::*},
};

/// The players whom chunks may still contain although they are forgotten, and the new id of each.
pub(super) type Forgets = HashMap<PlayerKey, String>;

/// Reads the matches with these ids, in no particular order.
pub(in crate::store::sql) async fn fetch(
    tx: &mut Connection,
    cache: &ChunkCache,
    ids: &[i64],
) -> Result<Vec<Stored>, StoreError> {
    if ids.is_empty() {
        return Ok(Vec::new());
    }
    let mut query = Sql::new("SELECT * FROM matches WHERE id IN ");
    query.list(ids.iter().copied());
    let rows = query.build().fetch_all(&mut *tx).await?;
    complete(tx, cache, &rows).await
}

/// Reads the matches of these rows of `matches` with all their parts, in the order of the rows.
pub(in super::super) async fn complete(
    tx: &mut Connection,
    cache: &ChunkCache,
    rows: &[Row],
) -> Result<Vec<Stored>, StoreError> {
    let mut matches = rows.iter().map(head).collect::<Result<Vec<_>, _>>()?;
    let mut in_tables = Vec::with_capacity(rows.len());
    let mut in_chunks: BTreeMap<i64, Vec<(usize, i64)>> = BTreeMap::new();
    for (at, row) in rows.iter().enumerate() {
        match row.get("chunk")? {
            None => in_tables.push(row),
            Some(chunk) => {
                let places = in_chunks.entry(chunk).or_default();
                places.push((at, row.get("line")?));
            }
        }
    }
    let mut parts = MatchParts::fetch(tx, &in_tables).await?;
    for Stored { id, record, .. } in &mut matches {
        parts.fill(*id, record)?;
    }
    if in_chunks.is_empty() {
        return Ok(matches);
    }
    let forgets = forgets(tx).await?;
    for (chunk, places) in in_chunks {
        let content = load(tx, cache, chunk).await?;
        let lines: Vec<i64> = places.iter().map(|(_, line)| *line).collect();
        let read = apart(move || {
            lines
                .into_iter()
                .map(|line| content.read(line))
                .collect::<Vec<_>>()
        });
        for ((at, line), read) in places.iter().zip(read.await?) {
            let read = read.map_err(|why| bad(chunk, why))?;
            restore(tx.dialect(), &mut matches[*at], read, &forgets)
                .map_err(|why| bad(chunk, format!("line {line}: {why}")))?;
        }
    }
    Ok(matches)
}

/// Which of these matches are archived. Their players have no rows in `performances`.
pub(in super::super) async fn archived(
    tx: &mut Connection,
    ids: impl Iterator<Item = i64>,
) -> Result<HashSet<i64>, StoreError> {
    let mut archived = HashSet::new();
    let any = scalar("SELECT EXISTS (SELECT 1 FROM archive_chunks)");
    if !any.fetch_one(&mut *tx).await? {
        return Ok(archived);
    }
    let ids: Vec<i64> = ids.collect();
    for ids in ids.chunks(ROWS) {
        let mut query = Sql::new("SELECT id FROM matches WHERE chunk IS NOT NULL AND id IN ");
        query.list(ids.iter().copied());
        let found: Vec<i64> = query.build_scalar().fetch_all(&mut *tx).await?;
        archived.extend(found);
    }
    Ok(archived)
}

/// Replaces a record that lacks its parts by the one of its line. Fails if the line is of another match.
fn restore(
    dialect: Dialect,
    stored: &mut Stored,
    (record, fingerprint): (MatchRecord, Fingerprint),
    forgets: &Forgets,
) -> Result<(), String> {
    let mut record = dialect.storable(&record).into_owned();
    let own = &stored.record;
    let is_it = fingerprint == stored.fingerprint
        && (record.start, record.end, record.clock) == (own.start, own.end, own.clock)
        && record.outcome == own.outcome
        && [&record.server, &record.map, &record.game_type, &record.mode]
            == [&own.server, &own.map, &own.game_type, &own.mode];
    if !is_it {
        return Err("it is another match".to_owned());
    }
    rename(&mut record, forgets);
    record.check().map_err(|why| why.to_string())?;
    stored.record = record;
    Ok(())
}

/// Gives the forgotten players of a record their new ids, and removes their names. Returns whether there was one.
pub(super) fn rename(record: &mut MatchRecord, forgets: &Forgets) -> bool {
    let mut renamed = false;
    for participant in &mut record.participants {
        if let Some(instead) = forgets.get(&participant.key) {
            participant.key.id.clone_from(instead);
            participant.name.clear();
            renamed = true;
        }
    }
    renamed
}

/// The players who are forgotten, but may still be in some chunks.
pub(super) async fn forgets(tx: &mut Connection) -> Result<Forgets, StoreError> {
    let query = tuple("SELECT kind, player, instead FROM unfinished_forgets");
    let rows: Vec<(String, String, String)> = query.fetch_all(tx).await?;
    let forget = |(kind, id, instead): (String, String, String)| {
        let known = Kind::parse(&kind);
        let kind = known.ok_or_else(|| StoreError::BadValue(format!("kind {kind}")))?;
        Ok((PlayerKey { kind, id }, instead))
    };
    rows.into_iter().map(forget).collect()
}

/// The content of a chunk: from the cache if it is there, otherwise from the database.
pub(super) async fn load(
    tx: &mut Connection,
    cache: &ChunkCache,
    chunk: i64,
) -> Result<Arc<Chunk>, StoreError> {
    let query = scalar("SELECT sha256 FROM archive_chunks WHERE chunk = $1");
    let hash: Option<Vec<u8>> = query.bind(chunk).fetch_optional(&mut *tx).await?;
    let hash = hash.ok_or_else(|| bad(chunk, "it is missing"))?;
    if let Some(content) = cache.get(chunk, &hash) {
        return Ok(content);
    }
    let query = sql("SELECT sha256, length, content FROM archive_chunks WHERE chunk = $1");
    let row = query.bind(chunk).fetch_one(tx).await?;
    let content = unpacked(chunk, &row, |_| Ok(())).await?;
    cache.put(chunk, hash, content.clone());
    Ok(content)
}

/// Unpacks the content of a chunk's row, and runs `check` on it.
pub(super) async fn unpacked(
    chunk: i64,
    row: &Row,
    check: impl FnOnce(&Chunk) -> Result<(), String> + Send + 'static,
) -> Result<Arc<Chunk>, StoreError> {
    let (hash, content): (Vec<u8>, Vec<u8>) = (row.get("sha256")?, row.get("content")?);
    let length: i64 = row.get("length")?;
    let work = move || {
        let content = Chunk::unpack(&content, &hash, length)?;
        check(&content)?;
        Ok(Arc::new(content))
    };
    apart(work).await?.map_err(|why: String| bad(chunk, why))
}
