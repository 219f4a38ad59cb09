//! Measures of how good predictions were, and whether they are better than those of another system (paired block
//! bootstrap), or than a coin, beyond chance.

use std::f64::consts::LN_2;

use evenkeel_model::counted;
use rand::{RngExt, SeedableRng, rngs::ChaCha8Rng};
use serde::{Deserialize, Serialize};

use super::FEWEST_COMPARED;

/// A predicted chance, and the result.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Forecast {
    /// The predicted chance that side 0 wins, 0 to 1.
    pub chance: f64,
    /// Whether side 0 won.
    pub won: bool,
}

impl Forecast {
    /// The chance given to the observed result, at least 1e-9: one wrong prediction, however
    /// certain, must not dominate the mean.
    fn given(&self) -> f64 {
        let given = if self.won {
            self.chance
        } else {
            1.0 - self.chance
        };
        given.max(1e-9)
    }

    /// The same match from the other side.
    pub(super) fn mirrored(&self) -> Self {
        Self {
            chance: 1.0 - self.chance,
            won: !self.won,
        }
    }

    /// By how much the log loss is lower than a coin's on average, if the chance is exact.
    fn expected_gain(&self) -> f64 {
        let part = |chance: f64| match chance > 0.0 {
            true => chance * libm::log(chance),
            false => 0.0,
        };
        std::f64::consts::LN_2 + part(self.chance) + part(1.0 - self.chance)
    }

    /// −ln of the chance given to the observed result.
    pub fn log_loss(&self) -> f64 {
        -libm::log(self.given())
    }
}

/// One part of the range of chances: what was predicted there, and what happened.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Bin {
    /// Number of forecasts in the bin.
    pub count: u32,
    /// Mean predicted chance in the bin.
    pub chance: f64,
    /// The share of the bin's forecasts in which side 0 won, 0 to 1.
    pub frequency: f64,
}

/// Number of bins, each a tenth of the range: the usual number, with a hundred matches per bin from
/// a thousand on.
pub const BINS: usize = 10;

/// Measures over a list of forecasts; all are 0 for an empty list.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Metrics {
    /// Number of forecasts.
    pub matches: usize,
    /// The share of matches in which the side with the higher chance won; an even chance counts ½.
    pub accuracy: f64,
    /// Mean −ln of the chance given to the observed result.
    pub log_loss: f64,
    /// Mean squared difference of the chance and the outcome (Brier 1950).
    pub brier: f64,
    /// Mean absolute difference of chance and frequency over the bins, weighted by their counts.
    pub calibration_error: f64,
    /// The bins, for a calibration plot.
    pub bins: [Bin; BINS],
}

impl Metrics {
    /// Measures forecasts. With `mirrored`, the bins count each match from both sides; use it where
    /// side numbers are random, since the bins would otherwise measure that randomness, too.
    pub fn of(forecasts: &[Forecast], mirrored: bool) -> Self {
        let n = forecasts.len().max(1) as f64;
        let mean = |of: &dyn Fn(&Forecast) -> f64| forecasts.iter().map(of).sum::<f64>() / n;
        let bins = if mirrored {
            let both = forecasts.iter().flat_map(|f| [*f, f.mirrored()]);
            bins(both)
        } else {
            bins(forecasts.iter().copied())
        };
        let binned: u32 = bins.iter().map(|b| b.count).sum();
        let off = |b: &Bin| f64::from(b.count) * (b.chance - b.frequency).abs();
        let off: f64 = bins.iter().map(off).sum();
        Self {
            matches: forecasts.len(),
            accuracy: mean(&|f| match f.given().total_cmp(&0.5) {
                std::cmp::Ordering::Less => 0.0,
                std::cmp::Ordering::Equal => 0.5,
                std::cmp::Ordering::Greater => 1.0,
            }),
            log_loss: mean(&Forecast::log_loss),
            brier: mean(&|f| {
                let missed = f.chance - f64::from(u8::from(f.won));
                missed * missed
            }),
            calibration_error: off / f64::from(binned.max(1)),
            bins,
        }
    }
}

