//! The players of a fold: their dense numbers, identities and names. Copies share the parts that none has changed.

use std::hash::{BuildHasher, RandomState};

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::{
    domain::{Kind, PlayerKey},
    rating::{Player, PlayerMap, Shared},
};

/// The player that a dense number stands for.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Person {
    pub key: PlayerKey,
    /// The name in their latest match that states one; `None` if that is the identity.
    name: Option<Box<str>>,
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
    list: PlayerMap<Person>,
    count: u32,
    bots: Shared<Vec<Player>>,
    index: Index,
}

/// Finds the number of an identity. It is used only for look-ups, so its random order affects nothing.
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

impl Index {
    fn hash(&self, kind: Kind, id: &str) -> usize {
        self.hasher.hash_one((kind, id)) as usize
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

impl People {
    /// The person with a number.
    pub fn get(&self, player: Player) -> Option<&Person> {
        self.list.get(player)
    }

    /// The number of players.
    pub fn len(&self) -> usize {
        self.count as usize
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
        let hash = self.index.hash(kind, id);
        let shard = &self.index.shards[hash % SHARDS];
        let mut numbers = shard.probe(hash).map(|at| shard.slots[at]);
        let own = |number: &u32| {
            let person = self.list.get(Player(*number));
            person.is_none_or(|one| one.key.id == id && one.key.kind == kind)
        };
        numbers.find(own).filter(|n| *n != EMPTY).map(Player)
    }

    /// The number of a player, who is added if unknown. The name replaces the former one, unless it is the identity,
    /// which stands for a name that is not known.
    pub fn meet(&mut self, key: &PlayerKey, name: &str) -> Player {
        let own_name = (name != key.id).then(|| name.into());
        if let Some(known) = self.number(key.kind, &key.id) {
            let person = self.get(known);
            if own_name.is_some() && person.is_some_and(|person| person.name() != name) {
                let person = self.list.get_mut(known);
                person
                    .into_iter()
                    .for_each(|person| person.name.clone_from(&own_name));
            }
            return known;
        }
        self.add(Person {
            key: key.clone(),
            name: own_name,
        })
    }

    fn add(&mut self, person: Person) -> Player {
        let number = Player(self.count);
        self.count = self.count.saturating_add(1);
        if person.key.kind == Kind::Bot {
            self.bots.edit().push(number);
        }
        let hash = self.index.hash(person.key.kind, &person.key.id);
        self.list.set(number, person);
        let Self { list, index, .. } = self;
        let hasher = &index.hasher;
        let hash_of = |number| {
            let person = list.get(Player(number));
            person.map_or(0, |one| {
                hasher.hash_one((one.key.kind, one.key.id.as_str())) as usize
            })
        };
        index.shards[hash % SHARDS]
            .edit()
            .insert(hash, number.0, hash_of);
        number
    }
}

/// Serialised as a list in the order of the numbers, so that the same people always give the same bytes.
impl Serialize for People {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.list.values().collect::<Vec<_>>().serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for People {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut people = Self::default();
        for person in Vec::<Person>::deserialize(deserializer)? {
            people.add(person);
        }
        Ok(people)
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
        let known = people.count;
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
