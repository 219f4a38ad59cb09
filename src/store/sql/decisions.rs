//! [`Decisions`] for both databases.

use async_trait::async_trait;
use sqlx::{QueryBuilder, Row, query_builder::Separated};

use super::{Db, DbConnection, DbRow, DbStore, insert::insert, text};
use crate::{
    domain::Timestamp,
    store::{DecisionNote, DecisionRow, Decisions, StoreError},
};

/// How many decisions a write may delete besides as many as it adds. So a write remains short after `keep` was
/// made smaller.
const LEAST_DROPPED: i64 = 1_000;

#[async_trait]
impl Decisions for DbStore {
    async fn write_decisions(&self, notes: &[DecisionNote], keep: u32) -> Result<(), StoreError> {
        let mut tx = self.begin().await?;
        let is_decision = |note: &DecisionNote| matches!(note, DecisionNote::Decided(_));
        for run in notes.chunk_by(|a, b| is_decision(a) && is_decision(b)) {
            let rows: Vec<&DecisionRow> = run.iter().filter_map(decision).collect();
            insert(&mut tx, COLUMNS, "", &rows, |row, decision| {
                bind(row, decision)
            })
            .await?;
            if let [DecisionNote::Became { game, match_id }] = run {
                let update = "UPDATE decisions SET match_id = $2 WHERE game = $1";
                let query = sqlx::query(update).bind(game).bind(match_id);
                query.execute(&mut *tx).await?;
            }
        }
        drop_oldest(&mut tx, keep, notes.len()).await?;
        self.commit(tx).await
    }

    async fn keep_decision(&self, decision: &DecisionRow, keep: u32) -> Result<i64, StoreError> {
        let mut tx = self.begin().await?;
        let mut query = QueryBuilder::new(format!("{COLUMNS} "));
        query.push_values([decision], bind).push(" RETURNING id");
        let id: i64 = query.build_query_scalar().fetch_one(&mut *tx).await?;
        drop_oldest(&mut tx, keep, 1).await?;
        // No weights change, so the tasks that wait for commits are not woken.
        tx.commit().await?;
        Ok(id)
    }

    async fn drop_decisions(&self, before: Timestamp, most: u32) -> Result<u64, StoreError> {
        let mut tx = self.begin().await?;
        // Ids are in the order of time; there is no index by time.
        let oldest = "DELETE FROM decisions WHERE made_at < $1
                         AND id IN (SELECT id FROM decisions ORDER BY id LIMIT $2)";
        let query = sqlx::query(oldest).bind(before.0).bind(i64::from(most));
        let done = query.execute(&mut *tx).await?;
        // No weights change, so the tasks that wait for commits are not woken.
        tx.commit().await?;
        Ok(done.rows_affected())
    }

    async fn decision(&self, id: i64) -> Result<Option<DecisionRow>, StoreError> {
        let query = sqlx::query("SELECT * FROM decisions WHERE id = $1").bind(id);
        let row = query.fetch_optional(&self.readers).await?;
        row.as_ref().map(from_row).transpose()
    }
}

const COLUMNS: &str =
    "INSERT INTO decisions (made_at, server, ruleset, game, kind, seed, chance, decision)";

fn bind(mut row: Separated<'_, Db, &'static str>, decision: &DecisionRow) {
    row.push_bind(decision.made_at.0);
    row.push_bind(text(&decision.server).into_owned());
    row.push_bind(text(&decision.ruleset).into_owned());
    row.push_bind(decision.game);
    row.push_bind(decision.kind.clone());
    row.push_bind(decision.seed.to_string());
    row.push_bind(decision.chance);
    row.push_bind(decision.decision.clone());
}

/// Deletes decisions after so many were added.
async fn drop_oldest(tx: &mut DbConnection, keep: u32, added: usize) -> Result<(), StoreError> {
    let oldest = "DELETE FROM decisions WHERE id <= (SELECT max(id) FROM decisions) - $1
                     AND id < (SELECT min(id) FROM decisions) + $2";
    let most = LEAST_DROPPED.saturating_add(i64::try_from(added).unwrap_or(i64::MAX));
    let query = sqlx::query(oldest).bind(i64::from(keep)).bind(most);
    query.execute(tx).await?;
    Ok(())
}

fn decision(note: &DecisionNote) -> Option<&DecisionRow> {
    match note {
        DecisionNote::Decided(decision) => Some(decision),
        DecisionNote::Became { .. } => None,
    }
}

fn from_row(row: &DbRow) -> Result<DecisionRow, StoreError> {
    let seed: String = row.try_get("seed")?;
    Ok(DecisionRow {
        made_at: Timestamp(row.try_get("made_at")?),
        server: row.try_get("server")?,
        ruleset: row.try_get("ruleset")?,
        game: row.try_get("game")?,
        kind: row.try_get("kind")?,
        seed: seed
            .parse()
            .map_err(|_| StoreError::BadValue(format!("seed {seed}")))?,
        chance: row.try_get("chance")?,
        decision: row.try_get("decision")?,
    })
}
