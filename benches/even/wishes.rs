//! How many wishes for a side are granted, when players of the lobbies wish at random.

use crate::common::{
    daemon::{Picked, Way, wish},
    lobbies::Lobby,
};

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
