//! Which games are rated together: the ruleset of a match, and the lists of the operator that decide it: which names
//! mean the same game type, which mutators affect play, how each game type is scored and what its teams are called.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
};

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};
use serde::{Deserialize, Serialize};

use crate::team_names::TeamNames;

/// A pattern that is not a valid glob.
#[derive(Debug, thiserror::Error)]
#[error("{list}: {source}")]
pub struct PatternError {
    /// Name of the list that contains the pattern.
    pub list: &'static str,
    /// What is wrong with it.
    #[source]
    pub source: globset::Error,
}

/// What the ratings of a game type are computed from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scoring {
    /// Points that a team scores and concedes while a player is on it.
    TeamPoints,
    /// Kills and deaths of each player: for game types without teams.
    Frags,
}

/// How a mutator that is on no list is treated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Unknown {
    /// It affects play, so that games with it have a ruleset of their own.
    #[default]
    Gameplay,
    /// It does not affect play.
    Ignore,
}

/// The lists that make a [`Rulebook`], by default empty. Patterns are case-insensitive globs.
#[derive(Clone, Debug, Default, Serialize)]
pub struct RulebookSpec {
    /// Which mutators affect play.
    #[serde(flatten)]
    pub mutators: MutatorLists,
    /// The names of game types, and how they are scored.
    #[serde(flatten)]
    pub game_types: GameTypeLists,
}

/// Which mutators affect play.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MutatorLists {
    /// Mutators that affect play. A name on both lists affects play.
    pub gameplay: Vec<String>,
    /// Mutators that do not affect play.
    pub ignore: Vec<String>,
    /// How to treat mutators on neither list.
    pub unknown: Unknown,
}

/// The names of game types, and how they are scored.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GameTypeLists {
    /// Other names of a game type: alias → name.
    pub aliases: BTreeMap<String, String>,
    /// Game types without teams.
    pub free_for_all: Vec<String>,
    /// Game types scored by frags and deaths instead of team points.
    pub frags: Vec<String>,
    /// Game types whose modes are rulesets of their own.
    pub modes: Vec<String>,
    /// The names of the teams by patterns of game types. No weight depends on them, so that they are not among the
    /// settings that weights are derived by.
    #[serde(default, skip_serializing)]
    pub teams: BTreeMap<String, TeamNames>,
}

/// Decides which ruleset a game belongs to, and how it is scored.
#[derive(Clone, Debug)]
pub struct Rulebook {
    gameplay: GlobSet,
    ignore: GlobSet,
    unknown: Unknown,
    aliases: BTreeMap<String, String>,
    free_for_all: GlobSet,
    frags: GlobSet,
    modes: GlobSet,
}

impl Rulebook {
    /// Compiles the lists into a rulebook.
    ///
    /// # Errors
    /// Returns the first pattern that is not a valid glob.
    pub fn new(spec: &RulebookSpec) -> Result<Self, PatternError> {
        let (mutators, game_types) = (&spec.mutators, &spec.game_types);
        let aliases = &game_types.aliases;
        Ok(Self {
            gameplay: globs("gameplay", &mutators.gameplay)?,
            ignore: globs("ignore", &mutators.ignore)?,
            unknown: mutators.unknown,
            aliases: aliases
                .iter()
                .map(|(a, name)| (fold(a), fold(name)))
                .collect(),
            free_for_all: globs("free_for_all", &game_types.free_for_all)?,
            frags: globs("frags", &game_types.frags)?,
            modes: globs("modes", &game_types.modes)?,
        })
    }

    /// The ruleset of a game of this type with these mutators active, named as the game names them.
    pub fn ruleset<S: AsRef<str>>(&self, game_type: &str, mutators: &[S]) -> Ruleset {
        let mutators = mutators.iter().map(AsRef::as_ref);
        let counted = mutators.filter(|name| self.affects_play(name)).map(fold);
        Ruleset::new(self.game_type(game_type), counted.collect::<BTreeSet<_>>())
    }

