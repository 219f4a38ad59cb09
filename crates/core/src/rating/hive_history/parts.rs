//! The parts that players have in a game.

use crate::rating::{Player, RatedGame, Seat};

/// A player's part in a game: the normalised time share on the first of two teams minus that on the
/// second.
pub(super) struct Part {
    pub(super) player: Player,
    pub(super) share: f64,
    pub(super) learns: bool,
}

/// The parts of all players of two teams, ordered by player.
pub(super) fn parts(game: &RatedGame, a: usize, b: usize) -> Vec<Part> {
    let own = |team: u16| [a, b].iter().position(|&t| t == usize::from(team));
    let mut seats = game.by_player();
    seats.retain(|seat| own(seat.team).is_some());
    let total: f64 = seats.iter().map(|s| s.share).sum();
    let total = if total > 0.0 { total } else { 1.0 };
    let part = |seats: &[Seat]| {
        let signed = |s: &Seat| {
            if own(s.team) == Some(0) {
                s.share
            } else {
                -s.share
            }
        };
        Part {
            player: seats[0].player,
            share: seats.iter().map(signed).sum::<f64>() / total,
            learns: seats[0].learns,
        }
    };
    seats
        .chunk_by(|x, y| x.player == y.player)
        .map(part)
        .collect()
}
