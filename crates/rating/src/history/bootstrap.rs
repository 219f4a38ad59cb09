//! Paired block bootstrap: shows whether one system is better than another, or whether the
//! difference may be chance.

use rand::{RngExt, SeedableRng, rngs::ChaCha8Rng};

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

#[cfg(test)]
mod tests {
    use super::*;

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
}
