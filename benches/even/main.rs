//! How even the teams are that BALANCE picks, for lobbies that people really played in: `cargo bench
//! --bench even`. Not a test, because it takes too long.
//!
//! For each lobby of a recorded history, the daemon learns from the matches before it and picks
//! teams. A regression that was fitted on later matches alone ([`common::judge`]) says how far the chance of
//! these teams is from one half. Beside it are the teams as they were played, all teams of equal size
//! (`random`), and the most even teams by the same kind of regression, fitted on the matches before
//! (`ceiling`): more than about that cannot be known beforehand. With the argument `early`, it shows how
//! that changes with the number of matches that the daemon has learned from ([`early`]). With `uncertain=N`, that is
//! `[balance.factors] uncertain`. With `wishes=S`, each player wishes for a side with probability S ([`wishes`]).

#![allow(clippy::expect_used)] // a benchmark that cannot run has nothing to clean up

#[path = "../common/mod.rs"]
#[allow(dead_code, reason = "other benches use the rest of it")]
mod common;
mod early;
mod least_known;
mod table;
mod wishes;

use common::{
    daemon::{Trial, Way, pick_all},
    lobbies::{History, Lobby},
    sets::{SETS, Set},
};

/// The lengths of the first pieces of histories after which lobbies are judged, too.
const FIRST: [usize; 2] = [60, 200];

fn main() {
    let only: Vec<String> = std::env::args()
        .skip(1)
        .filter(|a| !a.starts_with('-'))
        .collect();
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .expect("a runtime");
    println!("mean distance of the chance from one half, by the judge");
    let (early, only): (Vec<String>, Vec<String>) = only.into_iter().partition(|o| o == "early");
    let (stated, only): (Vec<String>, Vec<String>) =
        only.into_iter().partition(|o| o.contains('='));
    let trial = Trial {
        uncertain: value(&stated, "uncertain="),
        wishes: value(&stated, "wishes=").unwrap_or_default(),
        ..Trial::default()
    };
    for set in SETS
        .iter()
        .filter(|s| only.is_empty() || only.iter().any(|o| o == s.name))
    {
        let history = match set.read() {
            Ok(history) => history,
            Err(why) => {
                println!("{} is left out: {why}", set.name);
                continue;
            }
        };
        match early.is_empty() {
            true => runtime.block_on(report(set, &history, trial)),
            false => runtime.block_on(early::report(set.name, &history)),
        }
    }
}

/// The number after the name of an argument such as `wishes=`, if that is given.
fn value(stated: &[String], name: &str) -> Option<f64> {
    let text = stated.iter().find_map(|text| text.strip_prefix(name))?;
    Some(text.parse().expect("a number after the ="))
}

async fn report(set: &Set, history: &History, trial: Trial) {
    let whole = history.lobbies(set.lobbies);
    print_lobbies(set.name, history, &whole, trial).await;
    for length in FIRST {
        let fresh = history.fresh_lobbies(length, set.lobbies);
        let name = format!("{}, first {length}", set.name);
        print_lobbies(&name, history, &fresh, trial).await;
    }
}

async fn print_lobbies(name: &str, history: &History, lobbies: &[Lobby], trial: Trial) {
    if lobbies.len() < 10 {
        println!("{name} is left out: {} lobbies", lobbies.len());
        return;
    }
    let judged = [Way::Ratio, Way::Chance];
    let mut picked = Vec::new();
    for way in judged {
        picked.push(pick_all(way, history, lobbies, trial).await);
    }
    table::print(name, history, lobbies, &picked[0], &picked[1]);
    for (way, picked) in judged.iter().zip(&picked) {
        least_known::print(*way, history, lobbies, picked);
        if trial.wishes > 0.0 {
            wishes::print(*way, trial.wishes, lobbies, picked);
        }
    }
}
