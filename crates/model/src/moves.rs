//! A player's change of team.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::{Ident, Naming};

/// A human's change of team: one that has happened, or that is advised.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Move {
    /// Id of the human.
    pub id: Ident,
    /// The team that they are on, counted from 0; `None` for a human on no team yet.
    pub from: Option<u8>,
    /// The team that they go to, counted from 0.
    pub to: u8,
}

impl Move {
    /// `alice from team 0 to team 1`, or `alice to team 1` for a human on no team yet.
    pub fn told(&self, naming: &Naming) -> String {
        let (who, to) = (naming.player(self.id.text()), naming.team(self.to));
        match self.from {
            Some(from) => format!("{who} from {} to {to}", naming.team(from)),
            None => format!("{who} to {to}"),
        }
    }
}

/// With the identity of the human, and the numbers of the teams.
impl fmt::Display for Move {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.told(&Naming::default()))
    }
}
