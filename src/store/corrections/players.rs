//! Players: the operator's overrides.

use std::collections::BTreeMap;

use super::Corrections;
use crate::{
    model::{Kind, PlayerKey, StartWeight, steam},
    store::{
        OperatorOverrides, RecountCause, StoreError,
        db::*,
        learned::{names, notices},
        sql::state,
    },
};

/// The matches that an operator has made void.
pub(in crate::store) const VOID: &str = "SELECT m.id AS match_id
     FROM voided_fingerprints v CROSS JOIN matches m WHERE m.fingerprint = v.fingerprint
     UNION
     SELECT h.match_id
     FROM voided_fingerprints v CROSS JOIN match_halves h WHERE h.fingerprint = v.fingerprint";

/// Makes a match void, unless it is.
const MAKE_VOID: &str = "INSERT INTO voided_fingerprints SELECT fingerprint FROM matches
     WHERE id = $1 AND fingerprint NOT IN (SELECT fingerprint FROM voided_fingerprints)
       AND NOT EXISTS (SELECT 1 FROM match_halves h JOIN voided_fingerprints v ON v.fingerprint = h.fingerprint
                       WHERE h.match_id = $1)";

impl Corrections<'_> {
    /// Lets these identities count as the ones under which their players are known, where they do not yet. With `all`,
    /// these are all that do: other names than before may have tags.
    pub async fn add_accounts(
        self,
        forms: &BTreeMap<PlayerKey, PlayerKey>,
        all: bool,
    ) -> Result<(), StoreError> {
        if forms.is_empty() && !all {
            return Ok(());
        }
        let mut tx = self.0.begin().await?;
        if all {
            sql("DELETE FROM merged_players WHERE automatic")
                .execute(&mut tx)
                .await?;
        }
        names::add_accounts(&mut tx, forms).await?;
        self.0.commit(tx).await
    }

    /// The overrides on all players.
    pub async fn overrides(self) -> Result<OperatorOverrides, StoreError> {
        let mut tx = self.0.readers.snapshot().await?;
        let mut overrides = OperatorOverrides::default();
        let merged = "SELECT kind, player, into_player FROM merged_players WHERE NOT automatic ORDER BY kind, player";
        for row in sql(merged).fetch_all(&mut tx).await? {
            let kind = row.get("kind")?;
            let key = |id| PlayerKey { kind, id };
            let (player, into) = (key(row.get("player")?), key(row.get("into_player")?));
            // A form of a Steam id counts as its account without an operator.
            if steam::canonical_key(kind, &player.id).as_ref() != Some(&into) {
                overrides.merged.push((player, into));
            }
        }
        let pinned = "SELECT kind, player, pinned_weight FROM player_settings
                      WHERE pinned_weight IS NOT NULL ORDER BY kind, player";
        for row in sql(pinned).fetch_all(&mut tx).await? {
            let (key, at) = account(&row, overrides.pinned.len())?;
            overrides
                .pinned
                .insert(at, (key, row.get("pinned_weight")?));
        }
        let starts = "SELECT kind, player, start_weight, start_uncertain FROM player_settings
                      WHERE start_weight IS NOT NULL ORDER BY kind, player";
        for row in sql(starts).fetch_all(&mut tx).await? {
            let start = StartWeight {
                weight: row.get("start_weight")?,
                uncertain: row.get("start_uncertain")?,
            };
            let (key, at) = account(&row, overrides.starts.len())?;
            overrides.starts.insert(at, (key, start));
        }
        let void = scalar(VOID);
        overrides.void = void.fetch_all(&mut tx).await?.into_iter().collect();
        overrides.changes = state::number(&mut tx, state::PLAYER_CHANGES).await?;
        overrides.forgotten = state::number(&mut tx, "forgotten").await?;
        let corrected = tuple("SELECT number, text FROM state WHERE name = 'corrected'");
        let (number, cause): (i64, String) = corrected.fetch_one(&mut tx).await?;
        overrides.corrected = RecountCause::parse(&cause).map(|cause| (number, cause));
        Ok(overrides)
    }

    /// Makes `player`, and every identity that counts as `player`, count as `into` in all matches.
    pub async fn merge_player(
        self,
        player: &PlayerKey,
        into: &PlayerKey,
    ) -> Result<(), StoreError> {
        let mut tx = self.0.begin_alone().await?;
        merge(&mut tx, player, into).await?;
        self.0.commit(tx).await
    }

    /// Makes `player` count as itself again. Returns whether it counted as another identity.
    pub async fn split_player(self, player: &PlayerKey) -> Result<bool, StoreError> {
        let mut tx = self.0.begin_alone().await?;
        let done = sql("DELETE FROM merged_players WHERE kind = $1 AND player = $2")
            .bind(player.kind.as_str())
            .bind(&player.id)
            .execute(&mut tx)
            .await?;
        if player.kind == Kind::Human {
            let link = sql("DELETE FROM links WHERE player = $1");
            link.bind(&player.id).execute(&mut tx).await?;
        }
        corrected(&mut tx, RecountCause::Split).await?;
        self.0.commit(tx).await?;
        Ok(done > 0)
    }

    /// Fixes a player's weight, 0 to 100; `None` lets the matches decide again.
    pub async fn pin_weight(self, player: &PlayerKey, to: Option<f64>) -> Result<(), StoreError> {
        let mut tx = self.0.begin_alone().await?;
        unset(&mut tx, "pinned_weight = NULL", player).await?;
        let query = sql(
            "INSERT INTO player_settings (kind, player, pinned_weight) VALUES ($1, $2, $3)
             ON CONFLICT (kind, player) DO UPDATE SET pinned_weight = excluded.pinned_weight",
        );
        let query = query.bind(player.kind).bind(&player.id).bind(to);
        query.execute(&mut tx).await?;
        drop_empty(&mut tx).await?;
        changed(&mut tx).await?;
        self.0.commit(tx).await
    }

    /// Sets the weights at which players start; `None` lets a player start as a newcomer again. All of it
    /// or nothing.
    pub async fn set_start_weights(
        self,
        starts: &[(PlayerKey, Option<StartWeight>)],
    ) -> Result<(), StoreError> {
        let mut tx = self.0.begin_alone().await?;
        for (player, start) in starts {
            unset(
                &mut tx,
                "start_weight = NULL, start_uncertain = NULL",
                player,
            )
            .await?;
            let query = sql(
                "INSERT INTO player_settings (kind, player, start_weight, start_uncertain) VALUES ($1, $2, $3, $4)
                 ON CONFLICT (kind, player) DO UPDATE
                 SET start_weight = excluded.start_weight, start_uncertain = excluded.start_uncertain",
            );
            let query = query.bind(player.kind).bind(&player.id);
            let query = query.bind(start.map(|start| start.weight));
            let query = query.bind(start.map(|start| start.uncertain));
            query.execute(&mut tx).await?;
        }
        drop_empty(&mut tx).await?;
        corrected(&mut tx, RecountCause::StartWeight).await?;
        self.0.commit(tx).await
    }

    /// Makes matches void, or with `false` valid again. Returns the number of matches that this
    /// changes; ignores ids that no match has.
    pub async fn set_void(self, matches: &[i64], void: bool) -> Result<u64, StoreError> {
        let mut tx = self.0.begin_alone().await?;
        let mut count = 0;
        for id in matches {
            count += set_void(&mut tx, *id, void).await?;
        }
        if count > 0 {
            void_changed(&mut tx, void).await?;
        }
        self.0.commit(tx).await?;
        Ok(count)
    }

    /// Keeps a player off the pages, or shows the player again. Returns whether that changes anything.
    pub async fn set_hidden(self, player: &PlayerKey, hidden: bool) -> Result<bool, StoreError> {
        let mut tx = self.0.begin().await?;
        let kind = player.kind.as_str();
        let merged = "SELECT into_player FROM merged_players WHERE kind = $1 AND player = $2";
        let merged = scalar(merged).bind(kind).bind(&player.id);
        let merged: Option<String> = merged.fetch_optional(&mut tx).await?;
        let mut done = 0;
        for id in [Some(&player.id), merged.as_ref()].into_iter().flatten() {
            let query = match hidden {
                true => sql(
                    "INSERT INTO player_settings (kind, player, hidden) VALUES ($1, $2, TRUE)
                     ON CONFLICT (kind, player) DO UPDATE SET hidden = excluded.hidden WHERE NOT player_settings.hidden",
                ),
                false => sql(
                    "UPDATE player_settings SET hidden = FALSE WHERE kind = $1 AND hidden AND (player = $2 OR player IN
                         (SELECT player FROM merged_players WHERE kind = $1 AND into_player = $2))",
                ),
            };
            let query = query.bind(kind).bind(id);
            done += query.execute(&mut tx).await?;
        }
        drop_empty(&mut tx).await?;
        self.0.commit(tx).await?;
        Ok(done > 0)
    }
}

