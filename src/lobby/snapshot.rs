//! A running team game at one moment, as plain data: all that a decision is made from.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::{Conduct, bots::Fill};
use crate::domain::MAX_TEAMS;

/// Who plays where, and what they weigh. Made by a [`Lobby`](super::Lobby); stored with a decision,
/// so that it can be taken again.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Snapshot {
    /// Number of teams, 2 to 8. Every team named below is less than that.
    pub teams: u8,
    /// The humans in JOIN order, oldest first.
    pub humans: Vec<Person>,
    /// The bots in the order they came.
    pub bots: Vec<Robot>,
    /// How many bots belong in the game.
    pub fill: Fill,
    /// What a bot that comes weighs.
    pub next_bot: f64,
    /// Each team's score so far.
    pub scores: Vec<f64>,
}

/// A human.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Person {
    /// Who.
    pub id: String,
    /// What they weigh; members of a party that stands together weigh its multiple.
    pub weight: f64,
    /// The team they are on; `None` for a late arrival.
    pub team: Option<u8>,
    /// The team they must be on.
    pub pin: Option<u8>,
    /// The party they came with.
    pub party: Option<String>,
    /// The team they left a moment ago, and should come back to.
    pub old_team: Option<u8>,
    /// Their points on the scoreboard.
    pub points: f64,
    /// Why they are not to be moved now.
    pub held: Option<Held>,
    /// Whether they have been moved in this game before.
    pub moved: bool,
    /// What they did that others should know.
    pub conduct: Conduct,
}

/// A bot.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Robot {
    /// Its name.
    pub name: String,
    /// What it weighs.
    pub weight: f64,
    /// Its team.
    pub team: u8,
    /// Its points on the scoreboard.
    pub points: f64,
}

/// Why somebody isn't moved.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Held {
    /// JOIN's `pin` says where they belong.
    Pinned,
    /// PROTECT says so.
    Protected,
    /// They were moved a moment ago.
    JustMoved,
    /// Others came later.
    CameFirst,
    /// They are among the best of their team.
    Top,
}

impl fmt::Display for Held {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Held::Pinned => "pinned to their team",
            Held::Protected => "protected",
            Held::JustMoved => "moved a moment ago",
            Held::CameFirst => "others came later",
            Held::Top => "among the best of their team",
        })
    }
}

impl Snapshot {
    /// Whether all in it fits together: teams that exist, weights that are some, and no more people
    /// than a roster could ever have.
    pub(super) fn is_sound(&self) -> bool {
        const MOST: usize = 1_024;
        let exists = |team: Option<u8>| team.is_none_or(|team| team < self.teams);
        let person = |human: &Person| {
            let teams = [human.team, human.pin, human.old_team];
            teams.into_iter().all(exists) && human.weight >= 0.0 && human.weight.is_finite()
        };
        let robot =
            |bot: &Robot| bot.team < self.teams && bot.weight >= 0.0 && bot.weight.is_finite();
        (2..=MAX_TEAMS).contains(&usize::from(self.teams))
            && self.scores.len() == usize::from(self.teams)
            && self.humans.len() <= MOST
            && self.bots.len() <= MOST
            && self.fill.wish.max(self.fill.level.0) as usize <= MOST
            && self.humans.iter().all(person)
            && self.bots.iter().all(robot)
    }

    /// Whether anybody else of this human's party is in the game.
    pub(super) fn in_party(&self, human: usize) -> bool {
        self.mates(human).next().is_some()
    }

    /// The others of this human's party, by their index.
    pub(super) fn mates(&self, human: usize) -> impl Iterator<Item = usize> {
        let party = self.humans[human].party.as_ref();
        let others = self.humans.iter().enumerate();
        others
            .filter(move |(other, person)| {
                party.is_some() && *other != human && person.party.as_ref() == party
            })
            .map(|(other, _)| other)
    }

    /// A line on everybody whose conduct others should know.
    pub(super) fn write_conduct(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let seen = self.humans.iter().filter(|human| !human.conduct.is_clean());
        for human in seen {
            writeln!(f, "{} {}", human.id, human.conduct)?;
        }
        Ok(())
    }
}

/// Of some players of one team, by index, with their points: those who are not among its best.
///
/// The lower `share` by points, rounded down; equal points in the given order (Sector's Edge, the
/// function `CanBeAutobalanced`).
pub(super) fn lower_share(mut players: Vec<(usize, f64)>, share: f64) -> Vec<usize> {
    players.sort_by(|a, b| a.1.total_cmp(&b.1));
    let count = (players.len() as f64 * share) as usize;
    players.truncate(count);
    players.into_iter().map(|(index, _)| index).collect()
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// A game of humans `(weight, team)` named a, b, c, … without bots; team 9 is none.
    pub(in crate::lobby) fn snapshot(teams: u8, humans: &[(f64, u8)]) -> Snapshot {
        let person = |(index, &(weight, team)): (usize, &(f64, u8))| Person {
            id: char::from(b'a' + index as u8).to_string(),
            weight,
            team: Some(team).filter(|&team| team < teams),
            pin: None,
            party: None,
            old_team: None,
            points: 0.0,
            held: None,
            moved: false,
            conduct: Conduct::default(),
        };
        Snapshot {
            teams,
            humans: humans.iter().enumerate().map(person).collect(),
            bots: Vec::new(),
            fill: Fill {
                on: true,
                wish: 0,
                level: (0, 64),
                min_humans: 0,
            },
            next_bot: 0.0,
            scores: vec![0.0; usize::from(teams)],
        }
    }

    /// A bot of this weight.
    pub(in crate::lobby) fn robot(weight: f64, team: u8) -> Robot {
        Robot {
            name: format!("bot {weight} {team}"),
            weight,
            team,
            points: 0.0,
        }
    }

    #[test]
    fn two_thirds_are_rounded_as_the_page_does() {
        let lower = |points: &[f64]| {
            let players = points.iter().copied().enumerate().collect();
            lower_share(players, 0.67)
        };
        assert_eq!(lower(&[]), [0; 0]);
        assert_eq!(lower(&[7.0]), [0; 0], "int(0.67) is 0");
        assert_eq!(lower(&[7.0, 3.0]), [1]);
        assert_eq!(lower(&[9.0, 1.0, 5.0]), [1, 2]);
        assert_eq!(lower(&[0.0, 0.0, 0.0]), [0, 1]);
        assert_eq!(lower(&[4.0, 3.0, 2.0, 1.0, 0.0, -1.0]), [5, 4, 3, 2]);
    }
}
