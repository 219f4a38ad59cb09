//! After how many matches picked teams are more even than others: `cargo bench --bench even -- early`.
//!
//! The same lobbies are picked by daemons that have learned from only so many matches before them. The judge,
//! the teams as played, all splits, and the organiser who knows all matches before are the same in each line.

use crate::common::{
    daemon::{Trial, Way, pick_all},
    lobbies::{History, Lobby},
    statistics::{interval, mean, splits},
};

/// The numbers of matches that a daemon has learned from.
const LEARNED: [usize; 9] = [0, 10, 25, 50, 75, 100, 150, 200, 300];
/// From one group of lobbies to the next there are so many matches, ...
const APART: usize = 20;
/// ... and a group has so many. All are picked by the same daemon, which learns on.
const GROUP: usize = 10;

/// Prints a line for each number of matches.
pub async fn report(name: &str, history: &History) {
    let most = LEARNED.iter().copied().max().unwrap_or(0);
    let lobbies = history.groups(most, APART, GROUP);
    if lobbies.len() < 10 {
        println!("{name} is left out: {} lobbies", lobbies.len());
        return;
    }
    let judges = history.judges(&lobbies);
    let off = |lobby: &Lobby, teams: &[Vec<u8>]| {
        let ids = lobby.players.iter().map(|(id, _)| id.as_str());
        let judge = judges[&lobby.block].later.of(ids);
        mean(&teams.iter().map(|t| judge.off(t)).collect::<Vec<_>>())
    };
    let of_all = |teams: &dyn Fn(&Lobby) -> Vec<Vec<u8>>| -> Vec<f64> {
        lobbies.iter().map(|l| off(l, &teams(l))).collect()
    };
    let random = of_all(&|lobby| splits(lobby.players.len()));
    let played = of_all(&|lobby| vec![lobby.played()]);
    let organiser = of_all(&|lobby| {
        let ids = lobby.players.iter().map(|(id, _)| id.as_str());
        let known = judges[&lobby.block].earlier.of(ids);
        let all = splits(lobby.players.len());
        let best = all
            .into_iter()
            .min_by(|a, b| known.off(a).total_cmp(&known.off(b)));
        best.into_iter().collect()
    });
    println!(
        "{name}, {} lobbies: random {:.3}, as played {:.3}, an organiser who knows all matches before {:.3}",
        lobbies.len(),
        mean(&random),
        mean(&played),
        mean(&organiser),
    );
    for learned in LEARNED {
        let fresh: Vec<Lobby> = lobbies.iter().map(|l| l.after(learned)).collect();
        let picked = pick_all(Way::Chance, history, &fresh, Trial::default()).await;
        let pairs = lobbies.iter().zip(&picked);
        let own: Vec<f64> = pairs.map(|(l, p)| off(l, &p.teams)).collect();
        let less = |other: &[f64]| {
            let pairs = own.iter().zip(other);
            let paired: Vec<f64> = pairs.map(|(a, b)| a - b).collect();
            let (low, high) = interval(&paired);
            format!("{:+.3} ({low:+.3} to {high:+.3})", mean(&paired))
        };
        println!(
            "| {learned} | {:.3} | {} | {} | {} |",
            mean(&own),
            less(&random),
            less(&played),
            less(&organiser)
        );
    }
}
