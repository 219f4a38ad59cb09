//! Reads and writes the last comparison of rating systems.

use sqlx::{Row, SqliteConnection, SqlitePool};

use crate::{
    domain::Timestamp,
    store::{StoreError, SystemsRow},
};

/// The last comparison.
pub(super) async fn report(pool: &SqlitePool) -> Result<Option<SystemsRow>, StoreError> {
    let query = sqlx::query("SELECT * FROM systems_report");
    let Some(row) = query.fetch_optional(pool).await? else {
        return Ok(None);
    };
    Ok(Some(SystemsRow {
        settings: row.try_get("settings")?,
        matches: row.try_get("matches")?,
        computed_at: Timestamp(row.try_get("computed_at")?),
        report: row.try_get("report")?,
    }))
}

/// Replaces the last comparison.
pub(super) async fn store(tx: &mut SqliteConnection, row: &SystemsRow) -> Result<(), StoreError> {
    let query = sqlx::query("INSERT OR REPLACE INTO systems_report VALUES (1, ?, ?, ?, ?)");
    let query = query.bind(&row.settings).bind(row.matches);
    let query = query.bind(row.computed_at.0).bind(&row.report);
    query.execute(tx).await?;
    Ok(())
}
