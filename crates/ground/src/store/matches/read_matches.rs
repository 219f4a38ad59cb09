//! How match records are read: one by its id, and all of them in the order in which they ended.

use crate::{
    model::{Participant, Timestamp},
    store::{
        Backend, Cursor, StoreError, StoredMatch,
        corrections::leave_out,
        db::{query::ROWS, *},
        matches::{
            Matches,
            insert::{head, head_columns, share, unpack},
        },
    },
};

/// Selects the columns that [`read_all`] needs.
macro_rules! stored {
    ($rest:literal) => {
        concat!(
            "SELECT id, fingerprint, ended_at, record, EXISTS (SELECT 1 FROM forgotten_lately WHERE player IS NOT NULL)
                AS forgetting FROM matches ",
            $rest
        )
    };
}

/// Reads the matches with these ids, in no particular order.
pub(in crate::store) async fn fetch(
    tx: &mut PooledConnection,
    ids: &[i64],
) -> Result<Vec<StoredMatch>, StoreError> {
    if ids.is_empty() {
        return Ok(Vec::new());
    }
    let mut query = Sql::new(stored!("WHERE id IN "));
    query.list(ids.iter().copied());
    let rows = query.build().fetch_all(&mut *tx).await?;
    read_all(tx, &rows).await
}

/// Reads rows of matches, without the players who are being forgotten: `tx` must see them as it has seen the rows.
async fn read_all(tx: &mut PooledConnection, rows: &[Row]) -> Result<Vec<StoredMatch>, StoreError> {
    let mut matches = rows.iter().map(read).collect::<Result<Vec<_>, _>>()?;
    let forgetting = rows.first().map(|row| row.get("forgetting"));
    if forgetting.transpose()?.unwrap_or(false) {
        leave_out(tx, &mut matches).await?;
    }
    Ok(matches)
}

/// Reads the row of a match.
fn read(row: &Row) -> Result<StoredMatch, StoreError> {
    let id: i64 = row.get("id")?;
    let record = unpack(row.get("record")?);
    let damaged = |why| StoreError::DamagedRecord { id, why };
    let record = record.map_err(damaged)?;
    if record.end != row.get("ended_at")? {
        // Whoever reads the matches in order would begin again.
        return Err(damaged(
            "its end is another one than that of its row".to_owned(),
        ));
    }
    record.check().map_err(|why| StoreError::BadRecord {
        what: id.to_string(),
        why,
    })?;
    Ok(StoredMatch {
        id,
        fingerprint: row.get("fingerprint")?,
        record,
    })
}

/// The most faults that are reported.
const FAULTS: usize = 100;

/// Whether the other columns of a match, and the rows of its players, are those of its record.
async fn is_in_rows(tx: &mut PooledConnection, stored: &StoredMatch) -> Result<bool, StoreError> {
    let (id, record) = (stored.id, &stored.record);
    let columns = head_columns!()
        .split(", ")
        .zip(head(stored.fingerprint, record));
    let mut query = Sql::new("SELECT EXISTS (SELECT 1 FROM matches WHERE id = ");
    query.push_bind(id);
    for (column, value) in columns.filter(|(column, _)| *column != "record") {
        query.push(format!(" AND {column} IS NOT DISTINCT FROM "));
        query.push_bind(value);
    }
    query.push(")");
    let is_head: bool = query.build_scalar().fetch_one(&mut *tx).await?;
    let players = sql(
        "SELECT kind, player, name, team, share, points, kills, deaths FROM match_players
         WHERE match_id = $1 ORDER BY seat",
    );
    let rows = players.bind(id).fetch_all(tx).await?;
    let is_same = |(row, participant): (&Row, &Participant)| -> Result<bool, StoreError> {
        let team = participant.main_team().filter(|_| record.has_teams());
        Ok(row.player()? == participant.key
            && row.get::<&str>("name")? == participant.name
            && row.get::<Option<u8>>("team")? == team
            && row.get::<f64>("share")? == share(participant, record.millis())
            && row.get::<Option<f64>>("points")? == participant.points
            && row.get::<u32>("kills")? == participant.kills
            && row.get::<u32>("deaths")? == participant.deaths)
    };
    let pairs = rows.iter().zip(&record.participants);
    let same = pairs.map(is_same).collect::<Result<Vec<bool>, _>>()?;
    let is_whole = rows.len() == record.participants.len();
    Ok(is_head && is_whole && same.into_iter().all(|same| same))
}

