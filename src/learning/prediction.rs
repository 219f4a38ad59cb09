//! How good the predictions for the folded matches were.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use crate::{domain::Outcome, history::Forecast};

/// The number of last predictions that have a mean of their own.
pub(super) const RECENT: usize = 100;

/// The log losses of all predictions, summed up in the order of the matches.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Predictions {
    count: u64,
    sum: f64,
    /// The log losses of the last predictions.
    recent: VecDeque<f64>,
}

impl Predictions {
    /// Adds the prediction for a match, if it has one and a winner.
    pub fn add(&mut self, chance: Option<f64>, outcome: Outcome) {
        let (Some(chance), Outcome::Won(winner)) = (chance, outcome) else {
            return;
        };
        let forecast = Forecast {
            chance,
            won: winner == 0,
        };
        let loss = forecast.log_loss();
        self.count += 1;
        self.sum += loss;
        if self.recent.len() >= RECENT {
            self.recent.pop_front();
        }
        self.recent.push_back(loss);
    }

    /// Number of predictions.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// The mean log loss of all predictions; 0 if there are none.
    pub fn mean(&self) -> f64 {
        self.sum / self.count.max(1) as f64
    }

    /// The mean log loss of the last [`RECENT`] predictions; 0 if there are none.
    pub fn recent_mean(&self) -> f64 {
        self.recent.iter().sum::<f64>() / self.recent.len().max(1) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_predictions_have_a_mean_of_their_own() {
        let mut predictions = Predictions::default();
        assert_eq!((predictions.mean(), predictions.recent_mean()), (0.0, 0.0));
        predictions.add(Some(0.5), Outcome::Draw);
        predictions.add(None, Outcome::Won(0));
        assert_eq!(predictions.count(), 0, "without a winner or a chance");
        predictions.add(Some(0.75), Outcome::Won(1));
        for _ in 0..RECENT {
            predictions.add(Some(0.5), Outcome::Won(0));
        }
        let coin = 2.0_f64.ln();
        assert_eq!(predictions.count(), 101);
        assert!((predictions.recent_mean() - coin).abs() < 1e-12);
        let all = (4.0_f64.ln() + 100.0 * coin) / 101.0;
        assert!((predictions.mean() - all).abs() < 1e-12);
    }
}
