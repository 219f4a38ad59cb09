//! What a match does to a weight, and why.

use std::fmt;

use serde::{Deserialize, Serialize};

/// What a match has entered into a player's account.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct WeightEntry {
    /// The weight before the match, 0 to 100.
    pub before: f64,
    /// The weight after the match, 0 to 100.
    pub weight: f64,
    /// Its standard deviation; 0 in systems without deviations.
    pub deviation: f64,
    /// Why it has moved or has not; `None` in systems that keep a number of their own.
    pub cause: Option<WeightCause>,
}

impl WeightEntry {
    /// By how much the match has moved the weight.
    pub fn change(&self) -> f64 {
        self.weight - self.before
    }
}

/// Why a match has moved a weight, or has not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WeightCause {
    /// Won: up to the strength.
    Won,
    /// Won: up by the limit of the match.
    WonLimited,
    /// Won, by less than expected: the strength is not above the weight.
    WonHeld,
    /// Lost: down to the strength.
    Lost,
    /// Lost: down by the limit of the match.
    LostLimited,
    /// Lost, by less than expected: the strength is not below the weight.
    LostHeld,
    /// Drew: to the strength.
    Drew,
    /// Drew: towards the strength, by the limit of the match.
    DrewLimited,
    /// Drew as the favourite: not up.
    DrewAsFavourite,
    /// Drew as the outsider: not down.
    DrewAsOutsider,
    /// As long on one team as on others.
    ChangedTeams,
    /// The match has no result.
    NoResult,
}

impl WeightCause {
    /// All causes, each with its code in the database and in interfaces.
    const CODES: [(Self, &str); 12] = [
        (Self::Won, "won"),
        (Self::WonLimited, "won-limited"),
        (Self::WonHeld, "won-held"),
        (Self::Lost, "lost"),
        (Self::LostLimited, "lost-limited"),
        (Self::LostHeld, "lost-held"),
        (Self::Drew, "drew"),
        (Self::DrewLimited, "drew-limited"),
        (Self::DrewAsFavourite, "drew-as-favourite"),
        (Self::DrewAsOutsider, "drew-as-outsider"),
        (Self::ChangedTeams, "changed-teams"),
        (Self::NoResult, "no-result"),
    ];

    /// The stable code of the cause.
    pub fn as_str(self) -> &'static str {
        let own = Self::CODES.iter().find(|(cause, _)| *cause == self);
        own.map_or("", |(_, code)| code)
    }

    /// The cause that has this code.
    pub fn parse(code: &str) -> Option<Self> {
        let own = Self::CODES.iter().find(|(_, own)| *own == code);
        own.map(|(cause, _)| *cause)
    }
}

impl fmt::Display for WeightCause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_read_back() {
        for (cause, code) in WeightCause::CODES {
            assert_eq!(WeightCause::parse(code), Some(cause));
            assert_eq!(cause.to_string(), code);
        }
        assert_eq!(WeightCause::parse(""), None);
    }
}