    /// The ruleset of a game of this type and mode, with these mutators active.
    pub fn ruleset_of_mode<S: AsRef<str>>(
        &self,
        game_type: &str,
        mode: &str,
        mutators: &[S],
    ) -> Ruleset {
        let mode = mode.trim();
        if mode.is_empty() || !self.modes.is_match(self.bare_type(game_type)) {
            return self.ruleset(game_type, mutators);
        }
        self.ruleset(&format!("{game_type}/{mode}"), mutators)
    }

    /// Whether a mutator affects play, and so belongs to the ruleset.
    pub fn affects_play(&self, mutator: &str) -> bool {
        if self.gameplay.is_match(mutator) {
            true
        } else if self.ignore.is_match(mutator) {
            false
        } else {
            self.unknown == Unknown::Gameplay
        }
    }

    /// Whether games of this type are played in teams.
    pub fn is_team_game(&self, game_type: &str) -> bool {
        !self.free_for_all.is_match(self.bare_type(game_type))
    }

    /// How games of this type are scored: by team points, or by frags.
    pub fn scoring(&self, game_type: &str) -> Scoring {
        if self.frags.is_match(self.bare_type(game_type)) {
            Scoring::Frags
        } else {
            Scoring::TeamPoints
        }
    }

    /// The canonical name of a game type: in lower case, and with aliases resolved. Where modes are
    /// rulesets of their own, a mode can follow the name after a slash: `ctf/5 captures`.
    pub fn game_type(&self, name: &str) -> String {
        match self.split_mode(name) {
            (game_type, Some(mode)) => format!("{game_type}/{mode}"),
            (game_type, None) => game_type,
        }
    }

    /// The canonical name of a game type, without a mode.
    pub fn bare_type(&self, name: &str) -> String {
        self.split_mode(name).0
    }

    /// The canonical name of a game type and its mode, where its modes are rulesets of their own.
    fn split_mode(&self, name: &str) -> (String, Option<String>) {
        let name = fold(name);
        if let Some((game_type, mode)) = name.split_once('/') {
            let game_type = self.resolve(game_type.trim());
            if self.modes.is_match(&game_type) {
                return (game_type, Some(mode.trim().to_owned()));
            }
        }
        (self.resolve(&name), None)
    }

    /// The game type that a folded name is an alias of, or that name.
    fn resolve(&self, name: &str) -> String {
        self.aliases
            .get(name)
            .map_or(name, String::as_str)
            .to_owned()
    }
}

/// Case-insensitive globs over the canonical names of game types.
#[derive(Clone, Debug, Default)]
pub struct Patterns(GlobSet);

impl Patterns {
    /// Compiles the patterns; `list` is the name of the list in errors.
    ///
    /// # Errors
    /// Returns the first pattern that is not a valid glob.
    pub fn new(list: &'static str, patterns: &[String]) -> Result<Self, PatternError> {
        Ok(Self(globs(list, patterns)?))
    }

    /// Whether one of the patterns matches this name.
    pub fn matches(&self, name: &str) -> bool {
        self.0.is_match(name)
    }
}

/// Normalises a name: names of game types and mutators are case-insensitive, as in UnrealScript.
fn fold(name: &str) -> String {
    name.trim().to_lowercase()
}

fn globs(list: &'static str, patterns: &[String]) -> Result<GlobSet, PatternError> {
    let wrap = |source| PatternError { list, source };
    let mut set = GlobSetBuilder::new();
    for pattern in patterns {
        let glob = GlobBuilder::new(pattern).case_insensitive(true).build();
        set.add(glob.map_err(wrap)?);
    }
    set.build().map_err(wrap)
}

/// A game type and its sorted set of gameplay mutators, in their canonical (lower-case) spelling.
///
/// [`Rulebook::ruleset`](crate::Rulebook::ruleset) makes it: it resolves aliases and drops mutators
/// that do not affect play.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Ruleset {
    game_type: String,
    mutators: BTreeSet<String>,
}

impl Ruleset {
    pub(crate) fn new(game_type: String, mutators: BTreeSet<String>) -> Self {
        Self {
            game_type,
            mutators,
        }
    }

