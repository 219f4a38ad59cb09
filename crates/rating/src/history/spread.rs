//! How far apart the final scores of matches are.

use serde::{Deserialize, Serialize};

/// How far apart the final scores of matches are; the latest matches count most.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Spread {
    /// Number of matches, older ones counting less.
    pub matches: f64,
    /// Sum of the squared differences between two teams' final scores in them.
    squares: f64,
}

/// The factor on all earlier matches in the spread when another match is added, because servers
/// change their score and time limits.
const FADING: f64 = 0.98;

impl Spread {
    /// Adds the final scores of a match. With more than two teams, the mean over all pairs of teams
    /// counts as one match.
    pub(super) fn add(&mut self, scores: &[f64]) {
        let teams = scores.len() as f64;
        let mean = scores.iter().sum::<f64>() / teams.max(1.0);
        let square: f64 = scores.iter().map(|s| (s - mean) * (s - mean)).sum();
        if scores.len() >= 2 && square.is_finite() {
            self.matches = FADING * self.matches + 1.0;
            self.squares = FADING * self.squares + 2.0 * square / (teams - 1.0);
        }
    }

    /// The mean square of the difference between two teams' final scores; 0 before any match.
    pub fn square(&self) -> f64 {
        match self.matches > 0.0 {
            true => self.squares / self.matches,
            false => 0.0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scores_end_as_far_apart_as_they_did() {
        let mut spread = Spread::default();
        assert_eq!(spread.square(), 0.0);
        (0..50).for_each(|_| spread.add(&[5.0, 2.0]));
        assert!((spread.square() - 9.0).abs() < 1e-9);
        // Three teams, of which two pairs are 3 apart and one pair is not: (9 + 9 + 0) / 3.
        let mut three = Spread::default();
        three.add(&[3.0, 0.0, 0.0]);
        assert!((three.square() - 6.0).abs() < 1e-9);
        (0..400).for_each(|_| spread.add(&[100.0, 0.0]));
        assert!(spread.square() > 9_000.0, "the latest count");
        spread.add(&[]);
        spread.add(&[1.0]);
        assert!(spread.square() > 9_000.0);
    }
}
