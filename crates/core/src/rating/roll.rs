//! A table indexed by dense player number.

use serde::{Deserialize, Serialize};

use super::Player;

/// One `T` for each player that has an entry.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Roll<T>(Vec<Option<T>>);

impl<T> Default for Roll<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T> Roll<T> {
    /// The player's entry.
    pub fn get(&self, player: Player) -> Option<&T> {
        self.0.get(player.index())?.as_ref()
    }

    /// The player's entry, to change it.
    pub fn get_mut(&mut self, player: Player) -> Option<&mut T> {
        self.0.get_mut(player.index())?.as_mut()
    }

    /// The players that have an entry, by number.
    pub fn players(&self) -> impl Iterator<Item = Player> {
        let seen = (0..).zip(&self.0).filter(|(_, known)| known.is_some());
        seen.map(|(number, _)| Player(number))
    }

    /// The player's entry; creates it with `first` if there is none.
    pub fn enter(&mut self, player: Player, first: impl FnOnce() -> T) -> &mut T {
        let index = player.index();
        if index >= self.0.len() {
            self.0.resize_with(index + 1, || None);
        }
        self.0[index].get_or_insert_with(first)
    }

    /// Sets the player's entry, and creates it if there is none.
    pub fn set(&mut self, player: Player, known: T) {
        match self.0.get_mut(player.index()) {
            Some(place) => *place = Some(known),
            None => {
                self.enter(player, || known);
            }
        }
    }

    /// Removes the player's entry and returns it.
    pub fn remove(&mut self, player: Player) -> Option<T> {
        self.0.get_mut(player.index())?.take()
    }

    /// All entries, by player number.
    pub fn values(&self) -> impl Iterator<Item = &T> {
        self.0.iter().flatten()
    }

    /// All entries, by player number, to change them.
    pub fn values_mut(&mut self) -> impl Iterator<Item = &mut T> {
        self.0.iter_mut().flatten()
    }
}
