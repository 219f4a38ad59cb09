//! The parts that players have in a game.

use crate::{Player, RatedGame, Seat};

/// A player's part in a game: the normalised time share on the first of two sides minus that on the
/// second.
pub(super) struct Part {
    pub(super) player: Player,
    pub(super) share: f64,
    pub(super) learns: bool,
}

/// The parts of all players of two sides, ordered by player. On a side of several teams, a share counts in part.
pub(super) fn parts(game: &RatedGame, sides: [&[usize]; 2]) -> Vec<Part> {
    let factor = |side: usize| 1.0 / sides[side].len() as f64;
    let own = |seat: &Seat| {
        let side = sides
            .iter()
            .position(|side| side.contains(&seat.team.into()))?;
        Some((*seat, [factor(side), -factor(side)][side]))
    };
    let seats: Vec<(Seat, f64)> = game.by_player().iter().filter_map(own).collect();
    let total: f64 = seats
        .iter()
        .map(|(seat, factor)| seat.share * factor.abs())
        .sum();
    let total = if total > 0.0 { total } else { 1.0 };
    let part = |seats: &[(Seat, f64)]| Part {
        player: seats[0].0.player,
        share: seats
            .iter()
            .map(|(seat, factor)| seat.share * factor)
            .sum::<f64>()
            / total,
        learns: seats[0].0.learns,
    };
    seats
        .chunk_by(|(x, _), (y, _)| x.player == y.player)
        .map(part)
        .collect()
}
