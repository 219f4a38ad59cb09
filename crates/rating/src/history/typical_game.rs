//! What the games of a mode are usually like: how long they last, how many points they have, and how far apart their
//! final scores are.

use std::collections::VecDeque;

use evenkeel_model::MatchRecord;
use serde::{Deserialize, Serialize};

/// The least extent of a game. With 0, a rating system would divide by zero.
const LEAST_EXTENT: f64 = 0.01;

/// The lengths and the points of the last games of a mode.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct TypicalGame {
    millis: Recent,
    points: Recent,
}

/// One game beside the usual ones.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Compared {
    /// The usual length in milliseconds, from the games before this one.
    pub millis: u64,
    /// How much of a usual game this one was, see [`RatedGame::extent`](crate::RatedGame).
    pub extent: f64,
}

impl TypicalGame {
    /// Compares a game with the games before it, then adds it to them. The first game is a usual one, and so is each
    /// whose length is not known.
    pub(super) fn compare(&mut self, record: &MatchRecord) -> Compared {
        let millis = record.millis() as f64;
        let points: f64 = record.scores.iter().map(|score| score.abs()).sum();
        let usual = self.millis.median().unwrap_or(millis);
        let usual_points = self.points.median().unwrap_or(points);
        let by_time = if usual > 0.0 { millis / usual } else { 1.0 };
        let by_points = if usual_points > 0.0 {
            points / usual_points
        } else {
            0.0
        };
        self.points.add(points);
        if record.untimed {
            return Compared {
                millis: record.millis(),
                extent: 1.0,
            };
        }
        self.millis.add(millis);
        Compared {
            millis: usual as u64,
            extent: by_time.max(by_points).clamp(LEAST_EXTENT, 1.0),
        }
    }
}

/// The last values of a number.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Recent(VecDeque<f64>);

impl Recent {
    /// The number of values kept: enough for a stable median, and few enough to follow a changed limit.
    const KEPT: usize = 101;

    fn add(&mut self, value: f64) {
        self.0.push_front(value);
        self.0.truncate(Self::KEPT);
    }

    fn median(&self) -> Option<f64> {
        let mut sorted: Vec<f64> = self.0.iter().copied().collect();
        let middle = sorted.len().checked_sub(1)? / 2;
        Some(*sorted.select_nth_unstable_by(middle, f64::total_cmp).1)
    }
}

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
    use evenkeel_model::{Outcome, Timestamp};

    use super::*;

    #[test]
    fn the_median_follows() {
        let mut recent = Recent::default();
        assert_eq!(recent.median(), None);
        for value in [5.0, 1.0, 9.0, 7.0] {
            recent.add(value);
        }
        assert_eq!(recent.median(), Some(5.0));
        for _ in 0..Recent::KEPT {
            recent.add(2.0);
        }
        assert_eq!(recent.median(), Some(2.0));
    }

    fn record(millis: i64, scores: [f64; 2]) -> MatchRecord {
        MatchRecord {
            server: String::new(),
            start: Timestamp(0),
            end: Timestamp(millis),
            clock: None,
            untimed: false,
            client: String::new(),
            unscored: false,
            too_many_new: None,
            logged_as: None,
            map: String::new(),
            game_type: "ctf".into(),
            mode: String::new(),
            mutators: vec![],
            scores: scores.to_vec(),
            outcome: Outcome::Undecided,
            participants: vec![],
            events: vec![],
        }
    }

    #[test]
    fn a_game_is_as_large_as_its_time_or_its_points() {
        let mut usual = TypicalGame::default();
        let mut extent = |millis, scores| usual.compare(&record(millis, scores)).extent;
        for _ in 0..5 {
            assert_eq!(extent(600_000, [5.0, 3.0]), 1.0);
        }
        assert_eq!(extent(600_000, [0.0, 0.0]), 1.0, "as long as usual");
        assert_eq!(extent(1_200_000, [5.0, 3.0]), 1.0, "longer");
        assert_eq!(extent(60_000, [1.0, 0.0]), 0.125, "one of eight captures");
        assert_eq!(extent(60_000, [5.0, 0.0]), 0.625, "five of eight");
        assert_eq!(extent(0, [0.0, 0.0]), LEAST_EXTENT);
    }

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
