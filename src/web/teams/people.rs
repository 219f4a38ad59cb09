//! Who plays: players whom the leaderboard has, and new ones.

use super::names::{identity, key};
use crate::{
    learning::BoardRow,
    model::{Timestamp, plain_name},
};

/// A player whom the leaderboard of the ruleset has.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Known {
    pub(super) handle: String,
    /// The name as it is shown.
    pub(super) name: String,
    /// The name as the game sent it; empty if it must not be shown.
    raw: String,
    /// The identity in lower case; never shown.
    pub(super) id: String,
    pub(super) games: i64,
    pub(super) last_seen: Timestamp,
}

impl Known {
    pub(super) fn new(row: &BoardRow) -> Self {
        Self {
            handle: row.handle.clone(),
            name: plain_name(&row.name),
            raw: row.name.clone(),
            id: row.key.id.to_lowercase(),
            games: row.games,
            last_seen: row.last_seen,
        }
    }

    /// Whether this name, in any case, is the player's name or identity.
    pub(super) fn is_called(&self, name: &str) -> bool {
        key(&self.name) == key(name) || self.id == key(name) || self.id == identity(name)
    }
}

/// Somebody who plays.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Person {
    Known(Known),
    /// Nobody of this name is known, and that is right.
    New(String),
}

impl Person {
    /// How `/v1` names the player: by the handle, or by the identity that the new one gets.
    pub(super) fn id(&self) -> String {
        match self {
            Self::Known(known) => known.handle.clone(),
            Self::New(name) => identity(name),
        }
    }

    /// Whether this was the player's [`id`](Self::id), now or as a new player.
    pub(super) fn had_id(&self, id: &str) -> bool {
        match self {
            Self::Known(known) => known.handle == id || known.id == id,
            Self::New(name) => identity(name) == id,
        }
    }

    /// The player, unless it is a new one.
    pub(super) fn known(self) -> Option<Known> {
        match self {
            Self::Known(known) => Some(known),
            Self::New(_) => None,
        }
    }

    pub(super) fn name(&self) -> &str {
        match self {
            Self::Known(known) => &known.name,
            Self::New(name) => name,
        }
    }

    /// The name under which a match records the player; `None` if it is not known.
    pub(super) fn recorded_name(&self) -> Option<&str> {
        let name = match self {
            Self::Known(known) => &known.raw,
            Self::New(name) => name,
        };
        Some(name.as_str()).filter(|name| !name.is_empty())
    }

    /// How a form names the player.
    pub(super) fn value(&self) -> String {
        match self {
            Self::Known(known) => format!("on:{}", known.handle),
            Self::New(name) => format!("new:{name}"),
        }
    }

    /// Whether the player is the one whom this name means.
    fn is_called(&self, name: &str) -> bool {
        match self {
            Self::Known(known) => known.is_called(name),
            Self::New(own) => identity(own) == identity(name),
        }
    }
}

/// Which of these people a wish means by a name; a slip is understood if only one can be meant.
pub(super) fn meant(name: &str, people: &[Person]) -> Option<usize> {
    let called = people.iter().position(|one| one.is_called(name));
    let like = |at: &usize| strsim::osa_distance(&key(people[*at].name()), &key(name)) < 2;
    called.or_else(|| {
        let mut alike = (0..people.len()).filter(like);
        let only = alike.next()?;
        alike.next().is_none().then_some(only)
    })
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    pub(in super::super) fn known(name: &str, id: &str) -> Known {
        Known {
            handle: format!("h-{id}"),
            name: name.to_owned(),
            raw: name.to_owned(),
            id: id.to_owned(),
            games: 1,
            last_seen: Timestamp(0),
        }
    }

    #[test]
    fn a_wish_means_somebody_who_plays() {
        let people = [
            Person::Known(known("Ann", "ann")),
            Person::New("Anna Lee".to_owned()),
        ];
        let meant = |name| meant(name, &people);
        assert_eq!(meant("ANN"), Some(0));
        assert_eq!(meant("ana"), Some(0));
        assert_eq!(meant("anna-lee"), Some(1));
        assert_eq!(meant("Anna Leo"), Some(1));
        assert_eq!(meant("Zoe"), None);
        let twins = ["Tim", "Tom"].map(|name| Person::New(name.to_owned()));
        assert_eq!(super::meant("Tam", &twins), None);
    }
}
