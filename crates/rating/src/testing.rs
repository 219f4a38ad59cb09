//! Builders of games for the tests of rating systems.

use super::{Player, RatedGame, Seat, System};

/// A game whose players are numbered from 0 team by team, with these time shares and places.
pub(crate) fn game(shares: &[&[f64]], places: &[u16]) -> RatedGame {
    let mut seats = Vec::new();
    for (team, shares) in (0..).zip(shares) {
        for &share in *shares {
            let player = Player(u32::try_from(seats.len()).unwrap());
            seats.push(Seat {
                share,
                ..Seat::new(player, team)
            });
        }
    }
    let mut game = RatedGame::new(seats);
    game.places = places.to_vec();
    game
}

/// Mean and deviation of each player in a game, seat by seat.
pub(crate) fn strengths(system: &dyn System, game: &RatedGame) -> Vec<(f64, f64)> {
    let of = |seat: &Seat| {
        let strength = system.strength(seat.player).unwrap();
        (strength.mean, strength.deviation)
    };
    game.seats().iter().map(of).collect()
}
