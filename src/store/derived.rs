//! The tables that are made from the matches, and what they were made from.

use sqlx::{Row, SqliteConnection, sqlite::SqliteRow};

use super::{
    Store, StoreError,
    ground::{ROWS, insert, rows},
};
use crate::domain::{Kind, PlayerKey, Timestamp};

/// One player's weight under one ruleset.
#[derive(Clone, Debug, PartialEq)]
pub struct WeightRow {
    /// The ruleset's key.
    pub ruleset: String,
    /// Whose.
    pub key: PlayerKey,
    /// The last name they were seen under.
    pub name: String,
    /// 0 to 100; 50 is unknown.
    pub weight: f64,
    /// Rated games it rests on.
    pub games: u32,
    /// When the last of them ended.
    pub last_seen: Timestamp,
}

/// What was decided about one match.
#[derive(Clone, Debug, PartialEq)]
pub struct RulingRow {
    /// Which match.
    pub match_id: i64,
    /// The ruleset it was played under.
    pub ruleset: String,
    /// Why it is not rated; `None` when it is.
    pub unrated: Option<&'static str>,
    /// What the participants did, in seat order; empty when it is not rated.
    pub performances: Vec<Performance>,
}

/// Points for and against somebody's team while they were on it (or frags and deaths).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Performance {
    /// Scored.
    pub points_for: f64,
    /// Conceded.
    pub points_against: f64,
}

/// What the derived tables were made from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DerivedFrom {
    /// Number of matches.
    pub matches: i64,
    /// The highest match id.
    pub last_match: i64,
    /// The configuration.
    pub settings: String,
}

/// All that is derived.
#[derive(Clone, Debug)]
pub struct Derived {
    /// From what.
    pub from: DerivedFrom,
    /// About every match.
    pub rulings: Vec<RulingRow>,
    /// Everybody's weights.
    pub weights: Vec<WeightRow>,
}

impl Store {
    /// What the derived tables were made from; `None` before the first time.
    ///
    /// # Errors
    /// The database's.
    pub async fn derived_from(&self) -> Result<Option<DerivedFrom>, StoreError> {
        let query = sqlx::query("SELECT matches, last_match, settings FROM derived_from");
        let row = query.fetch_optional(&self.readers).await?;
        row.as_ref().map(from_row).transpose()
    }

    /// Number of matches on disk, and the highest id.
    ///
    /// # Errors
    /// The database's.
    pub async fn extent(&self) -> Result<(i64, i64), StoreError> {
        let query = sqlx::query_as("SELECT count(*), coalesce(max(id), 0) FROM matches");
        Ok(query.fetch_one(&self.readers).await?)
    }

    /// Every ruleset that weights are known of, sorted.
    ///
    /// # Errors
    /// The database's.
    pub async fn rulesets(&self) -> Result<Vec<String>, StoreError> {
        let query = sqlx::query_scalar("SELECT DISTINCT ruleset FROM weights ORDER BY ruleset");
        Ok(query.fetch_all(&self.readers).await?)
    }

