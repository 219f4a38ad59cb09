//! What the games of a mode are usually like: how long they last, and how many points they have.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use evenkeel_model::MatchRecord;

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
    pub fn compare(&mut self, record: &MatchRecord) -> Compared {
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

#[cfg(test)]
mod tests {
    use super::*;
    use evenkeel_model::{Outcome, Timestamp};

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
}
