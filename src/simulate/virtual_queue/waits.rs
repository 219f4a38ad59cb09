//! How long tickets have waited: counts by length, which take little memory however many there are.

use serde::Serialize;

/// Counts of waits. Up to 10 seconds they are counted in steps of 10 ms, up to 100 seconds of 100 ms,
/// beyond of 1 s; a wait counts as the end of its step.
#[derive(Clone, Debug, Default)]
pub(super) struct Histogram {
    counts: Vec<u32>,
    count: u64,
    sum_millis: u64,
}

/// Number of steps of 10 ms, and of those of 100 ms.
const STEPS: (u64, u64) = (1_000, 900);

fn step(millis: u64) -> usize {
    let (fine, middle) = STEPS;
    let step = match millis {
        0..=10_000 => millis.div_ceil(10),
        10_001..=100_000 => fine + (millis - 10_000).div_ceil(100),
        _ => fine + middle + (millis - 100_000).div_ceil(1_000),
    };
    step as usize // at most the number of seconds of a few days
}

fn seconds(step: usize) -> f64 {
    let (fine, middle) = (STEPS.0 as usize, STEPS.1 as usize);
    match step {
        _ if step <= fine => step as f64 / 100.0,
        _ if step <= fine + middle => 10.0 + (step - fine) as f64 / 10.0,
        _ => 100.0 + (step - fine - middle) as f64,
    }
}

impl Histogram {
    /// Counts a wait.
    pub fn add(&mut self, millis: u64) {
        let step = step(millis);
        if step >= self.counts.len() {
            self.counts.resize(step + 1, 0);
        }
        self.counts[step] = self.counts[step].saturating_add(1);
        self.count += 1;
        self.sum_millis += millis;
    }

    /// The seconds within which this share of the waits ended; 0 if there are none.
    pub fn quantile(&self, share: f64) -> f64 {
        let rank = ((share * self.count as f64).ceil() as u64).max(1);
        let mut below = 0;
        for (step, count) in self.counts.iter().enumerate() {
            below += u64::from(*count);
            if below >= rank {
                return seconds(step);
            }
        }
        0.0
    }

    /// The mean in seconds; 0 if there are no waits.
    pub fn mean(&self) -> f64 {
        self.sum_millis as f64 / 1_000.0 / self.count.max(1) as f64
    }

    /// Number of waits.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// For each step that has any waits: its end in seconds, and the share of the waits that ended by then.
    pub fn curve(&self) -> Vec<(f64, f64)> {
        let mut below = 0;
        let steps = self
            .counts
            .iter()
            .enumerate()
            .filter(|(_, count)| **count > 0);
        let point = |(step, count): (usize, &u32)| {
            below += u64::from(*count);
            (seconds(step), below as f64 / self.count as f64)
        };
        steps.map(point).collect()
    }
}

/// How long the tickets of one category waited, until they had a match or left the queue otherwise.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CategoryWaits {
    /// What the tickets have in common, such as `tier 7`.
    pub category: String,
    /// Number of tickets that left the queue.
    pub tickets: u64,
    /// The share of them that had a match.
    pub matched: f64,
    /// The mean in seconds.
    pub mean: f64,
    /// The median in seconds.
    pub p50: f64,
    /// The seconds within which 95 % of the waits ended.
    pub p95: f64,
    /// The seconds within which 99 % of the waits ended.
    pub p99: f64,
    /// The longest in seconds.
    pub most: f64,
}

/// The waits of the tickets of one category, and how many had a match.
#[derive(Clone, Debug, Default)]
pub(super) struct Category {
    pub waits: Histogram,
    pub matched: u64,
}

impl Category {
    pub fn report(&self, category: &str) -> CategoryWaits {
        CategoryWaits {
            category: category.to_owned(),
            tickets: self.waits.count(),
            matched: self.matched as f64 / self.waits.count().max(1) as f64,
            mean: self.waits.mean(),
            p50: self.waits.quantile(0.5),
            p95: self.waits.quantile(0.95),
            p99: self.waits.quantile(0.99),
            most: self.waits.quantile(1.0),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn quantiles_are_those_of_the_sorted_waits(
            mut waits in prop::collection::vec(0_u64..400_000, 1..200), share in 0.01_f64..1.0
        ) {
            let mut histogram = Histogram::default();
            waits.iter().for_each(|wait| histogram.add(*wait));
            waits.sort_unstable();
            let rank = (share * waits.len() as f64).ceil() as usize;
            let exact = waits[rank - 1] as f64 / 1_000.0;
            let found = histogram.quantile(share);
            let width = match exact { ..=10.0 => 0.01, ..=100.0 => 0.1, _ => 1.0 };
            prop_assert!(found >= exact - 1e-9 && found < exact + width + 1e-9, "{found} {exact}");
            prop_assert_eq!(histogram.curve().last().unwrap().1, 1.0);
        }
    }
}
