//! What teams, roles and players are called, for people. Programs count teams from 0.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::record::MAX_TEAMS;

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

/// What sentences call players and teams, for somebody who knows them by other words than the daemon.
///
/// A sentence gets its names while it is written. Nothing is replaced in one that is complete: a name can be any text,
/// and so a part of any word, of a number, and of another name.
#[derive(Clone, Debug, Default)]
pub struct Naming {
    /// The names of players, by identity; the others are called by their identities.
    players: BTreeMap<String, String>,
    teams: TeamNames,
}

impl Naming {
    /// Names of players, by identity, and of teams.
    pub fn new(players: BTreeMap<String, String>, teams: TeamNames) -> Self {
        Self { players, teams }
    }

    /// What the player with this identity is called.
    pub fn player<'a>(&'a self, id: &'a str) -> &'a str {
        self.players.get(id).map_or(id, String::as_str)
    }

    /// What these players are called, one after the other.
    pub fn players<'a>(&'a self, ids: impl IntoIterator<Item = &'a String>) -> String {
        let names = ids.into_iter().map(|id| self.player(id));
        names.collect::<Vec<_>>().join(", ")
    }

    /// What a team is called within a sentence.
    pub fn team(&self, team: impl Into<usize>) -> String {
        self.teams.name(team.into())
    }
}

/// A role that ROLE states: 1 to 32 lower-case letters, digits, hyphens and underscores.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct RoleName(String);

impl RoleName {
    /// The role that rating systems rate apart from playing.
    pub const COMMANDER: &str = "commander";
    /// The longest name, in bytes.
    const LONGEST: usize = 32;

    /// The role of this word, in upper or lower case; `None` if it is no word.
    pub fn read(word: &str) -> Option<Self> {
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
        let fits = (1..=Self::LONGEST).contains(&word.len()) && word.bytes().all(plain);
        fits.then(|| Self(word.to_ascii_lowercase()))
    }

    /// The name, in lower case.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether it is that of a commander.
    pub fn is_commander(&self) -> bool {
        self.0 == Self::COMMANDER
    }
}

impl TryFrom<String> for RoleName {
    type Error = &'static str;

    fn try_from(word: String) -> Result<Self, Self::Error> {
        Self::read(&word).ok_or("not the name of a role")
    }
}

impl From<RoleName> for String {
    fn from(role: RoleName) -> Self {
        role.0
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

    #[test]
    fn who_has_no_name_is_called_by_the_identity() {
        let players = [("01", "a"), ("a", "team 0")].map(|(id, name)| (id.into(), name.into()));
        let teams = vec!["Red".to_owned(), "a".to_owned()];
        let naming = Naming::new(players.into(), TeamNames::try_from(teams).unwrap());
        assert_eq!(
            ["01", "a", "b"].map(|id| naming.player(id)),
            ["a", "team 0", "b"]
        );
        assert_eq!(
            naming.players(&["a".to_owned(), "01".to_owned()]),
            "team 0, a"
        );
        assert_eq!(
            [0u8, 1, 2].map(|team| naming.team(team)),
            ["Red", "a", "team 2"]
        );
        assert_eq!(Naming::default().team(0u8), "team 0");
    }

    #[test]
    fn a_role_is_a_short_word() {
        let role = RoleName::read("Commander").unwrap();
        assert!(role.is_commander());
        assert_eq!(role.as_str(), "commander");
        assert!(!RoleName::read("flag-carrier_2").unwrap().is_commander());
        for word in ["", "two words", "é", &"x".repeat(33)] {
            assert_eq!(RoleName::read(word), None, "{word}");
        }
        assert!(serde_json::from_str::<RoleName>("\"a b\"").is_err());
    }
}
