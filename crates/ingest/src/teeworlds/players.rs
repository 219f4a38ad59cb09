//! The players on a server, by the numbers that it gives them, and who they are.
//!
//! The output states no identity but the name, so a player is known by it. While two players have the same name, nobody
//! can say which of them is the one that was there before, and both are known by another identity.

use std::collections::BTreeMap;

use super::grammar::PlayerInKill;
use crate::text;
use evenkeel_model::{Nobody, PlayerKey};

/// The most players on a server; real servers have at most 64.
const MAX_PLAYERS: usize = 256;

/// A player on the server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TeeworldsPlayer {
    /// The name as the server prints it.
    raw: Vec<u8>,
    /// The name as a record has it.
    pub name: String,
    /// `None` if the player watches.
    pub team: Option<u8>,
}

/// All players on the server.
#[derive(Clone, Debug, Default)]
pub struct TeeworldsPlayers(BTreeMap<usize, TeeworldsPlayer>);

impl TeeworldsPlayers {
    /// Notes a player whom a line names. Returns whether this was not known.
    pub(super) fn note(&mut self, seen: PlayerInKill<'_>) -> bool {
        let slot = seen.who.slot;
        if self.0.len() >= MAX_PLAYERS && !self.0.contains_key(&slot) {
            return false;
        }
        let player = TeeworldsPlayer {
            raw: seen.who.name.to_owned(),
            name: text::name_or(seen.who.name, "unnamed"),
            team: seen.team,
        };
        self.0.insert(slot, player.clone()) != Some(player)
    }

    /// The player of this number is gone. Returns whether there was one.
    pub(super) fn remove(&mut self, slot: usize) -> bool {
        self.0.remove(&slot).is_some()
    }

    /// All players are gone.
    pub(super) fn clear(&mut self) {
        self.0.clear();
    }

    /// The name of a player as the server prints it.
    pub fn raw_name(&self, slot: usize) -> Option<&[u8]> {
        self.0.get(&slot).map(|player| player.raw.as_slice())
    }

    /// The team of a player; `None` if the player watches or is not known.
    pub fn team(&self, slot: usize) -> Option<u8> {
        self.0.get(&slot)?.team
    }

    /// The player of this number.
    pub fn get(&self, slot: usize) -> Option<&TeeworldsPlayer> {
        self.0.get(&slot)
    }

    /// All players, with their numbers.
    pub fn iter(&self) -> impl Iterator<Item = (usize, &TeeworldsPlayer)> {
        self.0.iter().map(|(&slot, player)| (slot, player))
    }

    /// Whether enough players are there for a match: one on each team, or two.
    pub(super) fn are_enough(&self, teams: bool) -> bool {
        let on = |team: u8| self.iter().filter(|(_, p)| p.team == Some(team)).count();
        match teams {
            true => on(0) > 0 && on(1) > 0,
            false => on(0) + on(1) > 1,
        }
    }

    /// The identity of a player: the name, or what no name can be while another player has the same one.
    pub fn key(&self, slot: usize, player: &TeeworldsPlayer) -> PlayerKey {
        let shared = self
            .iter()
            .any(|(other, p)| other != slot && p.name == player.name);
        let key = text::key_by_name(false, player.name.clone());
        match shared {
            true => key.of_nobody(Nobody::Twice, u32::try_from(slot).unwrap_or(u32::MAX)),
            false => key,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::teeworlds::grammar::NamedClient;

    fn seen(slot: usize, name: &str, team: Option<u8>) -> PlayerInKill<'_> {
        let name = name.as_bytes();
        let who = NamedClient { slot, name };
        PlayerInKill { who, team }
    }

    fn ids(players: &TeeworldsPlayers) -> Vec<String> {
        let ids = players.iter().map(|(slot, p)| players.key(slot, p).id);
        ids.collect()
    }

    #[test]
    fn a_name_in_use_twice_is_nobodys() {
        let mut players = TeeworldsPlayers::default();
        assert!(players.note(seen(0, "bob", Some(0))));
        assert!(!players.note(seen(0, "bob", Some(0))));
        assert_eq!(ids(&players), ["bob"]);
        players.note(seen(3, " bob", None));
        assert_eq!(
            ids(&players),
            ["name in use twice: bob (0)", "name in use twice: bob (3)"]
        );
        assert!(players.remove(3) && !players.remove(3));
        assert_eq!(ids(&players), ["bob"]);
    }

    #[test]
    fn numbers_without_end_take_bounded_memory() {
        let mut players = TeeworldsPlayers::default();
        for slot in 0..10_000 {
            players.note(seen(slot, "x", None));
        }
        assert_eq!(players.iter().count(), MAX_PLAYERS);
    }
}
