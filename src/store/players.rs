//! What an operator says about players, and what is on record of one.

use sqlx::{Row, SqliteConnection};

use super::{Store, StoreError};
use crate::domain::{Kind, PlayerKey, Timestamp};

/// A name somebody was seen under.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NameSeen {
    /// The name.
    pub name: String,
    /// Matches under it.
    pub matches: u32,
    /// The start of the first of them.
    pub first: Timestamp,
    /// The end of the last of them.
    pub last: Timestamp,
}

/// Everything an operator has said about players.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Said {
    /// Who counts as somebody else: (who, as whom).
    pub merged: Vec<(PlayerKey, PlayerKey)>,
    /// Whose weight is fixed.
    pub pinned: Vec<(PlayerKey, f64)>,
    /// How often any of it was changed.
    pub changes: i64,
}

impl Store {
    /// All that an operator has said.
    ///
    /// # Errors
    /// The database's.
    pub async fn said(&self) -> Result<Said, StoreError> {
        let mut tx = self.readers.begin().await?;
        let mut said = Said::default();
        let merged = "SELECT kind, player, into_player FROM merged_players ORDER BY kind, player";
        for row in sqlx::query(merged).fetch_all(&mut *tx).await? {
            let kind = kind(row.try_get("kind")?)?;
            let key = |id| PlayerKey { kind, id };
            let pair = (
                key(row.try_get("player")?),
                key(row.try_get("into_player")?),
            );
            said.merged.push(pair);
        }
        let pinned = "SELECT kind, player, weight FROM pinned_weights ORDER BY kind, player";
        for row in sqlx::query(pinned).fetch_all(&mut *tx).await? {
            let kind = kind(row.try_get("kind")?)?;
            let id = row.try_get("player")?;
            said.pinned
                .push((PlayerKey { kind, id }, row.try_get("weight")?));
        }
        let changes = sqlx::query_scalar("SELECT changes FROM player_changes");
        said.changes = changes.fetch_one(&mut *tx).await?;
        Ok(said)
    }

    /// From now on `who` counts as `into`, in all matches, and so do those who counted as `who`.
    ///
    /// # Errors
    /// The database's.
    pub async fn merge_player(&self, who: &PlayerKey, into: &PlayerKey) -> Result<(), StoreError> {
        let mut tx = self.writer.begin_with("BEGIN IMMEDIATE").await?;
        let statements = [
            "DELETE FROM merged_players WHERE kind = ?1 AND player = ?3 AND into_player = ?2",
            "UPDATE merged_players SET into_player = ?3 WHERE kind = ?1 AND into_player = ?2",
            "INSERT OR REPLACE INTO merged_players VALUES (?1, ?2, ?3)",
        ];
        for statement in statements {
            let query = sqlx::query(statement).bind(who.kind.as_str());
            query.bind(&who.id).bind(&into.id).execute(&mut *tx).await?;
        }
        changed(&mut tx).await?;
        Ok(tx.commit().await?)
    }

    /// From now on `who` counts as themselves again. Whether they had not.
    ///
    /// # Errors
    /// The database's.
    pub async fn split_player(&self, who: &PlayerKey) -> Result<bool, StoreError> {
        let mut tx = self.writer.begin_with("BEGIN IMMEDIATE").await?;
        let done = sqlx::query("DELETE FROM merged_players WHERE kind = ? AND player = ?")
            .bind(who.kind.as_str())
            .bind(&who.id)
            .execute(&mut *tx)
            .await?;
        changed(&mut tx).await?;
        tx.commit().await?;
        Ok(done.rows_affected() > 0)
    }

    /// Fixes a weight, or lets it go.
    ///
    /// # Errors
    /// The database's.
    pub async fn pin_weight(&self, who: &PlayerKey, to: Option<f64>) -> Result<(), StoreError> {
        let mut tx = self.writer.begin_with("BEGIN IMMEDIATE").await?;
        let query = match to {
            Some(_) => sqlx::query("INSERT OR REPLACE INTO pinned_weights VALUES (?, ?, ?)"),
            None => sqlx::query("DELETE FROM pinned_weights WHERE kind = ? AND player = ?"),
        };
        let query = query.bind(who.kind.as_str()).bind(&who.id);
        let query = match to {
            Some(weight) => query.bind(weight),
            None => query,
        };
        query.execute(&mut *tx).await?;
        changed(&mut tx).await?;
        Ok(tx.commit().await?)
    }

