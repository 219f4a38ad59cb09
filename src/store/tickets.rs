//! The tickets of the queue, and the matches formed of them.

use async_trait::async_trait;

use super::StoreError;
use crate::{
    domain::MatchId,
    tickets::{Change, FormedMatch, SearchedPool, TicketRecord},
};

/// A match that was formed, and what is still stored of the pool that it was found in.
#[derive(Clone, Debug, PartialEq)]
pub struct FoundMatch {
    /// The match, with its lines about the rules.
    pub formed: FormedMatch,
    /// The pool; `None` if it was too large, or newer ones have replaced it.
    pub pool: Option<SearchedPool>,
    /// The stored tickets from the first to the last number of the pool; not all of them are in it.
    pub tickets: Vec<TicketRecord>,
}

/// The tickets whose state is kept.
#[async_trait]
pub trait Tickets: Send + Sync {
    /// All tickets, in the order of their numbers, and all matches formed of them, in the order of
    /// their ids. The [pool](crate::tickets::Proposal::pool) of the matches is left out.
    ///
    /// # Errors
    /// Fails if the database does, or if it contains a value that no version of Evenkeel writes.
    async fn tickets(&self) -> Result<(Vec<TicketRecord>, Vec<FormedMatch>), StoreError>;

    /// The match with this id, while any of its tickets is kept.
    ///
    /// # Errors
    /// Fails if the database does, or if it contains a value that no version of Evenkeel writes.
    async fn formed_match(&self, id: MatchId) -> Result<Option<FoundMatch>, StoreError>;

    /// Reserves `count` consecutive ids of matches, and returns the first. No match has them yet, and
    /// no match gets them later without the caller.
    ///
    /// # Errors
    /// Fails if the database does.
    async fn reserve_matches(&self, count: u32) -> Result<MatchId, StoreError>;

    /// Applies the changes in order, all or none. A change to a row that is gone, because its player was
    /// forgotten, has no effect.
    ///
    /// # Errors
    /// Fails if the database does.
    async fn write_tickets(&self, changes: &[Change]) -> Result<(), StoreError>;
}
