//! Chance from a seed: the same on every machine and after every upgrade.

use rand::{Rng, SeedableRng, rngs::ChaCha8Rng};

/// What a stream of random numbers is for. Streams of one seed are independent of each other.
#[derive(Clone, Copy)]
pub(super) enum Purpose {
    /// Which of equally good sides a late arrival takes.
    Place = 16,
    /// Which of equally good moves is advised.
    Rebalance = 17,
}

/// ChaCha with 8 rounds, keyed by `seed` and `purpose` alone.
pub(super) fn stream(seed: u64, purpose: Purpose) -> ChaCha8Rng {
    let mut key = [0; 32];
    key[..8].copy_from_slice(&seed.to_le_bytes());
    key[8] = purpose as u8;
    ChaCha8Rng::from_seed(key)
}

/// Uniform in `0..bound`; 0 when there is nothing to choose from.
pub(super) fn index(rng: &mut ChaCha8Rng, bound: usize) -> usize {
    let bound = bound.max(1) as u64;
    // Numbers past the last whole multiple of `bound` would favour the small ones: draw again.
    let excess = (u64::MAX % bound + 1) % bound;
    loop {
        let drawn = rng.next_u64();
        if drawn <= u64::MAX - excess {
            return (drawn % bound) as usize;
        }
    }
}

/// Every order of `items` equally likely (Fisher and Yates).
pub(super) fn shuffle<T>(rng: &mut ChaCha8Rng, items: &mut [T]) {
    for last in (1..items.len()).rev() {
        items.swap(index(rng, last + 1), last);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_order_is_equally_likely() {
        let mut seen = std::collections::BTreeMap::<_, u32>::new();
        for seed in 0..6_000 {
            let mut items = [0, 1, 2];
            shuffle(&mut stream(seed, Purpose::Rebalance), &mut items);
            *seen.entry(items).or_default() += 1;
        }
        assert_eq!(seen.len(), 6);
        assert!(seen.values().all(|n| (850..1_150).contains(n)), "{seen:?}");
    }

    #[test]
    fn purposes_are_independent_and_nothing_to_choose_from_is_no_panic() {
        let first = |purpose| stream(1, purpose).next_u64();
        assert_ne!(first(Purpose::Place), first(Purpose::Rebalance));
        assert_eq!(index(&mut stream(1, Purpose::Place), 0), 0);
    }
}
