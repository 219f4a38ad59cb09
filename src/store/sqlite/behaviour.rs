//! [`BehaviourReports`] in SQLite.

use async_trait::async_trait;
use sqlx::{Row, SqliteConnection, sqlite::SqliteRow};

use super::SqliteStore;
use crate::{
    domain::{Timestamp, behaviour::BehaviourDay},
    store::{BehaviourReport, BehaviourReports, BehaviourRows, StoreError},
};

#[async_trait]
impl BehaviourReports for SqliteStore {
    async fn report_behaviour(&self, report: &BehaviourReport) -> Result<i64, StoreError> {
        let mut tx = self.begin().await?;
        let version = add(&mut tx, report).await?;
        self.commit(tx).await?;
        Ok(version)
    }

    async fn behaviour(&self) -> Result<BehaviourRows, StoreError> {
        let mut tx = self.readers.begin().await?;
        let all = "SELECT * FROM behaviour ORDER BY player, reporter, day";
        let days = sqlx::query(all).fetch_all(&mut *tx).await?;
        let merged = "SELECT player, into_player FROM merged_players WHERE kind = 'human'";
        let merged = sqlx::query(merged).fetch_all(&mut *tx).await?;
        let pair = |row: &SqliteRow| Ok((row.try_get("player")?, row.try_get("into_player")?));
        Ok(BehaviourRows {
            version: version(&mut tx).await?,
            days: days
                .iter()
                .map(from_row)
                .collect::<Result<_, StoreError>>()?,
            merged: merged.iter().map(pair).collect::<Result<_, StoreError>>()?,
        })
    }

    async fn behaviour_version(&self) -> Result<i64, StoreError> {
        version(&mut *self.readers.acquire().await?).await
    }
}

/// Adds reports, and returns the version after it.
pub(super) async fn add(
    tx: &mut SqliteConnection,
    report: &BehaviourReport,
) -> Result<i64, StoreError> {
    for one in &report.days {
        sqlx::query(
            "INSERT INTO behaviour VALUES (?1, ?2, ?3, ?4, max(-?8, min(?8, ?5)), ?6, ?7)
             ON CONFLICT (player, reporter, day) DO UPDATE SET
                 at = max(at, excluded.at),
                 points = max(-?8, min(?8, points + ?5)),
                 reports = reports + excluded.reports,
                 no_shows = no_shows + excluded.no_shows",
        )
        .bind(&one.player)
        .bind(&one.reporter)
        .bind(one.day)
        .bind(one.at.0)
        .bind(one.points)
        .bind(one.reports)
        .bind(one.no_shows)
        .bind(report.day_limit)
        .execute(&mut *tx)
        .await?;
    }
    let old = sqlx::query("DELETE FROM behaviour WHERE day < ?").bind(report.since);
    old.execute(&mut *tx).await?;
    changed(tx).await?;
    version(tx).await
}

/// Counts a change of the reports.
pub(super) async fn changed(tx: &mut SqliteConnection) -> Result<(), StoreError> {
    let query = sqlx::query("UPDATE behaviour_changes SET changes = changes + 1");
    query.execute(tx).await?;
    Ok(())
}

/// The changes of reports and those of merges, both of which only grow.
async fn version(connection: &mut SqliteConnection) -> Result<i64, StoreError> {
    let sum =
        "SELECT (SELECT changes FROM behaviour_changes) + (SELECT changes FROM player_changes)";
    Ok(sqlx::query_scalar(sum).fetch_one(connection).await?)
}

fn from_row(row: &SqliteRow) -> Result<BehaviourDay, StoreError> {
    let points: f64 = row.try_get("points")?;
    if !points.is_finite() {
        return Err(StoreError::BadValue(format!("points {points}")));
    }
    Ok(BehaviourDay {
        player: row.try_get("player")?,
        reporter: row.try_get("reporter")?,
        day: row.try_get("day")?,
        at: Timestamp(row.try_get("at")?),
        points,
        reports: row.try_get("reports")?,
        no_shows: row.try_get("no_shows")?,
    })
}
