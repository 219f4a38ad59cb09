//! Reads and writes the last comparison of rating systems.

use sqlx::Row;

use super::super::{DbConnection, DbPool};
use crate::{
    domain::Timestamp,
    store::{StoreError, SystemsRow},
};

/// The last comparison that was stored; `None` if there is none.
pub(super) async fn report(pool: &DbPool) -> Result<Option<SystemsRow>, StoreError> {
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

/// Replaces the stored comparison by this one.
pub(super) async fn store(tx: &mut DbConnection, row: &SystemsRow) -> Result<(), StoreError> {
    let query = sqlx::query(
        "INSERT INTO systems_report (id, settings, matches, computed_at, report)
         VALUES (1, $1, $2, $3, $4)
         ON CONFLICT (id) DO UPDATE SET settings = excluded.settings, matches = excluded.matches,
             computed_at = excluded.computed_at, report = excluded.report",
    );
    let query = query.bind(&row.settings).bind(row.matches);
    let query = query.bind(row.computed_at.0).bind(&row.report);
    query.execute(tx).await?;
    Ok(())
}
