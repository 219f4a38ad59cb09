//! Things with keys, numbered from 0 in the order in which they came. Copies share the parts that none has changed.

use std::hash::{BuildHasher, Hash, RandomState};

use serde::{Deserialize, Deserializer, Serialize, Serializer, ser::SerializeSeq};

use crate::{Player, PlayerMap, Shared};

/// A thing that is found by a key.
pub(super) trait Keyed: Clone {
    type Key<'a>: Hash
    where
        Self: 'a;

    fn key(&self) -> Self::Key<'_>;
    fn has(&self, key: &Self::Key<'_>) -> bool;
}

/// Things with dense numbers, each with a key of its own.
#[derive(Clone, Debug)]
pub(super) struct Numbered<T> {
    list: PlayerMap<T>,
    count: u32,
    index: Shared<Index>,
}

/// Finds numbers by keys. It is used only for look-ups, so its random order affects nothing.
#[derive(Clone, Debug)]
struct Index {
    hasher: RandomState,
    shards: Vec<Shared<Shard>>,
}

/// A table with open addressing.
#[derive(Clone, Debug, Default)]
struct Shard {
    /// A number, or [`EMPTY`]. Their number is a power of two, and at least a quarter is empty.
    slots: Vec<u32>,
    count: usize,
}

const SHARDS: usize = 256;
const EMPTY: u32 = u32::MAX;

impl Default for Index {
    fn default() -> Self {
        Self {
            hasher: RandomState::new(),
            shards: vec![Shared::default(); SHARDS],
        }
    }
}

impl<T> Default for Numbered<T> {
    fn default() -> Self {
        Self {
            list: PlayerMap::default(),
            count: 0,
            index: Shared::default(),
        }
    }
}

impl Shard {
    /// The slots in which a hash may be, the most likely first.
    fn probe(&self, hash: usize) -> impl Iterator<Item = usize> + use<> {
        let last = self.slots.len().wrapping_sub(1);
        (0..self.slots.len()).map(move |step| (hash / SHARDS).wrapping_add(step) & last)
    }

    fn insert(&mut self, hash: usize, number: u32, hash_of: impl Fn(u32) -> usize) {
        self.count += 1;
        if 4 * self.count > 3 * self.slots.len() {
            let more = vec![EMPTY; (2 * self.slots.len()).max(8)];
            let old = std::mem::replace(&mut self.slots, more);
            for number in old.into_iter().filter(|number| *number != EMPTY) {
                self.put(hash_of(number), number);
            }
        }
        self.put(hash, number);
    }

    fn put(&mut self, hash: usize, number: u32) {
        let free = self.probe(hash).find(|at| self.slots[*at] == EMPTY);
        if let Some(free) = free {
            self.slots[free] = number;
        }
    }
}

impl<T> Numbered<T> {
    /// How many there are.
    pub fn len(&self) -> usize {
        self.count as usize
    }

    pub fn get(&self, number: u32) -> Option<&T> {
        self.list.get(Player(number))
    }

    pub fn iter(&self) -> impl Iterator<Item = &T> {
        self.list.values()
    }

    /// The numbers of those that may be new or changed, compared with others.
    pub fn unlike(&self, other: &Self) -> Vec<Player> {
        self.list.unlike(&other.list)
    }
}

impl<T: Keyed> Numbered<T> {
    pub fn get_mut(&mut self, number: u32) -> Option<&mut T> {
        self.list.get_mut(Player(number))
    }

    /// The number of the one with this key.
    pub fn find(&self, key: T::Key<'_>) -> Option<u32> {
        let hash = self.index.hasher.hash_one(&key) as usize;
        let shard = &self.index.shards[hash % SHARDS];
        let mut numbers = shard.probe(hash).map(|at| shard.slots[at]);
        let is_it = |number: &u32| self.get(*number).is_none_or(|own| own.has(&key));
        numbers.find(is_it).filter(|number| *number != EMPTY)
    }

    /// Adds one with a new key, and returns its number.
    pub fn push(&mut self, new: T) -> u32 {
        let number = self.count;
        self.count = number.saturating_add(1);
        self.list.set(Player(number), new);
        let Self { list, index, .. } = self;
        let Index { hasher, shards } = index.edit();
        let hash_of = |number| {
            let own = list.get(Player(number));
            own.map_or(0, |own| hasher.hash_one(own.key()) as usize)
        };
        let hash = hash_of(number);
        shards[hash % SHARDS].edit().insert(hash, number, hash_of);
        number
    }
}

/// Serialised as a list in the order of the numbers, so that the same things always give the same bytes.
impl<T: Serialize> Serialize for Numbered<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut list = serializer.serialize_seq(Some(self.len()))?;
        self.iter()
            .try_for_each(|own| list.serialize_element(own))?;
        list.end()
    }
}

impl<'de, T: Deserialize<'de> + Keyed> Deserialize<'de> for Numbered<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut all = Self::default();
        for one in Vec::<T>::deserialize(deserializer)? {
            all.push(one);
        }
        Ok(all)
    }
}
