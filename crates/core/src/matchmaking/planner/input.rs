//! Everything on which the result of a round depends.

use super::Effort;
use crate::{
    domain::Outlook,
    matchmaking::{Queue, Ticket, pool::Pool},
};

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
    /// [`QUEUE_MATCHES`](crate::matchmaking::QUEUE_MATCHES) count.
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
