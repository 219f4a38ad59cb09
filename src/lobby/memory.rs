//! What a session remembers of people who may have left: their old team, and tricks they tried.

use std::{collections::BTreeMap, fmt};

use serde::{Deserialize, Serialize};

/// People remembered at once; whoever left longest ago is forgotten first.
const MAX_REMEMBERED: usize = 1_024;

/// How often in this session somebody did what people do who game a balancer. It changes no
/// decision; it is there to be seen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Conduct {
    /// Left a game and came back to it.
    pub returns: u32,
    /// Went over to the side that was the stronger, unasked.
    pub switches: u32,
    /// Did so, and the game was asked to be balanced afterwards.
    pub asks: u32,
}

impl Conduct {
    /// Whether there is anything to be seen.
    pub fn is_clean(&self) -> bool {
        *self == Self::default()
    }
}

/// `returned 2 times, joined the stronger side 1 times, asked for balance after it 1 times`
impl fmt::Display for Conduct {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "returned {} times, joined the stronger side {} times, and {} times balance was asked for after that",
            self.returns, self.switches, self.asks
        )
    }
}

/// What is remembered of one person. Times are milliseconds of the session.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Past {
    /// Over all games of the session.
    pub(super) conduct: Conduct,
    /// The team they left this game from, and when.
    pub(super) left: Option<(Option<u8>, u64)>,
    /// When they were last moved in this game by our decision.
    pub(super) moved_at: Option<u64>,
    /// When they last went over to the stronger side, unless that has been counted as asked for.
    pub(super) switched_at: Option<u64>,
}

/// By identity.
#[derive(Clone, Debug, Default)]
pub(super) struct Memory {
    people: BTreeMap<String, Past>,
}

impl Memory {
    /// What is known of somebody; nothing, mostly.
    pub(super) fn of(&self, id: &str) -> Past {
        self.people.get(id).copied().unwrap_or_default()
    }

    /// To be changed.
    pub(super) fn entry(&mut self, id: &str) -> &mut Past {
        if !self.people.contains_key(id) && self.people.len() >= MAX_REMEMBERED {
            self.forget_one();
        }
        self.people.entry(id.to_owned()).or_default()
    }

    /// A game gave way to the next: conduct stays.
    pub(super) fn next_game(&mut self) {
        for past in self.people.values_mut() {
            *past = Past {
                conduct: past.conduct,
                ..Past::default()
            };
        }
        self.people.retain(|_, past| !past.conduct.is_clean());
    }

    fn forget_one(&mut self) {
        // Those who are still here have not left, and come last.
        let when = |past: &Past| past.left.map_or(u64::MAX, |(_, at)| at);
        let oldest = self.people.iter().min_by_key(|(_, past)| when(past));
        if let Some(id) = oldest.map(|(id, _)| id.clone()) {
            self.people.remove(&id);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strangers_cannot_fill_the_memory() {
        let mut memory = Memory::default();
        memory.entry("here").moved_at = Some(1);
        for n in 0..3_000 {
            memory.entry(&format!("p{n}")).left = Some((Some(0), n));
        }
        assert_eq!(memory.people.len(), MAX_REMEMBERED);
        assert_eq!(memory.of("p0"), Past::default());
        assert_eq!(memory.of("p2999").left, Some((Some(0), 2_999)));
        assert_eq!(
            memory.of("here").moved_at,
            Some(1),
            "who is here is kept longest"
        );
    }

    #[test]
    fn the_next_game_knows_the_conduct_only() {
        let mut memory = Memory::default();
        memory.entry("a").left = Some((Some(1), 5));
        memory.entry("a").conduct.returns = 2;
        memory.entry("b").moved_at = Some(3);
        memory.next_game();
        let conduct = Conduct {
            returns: 2,
            ..Conduct::default()
        };
        let kept = Past {
            conduct,
            ..Past::default()
        };
        assert_eq!(memory.of("a"), kept);
        assert_eq!(memory.people.len(), 1);
    }
}
