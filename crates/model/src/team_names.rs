//! What the teams of a game are called, for people. Programs count them from 0.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::MAX_TEAMS;

/// The most characters of a name.
const LONGEST: usize = 30;

/// The names of the teams of a game, in their order; without names, they are "team 0", "team 1", and so on.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Vec<String>")]
pub struct TeamNames(Vec<String>);

/// Names that are colours, with the number of the team whose colour it is on the pages.
const COLOURS: [(&str, usize); 9] = [
    ("red", 0),
    ("blue", 1),
    ("green", 2),
    ("yellow", 3),
    ("gold", 3),
    ("purple", 4),
    ("cyan", 5),
    ("pink", 6),
    ("grey", 7),
];

impl TryFrom<Vec<String>> for TeamNames {
    type Error = String;

    fn try_from(names: Vec<String>) -> Result<Self, String> {
        let fits = |name: &String| (1..=LONGEST).contains(&name.trim().chars().count());
        let control = |name: &String| name.chars().any(char::is_control);
        if !(2..=MAX_TEAMS).contains(&names.len()) {
            return Err(format!("must be 2 to {MAX_TEAMS} names"));
        }
        match names.iter().all(|name| fits(name) && !control(name)) {
            true => Ok(Self(
                names
                    .into_iter()
                    .map(|name| name.trim().to_owned())
                    .collect(),
            )),
            false => Err(format!("a name must have 1 to {LONGEST} characters")),
        }
    }
}

impl TeamNames {
    /// The name of a team within a sentence: `Red`, or `team 0`.
    pub fn name(&self, team: usize) -> String {
        let known = self.0.get(team);
        known.map_or_else(|| format!("team {team}"), Clone::clone)
    }

    /// The name of a team at the beginning of a sentence: `Red`, or `Team 0`.
    pub fn title(&self, team: usize) -> String {
        let known = self.0.get(team);
        known.map_or_else(|| format!("Team {team}"), Clone::clone)
    }

    /// The number of the team whose colour this team has on the pages: that of its name if all names are different
    /// colours, else its own.
    pub fn colour(&self, team: usize) -> usize {
        let number = |name: &String| {
            let name = name.to_lowercase();
            let found = COLOURS.iter().find(|(colour, _)| *colour == name);
            found.map(|(_, number)| *number)
        };
        let colours: Option<Vec<usize>> = self.0.iter().map(number).collect();
        let different = |colours: &Vec<usize>| {
            let all: BTreeSet<_> = colours.iter().collect();
            all.len() == colours.len()
        };
        let colours = colours.filter(different);
        colours
            .and_then(|colours| colours.get(team).copied())
            .unwrap_or(team)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(names: &[&str]) -> Result<TeamNames, String> {
        let names: Vec<String> = names.iter().map(|&name| name.to_owned()).collect();
        TeamNames::try_from(names)
    }

    #[test]
    fn teams_without_names_are_counted_from_0() {
        let none = TeamNames::default();
        assert_eq!(
            (none.name(1), none.title(0)),
            ("team 1".into(), "Team 0".into())
        );
        assert_eq!(none.colour(5), 5);
    }

    #[test]
    fn a_name_that_is_a_colour_has_it() {
        let named = names(&["Blue", " RED "]).unwrap();
        assert_eq!(
            (named.name(1), named.title(0)),
            ("RED".into(), "Blue".into())
        );
        assert_eq!([0, 1, 2].map(|team| named.colour(team)), [1, 0, 2]);
        assert_eq!(named.name(2), "team 2");
        for other in [["Marines", "Red"], ["Gold", "Yellow"]] {
            let other = names(&other).unwrap();
            assert_eq!(
                [0, 1].map(|team| other.colour(team)),
                [0, 1],
                "they must differ"
            );
        }
    }

    #[test]
    fn names_that_do_not_fit_are_refused() {
        assert!(names(&["one"]).is_err() && names(&["x"; 9]).is_err());
        assert!(names(&["", "b"]).is_err() && names(&["a\n", "b"]).is_err());
        assert!(names(&["a", &"é".repeat(LONGEST)]).is_ok());
        assert!(names(&["a", &"é".repeat(LONGEST + 1)]).is_err());
    }
}
