//! How match records are read: one by its id, and all of them in the order in which they ended.

use super::{
    Store,
    archive::{complete, fetch},
};
use crate::{
    domain::Timestamp,
    store::{Backend, Cursor, StoreError, Stored, chunk::ChunkCache, db::*},
};

impl Store {
    /// The id of the match of the game with this number, if it has been recorded.
    pub async fn match_of_game(&self, game: i64) -> Result<Option<i64>, StoreError> {
        let query = scalar("SELECT match_id FROM match_games WHERE game = $1");
        query.bind(game).fetch_optional(&self.readers).await
    }

    /// The match with this id.
    ///
    /// # Errors
    /// Fails if its rows are not a valid record.
    pub async fn match_with_id(&self, id: i64) -> Result<Option<Stored>, StoreError> {
        let mut tx = self.readers.snapshot().await?;
        Ok(fetch(&mut tx, &self.chunks, &[id]).await?.pop())
    }

    /// When a match began, and its game type as the game names it; `None` if there is no such
    /// match.
    pub async fn start_of(&self, id: i64) -> Result<Option<(Timestamp, String)>, StoreError> {
        let query = tuple("SELECT started_at, game_type FROM matches WHERE id = $1");
        let row: Option<(i64, String)> = query.bind(id).fetch_optional(&self.readers).await?;
        Ok(row.map(|(start, game_type)| (Timestamp(start), game_type)))
    }

    /// The next matches after `cursor`, at most `limit`, and the cursor after the last of them. An
    /// empty list means that there are no more.
    ///
    /// # Errors
    /// Fails if its rows are not a valid record.
    pub async fn matches(
        &self,
        cursor: Cursor,
        limit: u32,
    ) -> Result<(Vec<Stored>, Cursor), StoreError> {
        let mut tx = self.readers.snapshot().await?;
        matches_after(&mut tx, &self.chunks, cursor, limit).await
    }

    /// The number of matches on disk, and the highest id.
    pub async fn extent(&self) -> Result<(i64, i64), StoreError> {
        self.extent_in(&mut self.readers.acquire().await?).await
    }

    /// The same, as this connection sees it.
    pub(super) async fn extent_in(&self, on: &mut Connection) -> Result<(i64, i64), StoreError> {
        if let Backend::Postgres(server) = &self.backend {
            return server.counted.extent(on).await;
        }
        let query = tuple(
            "SELECT (SELECT matches FROM match_count), (SELECT coalesce(max(id), 0) FROM matches)",
        );
        query.fetch_one(on).await
    }

    /// When the last match ended; `None` if there is no match.
    pub async fn last_end(&self) -> Result<Option<Timestamp>, StoreError> {
        let query = scalar("SELECT max(ended_at) FROM matches");
        let end: Option<i64> = query.fetch_one(&self.readers).await?;
        Ok(end.map(Timestamp))
    }

    /// The number of matches up to `cursor`, and the highest id among them.
    pub async fn extent_to(&self, cursor: Cursor) -> Result<(i64, i64), StoreError> {
        let Some((end, fingerprint)) = cursor.0 else {
            return Ok((0, 0));
        };
        let mut tx = self.readers.snapshot().await?;
        let (matches, _) = self.extent_in(&mut tx).await?;
        // The cursor is nearly always close to the last match. So the matches after it are counted, and the
        // highest id is searched from the last one down: `+ 0` keeps the index of the order out of this.
        let query = tuple(
            "SELECT (SELECT count(*) FROM matches WHERE (ended_at, fingerprint) > ($1, $2)),
                 coalesce((SELECT id FROM matches WHERE (ended_at + 0, fingerprint) <= ($1, $2)
                           ORDER BY id DESC LIMIT 1), 0)",
        );
        let query = query.bind(end.0).bind(&fingerprint.0[..]);
        let (after, highest): (i64, i64) = query.fetch_one(&mut tx).await?;
        Ok((matches - after, highest))
    }
}

/// The next matches after `cursor` as this connection sees them, at most `limit`, and the cursor after the last of them.
pub(super) async fn matches_after(
    tx: &mut Connection,
    cache: &ChunkCache,
    cursor: Cursor,
    limit: u32,
) -> Result<(Vec<Stored>, Cursor), StoreError> {
    let (end, fingerprint) = cursor.place();
    let heads = sql(
        "SELECT * FROM matches WHERE (ended_at, fingerprint) > ($1, $2)
         ORDER BY ended_at, fingerprint LIMIT $3",
    )
    .bind(end)
    .bind(&fingerprint[..])
    .bind(i64::from(limit))
    .fetch_all(&mut *tx)
    .await?;
    let matches = complete(tx, cache, &heads).await?;
    for Stored { id, record, .. } in &matches {
        if let Err(why) = record.check() {
            let what = id.to_string();
            return Err(StoreError::BadRecord { what, why });
        }
    }
    let next = matches.last().map_or(cursor, |last| {
        Cursor::after(last.record.end, last.fingerprint)
    });
    Ok((matches, next))
}
