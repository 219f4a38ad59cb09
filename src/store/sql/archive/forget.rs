//! Removes players and matches from chunks.
//!
//! To forget a player takes several transactions. The first one changes the tables, and notes that chunks may still
//! contain the player. From then on, everything that reads a chunk replaces the players in such notes. Then each chunk
//! that contains the player is written again, in a transaction of its own. The last transaction deletes the note.

use std::collections::HashMap;

use super::{
    Chunk, Store, StoreError, apart, bad, numbers,
    read::{Forgets, forgets, load, rename, unpacked},
};
use crate::{
    domain::{PlayerKey, Timestamp},
    ingest::write_record,
    store::{
        chunk::{ChunkCache, hash, pack},
        db::*,
    },
};

/// Notes that a player has to be removed from the chunks, if there are chunks. The number in the new identity is that
/// of the next change of players, so the caller must count this change later than this call.
pub(in super::super) async fn begin_to_forget(
    tx: &mut Connection,
    player: &PlayerKey,
) -> Result<(), StoreError> {
    let note = "INSERT INTO unfinished_forgets (kind, player, instead)
         SELECT CAST($1 AS TEXT), CAST($2 AS TEXT), 'forgotten-' || (changes + 1) FROM player_changes
         WHERE EXISTS (SELECT 1 FROM archive_chunks)
         ON CONFLICT (kind, player) DO UPDATE SET instead = excluded.instead";
    let query = sql(note).bind(player.kind.as_str());
    query.bind(&player.id).execute(tx).await?;
    Ok(())
}

/// Implements [`Store::finish_forgetting`](crate::store::Store::finish_forgetting).
pub(super) async fn finish(store: &Store) -> Result<u64, StoreError> {
    let mut connection = store.readers.acquire().await?;
    let pending = forgets(&mut connection).await?;
    drop(connection);
    if pending.is_empty() {
        return Ok(0);
    }
    let players: Vec<PlayerKey> = pending.keys().cloned().collect();
    let mut changed = 0;
    for chunk in numbers(&store.readers, Timestamp(i64::MIN)).await? {
        let mut connection = store.readers.acquire().await?;
        let content = load(&mut connection, &ChunkCache::default(), chunk).await?;
        drop(connection);
        if content.lines_with(&players).is_empty() {
            continue;
        }
        let mut tx = store.begin_alone().await?;
        match forget_in(&mut tx, chunk, &pending).await {
            Ok(matches) => {
                tx.commit().await?;
                changed += matches;
            }
            Err(error) => {
                tx.abandon().await?;
                return Err(error);
            }
        }
    }
    let mut tx = store.begin_alone().await?;
    for (player, instead) in &pending {
        // If the note has another new identity by now, the player was forgotten again: the note stays.
        let done =
            "DELETE FROM unfinished_forgets WHERE kind = $1 AND player = $2 AND instead = $3";
        let query = sql(done).bind(player.kind.as_str());
        let query = query.bind(&player.id).bind(instead);
        query.execute(&mut tx).await?;
    }
    tx.commit().await?;
    Ok(changed)
}

/// Writes one chunk again without these players. Returns how many of its matches contained one.
async fn forget_in(tx: &mut Connection, chunk: i64, pending: &Forgets) -> Result<u64, StoreError> {
    let content = load(tx, &ChunkCache::default(), chunk).await?;
    let mut other = HashMap::new();
    let players: Vec<PlayerKey> = pending.keys().cloned().collect();
    for number in content.lines_with(&players) {
        let (mut record, fingerprint) = content.read(number).map_err(|why| bad(chunk, why))?;
        if rename(&mut record, pending) {
            other.insert(number, write_record(&record, fingerprint));
        }
    }
    let matches = other.len() as u64;
    replace(tx, chunk, &content, other).await?;
    Ok(matches)
}

/// Deletes a match from the tables, and from its chunk if it is archived.
pub(in super::super) async fn remove(tx: &mut Connection, id: i64) -> Result<(), StoreError> {
    let place = "SELECT c.chunk, m.line, c.sha256, c.length, c.content
                 FROM matches m JOIN archive_chunks c ON c.chunk = m.chunk WHERE m.id = $1";
    if let Some(row) = sql(place).bind(id).fetch_optional(&mut *tx).await? {
        let (chunk, line): (i64, i64) = (row.get("chunk")?, row.get("line")?);
        let content = unpacked(chunk, &row, |_| Ok(())).await?;
        replace(tx, chunk, &content, HashMap::from([(line, String::new())])).await?;
    }
    for delete in PARTS {
        sql(delete).bind(id).execute(&mut *tx).await?;
    }
    Ok(())
}

/// Deletes a match and everything that belongs to it. The tables that are not named here have foreign keys.
const PARTS: [&str; 9] = [
    "DELETE FROM match_mutators WHERE match_id = $1",
    "DELETE FROM match_teams WHERE match_id = $1",
    "DELETE FROM roles WHERE match_id = $1",
    "DELETE FROM performances WHERE match_id = $1",
    "DELETE FROM participants WHERE match_id = $1",
    "DELETE FROM match_chances WHERE match_id = $1",
    "DELETE FROM match_games WHERE match_id = $1",
    "UPDATE decisions SET match_id = NULL WHERE match_id = $1",
    "DELETE FROM matches WHERE id = $1",
];

/// Writes a chunk again with other lines, by number. Writes nothing if there are none.
async fn replace(
    tx: &mut Connection,
    chunk: i64,
    content: &Chunk,
    other: HashMap<i64, String>,
) -> Result<(), StoreError> {
    if other.is_empty() {
        return Ok(());
    }
    let new = content.with(&other).map_err(|why| bad(chunk, why))?;
    let matches = i64::try_from(new.lines().count()).unwrap_or(i64::MAX);
    let length = i64::try_from(new.text().len()).unwrap_or(i64::MAX);
    let packed = apart(move || pack(new.text())).await?;
    let packed = packed.map_err(|error| bad(chunk, error.to_string()))?;
    let update = "UPDATE archive_chunks SET matches = $2, length = $3, sha256 = $4, content = $5
                  WHERE chunk = $1";
    let query = sql(update).bind(chunk).bind(matches).bind(length);
    let hash = hash(&packed);
    let query = query.bind(&hash[..]).bind(&packed[..]);
    query.execute(tx).await?;
    Ok(())
}
