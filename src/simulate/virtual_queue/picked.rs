//! What the rules picked for the matches of a simulation, such as their maps, and how often players had the same
//! as in their last match.

use std::collections::BTreeMap;

use serde::Serialize;

use super::{line::WaitingParty, past::Past};
use crate::matchmaking::Ticket;

/// How often each word was picked.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PickShares {
    /// What was picked: `map` or `mode`.
    pub pick: String,
    /// The words, the most frequent first.
    pub words: Vec<WordShare>,
    /// Of the players who had a match before, the share for whom the same was picked as in that.
    pub again: f64,
}

/// How often a word was picked.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct WordShare {
    /// The word, such as the name of a map.
    pub word: String,
    /// Number of matches.
    pub matches: u64,
    /// The share of all matches.
    pub share: f64,
}

/// The counts while a simulation runs, by what was picked.
#[derive(Debug, Default)]
pub(super) struct Picked(BTreeMap<String, Counts>);

#[derive(Debug, Default)]
struct Counts {
    words: BTreeMap<String, u64>,
    /// The players of matches who had one before, and those of them who had the same word in that.
    players: u64,
    again: u64,
}

impl Picked {
    /// Counts a match, of players whose last matches are in the past.
    pub fn add(
        &mut self,
        seats: &[(Ticket, WaitingParty)],
        picks: &BTreeMap<String, String>,
        past: &Past,
    ) {
        for (pick, word) in picks {
            let counts = self.0.entry(pick.clone()).or_default();
            *counts.words.entry(word.clone()).or_default() += 1;
            for (ticket, waiting) in seats {
                let Some(last) = past.last(waiting.party) else {
                    continue;
                };
                let players = ticket.players.len() as u64;
                counts.players += players;
                if last.get(pick) == Some(word) {
                    counts.again += players;
                }
            }
        }
    }

    /// The shares of all matches.
    pub fn shares(self) -> Vec<PickShares> {
        let shares = self.0.into_iter().map(|(pick, counts)| {
            let all: u64 = counts.words.values().sum();
            let share = |(word, matches): (String, u64)| WordShare {
                word,
                matches,
                share: matches as f64 / all.max(1) as f64,
            };
            let mut words: Vec<WordShare> = counts.words.into_iter().map(share).collect();
            words.sort_by_key(|word| std::cmp::Reverse(word.matches));
            PickShares {
                pick,
                words,
                again: counts.again as f64 / counts.players.max(1) as f64,
            }
        });
        shares.collect()
    }
}
