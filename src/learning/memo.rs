//! Weights that were computed already, by the number of the player.

use std::sync::{
    OnceLock,
    atomic::{AtomicU64, Ordering},
};

/// The players of a part. Memory for a part is taken when the weight of one of them is computed, because most players
/// of a large community are not in any game today.
const PART: usize = 64;

/// What is stored for a player whose weight was not computed yet.
const UNKNOWN: u64 = 0;
/// What is stored for a player without a weight: the bits of a number that no weight is.
const NO_WEIGHT: u64 = u64::MAX;
/// Set where the weight is a guess. A weight is not negative, so that its own sign is free.
const GUESS: u64 = 1 << 63;

/// A player's weight.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct KnownWeight {
    /// 0 to 100.
    pub weight: f64,
    /// Whether it comes only from games of other rulesets.
    pub is_guess: bool,
}

/// The weights of players with the numbers from 0 to a limit, as far as they were computed.
#[derive(Debug, Default)]
pub(super) struct Memo {
    parts: Box<[OnceLock<Box<[AtomicU64; PART]>>]>,
}

impl Memo {
    /// A memo for this number of players.
    pub fn new(players: usize) -> Self {
        let parts = (0..players.div_ceil(PART)).map(|_| OnceLock::new());
        Self {
            parts: parts.collect(),
        }
    }

    /// A player's weight. `compute` must give the same one whenever it is called for this player; two threads may both
    /// call it.
    pub fn get_or_compute(
        &self,
        number: usize,
        compute: impl FnOnce() -> Option<KnownWeight>,
    ) -> Option<KnownWeight> {
        let Some(part) = self.parts.get(number / PART) else {
            return compute();
        };
        let part = part.get_or_init(|| Box::new([const { AtomicU64::new(UNKNOWN) }; PART]));
        let slot = &part[number % PART];
        match slot.load(Ordering::Relaxed) {
            UNKNOWN => {
                let known = compute();
                slot.store(encode(known), Ordering::Relaxed);
                known
            }
            stored => decode(stored),
        }
    }
}

/// The bits of the weight plus 1, so that no weight is stored as [`UNKNOWN`].
fn encode(known: Option<KnownWeight>) -> u64 {
    known.map_or(NO_WEIGHT, |known| {
        let guess = if known.is_guess { GUESS } else { 0 };
        ((known.weight.abs().to_bits() & !GUESS) + 1) | guess
    })
}

fn decode(stored: u64) -> Option<KnownWeight> {
    (stored != NO_WEIGHT).then(|| KnownWeight {
        weight: f64::from_bits((stored & !GUESS) - 1),
        is_guess: stored & GUESS != 0,
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_weight_is_computed_once() {
        let memo = Memo::new(65);
        let known = Some(KnownWeight {
            weight: 61.5,
            is_guess: false,
        });
        assert_eq!(memo.get_or_compute(64, || known), known);
        assert_eq!(memo.get_or_compute(64, || unreachable!()), known);
        assert_eq!(memo.get_or_compute(0, || None), None);
        assert_eq!(memo.get_or_compute(0, || unreachable!()), None);
    }

    #[test]
    fn a_number_beyond_the_limit_is_computed_each_time() {
        let memo = Memo::new(64);
        for weight in [1.0, 2.0] {
            let known = Some(KnownWeight {
                weight,
                is_guess: true,
            });
            assert_eq!(memo.get_or_compute(1_000, || known), known);
        }
    }

    proptest! {
        #[test]
        fn the_weight_that_is_kept_has_the_same_bits(weight in 0.0..=100.0, is_guess: bool) {
            let known = KnownWeight { weight, is_guess };
            let kept = decode(encode(Some(known))).unwrap();
            prop_assert_eq!(kept.weight.to_bits(), weight.to_bits());
            prop_assert_eq!(kept.is_guess, is_guess);
        }
    }
}
