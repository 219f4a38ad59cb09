//! The tickets of the queue, and the matches formed of them.

use crate::lifecycle::{Match, SearchedPool, TicketRecord};

/// A match that was formed, and what is still stored of the pool that it was found in.
#[derive(Clone, Debug, PartialEq)]
pub struct FoundMatch {
    /// The match, with its lines about the rules.
    pub formed: Match,
    /// The pool; `None` if it was too large, or newer ones have replaced it.
    pub pool: Option<SearchedPool>,
    /// The stored tickets from the first to the last number of the pool; not all of them are in it.
    pub tickets: Vec<TicketRecord>,
}
