//! Players by their dense numbers: tables whose copies share what none has changed.
//!
//! It is a tree of two levels, whose parts copies share: copying costs next to nothing, and changing an entry of a copy
//! copies the few entries beside it.

use std::{ops::Deref, sync::Arc};

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Entries of a leaf, and leaves of a branch.
const FAN: usize = 64;

type Leaf<T> = Shared<Vec<Option<T>>>;
type Branch<T> = Shared<Vec<Option<Leaf<T>>>>;

/// One `T` for each player that has an entry.
#[derive(Clone, Debug)]
pub struct PlayerMap<T>(Vec<Option<Branch<T>>>);

impl<T> Default for PlayerMap<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

/// The places of a player's branch, of the leaf in it, and of the entry in that.
fn places(player: Player) -> (usize, usize, usize) {
    let index = player.index();
    (index / (FAN * FAN), index / FAN % FAN, index % FAN)
}

impl<T> PlayerMap<T> {
    /// The player's entry.
    pub fn get(&self, player: Player) -> Option<&T> {
        let (branch, leaf, place) = places(player);
        let branch = self.0.get(branch)?.as_ref()?;
        branch.get(leaf)?.as_ref()?.get(place)?.as_ref()
    }

    /// All entries with their players, by player number.
    pub fn entries(&self) -> impl Iterator<Item = (Player, &T)> {
        let branches = (0_u32..).step_by(FAN * FAN).zip(&self.0);
        let branches = branches.filter_map(|(first, branch)| Some((first, branch.as_ref()?)));
        let leaves = branches.flat_map(|(first, branch)| {
            let leaves = (first..).step_by(FAN).zip(branch.iter());
            leaves.filter_map(|(first, leaf)| Some((first, leaf.as_ref()?)))
        });
        leaves.flat_map(|(first, leaf)| {
            let entries = (first..).zip(leaf.iter());
            entries.filter_map(|(number, entry)| Some((Player(number), entry.as_ref()?)))
        })
    }

    /// The players that have an entry, by number.
    pub fn players(&self) -> impl Iterator<Item = Player> {
        self.entries().map(|(player, _)| player)
    }

    /// The players with an entry that may differ from that in another table: the tables do not share it.
    pub fn unlike(&self, other: &Self) -> Vec<Player> {
        let mut players = Vec::new();
        for (branch, own) in self.0.iter().enumerate() {
            let Some(own) = own else { continue };
            let other = other.0.get(branch).and_then(Option::as_ref);
            if other.is_some_and(|other| own.is_shared_with(other)) {
                continue;
            }
            for (leaf, entries) in own.iter().enumerate() {
                let Some(entries) = entries else { continue };
                let other = other.and_then(|other| other.get(leaf)?.as_ref());
                if other.is_none_or(|other| !entries.is_shared_with(other)) {
                    let first = (branch * FAN + leaf) * FAN;
                    let known = entries
                        .iter()
                        .enumerate()
                        .filter(|(_, entry)| entry.is_some());
                    players.extend(known.map(|(place, _)| Player((first + place) as u32)));
                }
            }
        }
        players
    }

    /// All entries, by player number.
    pub fn values(&self) -> impl Iterator<Item = &T> {
        self.entries().map(|(_, entry)| entry)
    }
}

impl<T: Clone> PlayerMap<T> {
    /// The place of a player's entry.
    fn slot(&mut self, player: Player) -> &mut Option<T> {
        fn at<T>(list: &mut Vec<Option<T>>, place: usize) -> &mut Option<T> {
            if place >= list.len() {
                list.resize_with(place + 1, || None);
            }
            &mut list[place]
        }
        let (branch, leaf, place) = places(player);
        let branch = at(&mut self.0, branch).get_or_insert_with(|| Shared::new(Vec::new()));
        let leaf = at(branch.edit(), leaf).get_or_insert_with(|| Shared::new(Vec::new()));
        at(leaf.edit(), place)
    }

    /// The player's entry, to change it.
    pub fn get_mut(&mut self, player: Player) -> Option<&mut T> {
        self.get(player)?;
        self.slot(player).as_mut()
    }

