//! Chance from a seed: the same on every machine and after every upgrade.

use rand::{Rng, SeedableRng, rngs::ChaCha8Rng};

/// What a stream of random numbers is for. Streams of one seed are independent of each other.
#[derive(Clone, Copy)]
pub(super) enum Purpose {
    /// Which of many equally good splits are candidates.
    Ties = 1,
    /// Which team is called what.
    Labels = 2,
    /// Which candidate is picked.
    Pick = 3,
    /// The search beyond exact.
    Search = 4,
}

/// ChaCha with 8 rounds, keyed by `seed` and `purpose` alone.
pub(super) fn stream(seed: u64, purpose: Purpose) -> ChaCha8Rng {
    let mut key = [0; 32];
    key[..8].copy_from_slice(&seed.to_le_bytes());
    key[8] = purpose as u8;
    ChaCha8Rng::from_seed(key)
}

/// Uniform in `0..bound`, which must not be 0.
pub(super) fn below(rng: &mut ChaCha8Rng, bound: u128) -> u128 {
    // Numbers past the last whole multiple of `bound` would favour the small ones: draw again.
    let excess = (u128::MAX % bound + 1) % bound;
    loop {
        let drawn = u128::from(rng.next_u64()) << 64 | u128::from(rng.next_u64());
        if drawn <= u128::MAX - excess {
            return drawn % bound;
        }
    }
}

/// Uniform in `0..bound`, which must not be 0.
pub(super) fn index(rng: &mut ChaCha8Rng, bound: usize) -> usize {
    below(rng, bound as u128) as usize
}

/// Uniform in [0, 1), on multiples of 2^-53.
pub(super) fn unit(rng: &mut ChaCha8Rng) -> f64 {
    (rng.next_u64() >> 11) as f64 / (1u64 << 53) as f64
}

/// `count` different numbers below `bound` (at least `count`), ascending, every set equally likely:
/// R. W. Floyd's method (J. Bentley, Programming Pearls: A Sample of Brilliance, 1987).
pub(super) fn distinct(rng: &mut ChaCha8Rng, count: usize, bound: u128) -> Vec<u128> {
    let mut chosen = std::collections::BTreeSet::new();
    for last in bound - count as u128..bound {
        let drawn = below(rng, last + 1);
        if !chosen.insert(drawn) {
            chosen.insert(last);
        }
    }
    chosen.into_iter().collect()
}

/// Every order of `items` equally likely (Fisher and Yates).
pub(super) fn shuffle<T>(rng: &mut ChaCha8Rng, items: &mut [T]) {
    for last in (1..items.len()).rev() {
        items.swap(index(rng, last + 1), last);
    }
}

/// A 64-bit hash of `bytes` under `seed`: FNV-1a, finished by SplitMix64's mixer.
pub(super) fn hash(seed: u64, bytes: impl IntoIterator<Item = u8>) -> u64 {
    let start = mix(seed ^ 0xcbf2_9ce4_8422_2325);
    mix(bytes.into_iter().fold(start, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    }))
}

/// The finaliser of SplitMix64 (Steele, Lea, Flood 2014): a bijection that spreads every bit.
fn mix(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_set_is_equally_likely() {
        let mut seen = std::collections::BTreeMap::<_, u32>::new();
        for seed in 0..6000 {
            *seen
                .entry(distinct(&mut stream(seed, Purpose::Ties), 2, 4))
                .or_default() += 1;
        }
        assert_eq!(seen.len(), 6);
        assert!(seen.values().all(|n| (850..1150).contains(n)), "{seen:?}");
    }

    #[test]
    fn the_generator_is_named_and_stays() {
        assert_eq!(
            stream(1, Purpose::Pick).next_u64(),
            9_284_114_540_295_415_762
        );
    }
}
