//! Reads how pages show the players of running games.

use std::collections::{BTreeMap, BTreeSet};

use super::Matches;
use crate::{
    model::PlayerKey,
    store::{
        StoreError,
        db::*,
        learned::names::{is_forgotten, public_name},
    },
};

/// A player of a running game, as pages show them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PresentPlayer {
    /// The handle; `None` if the player has no page.
    pub handle: Option<String>,
    /// The name; `None` for players who are hidden.
    pub name: Option<String>,
}

impl Matches<'_> {
    /// How pages show players of running games with these identities and names, in the same order.
    pub async fn present(
        self,
        players: &[(PlayerKey, String)],
    ) -> Result<Vec<PresentPlayer>, StoreError> {
        let mut tx = self.0.pages.snapshot().await?;
        let own: BTreeSet<&str> = players.iter().map(|(key, _)| key.id.as_str()).collect();
        let merged = "SELECT kind, player, into_player AS value FROM merged_players";
        let merged = values(&mut tx, merged, &own).await?;
        // A merged identity is hidden with the one that it counts as.
        let all: BTreeSet<&str> = own
            .into_iter()
            .chain(merged.values().map(String::as_str))
            .collect();
        let hidden = "SELECT kind, player, player AS value FROM (SELECT * FROM player_settings WHERE hidden) AS h";
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
}

/// The values that a query has for players with these identities.
async fn values(
    tx: &mut Connection,
    select: &str,
    ids: &BTreeSet<&str>,
) -> Result<BTreeMap<PlayerKey, String>, StoreError> {
    if ids.is_empty() {
        return Ok(BTreeMap::new());
    }
    let mut query = Sql::new(select);
    query.push(" WHERE kind IN ('human', 'bot') AND player IN ");
    query.list(ids.iter().map(|id| (*id).to_owned()));
    let rows = query.build().fetch_all(tx).await?;
    let value = |row: &Row| {
        let key = row.player()?;
        Ok((key, row.get("value")?))
    };
    rows.iter().map(value).collect()
}