fn bins(forecasts: impl Iterator<Item = Forecast>) -> [Bin; BINS] {
    let mut bins = [Bin::default(); BINS];
    for forecast in forecasts {
        // Converting a float to an integer saturates, so the index cannot overflow.
        let index = (forecast.chance * BINS as f64) as usize;
        let bin = &mut bins[index.min(BINS - 1)];
        bin.count += 1;
        bin.chance += forecast.chance;
        bin.frequency += f64::from(u8::from(forecast.won));
    }
    for bin in &mut bins {
        let n = f64::from(bin.count.max(1));
        bin.chance /= n;
        bin.frequency /= n;
    }
    bins
}

/// The share of the resampled means that an interval contains, the same number being left out above and
/// below it.
pub const CONFIDENCE: f64 = 0.95;

/// A 95 % interval ([`CONFIDENCE`]) of a mean.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    /// The lower end, in the unit of the differences.
    pub low: f64,
    /// The upper end, in the unit of the differences.
    pub high: f64,
}

/// Number of resamples. With 1,000, each end is accurate to a twentieth of the interval's width.
const RESAMPLES: usize = 1_000;

/// The interval of the mean of paired differences, by resampling blocks of consecutive differences.
/// Neighbouring matches share players and conditions, so single differences are not independent
/// (Künsch 1989, wrapped around at the end as by Politis and Romano 1992). A block has ∛n differences. `None` for fewer than two differences.
///
/// The same differences and seed give the same interval. O(resamples · differences).
pub fn interval(differences: &[f64], seed: u64) -> Option<Interval> {
    let n = differences.len();
    if n < 2 {
        return None;
    }
    let block = (libm::cbrt(n as f64).ceil() as usize).max(1);
    let blocks = n.div_ceil(block);
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let mut means: Vec<f64> = Vec::with_capacity(RESAMPLES);
    for _ in 0..RESAMPLES {
        let mut sum = 0.0;
        for _ in 0..blocks {
            let start = random.random_range(0..n as u64) as usize;
            // Wrap around at the end, so that each difference is equally likely to be drawn.
            sum += (start..start + block)
                .map(|i| differences[i % n])
                .sum::<f64>();
        }
        means.push(sum / (blocks * block) as f64);
    }
    means.sort_by(f64::total_cmp);
    let tail = (0.5 * (1.0 - CONFIDENCE) * RESAMPLES as f64).round() as usize;
    Some(Interval {
        low: means[tail],
        high: means[RESAMPLES - 1 - tail],
    })
}

/// The fewest matches from which systems are compared. The bootstrap of fewer draws from fewer than
/// eight blocks, and its intervals are too narrow.
pub const FEWEST: usize = 30;

/// How a system predicts beside the one that it is compared with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SystemComparison {
    /// Its log loss is lower, and the interval of the difference does not contain 0.
    Better,
    /// Its log loss is higher, and the interval of the difference does not contain 0.
    Worse,
    /// The interval of the difference contains 0: the difference may be chance.
    Level,
}

impl SystemComparison {
    pub(super) fn of(difference: Interval) -> Self {
        match difference {
            Interval { high, .. } if high < 0.0 => Self::Better,
            Interval { low, .. } if low > 0.0 => Self::Worse,
            _ => Self::Level,
        }
    }

