//! What operators and players correct: merges, pins, start weights, void matches, hidden and forgotten players, links.

pub(in crate::store) mod forgetting;
mod forgotten;
pub(in crate::store) mod links;
pub(in crate::store) mod overrides;
pub(in crate::store) mod players;

use super::Store;

/// The operator's corrections, and the players that they name.
#[derive(Clone, Copy, Debug)]
pub struct Corrections<'a>(&'a Store);

impl Store {
    /// The operator's corrections, and the players that they name.
    pub fn corrections(&self) -> Corrections<'_> {
        Corrections(self)
    }
}
