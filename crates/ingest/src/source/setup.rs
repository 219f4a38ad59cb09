//! The server's game, map and settings, from which the ruleset of a match follows, and how that game states its
//! results.

use std::collections::{BTreeMap, BTreeSet};

use super::grammar::SourceEvent;
use crate::text;

/// Gameplay settings, with their defaults. A setting with another value becomes a mutator.
const VARIANTS: [(&str, f64); 5] = [
    ("mp_friendlyfire", 0.0),
    ("mp_highlander", 0.0),
    ("sv_gravity", 800.0),
    ("tf_medieval", 0.0),
    ("tf_weapon_criticals", 1.0),
];

/// The game's name if the log does not state it.
const UNNAMED: &str = "source";

/// The server's game, map and settings, as far as the log states them.
#[derive(Debug, Default)]
pub struct ServerSetup {
    game: String,
    /// Whether a player's id has the form that Counter-Strike writes since its second edition, whose logs have the
    /// folder of its predecessor.
    pub(super) has_new_ids: bool,
    /// The map that is played.
    pub map: String,
    /// Settings that do not have their default value, by name.
    variants: BTreeMap<&'static str, String>,
}

impl ServerSetup {
    /// The setup of a server that runs the game of this folder.
    pub(crate) fn of(folder: &[u8]) -> Self {
        Self {
            game: text::name(folder).to_lowercase(),
            ..Self::default()
        }
    }

    /// Whether this id of a player is the first one of the new form: it may tell which game it is.
    pub(super) fn is_news(&self, auth: &[u8]) -> bool {
        !self.has_new_ids && auth.starts_with(b"[U:")
    }

    /// Takes the map on which a match starts or is over.
    pub(crate) fn name_map(&mut self, map: &[u8]) {
        if !map.is_empty() {
            self.load(map);
        }
    }

    /// Takes the map that the server has loaded.
    pub(crate) fn load(&mut self, map: &[u8]) {
        self.map = text::name(map);
    }

    /// Whether the game is Team Fortress 2, or not named by the log.
    pub(super) fn may_be_tf2(&self) -> bool {
        self.game.is_empty() || (self.game.starts_with("tf") && self.game != "tfc")
    }

    /// Takes a setting, if it is one of [`VARIANTS`].
    pub(crate) fn set(&mut self, name: &[u8], value: &[u8]) {
        let known = VARIANTS.iter().find(|(known, _)| known.as_bytes() == name);
        let Some((name, default)) = known else { return };
        match text::real(value) {
            Some(set) if set != *default => {
                self.variants.insert(name, text::name(value));
            }
            _ => {
                self.variants.remove(name);
            }
        }
    }

    /// The settings that count as mutators, for example `sv_gravity=400`.
    pub fn mutators(&self) -> Vec<String> {
        let name = |(name, value): (&&str, &String)| match value.as_str() {
            "1" => (*name).to_owned(),
            value => format!("{name}={value}"),
        };
        self.variants.iter().map(name).collect()
    }

    /// The game type, for example `tf.ctf`: the folder of the game and the prefix of the map's
    /// name. If the log does not state them, `shown` and `seen`, which follow from the events, replace
    /// them.
    pub fn game_type(&self, shown: Option<&'static str>, seen: Option<&'static str>) -> String {
        let game = match self.game.as_str() {
            "" => shown.unwrap_or(UNNAMED),
            stated => stated,
        };
        let game = match game {
            "csgo" if self.has_new_ids => "cs2",
            game => game,
        };
        let prefix = self.map.split_once('_').map(|(prefix, _)| prefix);
        let prefix = prefix.filter(|p| p.len() <= 4 && p.bytes().all(|b| b.is_ascii_alphabetic()));
        let seen = seen.filter(|_| self.map.is_empty());
        match prefix.or(seen) {
            Some(mode) => format!("{game}.{}", mode.to_lowercase()),
            None => game.to_owned(),
        }
    }
}

/// How the log states the result of a game.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ResultStyle {
    /// With lines of its own, after the game's end.
    #[default]
    Finals,
    /// As Counter-Strike does, which states the score after each round.
    Rounds {
        /// Whether a line marks the end of a match, as in Counter-Strike: Global Offensive.
        has_end: bool,
    },
}

impl ResultStyle {
    /// The name of the game that an event shows, and how its log states results; `None` if it shows nothing new.
    pub(crate) fn shown_by(self, event: SourceEvent<'_>) -> Option<(&'static str, Self)> {
        let has_end = self == Self::Rounds { has_end: true };
        Some(match event {
            SourceEvent::Over { .. }
            | SourceEvent::MatchStart(_)
            | SourceEvent::Reloaded
            | SourceEvent::WarmUp => ("csgo", Self::Rounds { has_end: true }),
            SourceEvent::Tally(..) | SourceEvent::RoundWon(_) if !has_end => {
                ("cstrike", Self::Rounds { has_end: false })
            }
            SourceEvent::Final(..)
            | SourceEvent::Current(..)
            | SourceEvent::RoundLength(_)
            | SourceEvent::Point(_) => ("tf", Self::Finals),
            SourceEvent::MatchBegins => ("tfc", Self::Finals),
            _ => return None,
        })
    }
}

/// The most names of one game that are kept. A real map has fewer.
const MAX_POINTS: usize = 64;
/// The most bytes of a name that are kept.
const MAX_NAME: usize = 64;

/// The control points that were captured in a game.
#[derive(Debug, Default)]
pub(super) struct ControlPoints(BTreeSet<Vec<u8>>);

impl ControlPoints {
    /// Notes a name, which ends with a quotation mark.
    pub(super) fn note(&mut self, name: &[u8]) {
        let head = &name[..name.len().min(MAX_NAME)];
        let end = memchr::memchr(b'"', head).unwrap_or(head.len());
        let name = &head[..end];
        if self.0.len() < MAX_POINTS && !name.is_empty() && !self.0.contains(name) {
            self.0.insert(name.to_owned());
        }
    }

    /// Takes over the points of the next game, and returns whether it must have been on another map:
    /// points were captured in both games, and none in both.
    pub(super) fn is_other_map(&mut self, next: Self) -> bool {
        if next.0.is_empty() {
            return false;
        }
        let is_other = !self.0.is_empty() && self.0.is_disjoint(&next.0);
        *self = next;
        is_other
    }
}
