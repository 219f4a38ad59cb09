//! What sentences call the players and the teams that they name.

use std::collections::BTreeMap;

use super::TeamNames;

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

#[cfg(test)]
mod tests {
    use super::*;

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
}
