//! The server's game, map and settings, from which the ruleset of a match follows.

use std::collections::BTreeMap;

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
