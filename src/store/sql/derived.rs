//! [`Derived`] for both databases.

use async_trait::async_trait;
use sqlx::Row;

use super::{
    DbConnection, DbRow, DbStore,
    archive::archived,
    balances,
    insert::{ROWS, insert},
    int, leases, optional_int,
    parts::rows,
    persons::{self, Persons},
    weights,
};
use crate::{
    domain::{Fingerprint, Kind, PlayerKey, Rank, RoleWeights, Timestamp},
    store::{
        CheckpointRow, Cursor, Derived, DerivedFrom, DerivedRows, DivisionRow, Lease, Performance,
        RulingRow, StoreError, WeightRow, written::WrittenWeights,
    },
};

#[async_trait]
impl Derived for DbStore {
    async fn derived_from(&self) -> Result<Option<DerivedFrom>, StoreError> {
        let query = sqlx::query("SELECT matches, last_match, settings FROM derived_from");
        let row = query.fetch_optional(&self.readers).await?;
        row.as_ref().map(from_row).transpose()
    }

    async fn rulesets(&self) -> Result<Vec<String>, StoreError> {
        let query = sqlx::query_scalar("SELECT DISTINCT ruleset FROM weights ORDER BY ruleset");
        Ok(query.fetch_all(&self.readers).await?)
    }

    async fn weights(&self, ruleset: &str, kind: Kind) -> Result<Vec<WeightRow>, StoreError> {
        let query = sqlx::query(
            "SELECT * FROM weights WHERE ruleset = $1 AND kind = $2 ORDER BY weight DESC, player",
        )
        .bind(ruleset)
        .bind(kind.as_str());
        query
            .fetch_all(&self.readers)
            .await?
            .iter()
            .map(weight)
            .collect()
    }

    async fn weights_of(&self, player: &PlayerKey) -> Result<Vec<WeightRow>, StoreError> {
        let query =
            sqlx::query("SELECT * FROM weights WHERE player = $1 AND kind = $2 ORDER BY ruleset")
                .bind(&player.id)
                .bind(player.kind.as_str());
        query
            .fetch_all(&self.readers)
            .await?
            .iter()
            .map(weight)
            .collect()
    }

    async fn divisions(&self) -> Result<Vec<DivisionRow>, StoreError> {
        let query = sqlx::query("SELECT * FROM divisions ORDER BY division");
        let rows = query.fetch_all(&self.readers).await?;
        let division = |row: &DbRow| {
            Ok(DivisionRow {
                name: row.try_get("name")?,
                decay_after_days: int(row, "decay_after_days")?,
                decay_days: int(row, "decay_days")?,
            })
        };
        rows.iter().map(division).collect()
    }

    async fn rulings(&self, ids: &[i64]) -> Result<Vec<Option<String>>, StoreError> {
        let mut rulings = Vec::with_capacity(ids.len());
        let mut connection = self.readers.acquire().await?;
        for chunk in ids.chunks(ROWS) {
            for row in rows(&mut connection, "rulings", chunk, "match_id").await? {
                rulings.push(row.try_get("unrated")?);
            }
        }
        Ok(rulings)
    }

    async fn replace_derived(
        &self,
        derived: &DerivedRows,
        all: bool,
        lease: Option<&Lease>,
    ) -> Result<bool, StoreError> {
        let mut tx = self.begin().await?;
        match may_replace(&mut tx, &derived.from, all, lease).await {
            Ok(true) if all => delete_rulings(&mut tx).await?,
            Ok(true) => {}
            refused => {
                tx.abandon().await?;
                return refused;
            }
        }
        let new: Vec<&RulingRow> = derived.rulings.iter().collect();
        if all {
            persons::clear(&mut tx).await?;
        }
        let persons = persons::of(&mut tx, &new).await?;
        insert_rulings(&mut tx, &new, &persons).await?;
        balances::refresh(&mut tx, &new, all).await?;
        let before = stored_from(&mut tx).await?;
        let known = self.weights.lock().take();
        let known = known.filter(|known| !all && before.as_ref() == Some(&known.from));
        let places = weights::write(&mut tx, known.as_ref(), &derived.weights).await?;
        replace_divisions(&mut tx, &derived.divisions).await?;
        replace_seasons(&mut tx, &derived.seasons).await?;
        sqlx::query(
            "INSERT INTO derived_from (id, matches, last_match, settings) VALUES (1, $1, $2, $3)
             ON CONFLICT (id) DO UPDATE SET matches = excluded.matches,
                 last_match = excluded.last_match, settings = excluded.settings",
        )
        .bind(derived.from.matches)
        .bind(derived.from.last_match)
        .bind(&derived.from.settings)
        .execute(&mut *tx)
        .await?;
        self.commit(tx).await?;
        *self.weights.lock() = Some(WrittenWeights {
            from: derived.from.clone(),
            rows: derived.weights.clone(),
            places,
        });
        Ok(true)
    }

