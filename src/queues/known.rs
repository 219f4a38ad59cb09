//! What is known of the players of a round: the attributes that begin with `@`, and whom they met.

use std::collections::HashMap;

use crate::{
    domain::Ruleset,
    learning::{Learning, Standings, View},
    matchmaking::{Known, Queue},
    tickets::Life,
};

/// The most matches of a player that count as the last ones.
const MATCHES: usize = 32;

/// What a round knows of players.
pub(super) struct Facts {
    pub ruleset: Ruleset,
    pub standings: std::sync::Arc<Standings>,
    view: std::sync::Arc<View>,
    met: HashMap<String, Vec<Vec<String>>>,
}

impl Facts {
    /// The facts of now. Players have met in matches of any queue of the last day.
    pub fn new(queue: &Queue, learning: &Learning, life: &Life) -> Self {
        let mut names = queue.settings().ruleset.split('+');
        let game_type = names.next().unwrap_or_default();
        let mutators: Vec<&str> = names.collect();
        let ruleset = learning.rulebook().ruleset(game_type, &mutators);
        let standings = learning.standings_at(life.now());
        let uses_met = queue
            .settings()
            .rules
            .iter()
            .any(|rule| rule.last.is_some());
        Self {
            view: standings.view(&ruleset),
            ruleset,
            standings,
            met: match uses_met {
                true => met(life),
                false => HashMap::new(),
            },
        }
    }

    /// What is known of a player. What is not known is left out.
    pub fn known(&self, id: &str) -> Known {
        let mut known = Known::default();
        if let Some(facts) = self.view.facts(id) {
            let numbers = [
                ("@weight", Some(facts.weight)),
                ("@strength", Some(facts.strength)),
                ("@deviation", Some(facts.deviation)),
                ("@games", Some(f64::from(facts.games))),
                ("@division", facts.division.map(f64::from)),
            ];
            let numbers = numbers
                .into_iter()
                .filter_map(|(name, n)| Some((name.to_owned(), n?)));
            known.numbers.extend(numbers);
        }
        known.met = self.met.get(id).cloned().unwrap_or_default();
        known
    }
}

/// The other players of each player's last matches, the latest match first.
fn met(life: &Life) -> HashMap<String, Vec<Vec<String>>> {
    let mut met: HashMap<String, Vec<Vec<String>>> = HashMap::new();
    for formed in life.latest_matches() {
        for seat in &formed.seats {
            let matches = met.entry(seat.player.clone()).or_default();
            if matches.len() < MATCHES {
                let others = formed
                    .seats
                    .iter()
                    .filter(|other| other.player != seat.player);
                matches.push(others.map(|other| other.player.clone()).collect());
            }
        }
    }
    met
}