    /// The word for it, in tables and JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Better => "better",
            Self::Worse => "worse",
            Self::Level => "level",
        }
    }
}

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

    fn forecasts(list: &[(f64, bool)]) -> Vec<Forecast> {
        let one = |&(chance, won)| Forecast { chance, won };
        list.iter().map(one).collect()
    }

    #[test]
    fn by_hand() {
        let metrics = Metrics::of(
            &forecasts(&[(0.75, true), (0.75, false), (0.5, true)]),
            false,
        );
        let ln = |x: f64| x.ln();
        assert_eq!(metrics.matches, 3);
        assert!((metrics.accuracy - 0.5).abs() < 1e-15);
        assert!((metrics.log_loss + (ln(0.75) + ln(0.25) + ln(0.5)) / 3.0).abs() < 1e-15);
        assert!((metrics.brier - (0.0625 + 0.5625 + 0.25) / 3.0).abs() < 1e-15);
        // |0.75 − 0.5| for two of three, |0.5 − 1| for one.
        assert!((metrics.calibration_error - 1.0 / 3.0).abs() < 1e-15);
        assert_eq!((metrics.bins[7].count, metrics.bins[5].count), (2, 1));
    }

    #[test]
    fn mirrored_bins_do_not_depend_on_who_is_named_first() {
        let one = forecasts(&[(0.75, true), (0.25, true), (0.9, true)]);
        let other = forecasts(&[(0.25, false), (0.25, true), (0.1, false)]);
        let error = |f: &[Forecast]| Metrics::of(f, true).calibration_error;
        assert!((error(&one) - error(&other)).abs() < 1e-15);
        assert_eq!(
            Metrics::of(&one, true)
                .bins
                .iter()
                .map(|b| b.count)
                .sum::<u32>(),
            6
        );
        assert_ne!(error(&one), Metrics::of(&one, false).calibration_error);
    }

    #[test]
    fn the_sure_and_wrong_lose_much_but_not_all() {
        let metrics = Metrics::of(&forecasts(&[(1.0, false), (0.0, true), (1.0, true)]), false);
        assert!(metrics.log_loss > 10.0 && metrics.log_loss.is_finite());
        assert_eq!(Metrics::of(&[], false), Metrics::default());
    }

    #[test]
    fn independent_differences_have_the_textbook_interval() {
        let mut random = ChaCha8Rng::seed_from_u64(3);
        let differences: Vec<f64> = (0..4_000)
            .map(|_| 0.1 + random.random_range(-1.0..1.0))
            .collect();
        let mean = differences.iter().sum::<f64>() / 4_000.0;
        // The variance of a uniform variable is a third of the square of half its width.
        let reach = 1.96 * (1.0_f64 / 3.0 / 4_000.0).sqrt();
        let got = interval(&differences, 1).unwrap();
        assert!((got.low - (mean - reach)).abs() < 0.25 * reach, "{got:?}");
        assert!((got.high - (mean + reach)).abs() < 0.25 * reach, "{got:?}");
        assert_eq!(interval(&differences, 1), Some(got));
        assert_ne!(interval(&differences, 2), Some(got));
    }

    #[test]
    fn runs_of_luck_widen_it() {
        let runs: Vec<f64> = (0..1_000).map(|i| f64::from(i / 10 % 2)).collect();
        let mixed: Vec<f64> = (0..1_000).map(|i| f64::from(i * 7 / 5 % 2)).collect();
        let width = |d: &[f64]| interval(d, 1).map(|i| i.high - i.low).unwrap();
        assert!(width(&runs) > 1.5 * width(&mixed));
    }

    #[test]
    fn one_match_tells_nothing() {
        assert_eq!(interval(&[0.3], 1), None);
    }

    #[test]
    fn only_an_interval_without_zero_is_beyond_chance() {
        let of = |low, high| SystemComparison::of(Interval { low, high });
        assert_eq!(of(-0.02, -0.01), SystemComparison::Better);
        assert_eq!(of(0.01, 0.02), SystemComparison::Worse);
        for (low, high) in [(-0.01, 0.01), (0.0, 0.01), (-0.01, 0.0), (0.0, 0.0)] {
            assert_eq!(of(low, high), SystemComparison::Level);
        }
    }

    /// Forecasts of matches that the first team wins with the chance `truth`, or the other way round.
    fn coin_forecasts(count: usize, chance: f64, truth: f64) -> Vec<Forecast> {
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
            let forecasts = coin_forecasts(count, 0.7, 0.7);
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
        let good = said(&coin_forecasts(400, 0.75, 0.75));
        assert!(
            good.starts_with("400 matches learned; predictions beat a coin by 0."),
            "{good}"
        );
        assert!(good.ends_with("; they will pick better teams than chance"));
        let bad = said(&coin_forecasts(400, 0.75, 0.25));
        assert!(bad.contains("worse than a coin by 0."), "{bad}");
        let unsure = said(&coin_forecasts(400, 0.7, 0.58));
        assert!(unsure.contains("are level ("), "{unsure}");
        assert!(unsure.ends_with("nothing shows yet that they pick better teams than chance"));
        let even = said(&coin_forecasts(400, 0.51, 0.51));
        assert!(even.ends_with("too close to 50 % to show more"), "{even}");
    }

    #[test]
    fn few_predictions_say_nothing_yet() {
        let mut gains = gains(&coin_forecasts(29, 0.9, 0.9));
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