/// Removes rows that say nothing.
pub(in crate::store) async fn drop_empty(tx: &mut Connection) -> Result<(), StoreError> {
    let empty = "DELETE FROM player_settings
                  WHERE pinned_weight IS NULL AND start_weight IS NULL AND NOT hidden";
    sql(empty).execute(tx).await.map(drop)
}

/// Removes what is set for the other forms of a player's Steam id.
async fn unset(tx: &mut Connection, unset: &str, player: &PlayerKey) -> Result<(), StoreError> {
    let mut others = steam::forms(&player.id);
    others.retain(|form| *form != player.id);
    if player.kind == Kind::Human && !others.is_empty() {
        let mut query = Sql::new("UPDATE player_settings SET ");
        query.push(unset);
        query.push(" WHERE kind = 'human' AND player IN ");
        query.list(others);
        query.build().execute(&mut *tx).await?;
    }
    Ok(())
}

/// The player of a row under the form by which a Steam account is known, and the place in a list of `length` at which what
/// is set for the player belongs: what is set under another form comes first, so that the last one counts.
fn account(row: &Row, length: usize) -> Result<(PlayerKey, usize), StoreError> {
    let key = row.player()?;
    Ok(match steam::canonical_key(key.kind, &key.id) {
        Some(canonical) => (canonical, 0),
        None => (key, length),
    })
}

