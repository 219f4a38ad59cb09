//! The partitions: parts of the queues, each of which one daemon runs at a time.

use super::{Queues, tickets};
use crate::{
    matchmaking::lifecycle::{Match, TicketRecord},
    model::MatchId,
    store::{StoreError, db::*},
};

/// By how many bits the slot of a partition is shifted in the numbers of its tickets.
const SHIFT: u32 = 40;

/// The number after which those of a partition's tickets come.
pub fn ticket_base(partition: i64) -> i64 {
    partition.checked_shl(SHIFT).unwrap_or(0)
}

impl Queues<'_> {
    /// The slot of the partition with this name, which gets one if it has none.
    pub async fn slot(self, partition: &str) -> Result<i64, StoreError> {
        let known = "SELECT slot FROM partitions WHERE name = $1";
        let query = scalar(known).bind(partition);
        if let Some(slot) = query.fetch_optional(&self.0.readers).await? {
            return Ok(slot);
        }
        let mut tx = self.0.begin().await?;
        let add = "INSERT INTO partitions (name, slot)
                   SELECT $1, (SELECT coalesce(max(slot), 0) + 1 FROM partitions)
                   WHERE NOT EXISTS (SELECT 1 FROM partitions WHERE name = $1)";
        sql(add).bind(partition).execute(&mut tx).await?;
        let query = scalar(known).bind(partition);
        let slot = query.fetch_one(&mut tx).await?;
        tx.commit().await?;
        Ok(slot)
    }

    /// The names of all partitions that have ever had a slot, in order.
    pub async fn partitions(self) -> Result<Vec<String>, StoreError> {
        let query = scalar("SELECT name FROM partitions ORDER BY name");
        query.fetch_all(&self.0.readers).await
    }

    /// The tickets of the partition with this slot, in the order of their numbers, and the matches formed of them, in
    /// the order of their ids. The [pool](crate::matchmaking::lifecycle::Proposal::pool) of the matches is left out.
    ///
    /// # Errors
    /// Fails if the database contains a value that no version of Evenkeel writes.
    pub async fn tickets_of(
        self,
        partition: i64,
    ) -> Result<(Vec<TicketRecord>, Vec<Match>), StoreError> {
        let mut tx = self.0.readers.snapshot().await?;
        let (from, to) = (ticket_base(partition), ticket_base(partition + 1));
        let query = sql("SELECT * FROM tickets WHERE number >= $1 AND number < $2 ORDER BY number");
        let rows = query.bind(from).bind(to).fetch_all(&mut tx).await?;
        let known = tickets::from_rows(&rows)?;
        let query = sql("SELECT * FROM formed_matches WHERE partition = $1 ORDER BY match_id");
        let matches = query.bind(partition).fetch_all(&mut tx).await?;
        let query = sql(
            "SELECT s.* FROM formed_seats s JOIN formed_matches f ON f.match_id = s.match_id
             WHERE f.partition = $1 ORDER BY s.match_id, s.seat",
        );
        let seats = query.bind(partition).fetch_all(&mut tx).await?;
        Ok((known, tickets::matches_from_rows(&matches, &seats)?))
    }

    /// The partition of the client's ticket with this id; of two, that of the one submitted last.
    pub async fn partition_of_ticket(
        self,
        owner: &str,
        ticket: &str,
    ) -> Result<Option<String>, StoreError> {
        let query = scalar(
            "SELECT p.name FROM tickets t JOIN partitions p ON p.slot = t.number >> 40
             WHERE t.owner = $1 AND t.ticket = $2 ORDER BY t.submitted_at DESC LIMIT 1",
        );
        let query = query.bind(owner).bind(ticket);
        query.fetch_optional(&self.0.readers).await
    }

    /// The partition of a match that was formed.
    pub async fn partition_of_match(self, id: MatchId) -> Result<Option<String>, StoreError> {
        let query = scalar(
            "SELECT p.name FROM partitions p
             WHERE p.slot IN (SELECT partition FROM formed_matches WHERE match_id = $1
                              UNION SELECT partition FROM hosted_matches WHERE match_id = $1)",
        );
        query.bind(id).fetch_optional(&self.0.readers).await
    }
}
