//! What a session remembers even after humans leave: their last team, how often their behaviour suggests that they
//! exploit the balancing, and who has won.

use std::collections::BTreeMap;

use evenkeel_model::MAX_PLAYERS;
use evenkeel_partition::Conduct;
use serde::{Deserialize, Serialize};

/// The most humans remembered at once; the one who left first is forgotten first.
const MAX_REMEMBERED: usize = 1_024;

/// The turns at the weaker side that are forgotten: those of some five games ago.
const FORGOTTEN: f64 = 1.0 / 32.0;

/// The memory of one human. Times are milliseconds of the session.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct PlayerHistory {
    /// Counted over all games of the session.
    pub(crate) conduct: Conduct,
    /// How often they were on the weaker side of the map in the last games; a game counts half as much
    /// as the next one.
    pub(crate) weak_sides: f64,
    /// The team from which they left this game, and when.
    pub(crate) left: Option<(Option<u8>, u64)>,
    /// Whether the game server had them leave.
    pub(crate) sent_away: bool,
    /// When a decision last moved them in this game.
    pub(crate) moved_at: Option<u64>,
    /// When they last changed to the stronger team, unless [`Conduct::asks`] has already counted
    /// it.
    pub(crate) switched_at: Option<u64>,
    /// The team that they wished for in the last game, too late for it.
    pub(crate) wish: Option<u8>,
    /// The team that they wished for in this game, too late for it.
    pub(crate) next_wish: Option<u8>,
}

/// The humans remembered, by id.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct PlayerHistories {
    people: BTreeMap<String, PlayerHistory>,
}

impl PlayerHistories {
    /// The memory of a human; the default if there is none.
    pub(crate) fn of(&self, id: &str) -> PlayerHistory {
        self.people.get(id).copied().unwrap_or_default()
    }

    /// The memory of a human, to change it.
    pub(crate) fn entry(&mut self, id: &str) -> &mut PlayerHistory {
        if !self.people.contains_key(id) && self.people.len() >= MAX_REMEMBERED {
            self.forget_one();
        }
        self.people.entry(id.to_owned()).or_default()
    }

    /// Forgets everything except the conduct, the turns at the weaker side and wishes that came late. `weaker` are the humans
    /// who were on it in the game that is over.
    pub(crate) fn next_game<'a>(&mut self, weaker: impl Iterator<Item = &'a str>) {
        for past in self.people.values_mut() {
            *past = PlayerHistory {
                conduct: past.conduct,
                weak_sides: past.weak_sides / 2.0,
                wish: past.next_wish,
                ..PlayerHistory::default()
            };
        }
        for id in weaker {
            self.entry(id).weak_sides += 1.0;
        }
        let counts = |past: &PlayerHistory| {
            !past.conduct.is_clean() || past.weak_sides >= FORGOTTEN || past.wish.is_some()
        };
        self.people.retain(|_, past| counts(past));
    }

    /// Takes the last [`next_game`](Self::next_game) back, because the same game goes on: `before` is what was remembered
    /// in it. What has happened since counts, too.
    pub(crate) fn undo_game(&mut self, before: &Self) {
        for (id, old) in &before.people {
            if !self.people.contains_key(id) && self.people.len() >= MAX_REMEMBERED {
                continue;
            }
            let now = self.people.entry(id.clone()).or_default();
            *now = PlayerHistory {
                conduct: now.conduct,
                weak_sides: old.weak_sides,
                left: now.left.or(old.left),
                sent_away: if now.left.is_some() {
                    now.sent_away
                } else {
                    old.sent_away
                },
                moved_at: now.moved_at.or(old.moved_at),
                switched_at: now.switched_at.or(old.switched_at),
                wish: old.wish,
                next_wish: now.next_wish.or(old.next_wish),
            };
        }
        for (id, now) in &mut self.people {
            if !before.people.contains_key(id) {
                now.weak_sides = 0.0;
            }
        }
    }

    /// Whether it contains at most [`MAX_REMEMBERED`] humans, and all numbers are finite.
    pub(crate) fn is_sound(&self) -> bool {
        let mut people = self.people.values();
        self.people.len() <= MAX_REMEMBERED && people.all(|past| past.weak_sides.is_finite())
    }

    fn forget_one(&mut self) {
        // Forget humans who have not left last.
        let when = |past: &PlayerHistory| past.left.map_or(u64::MAX, |(_, at)| at);
        let oldest = self.people.iter().min_by_key(|(_, past)| when(past));
        if let Some(id) = oldest.map(|(id, _)| id.clone()) {
            self.people.remove(&id);
        }
    }
}