    async fn checkpoints(&self) -> Result<Vec<CheckpointRow>, StoreError> {
        let query = sqlx::query(
            "SELECT matches, last_match, ended_at, fingerprint, settings,
                 CAST(length(state) AS BIGINT) AS bytes
             FROM derived_checkpoint ORDER BY matches DESC",
        );
        let rows = query.fetch_all(&self.readers).await?;
        rows.iter().map(checkpoint).collect()
    }

    async fn checkpoint(&self, matches: i64) -> Result<Option<Vec<u8>>, StoreError> {
        let query = sqlx::query_scalar("SELECT state FROM derived_checkpoint WHERE matches = $1");
        Ok(query.bind(matches).fetch_optional(&self.readers).await?)
    }

    async fn store_checkpoints(
        &self,
        new: &[(CheckpointRow, Vec<u8>)],
        kept: &[i64],
        lease: Option<&Lease>,
    ) -> Result<(), StoreError> {
        let mut tx = self.begin().await?;
        if let Some(lease) = lease
            && let Err(error) = leases::check(&mut tx, lease).await
        {
            tx.abandon().await?;
            return Err(error);
        }
        let query = sqlx::query_scalar("SELECT matches FROM derived_checkpoint");
        let stored: Vec<i64> = query.fetch_all(&mut *tx).await?;
        for matches in stored.iter().filter(|matches| !kept.contains(matches)) {
            sqlx::query("DELETE FROM derived_checkpoint WHERE matches = $1")
                .bind(matches)
                .execute(&mut *tx)
                .await?;
        }
        for (row, state) in new {
            insert_checkpoint(&mut tx, row, state).await?;
        }
        self.commit(tx).await
    }
}

async fn insert_checkpoint(
    tx: &mut DbConnection,
    row: &CheckpointRow,
    state: &[u8],
) -> Result<(), StoreError> {
    let (ended_at, fingerprint) = row.cursor.place();
    sqlx::query(
        "INSERT INTO derived_checkpoint (matches, last_match, ended_at, fingerprint, settings, state)
         VALUES ($1, $2, $3, $4, $5, $6)
         ON CONFLICT (matches) DO UPDATE SET last_match = excluded.last_match,
             ended_at = excluded.ended_at, fingerprint = excluded.fingerprint,
             settings = excluded.settings, state = excluded.state",
    )
    .bind(row.matches)
    .bind(row.last_match)
    .bind(ended_at)
    .bind(&fingerprint[..])
    .bind(&row.settings)
    .bind(state)
    .execute(tx)
    .await?;
    Ok(())
}

fn checkpoint(row: &DbRow) -> Result<CheckpointRow, StoreError> {
    let fingerprint: &[u8] = row.try_get("fingerprint")?;
    let fingerprint = fingerprint.try_into();
    let fingerprint = fingerprint.map_err(|_| StoreError::BadValue("a fingerprint".into()))?;
    let ended_at = Timestamp(row.try_get("ended_at")?);
    Ok(CheckpointRow {
        matches: row.try_get("matches")?,
        last_match: row.try_get("last_match")?,
        cursor: Cursor::after(ended_at, Fingerprint(fingerprint)),
        settings: row.try_get("settings")?,
        bytes: row.try_get("bytes")?,
    })
}

/// Whether rows made from these matches may replace those in the tables.
async fn may_replace(
    tx: &mut DbConnection,
    from: &DerivedFrom,
    all: bool,
    lease: Option<&Lease>,
) -> Result<bool, StoreError> {
    if let Some(lease) = lease {
        leases::check(tx, lease).await?;
    }
    let before = stored_from(tx).await?;
    let Some(before) = before.filter(|before| before.settings == from.settings) else {
        return Ok(all);
    };
    let query = sqlx::query_as("SELECT count(*), coalesce(max(id), 0) FROM matches");
    let now: (i64, i64) = query.fetch_one(tx).await?;
    let is_complete = |from: &DerivedFrom| (from.matches, from.last_match) == now;
    let keeps_up = match all {
        true => from.matches >= before.matches,
        false => !is_complete(&before),
    };
    Ok(keeps_up || is_complete(from))
}

/// The input that the derived tables were made from, as this transaction sees it.
async fn stored_from(tx: &mut DbConnection) -> Result<Option<DerivedFrom>, StoreError> {
    let query = sqlx::query("SELECT matches, last_match, settings FROM derived_from");
    let row = query.fetch_optional(tx).await?;
    row.as_ref().map(from_row).transpose()
}

/// Deletes all rulings, and the checkpoints: who continues from one counts on the rulings before it.
async fn delete_rulings(tx: &mut DbConnection) -> Result<(), StoreError> {
    for delete in [
        "DELETE FROM performances",
        "DELETE FROM rulings",
        "DELETE FROM derived_checkpoint",
    ] {
        sqlx::query(delete).execute(&mut *tx).await?;
    }
    Ok(())
}

