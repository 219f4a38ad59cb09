//! What a game and a session remember of who has won, as plain data.

use serde::{Deserialize, Serialize};

use evenkeel_model::MAX_PLAYERS;

/// The team that has scored last, and how often since another one did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ScoreRun {
    pub(super) team: u8,
    pub(super) count: u32,
    /// Whether the streak was reported.
    pub(super) told: bool,
}

/// A match that a team has won.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Win {
    /// Its game type and mutators.
    pub(super) ruleset: String,
    pub(super) team: u8,
    /// The humans on that team at its end.
    pub(super) humans: Vec<String>,
    /// How far it was ahead of the next team.
    pub(super) lead: f64,
    /// The sum of both scores.
    pub(super) sum: f64,
}

impl ScoreRun {
    /// A team has scored.
    pub(crate) fn score(&mut self, team: u8, points: f64) {
        if points <= 0.0 {
            return;
        }
        *self = match *self {
            same if same.count > 0 && same.team == team => Self {
                count: same.count.saturating_add(1),
                ..same
            },
            _ => Self {
                team,
                count: 1,
                told: false,
            },
        };
    }
}

impl Win {
    /// Whether what was read from the disk is possible.
    pub(crate) fn is_sound(&self) -> bool {
        self.humans.len() <= MAX_PLAYERS && self.lead.is_finite() && self.sum.is_finite()
    }

    /// Whether both are of one ruleset, and most of those who have won are the same.
    pub(super) fn is_of_the_same(&self, other: &Self) -> bool {
        if self.ruleset != other.ruleset {
            return false;
        }
        let same = self.humans.iter().filter(|id| other.humans.contains(id));
        let most = self.humans.len().max(other.humans.len());
        same.count() * 2 > most
    }
}
