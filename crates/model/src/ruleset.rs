//! A ruleset: the games that are rated together.

use std::{collections::BTreeSet, fmt};

use serde::{Deserialize, Serialize};

/// A game type and its sorted set of gameplay mutators, in their canonical (lower-case) spelling.
///
/// [`Rulebook::ruleset`](super::Rulebook::ruleset) makes it: it resolves aliases and drops mutators
/// that do not affect play.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Ruleset {
    game_type: String,
    mutators: BTreeSet<String>,
}

impl Ruleset {
    pub(super) fn new(game_type: String, mutators: BTreeSet<String>) -> Self {
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

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
}