    /// Removes somebody's identity and names from all matches, and what was said about them; those of
    /// every identity that counts as them, too. The matches stay, and stay the same matches: their logs
    /// read again are duplicates. How many.
    ///
    /// # Errors
    /// The database's.
    pub async fn forget_player(&self, who: &PlayerKey) -> Result<u64, StoreError> {
        let mut tx = self.writer.begin_with("BEGIN IMMEDIATE").await?;
        let query = sqlx::query_scalar(
            "SELECT player FROM merged_players WHERE kind = ? AND into_player = ?",
        );
        let query = query.bind(who.kind.as_str()).bind(&who.id);
        let mut ids: Vec<String> = query.fetch_all(&mut *tx).await?;
        ids.push(who.id.clone());
        let mut matches = 0;
        for id in ids {
            let kind = who.kind;
            matches += forget(&mut tx, &PlayerKey { kind, id }).await?;
        }
        tx.commit().await?;
        Ok(matches)
    }

    /// The names somebody was seen under, the last one first. None: nobody of that identity played.
    ///
    /// # Errors
    /// The database's.
    pub async fn names(&self, who: &PlayerKey) -> Result<Vec<NameSeen>, StoreError> {
        let rows = sqlx::query(
            "SELECT p.name, count(*) AS matches, min(m.started_at) AS first, max(m.ended_at) AS last
             FROM participants p JOIN matches m ON m.id = p.match_id
             WHERE p.player = ? AND p.kind = ?
             GROUP BY p.name ORDER BY last DESC, p.name",
        )
        .bind(&who.id)
        .bind(who.kind.as_str())
        .fetch_all(&self.readers)
        .await?;
        let seen = |row: &sqlx::sqlite::SqliteRow| {
            Ok(NameSeen {
                name: row.try_get("name")?,
                matches: row.try_get("matches")?,
                first: Timestamp(row.try_get("first")?),
                last: Timestamp(row.try_get("last")?),
            })
        };
        rows.iter().map(seen).collect()
    }
}

/// Forgets one identity. The number of matches it was in.
async fn forget(tx: &mut SqliteConnection, who: &PlayerKey) -> Result<u64, StoreError> {
    // A number that tells nothing, and is nobody else's.
    let done = sqlx::query(
        "UPDATE participants SET name = '', player = 'forgotten-' ||
                 (SELECT changes + 1 FROM player_changes)
             WHERE kind = ? AND player = ?",
    )
    .bind(who.kind.as_str())
    .bind(&who.id)
    .execute(&mut *tx)
    .await?;
    let statements = [
        "DELETE FROM merged_players WHERE kind = ?1 AND (player = ?2 OR into_player = ?2)",
        "DELETE FROM pinned_weights WHERE kind = ?1 AND player = ?2",
        "DELETE FROM weights WHERE kind = ?1 AND player = ?2",
    ];
    for statement in statements {
        let query = sqlx::query(statement).bind(who.kind.as_str()).bind(&who.id);
        query.execute(&mut *tx).await?;
    }
    // Decisions speak of people in JSON; those that speak of this one go.
    if let Ok(quoted) = serde_json::to_string(&who.id) {
        let query = sqlx::query("DELETE FROM decisions WHERE instr(decision, ?) > 0");
        query.bind(quoted).execute(&mut *tx).await?;
    }
    changed(tx).await?;
    Ok(done.rows_affected())
}

/// What is derived has to be made anew: not only more matches, but others.
pub(super) async fn changed(tx: &mut SqliteConnection) -> Result<(), StoreError> {
    let query = sqlx::query("UPDATE player_changes SET changes = changes + 1");
    query.execute(tx).await?;
    Ok(())
}

fn kind(word: &str) -> Result<Kind, StoreError> {
    Kind::parse(word).ok_or_else(|| StoreError::BadValue(format!("kind {word}")))
}