/// The team that has scored last, and how often since another one did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ScoreRun {
    pub(crate) team: u8,
    pub(crate) count: u32,
    /// Whether the streak was reported.
    pub(crate) announced: bool,
}

/// A match that a team has won.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Win {
    /// Its game type and mutators.
    pub(crate) ruleset: String,
    pub(crate) team: u8,
    /// The humans on that team at its end.
    pub(crate) humans: Vec<String>,
    /// How far it was ahead of the next team.
    pub(crate) lead: f64,
    /// The sum of both scores.
    pub(crate) sum: f64,
}

impl ScoreRun {
    /// A team has scored.
    pub(crate) fn score(&mut self, team: u8, points: f64) {
        if points <= 0.0 {
            return;
        }
        *self = match *self {
            same if same.count > 0 && same.team == team => Self {
                count: same.count.saturating_add(1),
                ..same
            },
            _ => Self {
                team,
                count: 1,
                announced: false,
            },
        };
    }
}

impl Win {
    /// Whether what was read from the disk is possible.
    pub(crate) fn is_sound(&self) -> bool {
        self.humans.len() <= MAX_PLAYERS && self.lead.is_finite() && self.sum.is_finite()
    }

    /// Whether both are of one ruleset, and most of those who have won are the same.
    pub(crate) fn is_of_the_same(&self, other: &Self) -> bool {
        if self.ruleset != other.ruleset {
            return false;
        }
        let same = self.humans.iter().filter(|id| other.humans.contains(id));
        let most = self.humans.len().max(other.humans.len());
        same.count() * 2 > most
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strangers_cannot_fill_the_memory() {
        let mut memory = PlayerHistories::default();
        memory.entry("here").moved_at = Some(1);
        for n in 0..3_000 {
            memory.entry(&format!("p{n}")).left = Some((Some(0), n));
        }
        assert_eq!(memory.people.len(), MAX_REMEMBERED);
        assert_eq!(memory.of("p0"), PlayerHistory::default());
        assert_eq!(memory.of("p2999").left, Some((Some(0), 2_999)));
        assert_eq!(
            memory.of("here").moved_at,
            Some(1),
            "who is here is kept longest"
        );
    }

    #[test]
    fn the_next_game_knows_the_conduct_and_the_turns_at_the_weaker_side() {
        let mut memory = PlayerHistories::default();
        memory.entry("a").left = Some((Some(1), 5));
        memory.entry("a").conduct.returns = 2;
        memory.entry("b").moved_at = Some(3);
        memory.entry("b").next_wish = Some(1);
        memory.next_game(["c"].into_iter());
        let conduct = Conduct {
            returns: 2,
            ..Conduct::default()
        };
        let kept = PlayerHistory {
            conduct,
            ..PlayerHistory::default()
        };
        assert_eq!(memory.of("a"), kept);
        let late = PlayerHistory {
            wish: Some(1),
            ..PlayerHistory::default()
        };
        assert_eq!(
            memory.of("b"),
            late,
            "a wish that came late is that of the next game"
        );
        assert_eq!(memory.of("c").weak_sides, 1.0);
        (0..5).for_each(|_| memory.next_game([].into_iter()));
        assert_eq!(memory.of("b"), PlayerHistory::default());
        assert_eq!(memory.of("c").weak_sides, 1.0 / 32.0);
        memory.next_game([].into_iter());
        assert_eq!(memory.people.len(), 1);
    }
}
