//! Decisions in running games: a log from which the oldest are deleted from time to time.

use crate::{
    model::Timestamp,
    store::{
        Store, StoreError,
        db::{
            query::{Target, write},
            *,
        },
    },
};

/// A decision as it is stored.
#[derive(Clone, Debug, PartialEq)]
pub struct DecisionRow {
    /// When the decision was made.
    pub made_at: Timestamp,
    /// The game server; empty if it has no name.
    pub server: String,
    /// The key of the ruleset.
    pub ruleset: String,
    /// A number that the decisions of one game have in common.
    pub game: i64,
    /// Which kind of decision: `balance`, `place`, ….
    pub kind: String,
    /// The seed of its random numbers.
    pub seed: u64,
    /// The predicted chance that team 0 wins, if one was predicted.
    pub chance: Option<f64>,
    /// The question, the seed and the answer, as JSON.
    pub decision: String,
}

/// The stored decisions.
#[derive(Clone, Copy, Debug)]
pub struct Decisions<'a>(&'a Store);

impl Store {
    /// The stored decisions.
    pub fn decisions(&self) -> Decisions<'_> {
        Decisions(self)
    }
}

impl Decisions<'_> {
    /// Writes decisions, all or none. A decision of a game that is recorded already belongs to its match.
    pub async fn write_decisions(self, decisions: &[DecisionRow]) -> Result<(), StoreError> {
        let mut tx = self.0.begin().await?;
        let rows = decisions.iter().map(row);
        let written = write(&mut tx, DECISIONS, " RETURNING id", rows).await?;
        let ids = written.iter().map(|row| row.get("id"));
        let ids = ids.collect::<Result<Vec<i64>, _>>()?;
        let belong = "UPDATE decisions
             SET match_id = (SELECT m.id FROM matches m WHERE m.game = decisions.game)
             WHERE id >= $1 AND match_id IS NULL
                 AND EXISTS (SELECT 1 FROM matches m WHERE m.game = decisions.game)";
        let belong = sql(belong).bind(ids.iter().min().copied());
        belong.execute(&mut tx).await?;
        tx.commit().await
    }

    /// Writes one decision, and returns its number.
    pub async fn keep_decision(self, decision: &DecisionRow) -> Result<i64, StoreError> {
        let mut tx = self.0.begin().await?;
        let own = [row(decision)].into_iter();
        let written = write(&mut tx, DECISIONS, " RETURNING id", own).await?;
        let id = written.first().ok_or(sqlx::Error::RowNotFound)?.get("id")?;
        tx.commit().await?;
        Ok(id)
    }

    /// Deletes the oldest decisions, so that the last `keep` are left, but `most` at once. Returns how many.
    pub async fn trim_decisions(self, keep: u32, most: u32) -> Result<u64, StoreError> {
        let oldest = "DELETE FROM decisions WHERE id <= (SELECT max(id) FROM decisions) - $1
                         AND id < (SELECT min(id) FROM decisions) + $2";
        let query = sql(oldest).bind(i64::from(keep)).bind(i64::from(most));
        self.delete_decisions(query).await
    }

    /// Deletes decisions that were made before an instant: of the `most` oldest ones. Returns how many.
    pub async fn drop_decisions(self, before: Timestamp, most: u32) -> Result<u64, StoreError> {
        // Ids are in the order of time; there is no index by time.
        let oldest = "DELETE FROM decisions WHERE made_at < $1
                         AND id IN (SELECT id FROM decisions ORDER BY id LIMIT $2)";
        self.delete_decisions(sql(oldest).bind(before).bind(i64::from(most)))
            .await
    }

    async fn delete_decisions(self, query: Query) -> Result<u64, StoreError> {
        let mut tx = self.0.begin().await?;
        let done = query.execute(&mut tx).await?;
        tx.commit().await?;
        Ok(done)
    }

    /// The decision with this id; `None` if there is none, or if it has been deleted.
    pub async fn decision(self, id: i64) -> Result<Option<DecisionRow>, StoreError> {
        let query = sql("SELECT * FROM decisions WHERE id = $1").bind(id);
        let row = query.fetch_optional(&self.0.readers).await?;
        row.as_ref().map(from_row).transpose()
    }
}

const DECISIONS: Target = Target::new(
    "decisions",
    "made_at, server, ruleset, game, kind, seed, chance, decision",
);

fn row(decision: &DecisionRow) -> Vec<SqlValue> {
    values![
        decision.made_at,
        &decision.server,
        &decision.ruleset,
        decision.game,
        &decision.kind,
        decision.seed.to_string(),
        decision.chance,
        &decision.decision,
    ]
}

fn from_row(row: &Row) -> Result<DecisionRow, StoreError> {
    let seed: String = row.get("seed")?;
    Ok(DecisionRow {
        made_at: row.get("made_at")?,
        server: row.get("server")?,
        ruleset: row.get("ruleset")?,
        game: row.get("game")?,
        kind: row.get("kind")?,
        seed: seed
            .parse()
            .map_err(|_| StoreError::BadValue(format!("seed {seed}")))?,
        chance: row.get("chance")?,
        decision: row.get("decision")?,
    })
}
