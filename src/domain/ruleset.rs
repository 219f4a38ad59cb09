//! A ruleset: games of one ruleset are rated together.

use std::{collections::BTreeSet, fmt};

use serde::{Deserialize, Serialize};

/// A game type and its sorted set of gameplay mutators, in their canonical (lower-case) spelling.
///
/// Made by a [`Rulebook`](super::Rulebook), which knows the aliases and which mutators count.
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

    /// The canonical game type.
    pub fn game_type(&self) -> &str {
        &self.game_type
    }

    /// The gameplay mutators, sorted.
    pub fn mutators(&self) -> impl Iterator<Item = &str> {
        self.mutators.iter().map(String::as_str)
    }

    /// Whether this is the other's game type with fewer gameplay mutators: some of the other's, or none.
    pub fn is_simpler(&self, other: &Ruleset) -> bool {
        self.game_type == other.game_type
            && self.mutators.len() < other.mutators.len()
            && self.mutators.is_subset(&other.mutators)
    }

    /// The rulesets whose weights apply, best first: this one, then the game type without mutators.
    pub fn fallbacks(&self) -> impl Iterator<Item = Ruleset> {
        let bare =
            (!self.mutators.is_empty()).then(|| Self::new(self.game_type.clone(), BTreeSet::new()));
        std::iter::once(self.clone()).chain(bare)
    }
}

/// `baseoa.ctf`, or `baseoa.ctf+g_instantgib` with mutators. Backslash keeps a `+` of a name apart,
/// so that two rulesets never share a key.
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
