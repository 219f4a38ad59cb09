//! Who is being forgotten, or was lately: records are read and written without them.

use std::collections::HashMap;

use crate::{
    model::{MatchRecord, PlayerKey},
    store::{StoreError, Stored, db::*, learned::names::handle, sql::state},
};

/// Somebody whose matches are being rewritten, and the identity that they get instead.
pub(super) struct Forgetting {
    pub key: PlayerKey,
    pub instead: String,
}

/// Those who are noted as being forgotten.
pub(super) async fn unfinished(on: impl Into<Executor<'_>>) -> Result<Vec<Forgetting>, StoreError> {
    let query = sql(
        "SELECT kind, player, instead FROM forgotten_lately WHERE player IS NOT NULL ORDER BY handle",
    );
    let rows = query.fetch_all(on).await?;
    let left = rows.iter().map(|row| {
        Ok(Forgetting {
            key: row.player()?,
            instead: row.get("instead")?,
        })
    });
    left.collect()
}

/// Removes from matches that were read those who are being forgotten.
pub(in crate::store) async fn leave_out(
    tx: &mut Connection,
    matches: &mut [Stored],
) -> Result<(), StoreError> {
    let all = unfinished(&mut *tx).await?;
    let instead: HashMap<&PlayerKey, &String> =
        all.iter().map(|one| (&one.key, &one.instead)).collect();
    let records = matches.iter_mut().map(|stored| &mut stored.record);
    for participant in records.flat_map(|record| &mut record.participants) {
        if let Some(instead) = instead.get(&participant.key) {
            participant.key.id.clone_from(instead);
            participant.name.clear();
        }
    }
    Ok(())
}

/// Removes from a game's record the players who were forgotten after the game began.
pub(in crate::store) async fn remove_from(
    tx: &mut Connection,
    record: &mut MatchRecord,
) -> Result<(), StoreError> {
    let query = tuple("SELECT handle, instead FROM forgotten_lately WHERE at >= $1");
    let forgotten: Vec<(String, String)> = query.bind(record.start).fetch_all(&mut *tx).await?;
    if forgotten.is_empty() {
        return Ok(());
    }
    let forgotten: HashMap<String, String> = forgotten.into_iter().collect();
    let secret = state::handle_key(tx).await?;
    for participant in &mut record.participants {
        if let Some(instead) = forgotten.get(&handle(&secret, &participant.key)?) {
            participant.key.id.clone_from(instead);
            participant.name.clear();
        }
    }
    Ok(())
}
