//! The maps on which a player wins most and least.

use std::collections::BTreeMap;

use maud::{Markup, html};
use serde::Serialize;

use crate::{
    model::plain_name,
    store::GameOfPerson,
    web::{pages::table::Table, words},
};

/// The fewest games on a map that count.
pub(super) const ON_MAP: i64 = 3;
/// How many maps, of the best and of the worst.
const MAPS: usize = 5;

/// The results on one map.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct MapResult {
    map: String,
    games: i64,
    won: f64,
}

/// The best maps, and the worst ones that are not among them.
pub(super) fn maps(games: &[GameOfPerson]) -> (Vec<MapResult>, Vec<MapResult>) {
    let mut by_map: BTreeMap<&str, (i64, f64)> = BTreeMap::new();
    for game in games {
        if let Some(result) = game.result {
            let (games, won) = by_map.entry(&game.map).or_default();
            (*games, *won) = (*games + 1, *won + result);
        }
    }
    let enough = by_map
        .into_iter()
        .filter(|(_, (games, _))| *games >= ON_MAP);
    let mut maps: Vec<MapResult> = enough
        .map(|(map, (games, won))| MapResult {
            map: plain_name(map),
            games,
            won: won / games as f64,
        })
        .collect();
    maps.sort_by(|a, b| b.won.total_cmp(&a.won).then(b.games.cmp(&a.games)));
    let best = maps.len().div_ceil(2).min(MAPS);
    let mut worst = maps.split_off(best);
    worst.reverse();
    worst.truncate(MAPS);
    (maps, worst)
}

/// A table of maps with the player's results on each.
pub(super) fn map_table(title: &str, list: &[MapResult]) -> Markup {
    html! {
        section {
            h3 { (title) }
            (Table::of(title, list)
                .name(text!(common.map), |row| &row.map)
                .num(text!(common.won), |row| words::percent(row.won))
                .num(text!(common.games), |row| row.games))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::web::pages::player::tests::game;

    #[test]
    fn maps_are_in_one_list_only() {
        let results = [("a", 1.0), ("b", 0.0), ("c", 0.5), ("d", 1.0)];
        let mut games: Vec<_> = results
            .iter()
            .flat_map(|(map, r)| vec![game(1, map, *r); 3])
            .collect();
        games.push(game(1, "once", 1.0));
        let (best, worst) = maps(&games);
        let names = |list: &[MapResult]| list.iter().map(|m| m.map.clone()).collect::<Vec<_>>();
        assert_eq!(names(&best), ["a", "d"]);
        assert_eq!(names(&worst), ["b", "c"]);
        assert_eq!((worst[1].games, worst[1].won), (3, 0.5));
    }
}
