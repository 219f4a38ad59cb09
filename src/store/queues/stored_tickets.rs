//! Tickets as a daemon reads them that does not run their queue, and which changes their clients were sent.

use std::collections::{BTreeMap, BTreeSet};

use super::{
    Queues, hosting,
    tickets::{self, word},
};
use crate::{
    matchmaking::lifecycle::{Match, State, TicketNumber, TicketPlayer, TicketRecord},
    model::{MatchId, Timestamp},
    store::{StoreError, db::*, sql::rows::with_given},
};

/// A ticket, and the match that it is in.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredTicket {
    /// The ticket.
    pub ticket: TicketRecord,
    /// The match that it is in, with its hosting, as long as that is kept.
    pub in_match: Option<Match>,
}

/// A ticket in one of its states: the state, and when it got it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TicketKey {
    /// The number of the ticket.
    pub number: TicketNumber,
    /// The state.
    pub state: State,
    /// When the ticket got it.
    pub at: Timestamp,
}

impl From<&TicketRecord> for TicketKey {
    fn from(ticket: &TicketRecord) -> Self {
        Self {
            number: ticket.number,
            state: ticket.state,
            at: ticket.changed_at,
        }
    }
}

/// The columns of a table of keys.
const KEYS: &str = "as_number BIGINT, in_state TEXT, since TEXT";

const NOTE: &str = "UPDATE tickets SET told = TRUE WHERE number IN
    (SELECT t.number FROM {given} JOIN tickets t ON t.number = given.as_number
     WHERE t.state = given.in_state AND t.changed_at = given.since AND NOT t.told)";
const NOTE_BESIDE_TURNS: &str = "UPDATE tickets SET told = TRUE WHERE number IN
    (SELECT t.number FROM {given} JOIN tickets t ON t.number = given.as_number
     WHERE t.state = given.in_state AND t.changed_at = given.since AND NOT t.told
     FOR UPDATE OF t SKIP LOCKED)";

fn rows(keys: &[TicketKey]) -> impl Iterator<Item = Vec<Value>> {
    keys.iter()
        .map(|key| values![key.number, word(key.state), key.at])
}