    /// The ruleset that has this key: the reverse of the formatting. The key is taken as it is, without a
    /// rulebook.
    pub fn parse(key: &str) -> Self {
        let mut names = vec![String::new()];
        let mut letters = key.chars();
        while let Some(letter) = letters.next() {
            let letter = match letter {
                '+' => {
                    names.push(String::new());
                    continue;
                }
                '\\' => letters.next().unwrap_or('\\'),
                letter => letter,
            };
            if let Some(name) = names.last_mut() {
                name.push(letter);
            }
        }
        let mut names = names.into_iter();
        let game_type = names.next().unwrap_or_default();
        Self::new(game_type, names.collect())
    }

    /// The one of a game type that comes before all others of this type, which follow it in their order without those of other
    /// types: without mutators.
    pub fn first_of(game_type: &str) -> Self {
        Self::new(game_type.to_owned(), BTreeSet::new())
    }

    /// The game type, in its canonical spelling.
    pub fn game_type(&self) -> &str {
        &self.game_type
    }

    /// The gameplay mutators, in their canonical spelling, sorted.
    pub fn mutators(&self) -> impl Iterator<Item = &str> {
        self.mutators.iter().map(String::as_str)
    }

    /// Whether this ruleset has the same game type as `other` and a proper subset of its mutators.
    pub fn is_simpler(&self, other: &Ruleset) -> bool {
        self.game_type == other.game_type
            && self.mutators.len() < other.mutators.len()
            && self.mutators.is_subset(&other.mutators)
    }
}

/// Formats the key, such as `baseoa.ctf`, or `baseoa.ctf+g_instantgib` with mutators. A backslash
/// escapes a `+` in a name, so that different rulesets never have the same key.
impl fmt::Display for Ruleset {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let escape = |name: &str| name.replace('\\', "\\\\").replace('+', "\\+");
        f.write_str(&escape(&self.game_type))?;
        for mutator in &self.mutators {
            write!(f, "+{}", escape(mutator))?;
        }
        Ok(())
    }
}

/// The names of the teams of all games.
#[derive(Clone, Debug, Default)]
pub struct TeamBook(Vec<(Patterns, TeamNames)>);

impl TeamBook {
    /// The names by patterns of game types.
    ///
    /// # Errors
    /// Returns the first pattern that is not a valid glob.
    pub fn new(names: &BTreeMap<String, TeamNames>) -> Result<Self, PatternError> {
        let entry = |(pattern, names): (&String, &TeamNames)| {
            let pattern = Patterns::new("teams", std::slice::from_ref(pattern))?;
            Ok((pattern, names.clone()))
        };
        Ok(Self(names.iter().map(entry).collect::<Result<_, _>>()?))
    }

