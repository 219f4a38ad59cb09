//! What game servers report about players' behaviour.

use crate::{
    model::behaviour::BehaviourDay,
    store::{Store, StoreError, db::*, state},
};

/// All reports that are stored.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BehaviourRows {
    /// The version of the reports: it grows with every change of them.
    pub version: i64,
    /// The reports, by player, reporter and day.
    pub days: Vec<BehaviourDay>,
    /// Merged humans, as pairs: an identity, and the identity that it counts as.
    pub merged: Vec<(String, String)>,
}

/// Reports to add to the entries of their days, which stay within the limit of a day.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BehaviourReport {
    /// The points to add, by player, reporter and day.
    pub days: Vec<BehaviourDay>,
    /// The most points of an entry, in either direction.
    pub day_limit: f64,
    /// The first day whose entries still count: those of earlier days are deleted.
    pub since: i64,
}

impl Store {
    /// Adds reports, and deletes entries that no longer count. All of it or nothing. Returns the version
    /// after the change.
    pub async fn report_behaviour(&self, report: &BehaviourReport) -> Result<i64, StoreError> {
        let mut tx = self.begin().await?;
        let version = add(&mut tx, report).await?;
        self.commit(tx).await?;
        Ok(version)
    }

    /// All reports.
    ///
    /// # Errors
    /// Fails if it contains a value that no version of Evenkeel writes.
    pub async fn behaviour(&self) -> Result<BehaviourRows, StoreError> {
        let mut tx = self.readers.snapshot().await?;
        let all = "SELECT * FROM behaviour ORDER BY player, reporter, day";
        let days = sql(all).fetch_all(&mut tx).await?;
        let merged = "SELECT player, into_player FROM merged_players WHERE kind = 'human'";
        let merged = sql(merged).fetch_all(&mut tx).await?;
        let pair = |row: &Row| Ok((row.get("player")?, row.get("into_player")?));
        Ok(BehaviourRows {
            version: version(&mut tx).await?,
            days: days
                .iter()
                .map(from_row)
                .collect::<Result<_, StoreError>>()?,
            merged: merged.iter().map(pair).collect::<Result<_, StoreError>>()?,
        })
    }

    /// The version of the reports, which grows with every change of them and of merged players.
    pub async fn behaviour_version(&self) -> Result<i64, StoreError> {
        version(&mut self.readers.acquire().await?).await
    }
}

/// Adds reports, and returns the version after it.
pub(in crate::store) async fn add(
    tx: &mut PooledConnection,
    report: &BehaviourReport,
) -> Result<i64, StoreError> {
    for one in &report.days {
        sql("INSERT INTO behaviour VALUES ($1, $2, $3, $4, $5, $6, $7)
             ON CONFLICT (player, reporter, day) DO UPDATE SET
                 at = CASE WHEN behaviour.at > excluded.at THEN behaviour.at ELSE excluded.at END,
                 points = CASE WHEN behaviour.points + $8 > $9 THEN $9
                                   WHEN behaviour.points + $8 < -$9 THEN -$9
                                   ELSE behaviour.points + $8 END,
                 reports = behaviour.reports + excluded.reports,
                 no_shows = behaviour.no_shows + excluded.no_shows")
        .bind(&one.player)
        .bind(&one.reporter)
        .bind(one.day)
        .bind(one.at)
        .bind(one.points.clamp(-report.day_limit, report.day_limit))
        .bind(i64::from(one.reports))
        .bind(i64::from(one.no_shows))
        .bind(one.points)
        .bind(report.day_limit)
        .execute(&mut *tx)
        .await?;
    }
    let old = sql("DELETE FROM behaviour WHERE day < $1").bind(report.since);
    old.execute(&mut *tx).await?;
    changed(tx).await?;
    version(tx).await
}

/// Counts a change of the reports.
pub(super) async fn changed(tx: &mut PooledConnection) -> Result<(), StoreError> {
    state::count(tx, "behaviour_changes").await
}

/// The changes of reports and those of merges, both of which only grow.
async fn version(connection: &mut PooledConnection) -> Result<i64, StoreError> {
    let sum = "SELECT CAST(sum(number) AS BIGINT) FROM state WHERE name IN ('behaviour_changes', 'player_changes')";
    scalar(sum).fetch_one(connection).await
}

fn from_row(row: &Row) -> Result<BehaviourDay, StoreError> {
    let points: f64 = row.get("points")?;
    if !points.is_finite() {
        return Err(StoreError::BadValue(format!("points {points}")));
    }
    Ok(BehaviourDay {
        player: row.get("player")?,
        reporter: row.get("reporter")?,
        day: row.get("day")?,
        at: row.get("at")?,
        points,
        reports: row.get("reports")?,
        no_shows: row.get("no_shows")?,
    })
}
