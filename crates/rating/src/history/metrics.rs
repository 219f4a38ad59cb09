//! Measures of how good predictions were.

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
    pub(super) fn expected_gain(&self) -> f64 {
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

#[cfg(test)]
mod tests {
    use super::*;

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
}
