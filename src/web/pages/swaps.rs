//! What would have been expected if one player had been on the other side.

use crate::{
    domain::{LineupPlayer, PlayerKey, Ruleset},
    web::Site,
};

/// The most players for whom this is computed.
const MOST: usize = 32;

/// For each player of a match between two teams: the chance of the player's own team, and the chance of
/// the other team if the player alone had been on it. By the weights of today. Empty if there are too many
/// players, or no weights.
pub(super) fn swaps(
    site: &Site,
    ruleset: &Ruleset,
    map: &str,
    seats: &[(PlayerKey, u8)],
) -> Vec<(f64, f64)> {
    if seats.len() > MOST || seats.len() < 2 {
        return Vec::new();
    }
    let standings = site.learning().standings_at(site.now());
    let chance = |moved: Option<usize>| {
        let mut teams = vec![Vec::new(), Vec::new()];
        for (at, (key, team)) in seats.iter().enumerate() {
            let team = match Some(at) == moved {
                true => 1 - team.min(&1),
                false => *team.min(&1),
            };
            teams[usize::from(team)].push(LineupPlayer::from(key.clone()));
        }
        let whole = teams.iter().all(|team| !team.is_empty());
        let chance = standings.chance(ruleset, map, &teams)?;
        Some(if whole { chance } else { 0.5 })
    };
    let Some(now) = chance(None) else {
        return Vec::new();
    };
    let of_team = |team: u8, chance: f64| if team == 0 { chance } else { 1.0 - chance };
    let mut swaps = Vec::with_capacity(seats.len());
    for (at, (_, team)) in seats.iter().enumerate() {
        let Some(moved) = chance(Some(at)) else {
            return Vec::new();
        };
        swaps.push((of_team(*team, now), of_team(1 - team.min(&1), moved)));
    }
    swaps
}