impl Matches<'_> {
    /// The id of the match of the game with this number, if it has been recorded.
    pub async fn match_of_game(self, game: i64) -> Result<Option<i64>, StoreError> {
        let query = scalar("SELECT id FROM matches WHERE game = $1");
        query.bind(game).fetch_optional(&self.0.readers).await
    }

    /// The match with this id.
    ///
    /// # Errors
    /// Fails if its row has no valid record.
    pub async fn match_with_id(self, id: i64) -> Result<Option<StoredMatch>, StoreError> {
        let mut tx = self.0.readers.snapshot().await?;
        Ok(fetch(&mut tx, &[id]).await?.pop())
    }

    /// When a match began, and its game type as the game names it; `None` if there is no such
    /// match.
    pub async fn start_of(self, id: i64) -> Result<Option<(Timestamp, String)>, StoreError> {
        let query = tuple("SELECT started_at, game_type FROM matches WHERE id = $1");
        query.bind(id).fetch_optional(&self.0.readers).await
    }

    /// The next matches after `cursor`, at most `limit`, and the cursor after the last of them. An
    /// empty list means that there are no more.
    ///
    /// # Errors
    /// Fails if its row has no valid record.
    pub async fn after(
        self,
        cursor: Cursor,
        limit: u32,
    ) -> Result<(Vec<StoredMatch>, Cursor), StoreError> {
        let mut tx = self.0.readers.snapshot().await?;
        matches_after(&mut tx, cursor, limit).await
    }

    /// One sentence for each match whose record is damaged, or is not that of its rows, and one if their number is not
    /// the one that is noted. Stops after a hundred.
    pub async fn record_faults(self) -> Result<Vec<String>, StoreError> {
        let (mut faults, mut last, mut count) = (Vec::new(), i64::MIN, 0);
        let mut tx = self.0.readers.snapshot().await?;
        while faults.len() < FAULTS {
            let query = sql(stored!("WHERE id > $1 ORDER BY id LIMIT $2"));
            let rows = query.bind(last).bind(ROWS).fetch_all(&mut tx).await?;
            let Some(end) = rows.last() else { break };
            last = end.get("id")?;
            count += rows.len();
            for row in &rows {
                match read(row) {
                    Ok(stored) if is_in_rows(&mut tx, &stored).await? => {}
                    Ok(StoredMatch { id, .. }) => faults.push(format!(
                        "the rows of match {id} are not those of its record: restore the database from a backup"
                    )),
                    Err(
                        error @ (StoreError::DamagedRecord { .. } | StoreError::BadRecord { .. }),
                    ) => faults.push(error.to_string()),
                    Err(error) => return Err(error),
                }
            }
        }
        let (noted, _) = self.extent_in(&mut tx).await?;
        if faults.is_empty() && usize::try_from(noted) != Ok(count) {
            // Who learns would wait for ever for the matches that are noted.
            faults.push(format!("there are {count} matches, and {noted} are noted"));
        }
        Ok(faults)
    }

    /// The number of matches on disk, and the highest id.
    pub async fn extent(self) -> Result<(i64, i64), StoreError> {
        self.extent_in(&mut self.0.readers.acquire().await?).await
    }

    /// The same, as this connection sees it.
    pub(in crate::store) async fn extent_in(
        self,
        on: &mut PooledConnection,
    ) -> Result<(i64, i64), StoreError> {
        if let Backend::Postgres(server) = &self.0.backend {
            return server.counted.extent(on).await;
        }
        let query = tuple(
            "SELECT (SELECT number FROM state WHERE name = 'matches'), (SELECT coalesce(max(id), 0) FROM matches)",
        );
        query.fetch_one(on).await
    }

    /// The number of matches with a higher id.
    pub async fn later_than(self, id: i64) -> Result<i64, StoreError> {
        let query = scalar("SELECT count(*) FROM matches WHERE id > $1");
        query.bind(id).fetch_one(&self.0.readers).await
    }

    /// When the last match ended; `None` if there is no match.
    pub async fn last_end(self) -> Result<Option<Timestamp>, StoreError> {
        let query = scalar("SELECT max(ended_at) FROM matches");
        query.fetch_one(&self.0.readers).await
    }

    /// The number of matches up to `cursor`, and the sum of their numbers modulo 2^128. The number of a match is its
    /// fingerprint, or twice that of one with [`MatchRecord::too_many_new`](crate::model::MatchRecord::too_many_new), so that
    /// the sum is another one once an operator has admitted it.
    pub async fn content_to(self, cursor: Cursor) -> Result<(i64, u128), StoreError> {
        let (matches, sum) = self.fingerprints_to(cursor, "").await?;
        let (_, held) = self
            .fingerprints_to(cursor, " AND too_many_new IS NOT NULL")
            .await?;
        Ok((matches, sum.wrapping_add(held)))
    }

    /// The number of the matches up to `cursor` that also meet a condition, and the sum of their fingerprints.
    async fn fingerprints_to(self, cursor: Cursor, also: &str) -> Result<(i64, u128), StoreError> {
        let (end, fingerprint) = cursor.position();
        // All of them in one value: to fetch a million rows takes ten times as long.
        let all = match self.0.dialect() {
            Dialect::Sqlite => "CAST(group_concat(fingerprint, '') AS BLOB)",
            Dialect::Postgres => "string_agg(fingerprint, '')",
        };
        let query =
            format!("SELECT {all} FROM matches WHERE (ended_at, fingerprint) <= ($1, $2){also}");
        let query = scalar(query).bind(end).bind(&fingerprint[..]);
        let all: Option<Vec<u8>> = query.fetch_one(&self.0.readers).await?;
        let all = all.unwrap_or_default();
        let (fingerprints, []) = all.as_chunks() else {
            return Err(StoreError::BadValue("fingerprints".to_owned()));
        };
        let numbers = fingerprints.iter().copied().map(u128::from_be_bytes);
        let sum = numbers.fold(0, u128::wrapping_add);
        Ok((i64::try_from(fingerprints.len()).unwrap_or(i64::MAX), sum))
    }

    /// The number of matches up to `cursor`, and the highest id among them.
    pub async fn extent_to(self, cursor: Cursor) -> Result<(i64, i64), StoreError> {
        let Some((end, fingerprint)) = cursor.0 else {
            return Ok((0, 0));
        };
        let mut tx = self.0.readers.snapshot().await?;
        let (matches, _) = self.extent_in(&mut tx).await?;
        // The cursor is nearly always close to the last match. So the matches after it are counted, and the
        // highest id is searched from the last one down: `|| ''` keeps the index of the order out of this.
        let query = tuple(
            "SELECT (SELECT count(*) FROM matches WHERE (ended_at, fingerprint) > ($1, $2)),
                 coalesce((SELECT id FROM matches WHERE (ended_at || '', fingerprint) <= ($1, $2)
                           ORDER BY id DESC LIMIT 1), 0)",
        );
        let query = query.bind(end).bind(&fingerprint.0[..]);
        let (after, highest): (i64, i64) = query.fetch_one(&mut tx).await?;
        Ok((matches - after, highest))
    }
}

/// The next matches after `cursor` as this connection sees them, at most `limit`, and the cursor after the last of them.
pub(in crate::store) async fn matches_after(
    tx: &mut PooledConnection,
    cursor: Cursor,
    limit: u32,
) -> Result<(Vec<StoredMatch>, Cursor), StoreError> {
    let (end, fingerprint) = cursor.position();
    let query = sql(stored!(
        "WHERE (ended_at, fingerprint) > ($1, $2) ORDER BY ended_at, fingerprint LIMIT $3"
    ));
    let query = query
        .bind(end)
        .bind(&fingerprint[..])
        .bind(i64::from(limit));
    let rows = query.fetch_all(&mut *tx).await?;
    let matches = read_all(tx, &rows).await?;
    let next = matches.last().map_or(cursor, |last| {
        Cursor::after(last.record.end, last.fingerprint)
    });
    Ok((matches, next))
}
