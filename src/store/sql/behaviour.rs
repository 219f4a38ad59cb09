//! [`BehaviourReports`] for both databases.

use async_trait::async_trait;
use sqlx::Row;

use super::{DbConnection, DbRow, DbStore, int, snapshot, text};
use crate::{
    domain::{Timestamp, behaviour::BehaviourDay},
    store::{BehaviourReport, BehaviourReports, BehaviourRows, StoreError},
};

#[async_trait]
impl BehaviourReports for DbStore {
    async fn report_behaviour(&self, report: &BehaviourReport) -> Result<i64, StoreError> {
        let mut tx = self.begin().await?;
        let version = add(&mut tx, report).await?;
        self.commit(tx).await?;
        Ok(version)
    }

    async fn behaviour(&self) -> Result<BehaviourRows, StoreError> {
        let mut tx = snapshot(&self.readers).await?;
        let all = "SELECT * FROM behaviour ORDER BY player, reporter, day";
        let days = sqlx::query(all).fetch_all(&mut *tx).await?;
        let merged = "SELECT player, into_player FROM merged_players WHERE kind = 'human'";
        let merged = sqlx::query(merged).fetch_all(&mut *tx).await?;
        let pair = |row: &DbRow| Ok((row.try_get("player")?, row.try_get("into_player")?));
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
    tx: &mut DbConnection,
    report: &BehaviourReport,
) -> Result<i64, StoreError> {
    for one in &report.days {
        sqlx::query(
            "INSERT INTO behaviour VALUES ($1, $2, $3, $4, $5, $6, $7)
             ON CONFLICT (player, reporter, day) DO UPDATE SET
                 at = CASE WHEN behaviour.at > excluded.at THEN behaviour.at ELSE excluded.at END,
                 points = CASE WHEN behaviour.points + $8 > $9 THEN $9
                                   WHEN behaviour.points + $8 < -$9 THEN -$9
                                   ELSE behaviour.points + $8 END,
                 reports = behaviour.reports + excluded.reports,
                 no_shows = behaviour.no_shows + excluded.no_shows",
        )
        .bind(text(&one.player))
        .bind(text(&one.reporter))
        .bind(one.day)
        .bind(one.at.0)
        .bind(one.points.clamp(-report.day_limit, report.day_limit))
        .bind(i64::from(one.reports))
        .bind(i64::from(one.no_shows))
        .bind(one.points)
        .bind(report.day_limit)
        .execute(&mut *tx)
        .await?;
    }
    let old = sqlx::query("DELETE FROM behaviour WHERE day < $1").bind(report.since);
    old.execute(&mut *tx).await?;
    changed(tx).await?;
    version(tx).await
}

/// Counts a change of the reports.
pub(super) async fn changed(tx: &mut DbConnection) -> Result<(), StoreError> {
    let query = sqlx::query("UPDATE behaviour_changes SET changes = changes + 1");
    query.execute(tx).await?;
    Ok(())
}

/// The changes of reports and those of merges, both of which only grow.
async fn version(connection: &mut DbConnection) -> Result<i64, StoreError> {
    let sum =
        "SELECT (SELECT changes FROM behaviour_changes) + (SELECT changes FROM player_changes)";
    Ok(sqlx::query_scalar(sum).fetch_one(connection).await?)
}

fn from_row(row: &DbRow) -> Result<BehaviourDay, StoreError> {
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
        reports: int(row, "reports")?,
        no_shows: int(row, "no_shows")?,
    })
}