    /// The weights of one ruleset and kind, strongest first.
    ///
    /// # Errors
    /// The database's.
    pub async fn weights(&self, ruleset: &str, kind: Kind) -> Result<Vec<WeightRow>, StoreError> {
        let query = sqlx::query(
            "SELECT * FROM weights WHERE ruleset = ? AND kind = ? ORDER BY weight DESC, player",
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

    /// Why these matches are not rated, or `None` where they are, in any order.
    ///
    /// # Errors
    /// The database's.
    pub async fn rulings(&self, ids: &[i64]) -> Result<Vec<Option<String>>, StoreError> {
        let mut rulings = Vec::with_capacity(ids.len());
        let mut connection = self.readers.acquire().await?;
        for chunk in ids.chunks(ROWS) {
            for row in rows(&mut connection, "rulings", chunk, "match_id").await? {
                rulings.push(row.try_get("unrated")?);
            }
        }
        Ok(rulings)
    }

    /// Replaces what is derived, at once for every reader. `false`, and nothing changed, when what
    /// stands there was made with another configuration and not `all` rulings are given.
    ///
    /// Matches may have come since it was computed; then it says itself that it does not know them.
    ///
    /// Rulings depend on nothing but their match and the configuration, so unless `all` of them are
    /// given, those of matches known before stay.
    ///
    /// # Errors
    /// The database's.
    pub async fn replace_derived(&self, derived: &Derived, all: bool) -> Result<bool, StoreError> {
        let mut tx = self.writer.begin_with("BEGIN IMMEDIATE").await?;
        let before = sqlx::query("SELECT matches, last_match, settings FROM derived_from");
        let before = before.fetch_optional(&mut *tx).await?;
        let before = before.as_ref().map(from_row).transpose()?;
        let ruled = match before {
            Some(before) if !all && before.settings == derived.from.settings => before.last_match,
            _ if all => {
                delete_rulings(&mut tx).await?;
                0
            }
            _ => return Ok(false),
        };
        let new: Vec<&RulingRow> = derived
            .rulings
            .iter()
            .filter(|ruling| ruling.match_id > ruled)
            .collect();
        insert_rulings(&mut tx, &new).await?;
        sqlx::query("DELETE FROM weights").execute(&mut *tx).await?;
        insert_weights(&mut tx, &derived.weights).await?;
        sqlx::query("INSERT OR REPLACE INTO derived_from VALUES (1, ?, ?, ?)")
            .bind(derived.from.matches)
            .bind(derived.from.last_match)
            .bind(&derived.from.settings)
            .execute(&mut *tx)
            .await?;
        tx.commit().await?;
        Ok(true)
    }
}

async fn delete_rulings(tx: &mut SqliteConnection) -> Result<(), StoreError> {
    sqlx::query("DELETE FROM performances")
        .execute(&mut *tx)
        .await?;
    sqlx::query("DELETE FROM rulings").execute(tx).await?;
    Ok(())
}

async fn insert_rulings(
    tx: &mut SqliteConnection,
    rulings: &[&RulingRow],
) -> Result<(), StoreError> {
    insert(
        tx,
        "INSERT OR REPLACE INTO rulings (match_id, ruleset, unrated)",
        rulings,
        |mut row, ruling| {
            row.push_bind(ruling.match_id);
            row.push_bind(ruling.ruleset.clone());
            row.push_bind(ruling.unrated);
        },
    )
    .await?;
    let seats = |ruling: &&RulingRow| {
        let id = ruling.match_id;
        let seats = (0i64..).zip(ruling.performances.clone());
        seats
            .map(move |(seat, performance)| (id, seat, performance))
            .collect::<Vec<_>>()
    };
    let performances: Vec<(i64, i64, Performance)> = rulings.iter().flat_map(seats).collect();
    let columns =
        "INSERT OR REPLACE INTO performances (match_id, seat, points_for, points_against)";
    insert(
        tx,
        columns,
        &performances,
        |mut row, (id, seat, performance)| {
            row.push_bind(*id).push_bind(*seat);
            row.push_bind(performance.points_for)
                .push_bind(performance.points_against);
        },
    )
    .await
}

async fn insert_weights(tx: &mut SqliteConnection, rows: &[WeightRow]) -> Result<(), StoreError> {
    let columns =
        "INSERT OR REPLACE INTO weights (ruleset, kind, player, name, weight, games, last_seen)";
    insert(tx, columns, rows, |mut row, w| {
        row.push_bind(w.ruleset.clone())
            .push_bind(w.key.kind.as_str());
        row.push_bind(w.key.id.clone()).push_bind(w.name.clone());
        row.push_bind(w.weight)
            .push_bind(w.games)
            .push_bind(w.last_seen.0);
    })
    .await
}

fn from_row(row: &SqliteRow) -> Result<DerivedFrom, StoreError> {
    Ok(DerivedFrom {
        matches: row.try_get("matches")?,
        last_match: row.try_get("last_match")?,
        settings: row.try_get("settings")?,
    })
}

fn weight(row: &SqliteRow) -> Result<WeightRow, StoreError> {
    let kind = row.try_get("kind")?;
    let kind = Kind::parse(kind).ok_or_else(|| StoreError::BadValue(format!("kind {kind}")))?;
    Ok(WeightRow {
        ruleset: row.try_get("ruleset")?,
        key: PlayerKey {
            kind,
            id: row.try_get("player")?,
        },
        name: row.try_get("name")?,
        weight: row.try_get("weight")?,
        games: row.try_get("games")?,
        last_seen: Timestamp(row.try_get("last_seen")?),
    })
}
