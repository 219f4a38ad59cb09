//! Reads how pages show the players of running games.

use std::collections::{BTreeMap, BTreeSet};

use sqlx::{QueryBuilder, Row};

use super::super::{
    Db, DbConnection, DbPool, DbRow,
    persons::{is_forgotten, public_name},
    snapshot,
};
use super::boards::read_kind;
use crate::{
    domain::PlayerKey,
    store::{PresentPlayer, StoreError},
};

/// The players with these identities and names, in the same order.
pub(super) async fn present(
    pool: &DbPool,
    players: &[(PlayerKey, String)],
) -> Result<Vec<PresentPlayer>, StoreError> {
    let mut tx = snapshot(pool).await?;
    let own: BTreeSet<&str> = players.iter().map(|(key, _)| key.id.as_str()).collect();
    let merged = "SELECT kind, player, into_player AS value FROM merged_players";
    let merged = values(&mut tx, merged, &own).await?;
    // A merged identity is hidden with the one that it counts as.
    let all: BTreeSet<&str> = own
        .into_iter()
        .chain(merged.values().map(String::as_str))
        .collect();
    let hidden = "SELECT kind, player, player AS value FROM hidden_players";
    let hidden = values(&mut tx, hidden, &all).await?;
    let handles = "SELECT p.kind, p.player, p.handle AS value FROM persons p";
    let handles = values(&mut tx, handles, &all).await?;
    let show = |(key, name): &(PlayerKey, String)| {
        let counted = PlayerKey {
            kind: key.kind,
            id: merged.get(key).unwrap_or(&key.id).clone(),
        };
        let is_hidden = hidden.contains_key(key) || hidden.contains_key(&counted);
        let gone = is_hidden || is_forgotten(key, name);
        PresentPlayer {
            handle: handles.get(&counted).filter(|_| !gone).cloned(),
            name: (!gone).then(|| public_name(key, name.clone())),
        }
    };
    Ok(players.iter().map(show).collect())
}

/// The values that a query has for players with these identities.
async fn values(
    tx: &mut DbConnection,
    select: &str,
    ids: &BTreeSet<&str>,
) -> Result<BTreeMap<PlayerKey, String>, StoreError> {
    if ids.is_empty() {
        return Ok(BTreeMap::new());
    }
    let mut query = QueryBuilder::<Db>::new(select);
    query.push(" WHERE kind IN ('human', 'bot') AND player IN (");
    let mut list = query.separated(", ");
    for id in ids {
        list.push_bind((*id).to_owned());
    }
    query.push(")");
    let rows = query.build().fetch_all(tx).await?;
    let value = |row: &DbRow| {
        let key = PlayerKey {
            kind: read_kind(row)?,
            id: row.try_get("player")?,
        };
        Ok((key, row.try_get("value")?))
    };
    rows.iter().map(value).collect()
}
