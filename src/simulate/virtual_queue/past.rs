//! What the players of a simulation have behind them: whom they met, and what was picked for their matches.

use std::collections::{BTreeMap, HashMap};

use super::line::WaitingParty;
use crate::matchmaking::{PLAYER_MATCHES, QUEUE_MATCHES, Queue, Ticket};

/// What the rules picked for a match, by name.
type Picks = BTreeMap<String, String>;

/// The last matches of each party and of the queue, as far as a rule or a draw looks at them.
#[derive(Debug, Default)]
pub(super) struct Past {
    /// Number of matches of a party of which it is kept whom the party met.
    matches: usize,
    met: HashMap<usize, Vec<Vec<String>>>,
    remembers_maps: bool,
    picks: HashMap<usize, Vec<Picks>>,
    /// The maps of the queue.
    played: Vec<String>,
}

impl Past {
    /// The state before the first match.
    pub fn new(queue: &Queue) -> Self {
        Self {
            matches: queue.met_matches(),
            remembers_maps: queue.remembers_maps(),
            ..Self::default()
        }
    }

    /// The players of a party's last matches, the latest match first.
    pub fn met(&self, party: usize) -> Vec<Vec<String>> {
        self.met.get(&party).cloned().unwrap_or_default()
    }

    /// The maps of a party's last matches, the latest match first; none if the queue does not look at them.
    pub fn maps(&self, party: usize) -> Vec<String> {
        let picks = self.picks.get(&party).filter(|_| self.remembers_maps);
        let maps = picks.into_iter().flatten();
        maps.filter_map(|picks| picks.get("map").cloned()).collect()
    }

    /// The maps of the queue's last matches, the latest match first; none if the queue does not look at them.
    pub fn played(&self) -> &[String] {
        &self.played
    }

    /// What was picked for a party's last match.
    pub fn last(&self, party: usize) -> Option<&Picks> {
        self.picks.get(&party)?.first()
    }

    /// Notes a match.
    pub fn add(&mut self, seats: &[(Ticket, WaitingParty)], picks: &Picks) {
        if let Some(map) = picks.get("map").filter(|_| self.remembers_maps) {
            push(&mut self.played, map.clone(), QUEUE_MATCHES);
        }
        for (own, waiting) in seats {
            if !picks.is_empty() {
                let last = self.picks.entry(waiting.party).or_default();
                push(last, picks.clone(), PLAYER_MATCHES);
            }
            if self.matches > 0 {
                let others = seats.iter().filter(|(ticket, _)| ticket.id != own.id);
                let players = others.flat_map(|(ticket, _)| &ticket.players);
                let ids = players.map(|player| player.id.clone()).collect();
                let met = self.met.entry(waiting.party).or_default();
                push(met, ids, self.matches);
            }
        }
    }
}

/// Adds the latest of at most `most`.
fn push<T>(last: &mut Vec<T>, latest: T, most: usize) {
    last.insert(0, latest);
    last.truncate(most);
}
