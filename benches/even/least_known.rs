//! How often the players of whom the least is known come together on one team.

use std::collections::BTreeMap;

use crate::common::{
    daemon::{Picked, Way},
    lobbies::{History, Lobby},
};

/// The number of the least known players that are looked at.
const GROUP: usize = 4;
/// The most matches that each of them has before the lobby.
const FEW: usize = 10;

/// Prints how many of the picks put all of them on one team, and how often a draw among all splits does.
pub fn print(way: Way, history: &History, lobbies: &[Lobby], picked: &[Picked]) {
    let (mut together, mut picks, mut drawn, mut found) = (0, 0, 0.0, 0);
    for (lobby, picked) in lobbies.iter().zip(picked) {
        let Some(group) = least_known(history, lobby) else {
            continue;
        };
        let one_team = |teams: &&Vec<u8>| group.iter().all(|&who| teams[who] == teams[group[0]]);
        together += picked.teams.iter().filter(one_team).count();
        picks += picked.teams.len();
        drawn += by_lot(lobby.players.len());
        found += 1;
    }
    let share = |part: f64, of: usize| 100.0 * part / of.max(1) as f64;
    println!(
        "    {way:?}: in {found} lobbies with four players of at most {FEW} matches, the four least known are on one team in {:.1} % \
         of the picks (drawn by lot: {:.1} %)",
        share(together as f64, picks),
        share(drawn, found)
    );
}

/// The places of the least known players of a lobby; `None` if one of them is known.
fn least_known(history: &History, lobby: &Lobby) -> Option<Vec<usize>> {
    let mut played: BTreeMap<&str, usize> = BTreeMap::new();
    for record in &history.matches[lobby.first..lobby.at] {
        for player in &record.participants {
            *played.entry(&player.key.id).or_default() += 1;
        }
    }
    let matches = |who: usize| played.get(&*lobby.players[who].0).copied().unwrap_or(0);
    let mut order: Vec<usize> = (0..lobby.players.len()).collect();
    order.sort_by_key(|&who| matches(who));
    order.truncate(GROUP);
    let few = order.len() == GROUP && order.iter().all(|&who| matches(who) <= FEW);
    few.then_some(order)
}

/// How often [`GROUP`] of `players` are on one team if all splits into equal teams are equally likely.
fn by_lot(players: usize) -> f64 {
    let sizes = [players / 2, players.div_ceil(2)];
    let all = |size: usize| {
        let each = (0..GROUP).map(|n| size.saturating_sub(n) as f64 / (players - n) as f64);
        each.product::<f64>()
    };
    sizes.into_iter().map(all).sum()
}
