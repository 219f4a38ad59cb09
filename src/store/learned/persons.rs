//! Reads who is on the pages: the persons, their handles, and who is hidden.

use std::collections::BTreeSet;

use super::{Learned, names};
use crate::{
    model::{Kind, PlayerKey, Timestamp, steam},
    store::{StoreError, db::*, sql::state},
};

columns! {
    /// A player who has a page.
    #[derive(Clone, Debug, PartialEq)]
    pub struct PersonRow {
        /// The number of the person; it may change when weights are derived again.
        pub person: i64,
        /// The identity that the player's matches count for.
        pub key: PlayerKey,
        /// The public handle of the player.
        pub handle: String,
    }
}

/// The handles of players, and who is hidden.
#[derive(Clone)]
pub struct Handles {
    secret: Vec<u8>,
    /// The hidden players.
    pub hidden: BTreeSet<PlayerKey>,
}

impl std::fmt::Debug for Handles {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Handles").finish_non_exhaustive()
    }
}

impl Handles {
    /// The handle of a player.
    ///
    /// # Errors
    /// Fails if the key of the handles is not valid.
    pub fn of(&self, player: &PlayerKey) -> Result<String, StoreError> {
        names::handle(&self.secret, player)
    }
}

/// The persons whom $1 may mean, of the kind $2 if that is not NULL. Each part looks into an index: with OR, SQLite would read all persons.
pub(in crate::store) const PERSON: &str = "SELECT p.person, p.kind, p.player, p.handle FROM
         (SELECT person FROM persons WHERE handle = $1
          UNION SELECT person FROM persons WHERE kind IN ('human', 'bot') AND player = $1
          UNION SELECT o.person FROM merged_players m
                JOIN persons o ON o.kind = m.kind AND o.player = m.into_player
                WHERE m.kind IN ('human', 'bot') AND m.player = $1
          UNION SELECT o.person FROM persons a
                JOIN merged_players m ON m.kind = a.kind AND m.player = a.player
                JOIN persons o ON o.kind = m.kind AND o.player = m.into_player
                WHERE a.handle = $1) found
     JOIN persons p ON p.person = found.person
     WHERE ($2 IS NULL OR p.kind = $2)
       AND NOT EXISTS (SELECT 1 FROM player_settings h WHERE h.kind = p.kind AND h.player = p.player AND h.hidden)
     ORDER BY p.handle = $1 DESC, p.kind = 'human' DESC, p.player = $1 DESC";

impl Learned<'_> {
    /// The handles of players, and who is hidden.
    pub async fn handles(self) -> Result<Handles, StoreError> {
        let mut tx = self.0.pages.snapshot().await?;
        let secret = state::handle_key(&mut tx).await?;
        let hidden = sql("SELECT kind, player FROM player_settings WHERE hidden");
        let hidden = hidden.fetch_all(&mut tx).await?;
        let hidden = hidden.iter().map(Row::player).collect::<Result<_, _>>()?;
        Ok(Handles { secret, hidden })
    }

    /// The identities of the humans with these handles.
    pub async fn humans_with_handles(
        self,
        handles: &BTreeSet<String>,
    ) -> Result<BTreeSet<String>, StoreError> {
        let mut query = Sql::new("SELECT player FROM persons WHERE kind = 'human' AND handle IN ");
        query.list(handles);
        let found: Vec<String> = query.build_scalar().fetch_all(&self.0.pages).await?;
        Ok(found.into_iter().collect())
    }

    /// The humans who were in the latest `matches` rated matches of a ruleset, at most `limit`, each with the end
    /// of the last one: those who played last first.
    pub async fn latest_humans(
        self,
        ruleset: &str,
        matches: i64,
        limit: i64,
    ) -> Result<Vec<(PlayerKey, Timestamp)>, StoreError> {
        let query = sql("SELECT o.kind, o.player, max(l.ended_at) AS last
             FROM (SELECT match_id, ended_at FROM rulings WHERE ruleset = $1 AND unrated IS NULL
                   ORDER BY ended_at DESC LIMIT $2) l
             CROSS JOIN performances q CROSS JOIN persons o
             WHERE q.match_id = l.match_id AND o.person = q.person AND o.kind = 'human'
             GROUP BY o.kind, o.player ORDER BY last DESC, o.player LIMIT $3");
        let query = query.bind(ruleset).bind(matches).bind(limit);
        let rows = query.fetch_all(&self.0.pages).await?;
        let human = |row: &Row| Ok((row.player()?, row.get("last")?));
        rows.iter().map(human).collect()
    }

    /// The player with this handle, then those with this identity, the human before the bot; with a kind, only that.
    /// Identities that were merged lead to the player they count as. Without those who are hidden.
    pub async fn persons(
        self,
        text: &str,
        kind: Option<Kind>,
    ) -> Result<Vec<PersonRow>, StoreError> {
        let query = tuple(PERSON);
        let query = query.bind(steam::canonical(text));
        let query = query.bind(kind.map(Kind::as_str));
        query.fetch_all(&self.0.pages).await
    }

    /// The number of the person whose matches count for this identity, also of one who is hidden; `None` without a
    /// rated match.
    pub async fn person_number(self, player: &PlayerKey) -> Result<Option<i64>, StoreError> {
        let query = "SELECT person FROM persons WHERE kind = $1 AND player = $2";
        let query = scalar(query).bind(player.kind.as_str());
        query.bind(&player.id).fetch_optional(&self.0.pages).await
    }
}
