//! The bots of a game: what their number depends on, and what those of a team will count.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::domain::counted;

/// What the number of bots depends on, besides the humans.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fill {
    /// Whether bots fill up the teams. If not, the bots in the game stay.
    pub on: bool,
    /// The number of players that are wanted, bots included.
    pub wish: u32,
    /// The fewest and the most players that the map is made for.
    #[serde(rename = "level")]
    pub map_range: (u32, u32),
    /// The fewest humans for which a game gets bots.
    pub min_humans: u32,
}

impl Fill {
    /// The bots in the game stay.
    pub(crate) const NONE: Self = Self {
        on: false,
        wish: 0,
        map_range: (0, 0),
        min_humans: 0,
    };

    /// The number of players that are wanted, limited to the map's range.
    pub fn players(&self) -> u32 {
        let (min, max) = self.map_range;
        self.wish.clamp(min, max.max(min))
    }

    /// Whether a game with this many humans gets no bots.
    pub fn is_none(&self, humans: usize) -> bool {
        !self.on || humans < self.min_humans as usize
    }

    /// The least size of each team that bots fill, however few humans are on it.
    pub fn least_size(&self, teams: usize) -> usize {
        (self.players() as usize).div_ceil(teams.max(1))
    }

    /// The size of each team once bots have filled it, for `humans` in all and at most `largest` on
    /// one team:
    ///
    /// `max(round_up(clamp(wish, map_range), teams), largest · teams) / teams`
    ///
    /// (the Ideal Bot Counter of the UT2004 balancing page). `None` keeps the present bots; 0
    /// removes all.
    pub fn team_size(&self, teams: usize, humans: usize, largest: usize) -> Option<usize> {
        if self.is_none(humans) {
            return self.on.then_some(0);
        }
        Some(self.least_size(teams).max(largest))
    }
}

/// Formats the explanation of BOTS, one line.
impl fmt::Display for Fill {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            on,
            wish,
            map_range: (min, max),
            min_humans,
        } = self;
        if !on {
            return writeln!(f, "bots are off");
        }
        writeln!(
            f,
            "{}: {wish} are wanted, the map is made for {min} to {max}; games get bots from {} on",
            counted(self.players(), "player"),
            counted(*min_humans, "human")
        )
    }
}

/// The bots that are on a team now, and those that it will have.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BotsOnTeam {
    there: usize,
    wanted: usize,
}

impl BotsOnTeam {
    /// `there` bots are on the team, and it will have `wanted`.
    pub fn new(there: usize, wanted: usize) -> Self {
        Self { there, wanted }
    }

    /// The number of bots that the team will have.
    pub fn count(self) -> usize {
        self.wanted
    }

    /// The sum of a number over the bots that the team will have: `there` is the sum over those on it
    /// now. It is unknown which bot the game removes, so each bot that leaves counts as the mean of
    /// those on the team; each one that is added counts as `next` (UT2004 page, "Late changes").
    pub fn sum(self, there: f64, next: f64) -> f64 {
        if self.wanted >= self.there {
            there + next * (self.wanted - self.there) as f64
        } else {
            there * (self.wanted as f64 / self.there as f64)
        }
    }
}
