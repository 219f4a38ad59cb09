//! Means with their intervals, and all divisions into two teams.

use rand::{RngExt, SeedableRng, rngs::ChaCha8Rng};

/// The number of bootstrap samples.
const SAMPLES: usize = 2_000;

pub fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len().max(1) as f64
}

/// The 95 % interval of the mean, by a bootstrap of blocks of neighbouring lobbies.
pub fn interval(values: &[f64]) -> (f64, f64) {
    middle(resampled(values, 7))
}

/// What 95 % of these are in, as many of them below as above it.
pub fn middle(mut means: Vec<f64>) -> (f64, f64) {
    means.sort_by(f64::total_cmp);
    (means[SAMPLES / 40], means[SAMPLES - 1 - SAMPLES / 40])
}

/// The means of samples of blocks of neighbouring values.
pub fn resampled(values: &[f64], seed: u64) -> Vec<f64> {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let length = (values.len() as f64).cbrt().ceil() as usize;
    let sample = |_| {
        let mut sample = Vec::with_capacity(values.len() + length);
        while sample.len() < values.len() {
            let from = random.random_range(0..=values.len() - length);
            sample.extend_from_slice(&values[from..from + length]);
        }
        mean(&sample[..values.len()])
    };
    (0..SAMPLES).map(sample).collect()
}

/// All divisions of `players` into two teams whose sizes differ by at most one.
pub fn splits(players: usize) -> Vec<Vec<u8>> {
    let bits = |set: u32| (0..players).map(|p| (set >> p & 1) as u8).collect();
    let sizes = [players / 2, players.div_ceil(2)];
    let sets = (0..1u32 << players).filter(|set| sizes.contains(&(set.count_ones() as usize)));
    sets.map(bits).collect()
}
