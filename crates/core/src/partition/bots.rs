//! The bots of a game: what their number depends on, those that are on a team now, and what they will count.

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

/// The bots that fill every team up to the same size:
/// `max(round_up(clamp(target, min, max), teams), largest team × teams) / teams`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Bots {
    /// Whether bots fill up the teams. If not, the bots that are on a team stay, and the places that
    /// bots would fill have no weight.
    #[serde(default = "yes", skip_serializing_if = "is_true")]
    pub fill: bool,
    /// The mean weight of bots, finite and at least 0. A mean, because the server chooses the bots
    /// later.
    pub weight: f64,
    /// The fewest players that the map is made for, bots included.
    pub min: usize,
    /// The most players that the map is made for, bots included.
    pub max: usize,
    /// The number of players that the server wants.
    pub target: usize,
}

fn yes() -> bool {
    true
}

fn is_true(flag: &bool) -> bool {
    *flag
}

impl Default for Bots {
    /// Bots without weight, of which none are wanted.
    fn default() -> Self {
        Self {
            fill: true,
            weight: 0.0,
            min: 0,
            max: 0,
            target: 0,
        }
    }
}

impl Bots {
    /// How they fill up the teams.
    pub(super) fn filling(&self) -> Fill {
        let number = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
        Fill {
            on: self.fill,
            wish: number(self.target),
            map_range: (number(self.min), number(self.max)),
            min_humans: 0,
        }
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

/// The bots that are on one team.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct BotsThere {
    /// Their number.
    pub count: usize,
    /// The sum of their weights, finite and at least 0.
    pub weight: f64,
}