async fn insert_rulings<'a>(
    tx: &mut DbConnection,
    rulings: &[&'a RulingRow],
    persons: &Persons,
) -> Result<(), StoreError> {
    insert(
        tx,
        "INSERT INTO rulings (match_id, ruleset, unrated, chance, ended_at)",
        " ON CONFLICT (match_id) DO UPDATE SET ruleset = excluded.ruleset, unrated = excluded.unrated,
              chance = excluded.chance, ended_at = excluded.ended_at",
        rulings,
        |mut row, ruling| {
            row.push_bind(ruling.match_id);
            row.push_bind(ruling.ruleset.clone());
            row.push_bind(ruling.unrated);
            row.push_bind(ruling.chance).push_bind(ruling.ended_at.0);
        },
    )
    .await?;
    let seats = |ruling: &&'a RulingRow| {
        let ruling = *ruling;
        let seats = ruling.performances.iter();
        seats.map(move |(seat, performance)| (ruling, *seat as i64, performance))
    };
    let archived = archived(tx, rulings.iter().map(|ruling| ruling.match_id)).await?;
    let in_tables = rulings.iter();
    let in_tables = in_tables.filter(|ruling| !archived.contains(&ruling.match_id));
    let performances: Vec<(&RulingRow, i64, &Performance)> = in_tables.flat_map(seats).collect();
    insert(
        tx,
        "INSERT INTO performances (match_id, seat, points_for, points_against, person, ended_at, team,
                                   result, weight, deviation)",
        " ON CONFLICT (match_id, seat) DO UPDATE SET points_for = excluded.points_for,
              points_against = excluded.points_against, person = excluded.person,
              ended_at = excluded.ended_at, team = excluded.team, result = excluded.result,
              weight = excluded.weight, deviation = excluded.deviation",
        &performances,
        |mut row, (ruling, seat, own)| {
            row.push_bind(ruling.match_id).push_bind(*seat);
            row.push_bind(own.points_for).push_bind(own.points_against);
            row.push_bind(persons.get(&own.key).copied());
            row.push_bind(ruling.ended_at.0);
            row.push_bind(own.team.map(i64::from));
            row.push_bind(own.result);
            row.push_bind(own.after.map(|(weight, _)| weight));
            row.push_bind(own.after.map(|(_, deviation)| deviation));
        },
    )
    .await
}

async fn replace_divisions(
    tx: &mut DbConnection,
    divisions: &[DivisionRow],
) -> Result<(), StoreError> {
    sqlx::query("DELETE FROM divisions")
        .execute(&mut *tx)
        .await?;
    for (number, division) in (0_i64..).zip(divisions) {
        sqlx::query("INSERT INTO divisions VALUES ($1, $2, $3, $4)")
            .bind(number)
            .bind(&division.name)
            .bind(i64::from(division.decay_after_days))
            .bind(i64::from(division.decay_days))
            .execute(&mut *tx)
            .await?;
    }
    Ok(())
}

async fn replace_seasons(tx: &mut DbConnection, seasons: &[Timestamp]) -> Result<(), StoreError> {
    sqlx::query("DELETE FROM seasons").execute(&mut *tx).await?;
    for start in seasons {
        sqlx::query(
            "INSERT INTO seasons (starts_at, season) VALUES ($1, $2) ON CONFLICT DO NOTHING",
        )
        .bind(start.0)
        .bind(name_of_season(*start))
        .execute(&mut *tx)
        .await?;
    }
    Ok(())
}

/// The name of a season: its date in UTC, with the time of day unless that is midnight.
fn name_of_season(start: Timestamp) -> String {
    let text = start.to_string().replace('T', " ");
    let text = text.trim_end_matches('Z');
    text.strip_suffix(" 00:00:00").unwrap_or(text).to_owned()
}

fn from_row(row: &DbRow) -> Result<DerivedFrom, StoreError> {
    Ok(DerivedFrom {
        matches: row.try_get("matches")?,
        last_match: row.try_get("last_match")?,
        settings: row.try_get("settings")?,
    })
}

fn weight(row: &DbRow) -> Result<WeightRow, StoreError> {
    let kind = row.try_get("kind")?;
    let kind = Kind::parse(kind).ok_or_else(|| StoreError::BadValue(format!("kind {kind}")))?;
    let division: Option<u8> = optional_int(row, "division")?;
    let progress: Option<f64> = row.try_get("progress")?;
    let rank = division.zip(progress);
    let (side_0, side_1): (Option<f64>, Option<f64>) =
        (row.try_get("side_0")?, row.try_get("side_1")?);
    Ok(WeightRow {
        ruleset: row.try_get("ruleset")?,
        key: PlayerKey {
            kind,
            id: row.try_get("player")?,
        },
        name: row.try_get("name")?,
        weight: row.try_get("weight")?,
        scale: int(row, "scale")?,
        deviation: row.try_get("deviation")?,
        rank: rank.map(|(division, progress)| Rank { division, progress }),
        roles: RoleWeights {
            sides: side_0.zip(side_1).map(|(zero, one)| [zero, one]),
            commander: row.try_get("commander")?,
        },
        games: int(row, "games")?,
        last_seen: Timestamp(row.try_get("last_seen")?),
    })
}
