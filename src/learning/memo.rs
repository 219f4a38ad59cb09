//! Weights that were computed already.
//!
//! Game servers ask for the same players again and again, and a weight takes longer to compute than all the rest of an
//! answer. So what was computed stays in a table without locks: a look-up hashes the name, and reads one line of the
//! processor's cache.

use std::{
    hash::{BuildHasher, Hasher, RandomState},
    sync::atomic::{AtomicU64, Ordering},
};

use crate::model::Kind;

/// The most sets. A weight whose place another one has taken is computed again.
const MOST: usize = 1 << 14;
/// Combined with the hash of a bot's name, which a human may have, too.
const BOT: u64 = 1 << 63;

/// What is stored where no weight is.
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

/// A place: what is known of a player, and the hash of who it is, combined with that by XOR. If two threads write
/// different players to a place at once, the two numbers do not belong together, and the place counts as empty.
#[derive(Debug, Default)]
struct Place {
    known: AtomicU64,
    owner: AtomicU64,
}

/// The places where a player's weight may be stored: a line of the cache. With as many sets as players, one set of 270 has
/// more players than places, where the players are spread by chance.
#[derive(Debug, Default)]
#[repr(align(64))]
struct Set([Place; 4]);

impl Set {
    /// What is stored for the player of this hash.
    fn find(&self, hash: u64) -> Option<u64> {
        self.0.iter().find_map(|place| {
            let stored = place.known.load(Ordering::Relaxed);
            let is_own = || place.owner.load(Ordering::Relaxed) ^ stored == hash;
            (stored != UNKNOWN && is_own()).then_some(stored)
        })
    }

    /// Stores this at an empty place, or at one that belongs to another player.
    fn store(&self, hash: u64, stored: u64) {
        let is_empty = |place: &&Place| place.known.load(Ordering::Relaxed) == UNKNOWN;
        let any = &self.0[(hash >> 60) as usize % self.0.len()];
        let place = self.0.iter().find(is_empty).unwrap_or(any);
        place.known.store(stored, Ordering::Relaxed);
        place.owner.store(hash ^ stored, Ordering::Relaxed);
    }
}

/// The weights that were computed already.
///
/// Two players count as the same one if all 64 bits of their hashes are equal. Nobody can choose such names, because the
/// key of the hash is random, and among a million players there are two with a chance of 1 in 30 million.
#[derive(Debug, Default)]
pub(super) struct Memo {
    hasher: RandomState,
    /// Their number is a power of two; none in the memo of nobody.
    sets: Box<[Set]>,
}

impl Memo {
    /// A memo for this number of players.
    pub fn new(players: usize) -> Self {
        let sets = players.max(16).next_power_of_two().min(MOST);
        Self {
            hasher: RandomState::new(),
            sets: (0..sets).map(|_| Set::default()).collect(),
        }
    }

    /// A player's weight. `compute` must give the same one whenever it is called for this player; two threads may both
    /// call it.
    pub fn get_or_compute(
        &self,
        kind: Kind,
        id: &str,
        compute: impl FnOnce() -> Option<KnownWeight>,
    ) -> Option<KnownWeight> {
        let hash = self.hash(kind, id);
        let last = self.sets.len().wrapping_sub(1);
        let Some(set) = self.sets.get(hash as usize & last) else {
            return compute();
        };
        if let Some(stored) = set.find(hash) {
            return decode(stored);
        }
        let known = compute();
        set.store(hash, encode(known));
        known
    }

    /// The hash of a player. Only the name goes through the hasher, in one piece: that is less work than the kind and the
    /// name one after the other.
    fn hash(&self, kind: Kind, id: &str) -> u64 {
        let mut hasher = self.hasher.build_hasher();
        hasher.write(id.as_bytes());
        match kind {
            Kind::Human => hasher.finish(),
            Kind::Bot => hasher.finish() ^ BOT,
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

    fn known(weight: f64) -> Option<KnownWeight> {
        Some(KnownWeight {
            weight,
            is_guess: false,
        })
    }

    #[test]
    fn a_weight_is_computed_once() {
        let memo = Memo::new(1);
        let ann =
            |compute: fn() -> Option<KnownWeight>| memo.get_or_compute(Kind::Human, "ann", compute);
        assert_eq!(ann(|| known(61.5)), known(61.5));
        assert_eq!(ann(|| unreachable!()), known(61.5));
        let bot = memo.get_or_compute(Kind::Bot, "ann", || None);
        assert_eq!(bot, None);
        let bot = memo.get_or_compute(Kind::Bot, "ann", || unreachable!());
        assert_eq!(bot, None);
    }

    #[test]
    fn hardly_any_player_takes_the_place_of_another_one() {
        let memo = Memo::new(1_000);
        let mut computed = 0;
        for _ in 0..2 {
            for number in 0..1_000_u32 {
                memo.get_or_compute(Kind::Human, &format!("p{number}"), || {
                    computed += 1;
                    known(50.0)
                });
            }
        }
        assert!(computed < 1_050, "{computed} weights of 1,000 players");
    }

    #[test]
    fn more_players_than_places_have_their_own_weights() {
        let memo = Memo::new(0);
        for round in 0..3 {
            for number in 0..1_000_u32 {
                let name = format!("p{number}");
                let weight = || known(f64::from(number) / 10.0);
                let found = memo.get_or_compute(Kind::Human, &name, weight);
                assert_eq!(found, weight(), "round {round}");
            }
        }
        let nobody = Memo::default();
        assert_eq!(
            nobody.get_or_compute(Kind::Human, "ann", || known(1.0)),
            known(1.0)
        );
    }

    #[test]
    fn threads_at_the_same_place_get_their_own_weights() {
        let memo = Memo::new(0);
        std::thread::scope(|scope| {
            for thread in 0..4_u32 {
                let memo = &memo;
                scope.spawn(move || {
                    for number in 0..20_000_u32 {
                        let own = thread * 100 + number % 100;
                        let weight = known(f64::from(own) / 4.0);
                        let name = format!("p{own}");
                        let found = memo.get_or_compute(Kind::Human, &name, || weight);
                        assert_eq!(found, weight);
                    }
                });
            }
        });
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