    /// The player's entry; creates it with `first` if there is none.
    pub fn enter(&mut self, player: Player, first: impl FnOnce() -> T) -> &mut T {
        self.slot(player).get_or_insert_with(first)
    }

    /// Sets the player's entry, and creates it if there is none.
    pub fn set(&mut self, player: Player, known: T) {
        *self.slot(player) = Some(known);
    }

    /// Removes the player's entry and returns it.
    pub fn remove(&mut self, player: Player) -> Option<T> {
        self.get(player)?;
        self.slot(player).take()
    }

    /// All entries, by player number, to change them.
    pub fn values_mut(&mut self) -> impl Iterator<Item = &mut T> {
        let leaves = self.0.iter_mut().flatten();
        let leaves = leaves.flat_map(|branch| branch.edit().iter_mut().flatten());
        leaves.flat_map(|leaf| leaf.edit().iter_mut().flatten())
    }
}

/// Serialised as a list of the players and one of the entries.
impl<T: Serialize> Serialize for PlayerMap<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let players: Vec<u32> = self.players().map(|player| player.0).collect();
        let entries: Vec<&T> = self.values().collect();
        (players, entries).serialize(serializer)
    }
}

impl<'de, T: Deserialize<'de> + Clone> Deserialize<'de> for PlayerMap<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let (players, entries) = <(Vec<u32>, Vec<T>)>::deserialize(deserializer)?;
        let mut map = Self::default();
        for (player, entry) in players.into_iter().zip(entries) {
            map.set(Player(player), entry);
        }
        Ok(map)
    }
}

/// A player's dense number: the fold numbers identities from 0 in the order of their first match.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub struct Player(pub u32);

impl Player {
    /// The number as an index into a vector.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// A value that copies share: copying counts a reference, and `edit` copies the value if others have it.
/// It is serialised as the value.
#[derive(Debug, Default, PartialEq)]
pub struct Shared<T>(Arc<T>);

impl<T> Shared<T> {
    /// The value, which nobody else has yet.
    pub fn new(value: T) -> Self {
        Self(Arc::new(value))
    }

    /// Whether the other one shares this value, so that neither has changed it.
    pub(crate) fn is_shared_with(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl<T: Clone> Shared<T> {
    /// The value, to change it for this copy alone.
    pub(crate) fn edit(&mut self) -> &mut T {
        Arc::make_mut(&mut self.0)
    }
}

impl<T> Clone for Shared<T> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<T> Deref for Shared<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T: Serialize> Serialize for Shared<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Shared<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        T::deserialize(deserializer).map(Self::new)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn it_is_a_map_whose_copies_do_not_change(
            steps in prop::collection::vec((0..20_000_u32, any::<Option<u8>>()), 0..200),
            at in any::<prop::sample::Index>(),
        ) {
            let (mut players, mut map) = (PlayerMap::default(), BTreeMap::new());
            let mut copies = (players.clone(), map.clone());
            for (number, (player, entry)) in steps.iter().enumerate() {
                if number == at.index(steps.len()) {
                    copies = (players.clone(), map.clone());
                }
                match entry {
                    Some(entry) => {
                        players.set(Player(*player), *entry);
                        map.insert(*player, *entry);
                    }
                    None => prop_assert_eq!(players.remove(Player(*player)), map.remove(player)),
                }
            }
            for (now, before, other) in [(&players, &map, &copies), (&copies.0, &copies.1, &(players.clone(), map.clone()))] {
                let unlike = now.unlike(&other.0);
                let differs = before.iter().filter(|(player, entry)| other.1.get(*player) != Some(*entry));
                for (player, _) in differs {
                    prop_assert!(unlike.contains(&Player(*player)));
                }
            }
            prop_assert!(players.unlike(&players.clone()).is_empty());
            for (players, map) in [(players, map), copies] {
                let listed: Vec<(u32, u8)> = players.entries().map(|(p, e)| (p.0, *e)).collect();
                prop_assert_eq!(listed, map.into_iter().collect::<Vec<_>>());
                let bytes = postcard::to_stdvec(&players).unwrap();
                let read: PlayerMap<u8> = postcard::from_bytes(&bytes).unwrap();
                prop_assert_eq!(postcard::to_stdvec(&read).unwrap(), bytes);
            }
        }
    }
}