impl Corrections<'_> {
    /// A player's identity, and those that are merged into it.
    pub(super) async fn identities_of(
        self,
        player: &PlayerKey,
    ) -> Result<Vec<PlayerKey>, StoreError> {
        let query =
            scalar("SELECT player FROM merged_players WHERE kind = $1 AND into_player = $2");
        let query = query.bind(player.kind.as_str()).bind(&player.id);
        let ids: Vec<String> = query.fetch_all(&self.0.readers).await?;
        let key = |id| PlayerKey { id, ..*player };
        Ok(ids
            .into_iter()
            .chain([player.id.clone()])
            .map(key)
            .collect())
    }
}

/// Counts a change after which weights that were derived before are no longer right.
pub(in crate::store) async fn changed(tx: &mut Connection) -> Result<(), StoreError> {
    state::count(tx, state::PLAYER_CHANGES).await
}

/// Counts a change that corrects history: weights are counted again, and players get notices of it.
pub(in crate::store) async fn corrected(
    tx: &mut Connection,
    what: RecountCause,
) -> Result<(), StoreError> {
    changed(tx).await?;
    let query = sql(
        "UPDATE state SET number = (SELECT number FROM state WHERE name = 'player_changes'), text = $1
         WHERE name = 'corrected'",
    );
    query.bind(what.as_str()).execute(tx).await.map(drop)
}

/// Makes a match void, or valid again. Returns whether this changes anything, as a number. If it does, the caller
/// then calls [`void_changed`].
pub(in crate::store) async fn set_void(
    tx: &mut Connection,
    id: i64,
    void: bool,
) -> Result<u64, StoreError> {
    let statement = match void {
        true => MAKE_VOID,
        // A match is also void if one half of it was made void before the halves were joined.
        false => {
            "DELETE FROM voided_fingerprints WHERE fingerprint IN
             (SELECT fingerprint FROM matches WHERE id = $1
              UNION SELECT fingerprint FROM match_halves WHERE match_id = $1)"
        }
    };
    let done = sql(statement).bind(id).execute(tx).await?;
    Ok(u64::from(done > 0))
}

/// Lets the weights be derived again after matches became void, or with `false` valid.
pub(in crate::store) async fn void_changed(
    tx: &mut Connection,
    void: bool,
) -> Result<(), StoreError> {
    let what = match void {
        true => RecountCause::Void,
        false => RecountCause::Valid,
    };
    corrected(tx, what).await
}

/// Makes `player`, and every identity that counts as `player`, count as `into` in all matches.
pub(in crate::store) async fn merge(
    tx: &mut Connection,
    player: &PlayerKey,
    into: &PlayerKey,
) -> Result<(), StoreError> {
    let statements = [
        "DELETE FROM merged_players WHERE kind = $1 AND player = $3 AND into_player = $2",
        "UPDATE merged_players SET into_player = $3 WHERE kind = $1 AND into_player = $2",
        "INSERT INTO merged_players (kind, player, into_player) VALUES ($1, $2, $3)
         ON CONFLICT (kind, player) DO UPDATE SET into_player = excluded.into_player, automatic = excluded.automatic",
        names::STAYS_HIDDEN,
    ];
    for statement in statements {
        let query = sql(statement).bind(player.kind.as_str());
        query
            .bind(&player.id)
            .bind(&into.id)
            .execute(&mut *tx)
            .await?;
    }
    notices::merge(tx, player, into).await?;
    corrected(tx, RecountCause::Merge).await
}
