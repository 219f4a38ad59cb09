//! What a match does to a weight, and why.

use serde::{Deserialize, Serialize};

use super::worded;

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

worded! {
    /// Why a match has moved a weight, or has not.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
    #[serde(rename_all = "kebab-case")]
    pub enum WeightCause {
        /// Won: up to the strength.
        Won = "won",
        /// Won: up by the limit of the match.
        WonLimited = "won-limited",
        /// Won, by less than expected: the strength is not above the weight.
        WonHeld = "won-held",
        /// Lost: down to the strength.
        Lost = "lost",
        /// Lost: down by the limit of the match.
        LostLimited = "lost-limited",
        /// Lost, by less than expected: the strength is not below the weight.
        LostHeld = "lost-held",
        /// Drew: to the strength.
        Drew = "drew",
        /// Drew: towards the strength, by the limit of the match.
        DrewLimited = "drew-limited",
        /// Drew as the favourite: not up.
        DrewAsFavourite = "drew-as-favourite",
        /// Drew as the outsider: not down.
        DrewAsOutsider = "drew-as-outsider",
        /// As long on one team as on others.
        ChangedTeams = "changed-teams",
        /// The match has no result.
        NoResult = "no-result",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_read_back() {
        for cause in WeightCause::ALL {
            assert_eq!(WeightCause::parse(&cause.to_string()), Some(cause));
        }
        assert_eq!(WeightCause::DrewAsOutsider.as_str(), "drew-as-outsider");
        assert_eq!(WeightCause::parse(""), None);
    }
}
