//! Numbers with the distributions of made-up players.

use evenkeel_model::random::Stream;

/// A number with the standard normal distribution (Box and Muller, 1958).
pub fn normal(stream: &mut Stream) -> f64 {
    let radius = libm::sqrt(-2.0 * libm::log(1.0 - stream.unit()));
    radius * libm::cos(std::f64::consts::TAU * stream.unit())
}

/// A number of at least 0 with the exponential distribution.
pub fn exponential(mean: f64, stream: &mut Stream) -> f64 {
    -mean * libm::log(1.0 - stream.unit())
}

/// A number above 0 whose logarithm is normal with the deviation `spread`.
pub fn log_normal(median: f64, spread: f64, stream: &mut Stream) -> f64 {
    median * libm::exp(spread * normal(stream))
}

/// Zipf's law: rank r, from 0, is drawn with a probability in proportion to 1/(r + 1).
#[derive(Clone, Debug)]
pub struct Zipf(Vec<f64>);

impl Zipf {
    /// The law for this number of ranks.
    pub fn new(ranks: usize) -> Self {
        let mut sum = 0.0;
        let add = |rank: usize| {
            sum += 1.0 / rank as f64;
            sum
        };
        Self((1..=ranks).map(add).collect())
    }

    /// Draws a rank.
    pub fn rank(&self, stream: &mut Stream) -> usize {
        let drawn = stream.unit() * self.0.last().copied().unwrap_or(0.0);
        let rank = self.0.partition_point(|sum| *sum <= drawn);
        rank.min(self.0.len().saturating_sub(1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use evenkeel_model::random::StreamPurpose;

    fn mean(mut draw: impl FnMut(&mut Stream) -> f64) -> f64 {
        let mut stream = Stream::new(1, StreamPurpose::Arrivals);
        (0..20_000).map(|_| draw(&mut stream)).sum::<f64>() / 20_000.0
    }

    #[test]
    fn the_distributions_have_their_means() {
        assert!(mean(normal).abs() < 0.03);
        assert!((mean(|s| normal(s).powi(2)) - 1.0).abs() < 0.05);
        assert!((mean(|s| exponential(4.0, s)) - 4.0).abs() < 0.15);
        let below = mean(|s| f64::from(u8::from(log_normal(60.0, 0.5, s) < 60.0)));
        assert!((below - 0.5).abs() < 0.02);
    }

    #[test]
    fn half_the_rank_is_drawn_twice_as_often() {
        let zipf = Zipf::new(4);
        for (rank, share) in [(0, 0.48), (1, 0.24), (2, 0.16), (3, 0.12)] {
            let drawn = mean(|s| f64::from(u8::from(zipf.rank(s) == rank)));
            assert!((drawn - share).abs() < 0.02, "{rank}: {drawn}");
        }
        let mut stream = Stream::new(1, StreamPurpose::Arrivals);
        assert_eq!(Zipf::new(0).rank(&mut stream), 0);
    }
}
