//! What the judge says of the teams, as lines of a table.

use std::collections::{BTreeMap, BTreeSet};

use crate::common::{
    daemon::Picked,
    lobbies::{History, Judges, Lobby},
    statistics::{interval, mean, splits},
};

/// Prints one line of the table, and what else is known of these picks.
pub fn print(
    name: &str,
    history: &History,
    lobbies: &[Lobby],
    ratio: &[Picked],
    chance: &[Picked],
) {
    let judges = history.judges(lobbies);
    let mut columns: [Vec<f64>; 5] = Default::default();
    for (at, lobby) in lobbies.iter().enumerate() {
        let judge = &judges[&lobby.block];
        let played: Vec<u8> = lobby.players.iter().map(|(_, team)| *team as u8).collect();
        let all = splits(lobby.players.len());
        let ids = || lobby.players.iter().map(|(id, _)| id.as_str());
        let (before, later) = (judge.earlier.of(ids()), judge.later.of(ids()));
        let mean = |teams: &[Vec<u8>]| {
            teams.iter().map(|t| later.off(t)).sum::<f64>() / teams.len() as f64
        };
        let best = all
            .iter()
            .min_by(|a, b| before.off(a).total_cmp(&before.off(b)));
        let ceiling = best.map_or(0.5, |teams| later.off(teams));
        let row = [
            later.off(&played),
            mean(&all),
            mean(&ratio[at].teams),
            mean(&chance[at].teams),
            ceiling,
        ];
        for (column, value) in columns.iter_mut().zip(row) {
            column.push(value);
        }
    }
    let means: Vec<String> = columns.iter().map(|c| format!("{:.3}", mean(c))).collect();
    let difference = |one: usize, other: usize| {
        let pairs = columns[one].iter().zip(&columns[other]);
        let paired: Vec<f64> = pairs.map(|(a, b)| a - b).collect();
        let (low, high) = interval(&paired);
        format!("{:+.3} ({low:+.3} to {high:+.3})", mean(&paired))
    };
    println!(
        "| {name} | {} | {} | {} | {} |",
        lobbies.len(),
        means.join(" | "),
        difference(3, 2),
        difference(3, 4)
    );
    let (loss, matches) = log_loss(history, &judges, lobbies);
    println!(
        "    the judge's log loss of {matches} matches as they were played: {loss:.4} (a coin: 0.6931)"
    );
    for (way, picked) in [("ratio", ratio), ("chance", chance)] {
        details(way, history, &judges, lobbies, picked);
    }
}

/// The mean log loss of the judges' chances of the teams as they were played, and the number of decided matches.
fn log_loss(
    history: &History,
    judges: &BTreeMap<usize, Judges>,
    lobbies: &[Lobby],
) -> (f64, usize) {
    let loss = |lobby: &Lobby| {
        let won = history.games[lobby.at].won?;
        let ids = lobby.players.iter().map(|(id, _)| id.as_str());
        let played: Vec<u8> = lobby.players.iter().map(|(_, team)| *team as u8).collect();
        let chance = judges[&lobby.block].later.of(ids).chance(&played);
        Some(-(if won { chance } else { 1.0 - chance }).ln())
    };
    let losses: Vec<f64> = lobbies.iter().filter_map(loss).collect();
    (mean(&losses), losses.len())
}

/// Prints the variety of the picks, the daemon's own chances, and how REBALANCE's advice turned out.
fn details(
    way: &str,
    history: &History,
    judges: &BTreeMap<usize, Judges>,
    lobbies: &[Lobby],
    picked: &[Picked],
) {
    let variety = picked.iter().map(|p| {
        let mirror = |teams: &Vec<u8>| -> Vec<u8> { teams.iter().map(|t| 1 - t).collect() };
        let same = |teams: &Vec<u8>| match history.sides {
            true => teams.clone(),
            false => teams.clone().min(mirror(teams)),
        };
        p.teams.iter().map(same).collect::<BTreeSet<_>>().len() as f64
    });
    let variety: Vec<f64> = variety.collect();
    let known = picked.iter().flat_map(|p| p.chances.iter().flatten());
    let mut own: Vec<f64> = known.map(|chance| (chance - 0.5).abs()).collect();
    own.sort_by(f64::total_cmp);
    let quantile = |part: f64| {
        own.get((part * own.len() as f64) as usize)
            .copied()
            .unwrap_or(0.0)
    };
    let (mut advised, mut worse, mut gain) = (0, 0, 0.0);
    for (lobby, picked) in lobbies.iter().zip(picked) {
        let Some(moved) = &picked.rebalanced else {
            continue;
        };
        let ids = lobby.players.iter().map(|(id, _)| id.as_str());
        let judge = judges[&lobby.block].later.of(ids);
        let played: Vec<u8> = lobby.players.iter().map(|(_, team)| *team as u8).collect();
        let (before, after) = (judge.off(&played), judge.off(moved));
        advised += 1;
        worse += usize::from(after > before);
        gain += before - after;
    }
    println!(
        "    {way}: {:.1} splits of 30 seeds; own |p0 − ½| median {:.3}, 90 % {:.3}, most {:.3}; REBALANCE advised {advised}, worse {worse}, mean gain {:.3}",
        mean(&variety),
        quantile(0.5),
        quantile(0.9),
        own.last().copied().unwrap_or(0.0),
        gain / f64::from(advised.max(1)),
    );
}
