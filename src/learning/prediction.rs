//! How good the predictions for the folded matches were.

use std::collections::{BTreeMap, VecDeque};

use serde::{Deserialize, Serialize};

use crate::{
    model::{Outcome, Ruleset},
    rating::history::{BesideCoin, Forecast, Gains},
};

/// The number of last predictions that have a mean of their own.
pub(super) const RECENT: usize = 100;
/// The most rulesets whose predictions are compared with a coin. It is limited because peers can invent rulesets.
const RULESETS: usize = 256;

/// The log losses of all predictions, summed up in the order of the matches.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Predictions {
    count: u64,
    sum: f64,
    /// The log losses of the last predictions.
    recent: VecDeque<f64>,
    /// How far all predictions are from a coin.
    gains: Gains,
    /// The same of each ruleset.
    by_ruleset: BTreeMap<Ruleset, Gains>,
}

impl Predictions {
    /// Adds a rated match, and the prediction for it, if it has one and a winner.
    pub fn add(&mut self, ruleset: &Ruleset, chance: Option<f64>, outcome: Outcome) {
        let forecast = match (chance, outcome) {
            (Some(chance), Outcome::Won(winner)) => Some(Forecast {
                chance,
                won: winner == 0,
            }),
            _ => None,
        };
        self.gains.add(forecast);
        if let Some(gains) = self.by_ruleset.get_mut(ruleset) {
            gains.add(forecast);
        } else if self.by_ruleset.len() < RULESETS {
            let gains = self.by_ruleset.entry(ruleset.clone()).or_default();
            gains.add(forecast);
        }
        let Some(forecast) = forecast else {
            return;
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

    /// How far all predictions are from a coin.
    pub fn beside_coin(&self) -> BesideCoin {
        self.gains.beside_coin()
    }

    /// How far the predictions of each ruleset are from a coin.
    pub fn beside_coin_by_ruleset(&self) -> BTreeMap<String, BesideCoin> {
        let of = |(ruleset, gains): (&Ruleset, &Gains)| (ruleset.to_string(), gains.beside_coin());
        self.by_ruleset.iter().map(of).collect()
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
    fn each_ruleset_is_compared_with_a_coin_and_strangers_cannot_add_many() {
        let mut predictions = Predictions::default();
        for number in 0..2 * RULESETS {
            let ruleset = Ruleset::parse(&format!("game{number}"));
            predictions.add(&ruleset, Some(0.8), Outcome::Won(0));
        }
        predictions.add(&Ruleset::parse("game0"), Some(0.8), Outcome::Draw);
        assert_eq!(predictions.by_ruleset.len(), RULESETS);
        let of = &predictions.beside_coin_by_ruleset()["game0"];
        assert_eq!((of.learned, of.predicted), (2, 1));
        let all = predictions.beside_coin();
        assert_eq!(all.learned, 2 * RULESETS as u64 + 1);
        assert_eq!(all.predicted, predictions.count());
        let mean = std::f64::consts::LN_2 - predictions.mean();
        assert!((all.gain - mean).abs() < 1e-12);
    }

    #[test]
    fn the_last_predictions_have_a_mean_of_their_own() {
        let mut predictions = Predictions::default();
        let ruleset = Ruleset::parse("ctf");
        assert_eq!((predictions.mean(), predictions.recent_mean()), (0.0, 0.0));
        predictions.add(&ruleset, Some(0.5), Outcome::Draw);
        predictions.add(&ruleset, None, Outcome::Won(0));
        assert_eq!(predictions.count(), 0, "without a winner or a chance");
        predictions.add(&ruleset, Some(0.75), Outcome::Won(1));
        for _ in 0..RECENT {
            predictions.add(&ruleset, Some(0.5), Outcome::Won(0));
        }
        let coin = 2.0_f64.ln();
        assert_eq!(predictions.count(), 101);
        assert!((predictions.recent_mean() - coin).abs() < 1e-12);
        let all = (4.0_f64.ln() + 100.0 * coin) / 101.0;
        assert!((predictions.mean() - all).abs() < 1e-12);
    }
}
