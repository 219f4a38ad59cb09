//! The changes of the teams' scores.

use super::MatchRecorder;
use crate::{MAX_EVENTS, ScoreEvent};

impl MatchRecorder {
    /// Adds a change of a team's score.
    pub fn score(&mut self, team: u8, points: f64, by: Option<usize>, at: u64) {
        if self.events.len() >= MAX_EVENTS {
            self.cut = true;
            return;
        }
        let by = by.and_then(|who| u32::try_from(who).ok());
        self.events.push(ScoreEvent {
            at,
            team,
            points,
            by,
        });
    }

    /// Whether there is any change of a score.
    pub fn has_scores(&self) -> bool {
        !self.events.is_empty()
    }

    /// Removes all changes, because they begin to be stated in a more reliable way.
    pub fn forget_scores(&mut self) {
        self.events.clear();
    }

    /// The sum of the changes of each of the first `teams` teams.
    pub fn sums(&self, teams: usize) -> Vec<f64> {
        let mut sums = vec![0.0; teams];
        for event in &self.events {
            if let Some(sum) = sums.get_mut(usize::from(event.team)) {
                *sum += event.points;
            }
        }
        sums
    }

    /// Scales the changes so that each team's add up to its final score. The factor must be the same for all teams (a
    /// capture may be worth 10 points); if there is no such factor, all changes are removed.
    pub fn reconcile(&mut self, scores: &[f64]) {
        let sums = self.sums(scores.len());
        let worth = sums.iter().zip(scores).find(|(sum, _)| **sum != 0.0);
        let worth = worth.map_or(1.0, |(sum, score)| score / sum);
        let right = |(sum, score): (&f64, &f64)| sum * worth == *score;
        if worth > 0.0 && sums.iter().zip(scores).all(right) {
            self.events.iter_mut().for_each(|e| e.points *= worth);
        } else {
            self.events.clear();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn score_changes_are_reconciled_with_the_final_score() {
        let reconciled = |goals: &[u8], scores: &[f64]| {
            let mut recorder = MatchRecorder::default();
            for (at, &team) in goals.iter().enumerate() {
                recorder.score(team, 1.0, None, at as u64);
            }
            recorder.reconcile(scores);
            recorder.sums(scores.len())
        };
        assert_eq!(reconciled(&[0, 1, 0], &[2.0, 1.0]), [2.0, 1.0]);
        assert_eq!(reconciled(&[1, 1], &[0.0, 20.0]), [0.0, 20.0]);
        assert_eq!(reconciled(&[0, 1, 0], &[2.0, 2.0]), [0.0, 0.0]);
        assert_eq!(reconciled(&[0], &[-1.0, 0.0]), [0.0, 0.0]);
        assert_eq!(reconciled(&[], &[0.0, 0.0]), [0.0, 0.0]);
    }
}