impl Queues<'_> {
    /// The client's ticket with this id; of two, the one submitted last.
    pub async fn stored_ticket(
        self,
        owner: &str,
        id: &str,
    ) -> Result<Option<StoredTicket>, StoreError> {
        let mut tx = self.0.readers.snapshot().await?;
        let query = sql("SELECT * FROM tickets WHERE owner = $1 AND ticket = $2
                         ORDER BY submitted_at DESC, number DESC LIMIT 1");
        let rows = query.bind(owner).bind(id).fetch_all(&mut tx).await?;
        Ok(with_matches(&mut tx, &rows).await?.pop())
    }

    /// Who is in which ticket of the partition with this slot.
    pub async fn ticket_players(self, partition: i64) -> Result<Vec<TicketPlayer>, StoreError> {
        let query =
            tuple("SELECT queue_group, player, ticket FROM ticket_players WHERE partition = $1");
        let rows: Vec<(String, String, TicketNumber)> =
            query.bind(partition).fetch_all(&self.0.readers).await?;
        let player = |(group, player, ticket)| TicketPlayer {
            group,
            player,
            ticket,
        };
        Ok(rows.into_iter().map(player).collect())
    }

    /// The first tickets of these clients, in the partitions with these slots, whose client was not sent the present
    /// state.
    pub async fn untold(
        self,
        partitions: &[i64],
        owners: &[String],
        most: usize,
    ) -> Result<Vec<StoredTicket>, StoreError> {
        if owners.is_empty() || partitions.is_empty() {
            return Ok(Vec::new());
        }
        let mut tx = self.0.readers.snapshot().await?;
        let mut query = Sql::new("SELECT * FROM tickets WHERE NOT told AND owner IN ");
        query.list(owners);
        query
            .push(" AND number >> 40 IN ")
            .list(partitions.iter().copied());
        query.push(" ORDER BY number LIMIT ").push_bind(most);
        let rows = query.build().once().fetch_all(&mut tx).await?;
        with_matches(&mut tx, &rows).await
    }

    /// Notes that clients were sent these states of tickets. A ticket that has another state by now, or is being changed,
    /// stays untold.
    pub async fn note_told(self, tickets: &[TicketKey]) -> Result<(), StoreError> {
        if tickets.is_empty() {
            return Ok(());
        }
        let mut tx = self.0.begin_apart().await?;
        let told = match tx.dialect() {
            Dialect::Sqlite => NOTE,
            // The turn that changes a ticket may wait for this, but this never waits for a turn.
            Dialect::Postgres => NOTE_BESIDE_TURNS,
        };
        with_given(&mut tx, KEYS, told, rows(tickets)).await?;
        tx.commit().await
    }

    /// Of these states of tickets, those that clients were sent by other daemons.
    pub async fn told(self, tickets: &[TicketKey]) -> Result<BTreeSet<TicketNumber>, StoreError> {
        let mut connection = self.0.readers.acquire().await?;
        let told = "SELECT t.number FROM {given} JOIN tickets t ON t.number = given.as_number
             WHERE t.state = given.in_state AND t.changed_at = given.since AND t.told";
        let told = with_given(&mut connection, KEYS, told, rows(tickets)).await?;
        told.iter().map(|row| row.get("number")).collect()
    }

    /// The median wait of a queue's last matches, in milliseconds, as the daemon that runs the queue has published it.
    pub async fn median_wait(self, queue: &str) -> Result<Option<i64>, StoreError> {
        if !self.0.is_shared() {
            return Ok(None); // nobody else runs a queue, and has published it
        }
        let query = scalar("SELECT median_ms FROM queue_waits WHERE queue = $1").bind(queue);
        query.fetch_optional(&self.0.readers).await
    }
}

/// The tickets in these rows, with their matches.
async fn with_matches(tx: &mut Connection, rows: &[Row]) -> Result<Vec<StoredTicket>, StoreError> {
    let found = tickets::from_rows(rows)?;
    let ids = found.iter().filter_map(|ticket| ticket.state.match_id());
    let matches = matches(tx, ids.collect()).await?;
    let with_match = |ticket: TicketRecord| StoredTicket {
        in_match: ticket
            .state
            .match_id()
            .and_then(|id| matches.get(&id).cloned()),
        ticket,
    };
    Ok(found.into_iter().map(with_match).collect())
}

async fn matches(
    tx: &mut Connection,
    ids: BTreeSet<MatchId>,
) -> Result<BTreeMap<MatchId, Match>, StoreError> {
    let of = |text: &'static str| (text, ids.iter().map(|id| values![id]));
    let (formed, given) =
        of("SELECT f.* FROM {given} JOIN formed_matches f ON f.match_id = given.id");
    let formed = with_given(tx, "id BIGINT", formed, given).await?;
    let (seats, given) = of(
        "SELECT s.* FROM {given} JOIN formed_seats s ON s.match_id = given.id
                             ORDER BY s.match_id, s.seat",
    );
    let seats = with_given(tx, "id BIGINT", seats, given).await?;
    let (hosted, given) =
        of("SELECT h.* FROM {given} JOIN hosted_matches h ON h.match_id = given.id");
    let hosted = with_given(tx, "id BIGINT", hosted, given).await?;
    let formed = tickets::matches_from_rows(&formed, &seats)?;
    let mut matches: BTreeMap<_, _> = formed.into_iter().map(|one| (one.id, one)).collect();
    for row in &hosted {
        let hosted = hosting::hosted(row)?;
        let formed = matches.remove(&hosted.id).unwrap_or_default();
        matches.insert(hosted.id, hosted.formed_as(formed));
    }
    Ok(matches)
}
