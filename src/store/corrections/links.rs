//! Links: claims that an identity is that of a player who has played.

use std::collections::BTreeMap;

use super::{Corrections, players};
use crate::{
    model::{Kind, PlayerKey, Timestamp, steam},
    store::{RecountCause, StoreError, db::*},
};

/// An identity, and the player whose it is said to be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Link {
    /// The identity.
    pub player: String,
    /// The identity of the player, who has played.
    pub into: String,
    /// The client that has asked.
    pub client: String,
    /// When it has asked.
    pub asked_at: Timestamp,
    /// Who has confirmed it, and when.
    pub confirmed: Option<(String, Timestamp)>,
}

impl Corrections<'_> {
    /// The link of an identity.
    pub async fn link(self, player: &str) -> Result<Option<Link>, StoreError> {
        let query = "SELECT into_player, client, asked_at, confirmed_by, confirmed_at FROM links WHERE player = $1";
        let row = sql(query)
            .bind(player)
            .fetch_optional(&self.0.readers)
            .await?;
        let Some(row) = row else {
            return Ok(None);
        };
        let by: Option<String> = row.get("confirmed_by")?;
        let at: Option<Timestamp> = row.get("confirmed_at")?;
        Ok(Some(Link {
            player: player.to_owned(),
            into: row.get("into_player")?,
            client: row.get("client")?,
            asked_at: row.get("asked_at")?,
            confirmed: by.zip(at),
        }))
    }

    /// The identity as which the matches of an identity count.
    pub async fn counts_as(self, player: &str) -> Result<String, StoreError> {
        let query = "SELECT into_player FROM merged_players WHERE kind = $1 AND player = $2";
        let player = steam::canonical(player);
        let query = scalar(query).bind(Kind::Human.as_str()).bind(&player);
        let into: Option<String> = query.fetch_optional(&self.0.readers).await?;
        Ok(into.unwrap_or(player))
    }

    /// The identities as which the matches of these identities count, for those that count as another one.
    pub async fn count_as(
        self,
        players: &[String],
    ) -> Result<BTreeMap<String, String>, StoreError> {
        if players.is_empty() {
            return Ok(BTreeMap::new());
        }
        let mut query = Sql::new(
            "SELECT player, into_player FROM merged_players WHERE kind = 'human' AND player IN ",
        );
        query.list(players.iter().map(|player| steam::canonical(player)));
        let rows = query.build().fetch_all(&self.0.readers).await?;
        let pair = |row: &Row| Ok((row.get("player")?, row.get("into_player")?));
        let merged: Result<BTreeMap<String, String>, StoreError> = rows.iter().map(pair).collect();
        let merged = merged?;
        let into = players.iter().map(|player| {
            let account = steam::canonical(player);
            let into = merged.get(&account).cloned().unwrap_or(account);
            (player.clone(), into)
        });
        Ok(into.filter(|(player, into)| player != into).collect())
    }

    /// Writes a link that is not confirmed, in place of another one that is not. Returns whether it could: a confirmed
    /// one stays.
    pub async fn ask_link(self, link: &Link) -> Result<bool, StoreError> {
        let mut tx = self.0.begin_alone().await?;
        let query =
            "INSERT INTO links (player, into_player, client, asked_at) VALUES ($1, $2, $3, $4)
                     ON CONFLICT (player) DO UPDATE SET into_player = excluded.into_player,
                         client = excluded.client, asked_at = excluded.asked_at
                     WHERE links.confirmed_at IS NULL";
        let query = sql(query).bind(&link.player).bind(&link.into);
        let query = query.bind(&link.client).bind(link.asked_at);
        let done = query.execute(&mut tx).await?;
        tx.commit().await?;
        Ok(done > 0)
    }

    /// Confirms a link if it is still to this player: from now on, the matches of the identity count for the player.
    /// Returns whether it was.
    pub async fn confirm_link(
        self,
        player: &str,
        into: &str,
        by: &str,
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        let mut tx = self.0.begin_alone().await?;
        let query = "UPDATE links SET confirmed_by = $3, confirmed_at = $4
                     WHERE player = $1 AND into_player = $2 AND confirmed_at IS NULL";
        let query = sql(query).bind(player).bind(into).bind(by).bind(now);
        if query.execute(&mut tx).await? == 0 {
            tx.abandon().await?;
            return Ok(false);
        }
        players::merge(&mut tx, &human(player), &human(into)).await?;
        self.0.commit(tx).await?;
        Ok(true)
    }

    /// Deletes a link. If it was confirmed, the identity counts as itself again.
    pub async fn drop_link(self, player: &str) -> Result<bool, StoreError> {
        let mut tx = self.0.begin_alone().await?;
        let query = scalar("SELECT confirmed_at IS NOT NULL FROM links WHERE player = $1");
        let confirmed: Option<bool> = query.bind(player).fetch_optional(&mut tx).await?;
        let query = sql("DELETE FROM links WHERE player = $1").bind(player);
        query.execute(&mut tx).await?;
        if confirmed == Some(true) {
            let query = "DELETE FROM merged_players WHERE kind = $1 AND player = $2";
            let query = sql(query).bind(Kind::Human.as_str()).bind(player);
            query.execute(&mut tx).await?;
            players::corrected(&mut tx, RecountCause::Split).await?;
        }
        self.0.commit(tx).await?;
        Ok(confirmed.is_some())
    }
}

fn human(id: &str) -> PlayerKey {
    PlayerKey {
        kind: Kind::Human,
        id: id.to_owned(),
    }
}