    /// The names of the teams of a game type by its canonical name: those of the first pattern that matches it.
    pub fn of(&self, game_type: &str) -> TeamNames {
        let found = self
            .0
            .iter()
            .find(|(pattern, _)| pattern.matches(game_type));
        found.map_or_else(TeamNames::default, |(_, names)| names.clone())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn book(unknown: Unknown) -> Rulebook {
        let list = |names: &[&str]| names.iter().map(|n| (*n).to_owned()).collect();
        let mutators = MutatorLists {
            gameplay: list(&["*instagib*", "g_*"]),
            ignore: list(&["*stats*", "*insta*color*"]),
            unknown,
        };
        let game_types = GameTypeLists {
            aliases: [("ctf".to_owned(), "XGame.xCTFGame".to_owned())].into(),
            free_for_all: list(&["*deathmatch"]),
            frags: list(&["*.xDeathMatch"]),
            modes: list(&["*.xctfgame"]),
            teams: BTreeMap::new(),
        };
        Rulebook::new(&RulebookSpec {
            mutators,
            game_types,
        })
        .unwrap()
    }

    #[test]
    fn a_ruleset_is_folded_sorted_and_without_what_does_not_count() {
        let book = book(Unknown::Ignore);
        let mutators = [
            "XGame.MutInstaGib",
            "OLStats.MutOLGameStats",
            "G_rockets",
            "UTComp",
        ];
        let a = book.ruleset("XGame.xCTFGame", &mutators);
        let b = book.ruleset(
            "CTF ",
            &["g_rockets", "xgame.mutinstagib", "XGAME.MUTINSTAGIB"],
        );
        assert_eq!(a, b);
        assert_eq!(a.to_string(), "xgame.xctfgame+g_rockets+xgame.mutinstagib");
    }

    #[test]
    fn modes_are_rulesets_only_where_the_operator_wants_it() {
        let book = book(Unknown::Ignore);
        let none: [&str; 0] = [];
        let of = |game_type, mode| book.ruleset_of_mode(game_type, mode, &none).to_string();
        assert_eq!(of("CTF", "Five "), "xgame.xctfgame/five");
        assert_eq!(of("ctf", ""), "xgame.xctfgame");
        assert_eq!(of("XGame.xDeathMatch", "five"), "xgame.xdeathmatch");
        // A running game names its mode itself.
        assert_eq!(
            book.ruleset("ctf / five", &none).to_string(),
            of("ctf", "five")
        );
        assert_eq!(book.game_type("dm/five"), "dm/five", "a name of its own");
        assert!(book.is_team_game("ctf/five") && book.scoring("ctf/five") == Scoring::TeamPoints);
    }

    #[test]
    fn the_unknown_go_as_configured() {
        assert!(book(Unknown::Gameplay).affects_play("NewThing"));
        assert!(!book(Unknown::Ignore).affects_play("NewThing"));
        assert!(
            book(Unknown::Ignore).affects_play("InstaGibStats"),
            "on both lists"
        );
    }

    #[test]
    fn keys_of_rulesets_never_collide() {
        let book = book(Unknown::Gameplay);
        let one = book.ruleset("x", &["a+b"]);
        let two = book.ruleset("x", &["a", "b"]);
        let three = book.ruleset("x+a", &["b"]);
        assert_ne!(one.to_string(), two.to_string());
        assert_ne!(two.to_string(), three.to_string());
    }

    #[test]
    fn free_for_all_types_and_scoring() {
        let book = book(Unknown::Ignore);
        assert!(book.is_team_game("ctf") && !book.is_team_game("XGame.xDeathMatch"));
        assert_eq!(book.scoring("xgame.XDEATHMATCH"), Scoring::Frags);
        assert_eq!(book.scoring("ctf"), Scoring::TeamPoints);
    }

    proptest! {
        #[test]
        fn a_key_is_read_back(
            game_type in r"[a-z+\\.]{0,6}",
            mutators in prop::collection::btree_set(r"[a-z+\\ ]{0,4}", 0..4),
            noise in any::<String>(),
        ) {
            let ruleset = Ruleset::new(game_type, mutators);
            prop_assert_eq!(Ruleset::parse(&ruleset.to_string()), ruleset);
            let _ = Ruleset::parse(&noise);
        }

        #[test]
        fn the_rulesets_of_a_type_follow_the_first_of_it(
            all in prop::collection::btree_set(
                (r"[a +]{0,2}", prop::collection::btree_set("[a +]{0,2}", 0..3)),
                0..30,
            ),
            game_type in r"[a +]{0,2}",
        ) {
            let all = all.into_iter().map(|(own, mutators)| Ruleset::new(own, mutators));
            let all: BTreeSet<Ruleset> = all.collect();
            let following = all.range(Ruleset::first_of(&game_type)..);
            let own = following.take_while(|ruleset| ruleset.game_type() == game_type);
            let expected = all.iter().filter(|ruleset| ruleset.game_type() == game_type);
            prop_assert!(own.eq(expected));
        }
    }

    #[test]
    fn a_game_type_has_the_names_of_its_pattern() {
        let red = TeamNames::try_from(vec!["Red".to_owned(), "Blue".to_owned()]).unwrap();
        let book = TeamBook::new(&[("baseoa.*".to_owned(), red.clone())].into()).unwrap();
        assert_eq!(book.of("baseoa.ctf"), red);
        assert_eq!(book.of("tf.ctf"), TeamNames::default());
        assert!(TeamBook::new(&[("[".to_owned(), red)].into()).is_err());
    }
}
