//! Whether predictions are better than a coin, from running sums: what the daemon says of itself.

use std::f64::consts::LN_2;

use serde::{Deserialize, Serialize};

use super::{FEWEST_COMPARED, Forecast};
use evenkeel_model::counted;

/// The most batches. When there are more, pairs of neighbours become one, so that a batch grows with the history.
const BATCHES: usize = 32;
/// The 97.5 % quantile of Student's t with 15 degrees of freedom: of 16 batches, which are the fewest from
/// [`FEWEST_COMPARED`] predictions on. With 32 batches it would be 2.04.
const QUANTILE: f64 = 2.131;

/// How much lower the log losses of predictions are than a coin's, as sums over batches of consecutive ones.
///
/// Neighbouring matches share players and conditions, so single predictions are not independent. The means of long
/// batches nearly are, and their variance gives the interval of the mean (the method of batch means; Law, *Simulation
/// Modeling and Analysis*, 9.5.3). It needs no list of all predictions.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Gains {
    /// Number of matches that were learned from, with or without a prediction.
    learned: u64,
    /// Number of predictions.
    count: u64,
    /// Number of predictions in each full batch.
    length: u64,
    /// The sum of the gains of each full batch.
    full: Vec<f64>,
    /// The sum of the gains of the batch that is not full yet.
    open: f64,
    /// The sum of the gains that were to be expected if the chances were exact.
    expected: f64,
}

/// How far predictions are from a coin, over some matches that they were made before.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BesideCoin {
    /// Number of matches that were learned from.
    pub learned: u64,
    /// Number of predictions: of matches between two teams, of which one has won.
    pub predicted: u64,
    /// By how much the mean log loss is lower than a coin's.
    pub gain: f64,
    /// The 95 % interval reaches so far on both sides of the gain; `None` for too few predictions.
    pub reach: Option<f64>,
    /// The gain that was to be expected if the chances were exact: 0 if each was 50 %.
    pub expected: f64,
}

impl Default for Gains {
    fn default() -> Self {
        Self {
            learned: 0,
            count: 0,
            length: 1,
            full: Vec::new(),
            open: 0.0,
            expected: 0.0,
        }
    }
}

impl Gains {
    /// Adds a match that was learned from, and the prediction for it, if it has one and a winner.
    pub fn add(&mut self, forecast: Option<Forecast>) {
        self.learned += 1;
        let Some(forecast) = forecast else {
            return;
        };
        self.count += 1;
        self.expected += forecast.expected_gain();
        self.open += LN_2 - forecast.log_loss();
        if !self.count.is_multiple_of(self.length) {
            return;
        }
        self.full.push(self.open);
        self.open = 0.0;
        if self.full.len() == BATCHES {
            let pairs = self.full.chunks_exact(2);
            self.full = pairs.map(|pair| pair[0] + pair[1]).collect();
            self.length *= 2;
        }
    }

    /// How far the predictions are from a coin.
    pub fn beside_coin(&self) -> BesideCoin {
        let count = self.count.max(1) as f64;
        let gain = (self.full.iter().sum::<f64>() + self.open) / count;
        let enough = self.count >= FEWEST_COMPARED as u64;
        BesideCoin {
            learned: self.learned,
            predicted: self.count,
            gain,
            reach: enough.then(|| self.reach()),
            expected: self.expected / count,
        }
    }

    /// Half the width of the 95 % interval of the mean gain.
    fn reach(&self) -> f64 {
        let (batches, length) = (self.full.len() as f64, self.length as f64);
        let means = || self.full.iter().map(|sum| sum / length);
        let mean = means().sum::<f64>() / batches;
        let squares = means().map(|m| (m - mean) * (m - mean)).sum::<f64>();
        QUANTILE * (squares / (batches - 1.0) / batches).sqrt()
    }
}

