//! What would have been expected of other teams: with one player on the other side, and with two exchanged.

use super::Standings;
use crate::model::{
    PlayerKey, Ruleset, WinModel,
    win_model::{LineupPlayer, SAME_CHANCE},
};

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

/// What would have been expected of other teams of the same players.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Swaps {
    /// For each seat that has a team, the forecast for the other team if the player alone had been on it.
    pub other_side: Vec<Option<f64>>,
    /// The exchange of two players that would have made the teams most even; `None` if none would have made them more
    /// even than they were.
    pub fairest: Option<PlayerExchange>,
}

/// Two players who change places.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PlayerExchange {
    /// The seat on team 0 and the seat on team 1.
    pub seats: [usize; 2],
    /// The forecast for team 0 after it.
    pub chance: f64,
}

/// What would have been expected of other teams in a match between two. Strengths are those of the weights before the
/// match, and without any change `forecast` is the chance of team 0; how much a strength or a side of the map counts, the
/// rating system knows as of today. Nothing if there are too many players, or no weights.
pub fn swaps(
    standings: &Standings,
    ruleset: &Ruleset,
    map: &str,
    seats: &[Option<SwapSeat>],
    forecast: Option<f64>,
) -> Swaps {
    let (all, seats) = (seats, seats.iter().flatten().collect::<Vec<_>>());
    if seats.len() > MOST || seats.len() < 2 {
        return Swaps::default();
    }
    let edge = |moved| edge(standings, ruleset, map, &seats, moved);
    let Some((win_model, played)) = edge(None) else {
        return Swaps::default();
    };
    let link = win_model.link;
    let shift = forecast.map_or(0.0, |forecast| link.edge(forecast) - played);
    let mut places = 0..;
    let mut other_side = |seat: &SwapSeat| {
        // Without an opponent there is nothing to predict.
        let chance = edge(places.next()).map_or(0.5, |(_, edge)| link.chance(edge + shift));
        if seat.team == 0 { 1.0 - chance } else { chance }
    };
    let swapped = all.iter().map(|seat| seat.as_ref().map(&mut other_side));
    let other_side = swapped.collect();
    let strength =
        |seat: &SwapSeat| standings.strength_at(ruleset, seat.before.unwrap_or(NEWCOMER));
    let strengths = all
        .iter()
        .map(|seat| seat.as_ref().map(|seat| (seat.team, strength(seat))));
    let fairest = fairest(&win_model, played + shift, &strengths.collect::<Vec<_>>());
    Swaps {
        other_side,
        fairest,
    }
}

/// The exchange of two players that makes the edge of team 0 smallest; each seat has its team and strength. `None` if
/// none makes it smaller than `edge`, beyond what anybody would notice. O(players²).
fn fairest(win_model: &WinModel, edge: f64, seats: &[Option<(u8, f64)>]) -> Option<PlayerExchange> {
    let of = |team: u8| {
        let seats = seats.iter().enumerate();
        seats.filter_map(move |(at, seat)| {
            seat.filter(|(own, _)| (*own != 0) == (team != 0))
                .map(|(_, strength)| (at, strength))
        })
    };
    // The stronger one takes the strength away from one team and brings it to the other.
    let each = 2.0 * win_model.per_strength_at(seats.iter().flatten().count());
    let exchanges = of(0).flat_map(|one| of(1).map(move |other| (one, other)));
    let after =
        exchanges.map(|((one, own), (other, theirs))| ([one, other], edge + each * (theirs - own)));
    let (seats, best) = after.min_by(|(_, a), (_, b)| a.abs().total_cmp(&b.abs()))?;
    let chance = win_model.link.chance(best);
    let gained = (win_model.link.chance(edge) - 0.5).abs() - (chance - 0.5).abs();
    (gained > SAME_CHANCE / 2.0).then_some(PlayerExchange { seats, chance })
}

/// The edge of team 0 by the weights before the match, with the player `moved` on the other team. `None` if
/// a team is empty, or nothing has been learned.
fn edge(
    standings: &Standings,
    ruleset: &Ruleset,
    map: &str,
    seats: &[&SwapSeat],
    moved: Option<usize>,
) -> Option<(WinModel, f64)> {
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
    let win_model = reading.win_model;
    let edge = reading.edge + win_model.per_strength_at(seats.len()) * later;
    (win_model.is_sound() && edge.is_finite()).then_some((win_model, edge))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::win_model::{Crowding, Link};

    /// A win model in which a unit of strength counts 0.5 among eight players.
    fn win_model() -> WinModel {
        WinModel::of_strengths(Link::Normal, 0.5, 8.0, Crowding::None, 1.0)
    }

    #[test]
    fn the_fairest_exchange_leaves_the_smallest_edge() {
        let seats = [(0, 2.0), (0, 1.0), (1, 0.0), (1, 0.4)].map(Some);
        // Team 0 is stronger by 2.6, and leads by an edge of 1.3. Exchanging 1.0 and 0.0 would leave 0.3, 1.0 and 0.4
        // would leave 0.7, 2.0 and 0.0 would leave −0.7, and 2.0 and 0.4 would leave −0.3.
        let found = fairest(&win_model(), 1.3, &seats).unwrap();
        assert!(found.seats == [1, 2] || found.seats == [0, 3], "{found:?}");
        assert!((found.chance - 0.5).abs() < 0.119, "{found:?}");
        let unequal = [(0, 2.0), (0, 1.1), (1, 0.0), (1, 0.4)].map(Some);
        let found = fairest(&win_model(), 1.5, &unequal).unwrap();
        assert_eq!(found.seats, [0, 3]);
        assert!((found.chance - Link::Normal.chance(1.5 - 1.6)).abs() < 1e-12);
    }

    #[test]
    fn even_teams_have_no_fairer_exchange() {
        let seats = [(0, 1.0), (0, 0.0), (1, 0.0), (1, 1.0)].map(Some);
        assert_eq!(fairest(&win_model(), 0.0, &seats), None);
        assert_eq!(
            fairest(&win_model(), 0.8, &[Some((0, 1.0)), None]),
            None,
            "nobody to exchange"
        );
    }
}
