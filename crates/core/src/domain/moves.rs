//! A player's change of team.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::Ident;

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

/// `alice from team 0 to team 1`, or `alice to team 1` for a human on no team yet.
impl fmt::Display for Move {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { id, from, to } = self;
        match from {
            Some(from) => write!(f, "{} from team {from} to team {to}", id.text()),
            None => write!(f, "{} to team {to}", id.text()),
        }
    }
}
