//! Identities of players: the bytes that a game sent, their text, the kind of player, and which identities are
//! nobody's.
//!
//! Where a game knows people by their names alone, nobody can say who has played under a name that two people had at the
//! same time, or under the one that the game gives to all who choose none. Such players are players of their match, under
//! an identity that no other match has a use for, and nothing is learned about them.

use std::{borrow::Cow, collections::BTreeSet};

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::worded;

/// An identifier as a game sent it: its bytes, which replies repeat, and its text, which is looked up
/// and stored.
///
/// Bytes that are not UTF-8 are read as Windows-1252, in which games from 1999 to 2004 write names.
/// Every byte has a meaning there.
#[derive(Clone, Debug)]
pub struct Ident {
    raw: Box<[u8]>,
    text: Box<str>,
}

impl Ident {
    /// An identifier that was sent as `raw`, and whose text is `content`: the same bytes without quotes.
    pub fn new(raw: &[u8], content: &[u8]) -> Self {
        // Copied, so that an identifier in a roster does not keep the read buffer alive.
        Self {
            raw: raw.into(),
            text: decode(content).into(),
        }
    }

    /// An identifier whose bytes are the UTF-8 of its text.
    pub fn from_text(text: &str) -> Self {
        Self {
            raw: text.as_bytes().into(),
            text: text.into(),
        }
    }

    /// The bytes as sent, for replies.
    pub fn raw(&self) -> &[u8] {
        &self.raw
    }

    /// The text to look up and to store.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Whether this is a placeholder that games send for players without an identity: empty, or
    /// only zeros, dashes and spaces.
    pub fn is_nobody(&self) -> bool {
        self.text.chars().all(|c| matches!(c, '0' | '-' | ' '))
    }
}

/// An identifier as JSON: only its text, if its bytes are the same, else both.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum StoredIdent<'a> {
    Text(Cow<'a, str>),
    Sent {
        text: Cow<'a, str>,
        raw: Cow<'a, [u8]>,
    },
}

impl Serialize for Ident {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let same = *self.raw == *self.text.as_bytes();
        if !to.is_human_readable() {
            return (&self.text, (!same).then_some(&self.raw)).serialize(to);
        }
        let text = Cow::Borrowed(&*self.text);
        let stored = match same {
            true => StoredIdent::Text(text),
            false => StoredIdent::Sent {
                text,
                raw: Cow::Borrowed(&*self.raw),
            },
        };
        stored.serialize(to)
    }
}

impl<'de> Deserialize<'de> for Ident {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        if !from.is_human_readable() {
            let (text, raw) = <(Box<str>, Option<Box<[u8]>>)>::deserialize(from)?;
            let raw = raw.unwrap_or_else(|| text.as_bytes().into());
            return Ok(Self { raw, text });
        }
        Ok(match StoredIdent::deserialize(from)? {
            StoredIdent::Text(text) => Self::from_text(&text),
            StoredIdent::Sent { text, raw } => Self {
                raw: raw.as_ref().into(),
                text: text.as_ref().into(),
            },
        })
    }
}

/// Two identifiers are equal if their texts are, whatever their bytes.
impl PartialEq for Ident {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl Eq for Ident {}

/// Decodes bytes from a game: as UTF-8 if they are valid, otherwise as Windows-1252.
pub fn decode(bytes: &[u8]) -> Cow<'_, str> {
    match std::str::from_utf8(bytes) {
        Ok(text) => text.into(),
        Err(_) => {
            encoding_rs::WINDOWS_1252
                .decode_without_bom_handling(bytes)
                .0
        }
    }
}

worded! {
    /// The kind of a player. Humans and bots are rated separately, even if they share a name.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
    pub enum Kind {
        /// A person who plays.
        Human = "human",
        /// A player that the game itself controls.
        Bot = "bot",
    }
}

/// The player to whom a weight belongs: a human's most reliable identity, or a bot's name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct PlayerKey {
    /// Whether it is a human or a bot.
    pub kind: Kind,
    /// The human's identity or the bot's name; never empty.
    pub id: String,
}

/// Whether at least half of each of two groups of people is in the other.
pub fn are_mostly_the_same<T: Ord>(one: &BTreeSet<T>, other: &BTreeSet<T>) -> bool {
    let common = one.intersection(other).count();
    common > 0 && 2 * common >= one.len().max(other.len())
}

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
    fn bytes_that_are_not_utf8_are_windows_1252() {
        let ident = Ident::new(b"Ren\xe9\x80", b"Ren\xe9\x80");
        assert_eq!(ident.text(), "René€");
        assert_eq!(ident.raw(), b"Ren\xe9\x80");
        assert_eq!(ident, Ident::from_text("René€"));
    }

    #[test]
    fn stored_identifiers_keep_their_bytes() {
        let plain = Ident::from_text("René");
        assert_eq!(serde_json::to_string(&plain).unwrap(), "\"René\"");
        let sent = Ident::new(b"\"Ren\xe9\"", b"Ren\xe9");
        let json = serde_json::to_string(&sent).unwrap();
        let back: Ident = serde_json::from_str(&json).unwrap();
        assert_eq!((back.text(), back.raw()), (sent.text(), sent.raw()));
        for ident in [plain, sent] {
            let bytes = postcard::to_stdvec(&ident).unwrap();
            let back: Ident = postcard::from_bytes(&bytes).unwrap();
            assert_eq!((back.text(), back.raw()), (ident.text(), ident.raw()));
        }
    }

    #[test]
    fn what_everybody_is_called_is_nobody() {
        for shared in ["", "0", "00000000000000000000000000000000", "0000-00", " "] {
            assert!(Ident::from_text(shared).is_nobody(), "{shared}");
        }
        for own in ["01", "x", "-x-", "000a"] {
            assert!(!Ident::from_text(own).is_nobody(), "{own}");
        }
    }

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
