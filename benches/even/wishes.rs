//! How many wishes for a side are granted, when players of the lobbies wish at random.

use std::hash::{DefaultHasher, Hash, Hasher};

use rand::{RngExt, SeedableRng, rngs::ChaCha8Rng};

use crate::{
    lobbies::Lobby,
    picks::{Picked, Way},
};

/// The team for which a player wishes in the lobby of match `at`: none with probability `1 - share`. A player's wishes
/// in different lobbies are drawn anew.
pub fn wish(id: &str, at: usize, share: f64) -> Option<u8> {
    let mut hasher = DefaultHasher::new();
    (id, at).hash(&mut hasher);
    let mut draw = ChaCha8Rng::seed_from_u64(hasher.finish());
    draw.random_bool(share).then(|| draw.random_range(0..2))
}

/// Prints the share of wishes that the picks grant, and the most that could be granted if only sizes counted.
pub fn print(way: Way, share: f64, lobbies: &[Lobby], picked: &[Picked]) {
    let (mut satisfied, mut possible, mut wished) = (0, 0, 0);
    for (lobby, picked) in lobbies.iter().zip(picked) {
        let wishes: Vec<Option<u8>> = lobby
            .players
            .iter()
            .map(|(id, _)| wish(id, lobby.at, share))
            .collect();
        let room = lobby.players.len().div_ceil(2);
        let of = |team: u8| wishes.iter().filter(|wish| **wish == Some(team)).count();
        for teams in &picked.teams {
            let kept = wishes.iter().zip(teams);
            satisfied += kept.filter(|(wish, team)| **wish == Some(**team)).count();
            possible += of(0).min(room) + of(1).min(room);
            wished += of(0) + of(1);
        }
    }
    let percent = |part: usize| 100.0 * part as f64 / wished.max(1) as f64;
    println!(
        "    {way:?}: {:.1} % of the wishes are granted; at most {:.1} % have room",
        percent(satisfied),
        percent(possible)
    );
}
