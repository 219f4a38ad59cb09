//! Seeded random streams: the same seed gives the same numbers on every machine and after every
//! upgrade, so that a stored decision can be replayed.

use std::collections::BTreeSet;

use rand::{Rng, SeedableRng, rngs::ChaCha8Rng};

/// What a stream is used for. The streams of one seed are independent of each other.
///
/// The numbers are part of the key: a purpose never changes its number, and a new one takes a free
/// number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StreamPurpose {
    /// Chooses which of many equally good splits become candidates.
    Ties = 1,
    /// Chooses which team gets which number.
    Labels = 2,
    /// Picks one of the candidates.
    Pick = 3,
    /// Drives the search that is used where exact engines are too slow.
    Search = 4,
    /// Breaks ties between equally good sides for a late arrival.
    Place = 16,
    /// Breaks ties between equally good moves.
    Rebalance = 17,
    /// Draws teams without looking at strengths.
    RandomSplits = 18,
    /// Drives one start of a search for a match among the tickets of a queue.
    Match = 32,
    /// Draws the arrivals of a simulated queue.
    Arrivals = 33,
    /// Draws what a match of a queue is like, such as its map.
    Picks = 34,
}

/// A stream of random numbers: ChaCha with 8 rounds, keyed by a seed and a purpose alone.
#[derive(Debug)]
pub struct Stream(ChaCha8Rng);

impl Stream {
    /// The stream of `seed` for `purpose`, from its start.
    pub fn new(seed: u64, purpose: StreamPurpose) -> Self {
        let mut key = [0; 32];
        key[..8].copy_from_slice(&seed.to_le_bytes());
        key[8] = purpose as u8;
        Self(ChaCha8Rng::from_seed(key))
    }

    /// A number uniform in `0..bound`, from 64-bit draws; 0 if `bound` is 0.
    pub fn index(&mut self, bound: usize) -> usize {
        let bound = bound.max(1) as u64;
        // Draws past the last whole multiple of `bound` would favour small numbers: draw again.
        let excess = (u64::MAX % bound + 1) % bound;
        loop {
            let drawn = self.0.next_u64();
            if drawn <= u64::MAX - excess {
                return (drawn % bound) as usize;
            }
        }
    }

    /// A number uniform in `0..bound`, from 128-bit draws; 0 if `bound` is 0.
    pub fn below(&mut self, bound: u128) -> u128 {
        let bound = bound.max(1);
        let excess = (u128::MAX % bound + 1) % bound;
        loop {
            let drawn = u128::from(self.0.next_u64()) << 64 | u128::from(self.0.next_u64());
            if drawn <= u128::MAX - excess {
                return drawn % bound;
            }
        }
    }

    /// Like [`index`](Self::index), but from 128-bit draws: the stored results of `partition` depend
    /// on the number of draws.
    pub fn wide_index(&mut self, bound: usize) -> usize {
        self.below(bound as u128) as usize
    }

    /// A number uniform in [0, 1), on multiples of 2^-53.
    pub fn unit(&mut self) -> f64 {
        (self.0.next_u64() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// `count` different numbers below `bound`, ascending; `bound` must be at least `count`. Every
    /// set is equally likely: R. W. Floyd's method (J. Bentley, Programming Pearls: A Sample of
    /// Brilliance, 1987).
    pub fn distinct(&mut self, count: usize, bound: u128) -> Vec<u128> {
        let mut chosen = BTreeSet::new();
        for last in bound.saturating_sub(count as u128)..bound {
            let drawn = self.below(last + 1);
            if !chosen.insert(drawn) {
                chosen.insert(last);
            }
        }
        chosen.into_iter().collect()
    }

    /// Shuffles `items`, every order equally likely (Fisher and Yates), from 64-bit draws.
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            items.swap(self.index(last + 1), last);
        }
    }

    /// Like [`shuffle`](Self::shuffle), but from 128-bit draws, for the same reason as
    /// [`wide_index`](Self::wide_index).
    pub fn wide_shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            items.swap(self.wide_index(last + 1), last);
        }
    }
}

/// A 64-bit hash of `bytes` under `seed`: FNV-1a, finished by SplitMix64's mixer.
pub fn seeded_hash(seed: u64, bytes: impl IntoIterator<Item = u8>) -> u64 {
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
    use std::collections::BTreeMap;

    use super::*;

    #[test]
    fn every_set_is_equally_likely() {
        let mut seen = BTreeMap::<_, u32>::new();
        for seed in 0..6000 {
            *seen
                .entry(Stream::new(seed, StreamPurpose::Ties).distinct(2, 4))
                .or_default() += 1;
        }
        assert_eq!(seen.len(), 6);
        assert!(seen.values().all(|n| (850..1150).contains(n)), "{seen:?}");
    }

    #[test]
    fn the_generator_is_named_and_stays() {
        assert_eq!(
            Stream::new(1, StreamPurpose::Pick).0.next_u64(),
            9_284_114_540_295_415_762
        );
    }

    #[test]
    fn every_order_is_equally_likely() {
        let mut seen = BTreeMap::<_, u32>::new();
        for seed in 0..6_000 {
            let mut items = [0, 1, 2];
            Stream::new(seed, StreamPurpose::Rebalance).shuffle(&mut items);
            *seen.entry(items).or_default() += 1;
        }
        assert_eq!(seen.len(), 6);
        assert!(seen.values().all(|n| (850..1_150).contains(n)), "{seen:?}");
    }

    #[test]
    fn purposes_are_independent_and_nothing_to_choose_from_is_no_panic() {
        let first = |purpose| Stream::new(1, purpose).0.next_u64();
        assert_ne!(first(StreamPurpose::Place), first(StreamPurpose::Rebalance));
        assert_eq!(Stream::new(1, StreamPurpose::Place).index(0), 0);
        assert_eq!(Stream::new(1, StreamPurpose::Ties).below(0), 0);
    }
}
