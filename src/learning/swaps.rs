//! What would have been expected if one player had been on the other side.

use super::Standings;
use crate::domain::{LineupPlayer, Link, PlayerKey, Ruleset};

/// The most players for whom this is computed.
const MOST: usize = 32;
/// The weight of a player without earlier matches.
const NEWCOMER: f64 = 50.0;

/// A player on one of two teams.
#[derive(Clone, Debug)]
pub struct SwapSeat {
    /// The player.
    pub key: PlayerKey,
    /// The team, 0 or 1.
    pub team: u8,
    /// The weight before the match; `None` for a newcomer.
    pub before: Option<f64>,
}

/// For each seat of a match between two teams that has a team, the forecast for the other team if the player alone had been
/// on it. Strengths are those of the weights before the match, and without any change `forecast` is the
/// chance of team 0; how much a strength or a side of the map counts, the rating system knows as of today.
/// Empty if there are too many players, or no weights.
pub fn swaps(
    standings: &Standings,
    ruleset: &Ruleset,
    map: &str,
    seats: &[Option<SwapSeat>],
    forecast: Option<f64>,
) -> Vec<Option<f64>> {
    let (all, seats) = (seats, seats.iter().flatten().collect::<Vec<_>>());
    if seats.len() > MOST || seats.len() < 2 {
        return Vec::new();
    }
    let edge = |moved| edge(standings, ruleset, map, &seats, moved);
    let Some((link, played)) = edge(None) else {
        return Vec::new();
    };
    let shift = forecast.map_or(0.0, |forecast| link.edge(forecast) - played);
    let mut places = 0..;
    let mut other_side = |seat: &SwapSeat| {
        // Without an opponent there is nothing to predict.
        let chance = edge(places.next()).map_or(0.5, |(link, edge)| link.chance(edge + shift));
        if seat.team == 0 { 1.0 - chance } else { chance }
    };
    let swapped = all.iter().map(|seat| seat.as_ref().map(&mut other_side));
    swapped.collect()
}

/// The edge of team 0 by the weights before the match, with the player `moved` on the other team. `None` if
/// a team is empty, or nothing has been learned.
fn edge(
    standings: &Standings,
    ruleset: &Ruleset,
    map: &str,
    seats: &[&SwapSeat],
    moved: Option<usize>,
) -> Option<(Link, f64)> {
    let mut teams = vec![Vec::new(), Vec::new()];
    let mut strengths = [0.0; 2];
    for (at, seat) in seats.iter().enumerate() {
        let team = usize::from((seat.team != 0) != (Some(at) == moved));
        teams[team].push(LineupPlayer::from(seat.key.clone()));
        strengths[team] += standings.strength_at(ruleset, seat.before.unwrap_or(NEWCOMER));
    }
    if teams.iter().any(Vec::is_empty) {
        return None;
    }
    let reading = standings.reading(ruleset, map, &teams)?;
    let [one, other] = reading.strengths;
    let later = (strengths[0] - one) - (strengths[1] - other);
    let outlook = reading.outlook;
    let edge = reading.edge + outlook.per_strength_at(seats.len()) * later;
    (outlook.is_sound() && edge.is_finite()).then_some((outlook.link, edge))
}
