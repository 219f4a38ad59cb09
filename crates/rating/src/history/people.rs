//! The players of a fold: their dense numbers, identities and names. Copies share the parts that none has changed.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::numbered::{Keyed, Numbered};
use crate::{Player, Shared};
use evenkeel_model::{Kind, PlayerKey};

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
