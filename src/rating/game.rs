//! A finished game as rating systems see it.

/// A player's dense number: whoever folds the games counts identities from 0 as they first appear.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Player(pub u32);

impl Player {
    /// The number as an index.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// What one player did in one game.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tally {
    /// Who.
    pub player: Player,
    /// Points scored by a team while they were on it (F of the UT2004 page), 0 or more.
    pub scored: f64,
    /// Points scored against a team while they were on it (A), 0 or more.
    pub conceded: f64,
}

/// A rated game.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Game {
    /// One entry per player, in the order of the record.
    pub tallies: Vec<Tally>,
}
