//! Persons: the players on the pages, with their handles.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

use crate::{
    model::{Kind, PlayerKey, is_guid, to_hex},
    store::{
        RulingRow, StoreError,
        db::*,
        sql::{
            rows::{ROWS, Target, write},
            state,
        },
    },
};

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

/// The name of a player as others may see it: empty if the game knows no name but a guid, which is a
/// secret.
pub fn public_name(key: &PlayerKey, name: String) -> String {
    match key.kind == Kind::Human && name == key.id && is_guid(&key.id) {
        true => String::new(),
        false => name,
    }
}

/// Hides the player $3 if $2, who counts as that one from now on, is hidden: whoever wished to be hidden stays so.
pub(in crate::store) const STAYS_HIDDEN: &str = "INSERT INTO player_settings (kind, player, hidden)
     SELECT kind, CAST($3 AS TEXT), TRUE FROM player_settings WHERE kind = $1 AND player = $2 AND hidden
     ON CONFLICT (kind, player) DO UPDATE SET hidden = excluded.hidden";

/// Lets identities count as the one form under which their players are known, on pages and for commands; what an operator
/// has merged stays so. Nothing is learned anew: who learns knows the forms.
pub(in crate::store) async fn add_accounts(
    tx: &mut Connection,
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
    tx: &mut Connection,
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
async fn known(tx: &mut Connection, keys: &[&PlayerKey]) -> Result<Persons, StoreError> {
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
    use super::*;

    #[test]
    fn a_guid_is_no_name() {
        let public = |kind, id: &str, name: &str| {
            let id = id.to_owned();
            public_name(&PlayerKey { kind, id }, name.to_owned())
        };
        let guid = "0123456789abcdef0123456789ABCDEF";
        assert_eq!(public(Kind::Human, guid, guid), "");
        assert_eq!(public(Kind::Human, guid, "Ann"), "Ann");
        assert_eq!(public(Kind::Human, "STEAM_0:1:2", "STEAM_0:1:2"), "");
        assert_eq!(
            public(Kind::Human, "Boring John", "Boring John"),
            "Boring John"
        );
        assert_eq!(public(Kind::Bot, "abcdef", "abcdef"), "abcdef");
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
