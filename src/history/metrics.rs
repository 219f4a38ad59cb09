//! How good predictions were.

/// A prediction and what happened.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Forecast {
    /// The chance given to side 0, 0 to 1.
    pub chance: f64,
    /// Whether it won.
    pub won: bool,
}

impl Forecast {
    /// The chance given to what then happened, not below 1e-9: even the surest must not lose
    /// everything by one match.
    fn given(&self) -> f64 {
        let given = if self.won {
            self.chance
        } else {
            1.0 - self.chance
        };
        given.max(1e-9)
    }

    /// The same match as the other side sees it.
    pub(super) fn mirrored(&self) -> Self {
        Self {
            chance: 1.0 - self.chance,
            won: !self.won,
        }
    }

    /// −ln of the chance given to what happened.
    pub fn log_loss(&self) -> f64 {
        -libm::log(self.given())
    }
}

/// One part of the range of chances, and how often side 0 won there.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Bin {
    /// Forecasts in it.
    pub count: u32,
    /// Their mean chance.
    pub chance: f64,
    /// How many came true.
    pub frequency: f64,
}

/// Tenths of the range: the usual number, and enough for a hundred matches in each from a thousand.
pub const BINS: usize = 10;

/// Measures over a list of forecasts. All are 0 for an empty list.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Metrics {
    /// How many there were.
    pub matches: usize,
    /// How often the side with the better chance won; even chances are half right.
    pub accuracy: f64,
    /// Mean −ln of the chance given to what happened.
    pub log_loss: f64,
    /// Mean square of what the chance missed the outcome by (Brier 1950).
    pub brier: f64,
    /// Mean difference of chance and frequency over the bins, by their counts.
    pub calibration_error: f64,
    /// The bins, for a calibration plot.
    pub bins: [Bin; BINS],
}

impl Metrics {
    /// Measures forecasts. Where sides mean nothing (`mirrored`), the bins hold each match as both
    /// teams see it; otherwise the coin that chose between the two would be measured, too.
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
        // A float converts to an index by saturation, so nothing gets out of range.
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
