//! [`Matches`] for both databases.

use std::sync::Arc;

use async_trait::async_trait;

use super::{
    DbStore,
    archive::complete,
    games, halves,
    insert::{checked, insert_if_new, insert_matches},
    parts::fetch,
    snapshot,
};
use crate::{
    domain::{Fingerprint, MatchChances, MatchRecord, Timestamp},
    store::{
        Cursor, HalfRecorded, JoinHalves, Matches, Recorded, StoreError, Stored,
        together::{Attempt, EndedGame},
    },
};

#[async_trait]
impl Matches for DbStore {
    async fn record_as(
        &self,
        record: &MatchRecord,
        fingerprint: Fingerprint,
    ) -> Result<Recorded, StoreError> {
        let mut tx = self.begin().await?;
        let recorded = insert_if_new(&mut tx, record, fingerprint).await?;
        self.commit(tx).await?;
        Ok(recorded)
    }

    async fn record_all(
        &self,
        records: &[(MatchRecord, Fingerprint)],
    ) -> Result<Vec<Recorded>, StoreError> {
        let (mut good, mut bad) = (Vec::with_capacity(records.len()), None);
        for (record, fingerprint) in records {
            match checked(record, *fingerprint) {
                Ok(record) => good.push((record, *fingerprint)),
                Err(error) => {
                    bad = Some(error);
                    break;
                }
            }
        }
        let mut tx = self.begin().await?;
        let recorded = insert_matches(&mut tx, &good).await?;
        self.commit(tx).await?;
        match bad {
            Some(error) => Err(error),
            None => Ok(recorded),
        }
    }

    async fn record_half(
        &self,
        record: &MatchRecord,
        pause: i64,
        join: JoinHalves,
    ) -> Result<HalfRecorded, StoreError> {
        let mut tx = self.begin().await?;
        let half = halves::insert_half(&mut tx, record, pause, join).await?;
        self.commit(tx).await?;
        Ok(half)
    }

    async fn record_game(
        &self,
        record: &MatchRecord,
        chances: &MatchChances,
        game: i64,
    ) -> Result<Recorded, StoreError> {
        checked(record, Fingerprint::of(record))?;
        let own = (record.clone(), chances.clone(), game);
        let again = own.clone();
        let recorded = self.games.write(own, |all| self.record_games(all)).await;
        match recorded {
            Some(recorded) => recorded,
            None => self.record_alone(&again).await,
        }
    }

    async fn match_of_game(&self, game: i64) -> Result<Option<i64>, StoreError> {
        let query = sqlx::query_scalar("SELECT match_id FROM match_games WHERE game = $1");
        Ok(query.bind(game).fetch_optional(&self.readers).await?)
    }

    async fn match_with_id(&self, id: i64) -> Result<Option<Stored>, StoreError> {
        let mut tx = snapshot(&self.readers).await?;
        Ok(fetch(&mut tx, &self.chunks, &[id]).await?.pop())
    }

    async fn start_of(&self, id: i64) -> Result<Option<(Timestamp, String)>, StoreError> {
        let query = sqlx::query_as("SELECT started_at, game_type FROM matches WHERE id = $1");
        let row: Option<(i64, String)> = query.bind(id).fetch_optional(&self.readers).await?;
        Ok(row.map(|(start, game_type)| (Timestamp(start), game_type)))
    }

    async fn matches(
        &self,
        cursor: Cursor,
        limit: u32,
    ) -> Result<(Vec<Stored>, Cursor), StoreError> {
        let mut tx = snapshot(&self.readers).await?;
        let (end, fingerprint) = cursor.place();
        let heads = sqlx::query(
            "SELECT * FROM matches WHERE (ended_at, fingerprint) > ($1, $2)
             ORDER BY ended_at, fingerprint LIMIT $3",
        )
        .bind(end)
        .bind(&fingerprint[..])
        .bind(i64::from(limit))
        .fetch_all(&mut *tx)
        .await?;
        let matches = complete(&mut tx, &self.chunks, &heads).await?;
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

    async fn extent(&self) -> Result<(i64, i64), StoreError> {
        // In one query each: SQLite counts rows without reading them only if it need not look at their ids.
        let query = sqlx::query_as(
            "SELECT (SELECT count(*) FROM matches), (SELECT coalesce(max(id), 0) FROM matches)",
        );
        Ok(query.fetch_one(&self.readers).await?)
    }

    async fn last_end(&self) -> Result<Option<Timestamp>, StoreError> {
        let query = sqlx::query_scalar("SELECT max(ended_at) FROM matches");
        let end: Option<i64> = query.fetch_one(&self.readers).await?;
        Ok(end.map(Timestamp))
    }

    async fn extent_to(&self, cursor: Cursor) -> Result<(i64, i64), StoreError> {
        let Some((end, fingerprint)) = cursor.0 else {
            return Ok((0, 0));
        };
        // The cursor is nearly always close to the last match. So the matches after it are counted, and the
        // highest id is searched from the last one down: `+ 0` keeps the index of the order out of this.
        let query = sqlx::query_as(
            "SELECT (SELECT count(*) FROM matches)
                    - (SELECT count(*) FROM matches WHERE (ended_at, fingerprint) > ($1, $2)),
                 coalesce((SELECT id FROM matches WHERE (ended_at + 0, fingerprint) <= ($1, $2)
                           ORDER BY id DESC LIMIT 1), 0)",
        );
        let query = query.bind(end.0).bind(&fingerprint.0[..]);
        Ok(query.fetch_one(&self.readers).await?)
    }
}

impl DbStore {
    /// Records one game in a transaction of its own.
    async fn record_alone(&self, game: &EndedGame) -> Result<Recorded, StoreError> {
        let mut tx = self.begin().await?;
        let recorded = games::insert_game(&mut tx, game).await?;
        self.commit(tx).await?;
        Ok(recorded)
    }

    /// Records games in one transaction. A game that must not be recorded has an error of its own, and does not
    /// keep the others out.
    async fn record_games(&self, all: Vec<EndedGame>) -> Attempt<Result<Recorded, StoreError>> {
        let written = match all.as_slice() {
            [game] => match self.record_alone(game).await {
                Err(error) if error.stops_all_writes() => Err(error),
                own => Ok(vec![own]),
            },
            all => self.record_together(all).await,
        };
        match written {
            Ok(recorded) => Attempt::Done(recorded),
            Err(error) if error.stops_all_writes() => {
                let error = Arc::new(error);
                Attempt::FailedForAll(Box::new(move || Err(StoreError::Shared(error.clone()))))
            }
            Err(error) => {
                let games = all.len();
                tracing::warn!(%error, games, "games cannot be recorded together, trying one by one");
                Attempt::Failed
            }
        }
    }

    async fn record_together(
        &self,
        all: &[EndedGame],
    ) -> Result<Vec<Result<Recorded, StoreError>>, StoreError> {
        let mut tx = self.begin().await?;
        let mut recorded = Vec::with_capacity(all.len());
        for game in all {
            match games::insert_game(&mut tx, game).await {
                Err(error) if !error.is_of_record() => return Err(error),
                own => recorded.push(own),
            }
        }
        self.commit(tx).await?;
        Ok(recorded)
    }
}