impl std::fmt::Display for BesideCoin {
    /// A sentence for operators and players. "Better" and "worse" are beyond chance; otherwise it says that nothing
    /// is shown.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} learned; ", counted(self.learned, "match"))?;
        let Some(reach) = self.reach else {
            return write!(
                f,
                "whether predictions beat a coin shows after {FEWEST_COMPARED} predicted matches with a winner, \
                 and there are {}",
                self.predicted
            );
        };
        let (gain, reach_text) = (self.gain.abs(), format!("± {reach:.3}"));
        if self.gain > reach {
            write!(
                f,
                "predictions beat a coin by {gain:.3} {reach_text}; they will pick better teams than chance"
            )
        } else if self.gain < -reach {
            write!(
                f,
                "predictions are worse than a coin by {gain:.3} {reach_text}; teams picked by them may be worse than \
                 chance"
            )
        } else {
            write!(
                f,
                "predictions and a coin are level ({:+.3} {reach_text}); ",
                self.gain
            )?;
            match self.expected < reach {
                true => f.write_str("they were too close to 50 % to show more"),
                false => f.write_str("nothing shows yet that they pick better teams than chance"),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use rand::{RngExt, SeedableRng, rngs::ChaCha8Rng};

    use super::*;
    use crate::history::interval;

    /// Forecasts of matches that the first team wins with the chance `truth`, or the other way round.
    fn forecasts(count: usize, chance: f64, truth: f64) -> Vec<Forecast> {
        let mut random = ChaCha8Rng::seed_from_u64(5);
        let mut one = || {
            let first = random.random_bool(0.5);
            Forecast {
                chance: if first { chance } else { 1.0 - chance },
                won: random.random_bool(truth) == first,
            }
        };
        (0..count).map(|_| one()).collect()
    }

    fn gains(forecasts: &[Forecast]) -> Gains {
        let mut gains = Gains::default();
        forecasts.iter().for_each(|f| gains.add(Some(*f)));
        gains
    }

    #[test]
    fn the_interval_is_about_that_of_the_bootstrap() {
        for count in [30, 31, 32, 63, 64, 100, 1_000, 5_000] {
            let forecasts = forecasts(count, 0.7, 0.7);
            let of = gains(&forecasts).beside_coin();
            let losses: Vec<f64> = forecasts.iter().map(|f| LN_2 - f.log_loss()).collect();
            let mean = losses.iter().sum::<f64>() / count as f64;
            assert!((of.gain - mean).abs() < 1e-12, "{count}");
            let by_bootstrap = interval(&losses, 1).unwrap();
            let half = 0.5 * (by_bootstrap.high - by_bootstrap.low);
            let ratio = of.reach.unwrap() / half;
            assert!((0.6..1.7).contains(&ratio), "{count}: {ratio}");
        }
    }

    #[test]
    fn there_are_never_many_batches_and_none_is_lost() {
        let mut gains = Gains::default();
        for count in 1..=10_000_u64 {
            let won = count % 3 == 0;
            gains.add(Some(Forecast { chance: 0.6, won }));
            assert!(gains.full.len() < BATCHES);
            assert!(count < 16 || gains.full.len() >= BATCHES / 2, "{count}");
            assert_eq!(gains.full.len() as u64, count / gains.length);
        }
    }

    #[test]
    fn runs_of_luck_widen_the_interval() {
        let runs = |length: usize| {
            let run = |at: usize| Forecast {
                chance: 0.6,
                won: (at / length).is_multiple_of(2),
            };
            gains(&(0..960).map(run).collect::<Vec<_>>()).beside_coin()
        };
        let (short, long) = (runs(1), runs(40));
        assert!(long.reach > short.reach, "{long:?} {short:?}");
    }

    #[test]
    fn the_sentence_follows_the_interval() {
        let said = |forecasts: &[Forecast]| gains(forecasts).beside_coin().to_string();
        let good = said(&forecasts(400, 0.75, 0.75));
        assert!(
            good.starts_with("400 matches learned; predictions beat a coin by 0."),
            "{good}"
        );
        assert!(good.ends_with("; they will pick better teams than chance"));
        let bad = said(&forecasts(400, 0.75, 0.25));
        assert!(bad.contains("worse than a coin by 0."), "{bad}");
        let unsure = said(&forecasts(400, 0.7, 0.58));
        assert!(unsure.contains("are level ("), "{unsure}");
        assert!(unsure.ends_with("nothing shows yet that they pick better teams than chance"));
        let even = said(&forecasts(400, 0.51, 0.51));
        assert!(even.ends_with("too close to 50 % to show more"), "{even}");
    }

    #[test]
    fn few_predictions_say_nothing_yet() {
        let mut gains = gains(&forecasts(29, 0.9, 0.9));
        gains.add(None);
        let of = gains.beside_coin();
        assert_eq!((of.learned, of.predicted, of.reach), (30, 29, None));
        assert_eq!(
            of.to_string(),
            "30 matches learned; whether predictions beat a coin shows after 30 predicted matches with a winner, and \
             there are 29"
        );
        gains.add(Some(Forecast {
            chance: 0.9,
            won: true,
        }));
        assert!(gains.beside_coin().reach.is_some());
        let none = Gains::default().beside_coin();
        assert_eq!((none.gain, none.expected), (0.0, 0.0));
    }
}
