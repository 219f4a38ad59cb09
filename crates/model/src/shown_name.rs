//! What others see of a player's name. An identity is shown only where it is a name: elsewhere, whoever knows it may be able
//! to pretend to be that player.
//!
//! A name is stated, or the identity is one, or there is none. Where identities are names, the recorder says so by stating
//! the identity as the name ([`name_of_id`]). A name without a character is none.

use crate::{Kind, PlayerKey, names::is_guid, steam};

/// The fewest digits of an account's number.
const ACCOUNT: usize = 15;
/// The fewest digits of a handle that stand for a player without a name.
pub const NAMELESS_DIGITS: usize = 4;

/// Whether an identity looks like an account, and not like a name: a number of 15 or more digits, also after `d-`, a Steam
/// id in any form, 16 or more hexadecimal digits, or a long key in base 64.
pub fn looks_like_account(id: &str) -> bool {
    let number = id.strip_prefix("d-").unwrap_or(id);
    match number.bytes().all(|b| b.is_ascii_digit()) {
        true => number.len() >= ACCOUNT,
        false => is_guid(id),
    }
}

/// The name of a human of whom none was stated, where identities are names: the identity, and none if it looks like an
/// account.
pub fn name_of_id(id: &str) -> &str {
    if looks_like_account(id) { "" } else { id }
}

/// The name that others may see; `None` if none was stated, or only an account in the place of one.
pub fn own_name(key: &PlayerKey, stated: String) -> Option<String> {
    let repeats = || steam::canonical(&stated) == steam::canonical(&key.id);
    let is_secret = key.kind == Kind::Human && looks_like_account(&stated) && repeats();
    (!stated.is_empty() && !is_secret).then_some(stated)
}

/// What a player without a name is called: `player` with the first digits of the handle, at least four, and as many as
/// no other of these handles begins with.
pub fn nameless<'a>(handle: &str, others: impl IntoIterator<Item = &'a str>) -> String {
    let common = |other: &str| {
        let pairs = handle.bytes().zip(other.bytes());
        pairs.take_while(|(a, b)| a == b).count()
    };
    let others = others.into_iter().filter(|other| *other != handle);
    let taken = others.map(common).max().unwrap_or_default();
    let digits = handle
        .get(..NAMELESS_DIGITS.max(taken + 1))
        .unwrap_or(handle);
    format!("player {digits}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn accounts_are_told_from_names() {
        for account in [
            "123456789012345",
            "76561198000000001",
            "d-123456789012345",
            "d-80351110224678912",
            "0123456789abcdef",
            "0123456789abcdef0123456789ABCDEF",
            "STEAM_0:1:2",
            "STEAM_1:0:1234",
            "[U:1:1234]",
            "U:1:1234",
        ] {
            assert!(looks_like_account(account), "{account}");
            assert_eq!(name_of_id(account), "", "{account}");
        }
        for name in [
            "ann",
            "Boring John",
            "12345678901234",
            "d-12345678901234",
            "d-ann",
            "0123456789abcde",
            "deadbeef",
            "STEAM",
            "Steamer",
        ] {
            assert!(!looks_like_account(name), "{name}");
            assert_eq!(name_of_id(name), name);
        }
    }

    #[test]
    fn a_stated_name_is_shown_and_an_account_in_its_place_is_not() {
        let own = |kind, id: &str, stated: &str| {
            let id = id.to_owned();
            own_name(&PlayerKey { kind, id }, stated.to_owned())
        };
        let guid = "0123456789abcdef0123456789ABCDEF";
        let table = [
            // Not stated.
            (Kind::Human, "ann", "", None),
            (Kind::Human, guid, "", None),
            // Stated, or the identity is a name.
            (Kind::Human, guid, "Ann", Some("Ann")),
            (Kind::Human, "ann", "ann", Some("ann")),
            (
                Kind::Human,
                "Boring John",
                "Boring John",
                Some("Boring John"),
            ),
            // Somebody calls themselves like an account, and it is not theirs.
            (Kind::Human, "ann", guid, Some(guid)),
            // The identity in the place of a name.
            (Kind::Human, guid, guid, None),
            (Kind::Human, "STEAM_0:1:2", "STEAM_0:1:2", None),
            (Kind::Human, "d-123456789012345", "d-123456789012345", None),
            (
                Kind::Bot,
                "abcdef0123456789",
                "abcdef0123456789",
                Some("abcdef0123456789"),
            ),
        ];
        for (kind, id, stated, shown) in table {
            assert_eq!(own(kind, id, stated).as_deref(), shown, "{id} {stated}");
        }
    }

    #[test]
    fn players_without_a_name_have_as_many_digits_as_are_unique() {
        let handle = "3f9ac1d20b";
        let table: [(&[&str], &str); 6] = [
            (&[], "player 3f9a"),
            (&[handle], "player 3f9a"),
            (&["3f90000000", "a000000000"], "player 3f9a"),
            (&["3f9a000000"], "player 3f9ac"),
            (&["3f9a000000", "3f9ac10000"], "player 3f9ac1d"),
            (&["3f9ac1d20a"], "player 3f9ac1d20b"),
        ];
        for (others, shown) in table {
            assert_eq!(nameless(handle, others.iter().copied()), shown);
        }
        assert_eq!(nameless("3f", ["3f9a"]), "player 3f");
    }
}
