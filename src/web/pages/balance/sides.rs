//! The balance by map, with how often team 0 wins there between equally strong teams.

use super::NamedBalance;
use crate::{
    learning::Standings,
    model::{Kind, LineupPlayer, PlayerKey, Ruleset, plain_name},
    rating::history::MapOfBalance,
    web::{Site, words},
};

/// The most maps in the table.
pub(super) const MAPS: usize = 25;

/// Of how many of the latest matches the usual size is.
pub(super) const LATEST: usize = 200;
/// The most players of a team for which it is computed.
const MOST: i64 = 16;

/// The usual number of players of a team: half of the median of these numbers of players. 1 without any.
pub(super) fn usual_size(mut players: Vec<i64>) -> usize {
    players.sort_unstable();
    let median = players.get(players.len() / 2).copied().unwrap_or(2);
    usize::try_from((median / 2).clamp(1, MOST)).unwrap_or(1)
}

/// The balance on each map, with the chance between equal teams of this size where chances are shown as numbers.
pub(super) fn by_map(
    site: &Site,
    name: &str,
    size: usize,
    maps: &[MapOfBalance],
) -> Vec<NamedBalance> {
    let standings = site.learning().standings_at(site.now());
    let ruleset = Ruleset::parse(name);
    let numbers = site.settings.shows_numbers();
    let chance = |map: &str| {
        let chance = numbers.then(|| between_equals(&standings, &ruleset, map, size));
        chance.flatten().map(|chance| words::rounded(chance, 4))
    };
    let line = |of: &MapOfBalance| NamedBalance {
        between_equals: chance(&of.map),
        ..NamedBalance::new(plain_name(&of.map), of.closeness)
    };
    maps.iter().map(line).collect()
}

/// The chance of team 0 on a map, if all players are newcomers, `size` on each team: the side of the map alone makes the
/// difference, as the rating system has learned it from matches of teams whose strengths it knew. `None` as long as nothing is
/// learned.
fn between_equals(standings: &Standings, ruleset: &Ruleset, map: &str, size: usize) -> Option<f64> {
    // No player has an empty identity: these are strangers.
    let stranger = PlayerKey {
        kind: Kind::Human,
        id: String::new(),
    };
    let team = vec![LineupPlayer::from(stranger); size];
    let chances = standings.chances(ruleset, map, &[team.clone(), team])?;
    chances.first().copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_usual_size_is_half_of_the_players() {
        assert_eq!(usual_size(vec![8, 8, 7, 10]), 4);
        assert_eq!(usual_size(Vec::new()), 1);
        assert_eq!(usual_size(vec![1_000]), MOST as usize);
    }
}
