//! Reads how pages show the players of running games.

use std::collections::BTreeSet;

use sqlx::{Row, SqlitePool};

use crate::{
    domain::PlayerKey,
    store::{
        PresentPlayer, StoreError,
        sqlite::persons::{is_forgotten, public_name},
    },
};

/// The players with these identities and names, in the same order.
pub(super) async fn present(
    pool: &SqlitePool,
    players: &[(PlayerKey, String)],
) -> Result<Vec<PresentPlayer>, StoreError> {
    let keys: Vec<[&str; 2]> = players
        .iter()
        .map(|(key, _)| [key.kind.as_str(), key.id.as_str()])
        .collect();
    let keys = serde_json::to_string(&keys);
    let keys = keys.map_err(|error| StoreError::BadValue(error.to_string()))?;
    // A merged identity is hidden with the one that it counts as.
    let query = sqlx::query(
        "SELECT j.key AS at, p.handle,
                EXISTS (SELECT 1 FROM weights w
                        WHERE w.player = p.player AND w.kind = p.kind AND w.place IS NOT NULL) AS has_page,
                EXISTS (SELECT 1 FROM hidden_players h
                        WHERE h.kind = j.value ->> 0
                          AND h.player IN (j.value ->> 1, coalesce(m.into_player, j.value ->> 1))) AS hidden
         FROM json_each(?) j
         LEFT JOIN merged_players m ON m.kind = j.value ->> 0 AND m.player = j.value ->> 1
         LEFT JOIN persons p ON p.kind = j.value ->> 0 AND p.player = coalesce(m.into_player, j.value ->> 1)
         ORDER BY at",
    );
    let rows = query.bind(keys).fetch_all(pool).await?;
    let mut hidden = BTreeSet::new();
    let mut handles = vec![None; players.len()];
    for row in rows {
        let at = usize::try_from(row.try_get::<i64, _>("at")?).unwrap_or(usize::MAX);
        if row.try_get("hidden")? {
            hidden.insert(at);
        } else if let Some(handle) = handles.get_mut(at)
            && row.try_get("has_page")?
        {
            *handle = row.try_get("handle")?;
        }
    }
    let show = |((at, (key, name)), handle): ((usize, &(PlayerKey, String)), Option<String>)| {
        let gone = hidden.contains(&at) || is_forgotten(key, name);
        PresentPlayer {
            handle,
            name: (!gone).then(|| public_name(key, name.clone())),
        }
    };
    Ok(players.iter().enumerate().zip(handles).map(show).collect())
}
