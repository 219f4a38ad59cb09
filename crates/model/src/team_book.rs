//! Which game types have which names of teams.

use std::collections::BTreeMap;

use super::{PatternError, Patterns, TeamNames};

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
    use super::*;

    #[test]
    fn a_game_type_has_the_names_of_its_pattern() {
        let red = TeamNames::try_from(vec!["Red".to_owned(), "Blue".to_owned()]).unwrap();
        let book = TeamBook::new(&[("baseoa.*".to_owned(), red.clone())].into()).unwrap();
        assert_eq!(book.of("baseoa.ctf"), red);
        assert_eq!(book.of("tf.ctf"), TeamNames::default());
        assert!(TeamBook::new(&[("[".to_owned(), red)].into()).is_err());
    }
}
