//! Identities that are nobody's.
//!
//! Where a game knows people by their names alone, nobody can say who has played under a name that two people had at the
//! same time, or under the one that the game gives to all who choose none. Such players are players of their match, under
//! an identity that no other match has a use for, and nothing is learned about them.

use super::PlayerKey;

/// What the identities begin with of players whose name somebody else had at the same time.
const TWICE: &str = "name in use twice: ";
/// What the identities begin with of players who have the name that everybody has.
const DEFAULT: &str = "name of nobody: ";

/// The names that games give to players without one of their own, in small letters.
const DEFAULT_NAMES: [&str; 18] = [
    "unnamedplayer",  // id Tech 3
    "new urt player", // Urban Terror
    "player",         // Unreal Tournament, DarkPlaces, Half-Life
    "newbie",         // Nexuiz
    "anonymous",      // Xonotic
    "anonymous player",
    "nameless tee", // Teeworlds
    "brainless tee",
    "unnamed", // Source
    "unconnected",
    "unknown",
    "noname",
    "no name",
    "nameless",
    "newplayer",
    "new player",
    "default",
    "<unknown>",
];

/// Whether a name is one that a game gives to everybody who has not chosen one. A server may have added a number in
/// parentheses to tell such players apart.
pub fn is_default_name(name: &str) -> bool {
    let name = name.trim().to_lowercase();
    let bare = |name: &str| {
        let number = |text: &str| text.bytes().all(|b| b.is_ascii_digit());
        if let Some((count, rest)) = name.strip_prefix('(').and_then(|rest| rest.split_once(')'))
            && number(count)
        {
            return rest.trim().to_owned();
        }
        match name
            .strip_suffix(')')
            .and_then(|rest| rest.rsplit_once('('))
        {
            Some((rest, count)) if number(count) => rest.trim().to_owned(),
            _ => name.to_owned(),
        }
    };
    DEFAULT_NAMES.contains(&bare(&name).as_str())
}

/// Why an identity is nobody's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Nobody {
    /// Somebody else had the name at the same time.
    Twice,
    /// The name is the one that the game gives to everybody.
    Default,
}

impl Nobody {
    const ALL: [Self; 2] = [Self::Twice, Self::Default];

    fn prefix(self) -> &'static str {
        match self {
            Self::Twice => TWICE,
            Self::Default => DEFAULT,
        }
    }
}

impl PlayerKey {
    /// The identity, which is nobody's for this reason, of the player who has this number on a server.
    #[must_use]
    pub fn of_nobody(&self, why: Nobody, number: u32) -> Self {
        let id = format!("{}{} ({number})", why.prefix(), self.id);
        Self { id, ..*self }
    }

    /// The same of a finished match whose log calls all such players by one identity; they are numbered from 1.
    #[must_use]
    pub fn split(&self, why: Nobody, number: usize) -> Self {
        let id = format!("{}{} #{number}", why.prefix(), self.id);
        Self { id, ..*self }
    }

    /// The identity that the log gives a player, if it was split.
    pub fn unsplit(&self) -> Option<Self> {
        let mut rests = Nobody::ALL
            .iter()
            .filter_map(|why| self.id.strip_prefix(why.prefix()));
        let (id, number) = rests.next()?.rsplit_once(" #")?;
        let is_number = !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit());
        (is_number && !id.is_empty()).then(|| Self {
            id: id.to_owned(),
            ..*self
        })
    }

    /// Why this identity is nobody's, if it is.
    pub fn nobody(&self) -> Option<Nobody> {
        is_reserved(&self.id)
    }
}

/// Why an identity that begins like this is nobody's: no player may choose such a name.
pub(crate) fn is_reserved(id: &str) -> Option<Nobody> {
    Nobody::ALL
        .into_iter()
        .find(|why| id.starts_with(why.prefix()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Kind;

    #[test]
    fn names_that_everybody_has() {
        for name in [
            "UnnamedPlayer",
            "Player",
            "nameless tee",
            "(1)nameless tee",
            "Newbie",
            "player (2)",
            " PLAYER ",
        ] {
            assert!(is_default_name(name), "{name}");
        }
        for name in ["ann", "Player1", "playerone", "", "(1)", "the player"] {
            assert!(!is_default_name(name), "{name}");
        }
    }

    #[test]
    fn a_split_identity_tells_what_the_log_said() {
        let key = |id: &str| PlayerKey {
            kind: Kind::Human,
            id: id.to_owned(),
        };
        let bob = key("bob #3");
        let split = bob.split(Nobody::Twice, 2);
        assert_eq!(split.id, "name in use twice: bob #3 #2");
        assert_eq!(
            (split.nobody(), split.unsplit()),
            (Some(Nobody::Twice), Some(bob.clone()))
        );
        let live = bob.of_nobody(Nobody::Default, 7);
        assert_eq!(live.id, "name of nobody: bob #3 (7)");
        assert_eq!(
            (live.nobody(), live.unsplit()),
            (Some(Nobody::Default), None)
        );
        assert_eq!((bob.nobody(), bob.unsplit()), (None, None));
    }
}
