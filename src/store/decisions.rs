//! Decisions in and out: as many as are kept, the oldest deleted first.

use sqlx::{Row, sqlite::SqliteRow};

use super::{Store, StoreError, ground::insert};
use crate::domain::Timestamp;

/// A decision as it is stored.
#[derive(Clone, Debug, PartialEq)]
pub struct DecisionRow {
    /// When it was made.
    pub made_at: Timestamp,
    /// The game server; empty where it has no name.
    pub server: String,
    /// The ruleset's key.
    pub ruleset: String,
    /// A number that all decisions of one game share.
    pub game: i64,
    /// What kind of decision.
    pub kind: String,
    /// The seed.
    pub seed: u64,
    /// The predicted chance that team 0 wins, where there is one.
    pub chance: Option<f64>,
    /// JSON: the question, the seed and the answer.
    pub decision: String,
}

/// What is noted of games as they go.
#[derive(Clone, Debug, PartialEq)]
pub enum Note {
    /// A decision was made.
    Decided(DecisionRow),
    /// The decisions of this game belong to this match.
    Became {
        /// The number they share.
        game: i64,
        /// The match's id.
        match_id: i64,
    },
}

impl Store {
    /// Writes notes in order, all or none, and deletes decisions but for the last `keep`.
    ///
    /// # Errors
    /// The database's.
    pub async fn write_notes(&self, notes: &[Note], keep: u32) -> Result<(), StoreError> {
        let mut tx = self.writer.begin_with("BEGIN IMMEDIATE").await?;
        let is_decision = |note: &Note| matches!(note, Note::Decided(_));
        for run in notes.chunk_by(|a, b| is_decision(a) && is_decision(b)) {
            let rows: Vec<&DecisionRow> = run.iter().filter_map(decision).collect();
            let columns = "INSERT INTO decisions (made_at, server, ruleset, game, kind, seed, chance, decision)";
            insert(&mut tx, columns, &rows, |mut row, decision| {
                row.push_bind(decision.made_at.0);
                row.push_bind(decision.server.clone());
                row.push_bind(decision.ruleset.clone());
                row.push_bind(decision.game);
                row.push_bind(decision.kind.clone());
                row.push_bind(decision.seed.to_string());
                row.push_bind(decision.chance);
                row.push_bind(decision.decision.clone());
            })
            .await?;
            if let [Note::Became { game, match_id }] = run {
                for statement in [
                    "UPDATE decisions SET match_id = ?2 WHERE game = ?1",
                    "INSERT OR REPLACE INTO predictions (match_id, chance)
                     SELECT ?2, chance FROM decisions
                     WHERE game = ?1 AND chance IS NOT NULL ORDER BY id DESC LIMIT 1",
                ] {
                    let query = sqlx::query(statement).bind(game).bind(match_id);
                    query.execute(&mut *tx).await?;
                }
            }
        }
        let oldest = "DELETE FROM decisions WHERE id <= (SELECT max(id) FROM decisions) - ?";
        sqlx::query(oldest).bind(keep).execute(&mut *tx).await?;
        Ok(tx.commit().await?)
    }

    /// The decision of this id, if it is still there.
    ///
    /// # Errors
    /// The database's.
    pub async fn decision(&self, id: i64) -> Result<Option<DecisionRow>, StoreError> {
        let query = sqlx::query("SELECT * FROM decisions WHERE id = ?").bind(id);
        let row = query.fetch_optional(&self.readers).await?;
        row.as_ref().map(from_row).transpose()
    }
}

fn decision(note: &Note) -> Option<&DecisionRow> {
    match note {
        Note::Decided(decision) => Some(decision),
        Note::Became { .. } => None,
    }
}

fn from_row(row: &SqliteRow) -> Result<DecisionRow, StoreError> {
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
