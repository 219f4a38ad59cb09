//! Paired block bootstrap: is one system better than another, or was it luck?

use rand::{RngExt, SeedableRng, rngs::ChaCha8Rng};

/// An interval that holds 95 % of what resampling found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    /// The lower end.
    pub low: f64,
    /// The upper end.
    pub high: f64,
}

/// Resamples drawn: the ends of the interval are then sure to a twentieth of its width.
const RESAMPLES: usize = 1_000;

/// The interval of the mean of paired differences, by resampling whole blocks of consecutive ones:
/// neighbouring matches share players and moods, so they are not independent (Künsch 1989). Blocks
/// are as long as the cube root of the number asks for. `None` for fewer than two differences.
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
            // Round the end to the beginning, so that each difference is as likely as any other.
            sum += (start..start + block)
                .map(|i| differences[i % n])
                .sum::<f64>();
        }
        means.push(sum / (blocks * block) as f64);
    }
    means.sort_by(f64::total_cmp);
    Some(Interval {
        low: means[RESAMPLES / 40],
        high: means[RESAMPLES - 1 - RESAMPLES / 40],
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
        // A uniform variable's variance is a third of the square of half its width.
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
