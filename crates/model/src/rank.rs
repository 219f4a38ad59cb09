//! A player's place among the divisions of a ruleset.

use serde::{Deserialize, Serialize};

/// A player's division, and the player's progress in it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Rank {
    /// The number of the division; 0 is the lowest.
    pub division: u8,
    /// The progress in the division, 0 to 1. At 0 the player is about to fall to the division
    /// below, and at 1 to rise to the one above. In the lowest division, 0 is about the lowest
    /// weight of all players, and in the highest division, 1 is about the highest.
    pub progress: f64,
}

impl Rank {
    /// The rank as one number: the division plus the progress.
    pub fn position(self) -> f64 {
        f64::from(self.division) + self.progress
    }

    /// The rank that is `divisions` lower, but not below the start of the lowest division.
    #[must_use]
    pub fn lowered(self, divisions: f64) -> Self {
        if divisions <= 0.0 {
            return self;
        }
        let position = (self.position() - divisions).max(0.0);
        // Division 2 with progress 1 and division 3 with progress 0 are the same position; only a
        // player who was in division 3 is shown as that.
        let division = position.floor().min(f64::from(self.division));
        Self {
            division: division as u8,
            progress: position - division,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rank_falls_through_the_divisions_and_stops_at_the_lowest() {
        let gold = Rank {
            division: 2,
            progress: 0.25,
        };
        assert_eq!(gold.lowered(0.0), gold);
        assert_eq!(gold.lowered(-1.0), gold);
        let rank = |division, progress| Rank { division, progress };
        assert_eq!(gold.lowered(0.5), rank(1, 0.75));
        assert_eq!(gold.lowered(2.0), rank(0, 0.25));
        assert_eq!(gold.lowered(1e9), rank(0, 0.0));
        assert_eq!(rank(1, 1.0).lowered(1e-9).division, 1, "not promoted");
    }
}
