//! Persons: the players on the pages, with their handles, and who of them is hidden.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

use crate::{
    model::{self, Kind, PlayerKey, Timestamp, names::NAMELESS_DIGITS, steam, text::to_hex},
    store::{
        RulingRow, StoreError,
        db::{
            query::{ROWS, Target, write},
            *,
        },
        learned::Learned,
        state,
    },
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
        handle(&self.secret, player)
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

    /// What these players without a name are called among those of a ruleset.
    pub async fn nameless(
        self,
        ruleset: &str,
        players: &BTreeSet<&PlayerKey>,
    ) -> Result<BTreeMap<PlayerKey, String>, StoreError> {
        if players.is_empty() {
            return Ok(BTreeMap::new());
        }
        let mut tx = self.0.pages.snapshot().await?;
        nameless(&mut tx, Some(ruleset), players).await
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

/// The numbers of persons by the identity that their matches count for.
pub(super) type Persons = HashMap<PlayerKey, i64>;

/// A person as it is written: the number is given by the database.
const PERSONS: Target = Target::new("persons", "kind, player, handle");

/// Bytes of a handle, which is hexadecimal. With 80 bits, a handle cannot be guessed, and of a million
/// players no two have the same.
const HANDLE: usize = 10;

/// The identity that `forget` gives begins like this; see [`is_forgotten`].
pub(in crate::store) const FORGOTTEN: &str = "forgotten-";

/// Whether a player was forgotten: without a name, under an identity that `forget` gave.
pub fn is_forgotten(key: &PlayerKey, name: &str) -> bool {
    name.is_empty() && key.id.starts_with(FORGOTTEN)
}

/// Of so many handles, those that are like them are looked for together.
const TOGETHER: usize = 64;

/// What these players without a name are called among those of a ruleset, else among all.
pub(in crate::store) async fn nameless(
    tx: &mut PooledConnection,
    ruleset: Option<&str>,
    players: &BTreeSet<&PlayerKey>,
) -> Result<BTreeMap<PlayerKey, String>, StoreError> {
    let mut names = BTreeMap::new();
    if players.is_empty() {
        return Ok(names);
    }
    let secret = state::handle_key(tx).await?;
    let handles = players.iter().map(|key| Ok((*key, handle(&secret, key)?)));
    let handles = handles.collect::<Result<Vec<_>, StoreError>>()?;
    for some in handles.chunks(TOGETHER) {
        let mut query = Sql::new("SELECT p.handle FROM persons p WHERE ");
        for (at, (_, handle)) in some.iter().enumerate() {
            let first = &handle[..NAMELESS_DIGITS];
            query.push(if at == 0 { "(" } else { " OR " });
            query.push("p.handle >= ").push_bind(first);
            // Hexadecimal digits end with f.
            query
                .push(" AND p.handle < ")
                .push_bind(format!("{first}g"));
        }
        query.push(")");
        if let Some(ruleset) = ruleset {
            query.push(
                " AND EXISTS (SELECT 1 FROM weights w WHERE w.kind = p.kind AND w.player = p.player AND w.ruleset = ",
            );
            query.push_bind(ruleset).push(")");
        }
        let alike: Vec<String> = query.build_scalar().fetch_all(&mut *tx).await?;
        for (key, handle) in some {
            let alike = alike.iter().map(String::as_str);
            names.insert((*key).clone(), model::names::nameless(handle, alike));
        }
    }
    Ok(names)
}

/// Hides the player $3 if $2, who counts as that one from now on, is hidden: whoever wished to be hidden stays so.
pub(in crate::store) const STAYS_HIDDEN: &str = "INSERT INTO player_settings (kind, player, hidden)
     SELECT kind, CAST($3 AS TEXT), TRUE FROM player_settings WHERE kind = $1 AND player = $2 AND hidden
     ON CONFLICT (kind, player) DO UPDATE SET hidden = excluded.hidden";

/// Lets identities count as the one form under which their players are known, on pages and for commands; what an operator
/// has merged stays so. Nothing is learned anew: who learns knows the forms.
pub(in crate::store) async fn add_accounts(
    tx: &mut PooledConnection,
    forms: &BTreeMap<PlayerKey, PlayerKey>,
) -> Result<(), StoreError> {
    let secret = state::handle_key(tx).await?;
    let statements = [
        "INSERT INTO merged_players (kind, player, into_player, automatic)
         VALUES ($1, $2, coalesce((SELECT into_player FROM merged_players WHERE kind = $1 AND player = $3),
                                  CAST($3 AS TEXT)), TRUE)
         ON CONFLICT DO NOTHING",
        STAYS_HIDDEN,
    ];
    for (form, canonical) in forms {
        for statement in statements {
            let query = sql(statement).bind(form.kind.as_str()).bind(&form.id);
            query.bind(&canonical.id).execute(&mut *tx).await?;
        }
        let person =
            "INSERT INTO persons (kind, player, handle) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING";
        let person = sql(person).bind(form.kind.as_str()).bind(&form.id);
        person
            .bind(handle(&secret, form)?)
            .execute(&mut *tx)
            .await?;
    }
    Ok(())
}

/// The persons in the performances of these rulings. Those who are new get a handle.
pub(in crate::store) async fn of(
    tx: &mut PooledConnection,
    rulings: &[RulingRow],
) -> Result<Persons, StoreError> {
    let performances = rulings.iter().flat_map(|ruling| &ruling.performances);
    let keys: BTreeSet<&PlayerKey> = performances.map(|(_, own)| &own.key).collect();
    let keys: Vec<&PlayerKey> = keys.into_iter().collect();
    let mut persons = known(tx, &keys).await?;
    let secret = state::handle_key(tx).await?;
    let mut new = Vec::new();
    for key in keys.into_iter().filter(|key| !persons.contains_key(key)) {
        new.push(values![key.kind, &key.id, handle(&secret, key)?]);
    }
    let returned = " RETURNING kind, player, person";
    for row in write(tx, PERSONS, returned, new.into_iter()).await? {
        persons.insert(row.player()?, row.get("person")?);
    }
    Ok(persons)
}

/// Those of these players who are persons already.
async fn known(tx: &mut PooledConnection, keys: &[&PlayerKey]) -> Result<Persons, StoreError> {
    let mut persons = Persons::with_capacity(keys.len());
    for some in keys.chunks(ROWS) {
        let mut query = Sql::new(
            "SELECT kind, player, person FROM persons WHERE kind IN ('human', 'bot') AND player IN ",
        );
        query.list(some.iter().map(|key| &key.id));
        for row in query.build().fetch_all(&mut *tx).await? {
            persons.insert(row.player()?, row.get("person")?);
        }
    }
    Ok(persons)
}

/// The handle of a player: a keyed hash of kind and identity.
pub(in crate::store) fn handle(secret: &[u8], key: &PlayerKey) -> Result<String, StoreError> {
    let mac = Hmac::<Sha256>::new_from_slice(secret);
    let mut mac = mac.map_err(|error| StoreError::BadValue(format!("handle key: {error}")))?;
    mac.update(key.kind.as_str().as_bytes());
    mac.update(b":");
    mac.update(key.id.as_bytes());
    let hash = mac.finalize().into_bytes();
    Ok(to_hex(&hash[..HANDLE]))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tempfile::TempDir;

    use super::*;

    #[tokio::test]
    async fn digits_are_unique_among_the_players_of_a_ruleset() {
        let folder = TempDir::new().unwrap();
        let place = folder.path().join("x.db");
        let store = crate::store::open(&place, true, Duration::from_secs(60));
        let store = store.await.unwrap();
        let mut tx = store.begin().await.unwrap();
        let secret = state::handle_key(&mut tx).await.unwrap();
        let key = |id: &str| PlayerKey {
            kind: Kind::Human,
            id: id.to_owned(),
        };
        let ann = key("ann");
        let own = handle(&secret, &ann).unwrap();
        // Handles that begin with as many digits of Ann's.
        let like = |digits: usize| {
            let other = if own[digits..].starts_with('0') {
                '1'
            } else {
                '0'
            };
            format!("{}{other}{}", &own[..digits], &own[digits + 1..])
        };
        for (player, handle, ruleset) in [
            ("ann", own.clone(), "ctf"),
            ("bob", like(5), "ctf"),
            ("cid", like(9), "tdm"),
            ("dan", like(3), "ffa"),
        ] {
            let person = sql("INSERT INTO persons (kind, player, handle) VALUES ('human', $1, $2)");
            let person = person.bind(player).bind(handle.as_str());
            person.execute(&mut tx).await.unwrap();
            let weight = sql("INSERT INTO weights (ruleset, game_type, mutators, kind, player, name, plain, weight,
                    deviation, games, wins, last_seen, pinned)
                 VALUES ($1, $1, '', 'human', $2, '', '', 50, 5, 1, 1, $3, FALSE)");
            let weight = weight.bind(ruleset).bind(player).bind(Timestamp(0));
            weight.execute(&mut tx).await.unwrap();
        }
        for (ruleset, digits) in [
            (Some("ctf"), 6),
            (Some("tdm"), 10),
            (Some("ffa"), 4),
            (Some("other"), 4),
            (None, 10),
        ] {
            let names = nameless(&mut tx, ruleset, &BTreeSet::from([&ann])).await;
            let name = format!("player {}", &own[..digits]);
            assert_eq!(names.unwrap()[&ann], name, "{ruleset:?}");
        }
    }

    #[test]
    fn handles_depend_on_the_key_the_kind_and_the_identity() {
        let of = |secret: u8, kind, id: &str| {
            let id = id.to_owned();
            handle(&[secret; 32], &PlayerKey { kind, id }).unwrap()
        };
        let ann = of(1, Kind::Human, "ann");
        assert_eq!(ann, of(1, Kind::Human, "ann"));
        assert_eq!(ann.len(), 2 * HANDLE);
        for other in [
            of(2, Kind::Human, "ann"),
            of(1, Kind::Bot, "ann"),
            of(1, Kind::Human, "anna"),
        ] {
            assert_ne!(ann, other);
        }
    }
}
