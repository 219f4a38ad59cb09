//! The partitions: parts of the queues, each of which one daemon runs at a time.

use async_trait::async_trait;

use super::StoreError;
use crate::{
    domain::MatchId,
    tickets::{FormedMatch, TicketRecord},
};

/// By how many bits the slot of a partition is shifted in the numbers of its tickets.
const SHIFT: u32 = 40;

/// The number after which those of a partition's tickets come.
pub fn ticket_base(partition: i64) -> i64 {
    partition.checked_shl(SHIFT).unwrap_or(0)
}

/// Where tickets, matches and games are, if there are several partitions.
#[async_trait]
pub trait Partitions: Send + Sync {
    /// The slot of the partition with this name, which gets one if it has none.
    ///
    /// # Errors
    /// Fails if the database does.
    async fn slot(&self, partition: &str) -> Result<i64, StoreError>;

    /// The names of all partitions that have ever had a slot, in order.
    ///
    /// # Errors
    /// Fails if the database does.
    async fn partitions(&self) -> Result<Vec<String>, StoreError>;

    /// What [`Tickets::tickets`](super::Tickets::tickets) returns, of the partition with this slot.
    ///
    /// # Errors
    /// Those of [`Tickets::tickets`](super::Tickets::tickets).
    async fn tickets_of(
        &self,
        partition: i64,
    ) -> Result<(Vec<TicketRecord>, Vec<FormedMatch>), StoreError>;

    /// The partition of the client's ticket with this id; of two, that of the one submitted last.
    ///
    /// # Errors
    /// Fails if the database does.
    async fn partition_of_ticket(
        &self,
        owner: &str,
        ticket: &str,
    ) -> Result<Option<String>, StoreError>;

    /// The partition of a match that was formed.
    ///
    /// # Errors
    /// Fails if the database does.
    async fn partition_of_match(&self, id: MatchId) -> Result<Option<String>, StoreError>;
}
