//! Everything on which the result of a round depends, and how much a round may search: a number of steps, not of seconds, so
//! that the result is the same on a slow machine.

use crate::{Queue, Ticket, pool::Pool, search::Budget};
use evenkeel_model::Outlook;

/// A budget of search. The default is 1; with more, a round finds matches for more tickets and takes
/// longer, about in proportion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Effort(u32);

/// The tickets of a small pool, in which matches are formed again at least [`TRIES`] times.
const FEW: usize = 64;
/// With more, small pools hardly have more matches (`docs/internals/figures.md`).
const TRIES: usize = 16;
/// The matches of a round of a few thousand tickets, three tries for every four of which are worth
/// their time. Where there are more, hardly a ticket is left.
const MATCHES: usize = 400;

impl Effort {
    /// The largest effort.
    pub const MOST: u32 = 1_000;

    /// The effort `effort`, 1 to [`MOST`](Self::MOST).
    pub fn new(effort: u32) -> Self {
        Self(effort.clamp(1, Self::MOST))
    }

    /// The effort as it was given, 1 to [`MOST`](Self::MOST).
    pub fn get(self) -> u32 {
        self.0
    }

    pub(super) fn budget(self) -> Budget {
        let effort = self.0 as usize;
        Budget {
            starts: 2 + 2 * effort.min(7),
            moves: 1_000,
            nodes: 20_000,
        }
    }

    /// The budget of a search for a match that is formed again.
    pub(super) fn refining() -> Budget {
        Budget {
            starts: 3,
            moves: 500,
            nodes: 2_000,
        }
    }

    /// How often some of the matches of a round are formed again for the tickets that are left. In a
    /// pool of few `tickets`, every match counts, and a try takes little time.
    pub(super) fn tries(self, matches: usize, tickets: usize) -> usize {
        let least = match matches {
            1.. if tickets <= FEW => TRIES,
            _ => 0,
        };
        self.0 as usize * least.max(matches / 4).max(matches.min(MATCHES) * 3 / 4)
    }
}

impl Default for Effort {
    fn default() -> Self {
        Self(1)
    }
}

/// What the planner works on. The same input gives the same matches, on any number of cores.
#[derive(Clone, Copy, Debug)]
pub struct PlanInput<'a> {
    /// The queue, with the rules that a match must meet.
    pub queue: &'a Queue,
    /// The tickets that wait.
    pub tickets: &'a [Ticket],
    /// How the rating system turns the players' `@strength` into chances; `None` before its first rated
    /// match.
    pub outlook: Option<Outlook>,
    /// The maps of the queue's last matches, the latest match first. The first
    /// [`QUEUE_MATCHES`](crate::QUEUE_MATCHES) count.
    pub played: &'a [String],
    /// The seed of all random numbers.
    pub seed: u64,
    /// How much to search.
    pub effort: Effort,
}

impl<'a> PlanInput<'a> {
    /// Tickets of a queue, with the seed 0, the default effort and no rating system.
    pub fn new(queue: &'a Queue, tickets: &'a [Ticket]) -> Self {
        Self {
            queue,
            tickets,
            outlook: None,
            played: &[],
            seed: 0,
            effort: Effort::default(),
        }
    }

    /// The pool of the tickets.
    pub(super) fn pool(&self) -> Pool<'a> {
        let mut pool = Pool::new(self.queue, self.tickets, self.outlook);
        pool.played = self.played;
        pool
    }
}
