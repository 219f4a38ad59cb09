//! The players of a fold: their dense numbers, identities and names. Whatever has keys is numbered from 0 in the
//! order in which it came, and copies share the parts that none has changed.

use std::hash::{BuildHasher, Hash, RandomState};

use evenkeel_model::{Kind, PlayerKey};
use serde::{Deserialize, Deserializer, Serialize, Serializer, ser::SerializeSeq};

use crate::{Player, PlayerMap, Shared};

/// The player that a dense number stands for.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Person {
    pub key: PlayerKey,
    /// The name in their latest match that states one; `None` if that is the identity.
    name: Option<Box<str>>,
}

impl Keyed for Person {
    type Key<'a> = (Kind, &'a str);

    fn key(&self) -> (Kind, &str) {
        (self.key.kind, &self.key.id)
    }

    fn has(&self, (kind, id): &(Kind, &str)) -> bool {
        self.key.id == *id && self.key.kind == *kind
    }
}

impl Person {
    /// The name in their latest match that states one; else the identity.
    pub fn name(&self) -> &str {
        self.name.as_deref().unwrap_or(&self.key.id)
    }
}

/// All players, numbered from 0 in the order of their first appearance.
#[derive(Clone, Debug, Default)]
pub(super) struct People {
    list: Numbered<Person>,
    bots: Shared<Vec<Player>>,
}

impl People {
    /// The person with a number.
    pub fn get(&self, player: Player) -> Option<&Person> {
        self.list.get(player.0)
    }

    /// The number of players.
    pub fn len(&self) -> usize {
        self.list.len()
    }

    /// Whether a player is known, and a human.
    pub fn is_human(&self, player: Player) -> bool {
        let person = self.get(player);
        person.is_some_and(|person| person.key.kind == Kind::Human)
    }

    /// The players who may be new or have another name, compared with other people.
    pub fn unlike(&self, other: &Self) -> Vec<Player> {
        self.list.unlike(&other.list)
    }

    /// All bots, by number.
    pub fn bots(&self) -> &[Player] {
        &self.bots
    }

    /// The number of a player; `None` without a match.
    pub fn number(&self, kind: Kind, id: &str) -> Option<Player> {
        self.list.find((kind, id)).map(Player)
    }

    /// The number of a player, who is added if unknown. The name replaces the former one, unless it is the identity,
    /// which stands for a name that is not known.
    pub fn meet(&mut self, key: &PlayerKey, name: &str) -> Player {
        let own_name = (name != key.id).then(|| name.into());
        if let Some(known) = self.number(key.kind, &key.id) {
            let person = self.get(known);
            if own_name.is_some() && person.is_some_and(|person| person.name() != name) {
                let person = self.list.get_mut(known.0);
                person
                    .into_iter()
                    .for_each(|person| person.name.clone_from(&own_name));
            }
            return known;
        }
        let number = self.list.push(Person {
            key: key.clone(),
            name: own_name,
        });
        if key.kind == Kind::Bot {
            self.bots.edit().push(Player(number));
        }
        Player(number)
    }
}

/// Serialised as a list in the order of the numbers, so that the same people always give the same bytes.
impl Serialize for People {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.list.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for People {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let list = Numbered::<Person>::deserialize(deserializer)?;
        let numbered = (0..).map(Player).zip(list.iter());
        let bots = numbered.filter(|(_, person)| person.key.kind == Kind::Bot);
        let bots = Shared::new(bots.map(|(number, _)| number).collect());
        Ok(Self { list, bots })
    }
}

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
    index: Shared<KeyIndex>,
}

/// Finds numbers by keys. It is used only for look-ups, so its random order affects nothing.
#[derive(Clone, Debug)]
struct KeyIndex {
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

impl Default for KeyIndex {
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
        let KeyIndex { hasher, shards } = index.edit();
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everybody_is_found_by_identity_and_a_copy_does_not_change() {
        let key = |n: u32| PlayerKey {
            kind: if n.is_multiple_of(3) {
                Kind::Bot
            } else {
                Kind::Human
            },
            id: format!("p{}", n / 2),
        };
        let mut people = People::default();
        for n in 0..10_000 {
            assert_eq!(
                people.meet(&key(n), &key(n).id),
                people.meet(&key(n), "name")
            );
        }
        let copy = people.clone();
        let known = people.len() as u32;
        let stranger = people.meet(&key(30_001), "stranger");
        assert_eq!(stranger, Player(known));
        assert_eq!(copy.number(key(30_001).kind, "p15000"), None);
        for n in 0..10_000 {
            let PlayerKey { kind, id } = key(n);
            let player = copy.number(kind, &id).unwrap();
            assert_eq!(copy.get(player).unwrap().key, key(n));
            assert_eq!(copy.get(player).unwrap().name(), "name");
            assert_eq!(copy.is_human(player), kind == Kind::Human);
        }
        let bytes = postcard::to_stdvec(&people).unwrap();
        let read: People = postcard::from_bytes(&bytes).unwrap();
        assert_eq!(read.number(key(30_001).kind, "p15000"), Some(stranger));
        assert_eq!(read.bots(), people.bots());
        assert_eq!(postcard::to_stdvec(&read).unwrap(), bytes);
    }
}
