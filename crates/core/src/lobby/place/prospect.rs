//! What joining one team would mean.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::Reason;
use crate::domain::{Naming, chance_of_weaker};

/// The result of joining one team.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Prospect {
    /// The team, counted from 0.
    pub team: u8,
    /// The resulting ratio, 0 to 1.
    pub ratio: f64,
    /// The resulting ratio if the rest of the party, the members without a team, joins it, too.
    pub with_party: f64,
    /// The resulting evenness of the chances to win, 0 to 1, without the rest of the party and with it.
    /// `None` without a chance model: then the ratios decide.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub evenness: Option<(f64, f64)>,
    /// How many humans too many there would be on teams that outnumber the smallest by more than
    /// allowed; 0 if a clearly more even game justifies that.
    pub over: usize,
    /// The same once the others without a team have been placed provisionally.
    pub over_later: usize,
    /// The value of `over` if the rest of the party joins the team, too.
    pub over_with_party: usize,
    /// The value of `over_later` if the rest of the party joins the team, too.
    pub over_later_with_party: usize,
    /// Number of members of the arrival's party on the team, or pinned to it.
    pub mates: usize,
    /// Number of humans on the team, or pinned to it, whom the arrival avoids or who avoid the arrival.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub avoided: usize,
    /// Number of humans on the team.
    pub humans: usize,
    /// The team's score so far.
    pub score: f64,
}

fn is_zero(number: &usize) -> bool {
    *number == 0
}

impl Prospect {
    /// How many humans too many there would be: now, and once the others have been placed.
    pub(super) fn too_many(&self) -> (usize, usize) {
        (self.over, self.over_later)
    }

    /// The evenness by chances, and the ratio, of the game with the arrival on this team for this reason.
    pub(super) fn result(&self, reason: Reason) -> (Option<f64>, f64) {
        match reason {
            Reason::Party | Reason::PartOfParty => {
                (self.evenness.map(|(_, with)| with), self.with_party)
            }
            _ => (self.evenness.map(|(alone, _)| alone), self.ratio),
        }
    }

    /// Writes what decides for and against the team. `party` says whether the arrival is in a
    /// party.
    pub(super) fn explain(
        &self,
        party: bool,
        naming: &Naming,
        f: &mut fmt::Formatter<'_>,
    ) -> fmt::Result {
        write!(f, "{}: ", naming.team(self.team))?;
        if let Some((evenness, with_party)) = self.evenness {
            let chance = chance_of_weaker(evenness);
            write!(f, "chance of the weaker team {chance:.6}")?;
            if party {
                write!(f, " ({:.6} with the party)", chance_of_weaker(with_party))?;
            }
            write!(f, ", ")?;
        }
        write!(f, "ratio {:.6}", self.ratio)?;
        if party {
            write!(f, " ({:.6} with the party)", self.with_party)?;
        }
        write!(f, ", humans {}", self.humans)?;
        if party {
            write!(f, ", members of the party on it {}", self.mates)?;
        }
        write!(f, ", score {}", self.score)?;
        if self.avoided > 0 {
            write!(f, ", players to avoid {}", self.avoided)?;
        }
        if self.over > 0 {
            write!(f, ", too many humans by {}", self.over)?;
        }
        writeln!(f)
    }
}
