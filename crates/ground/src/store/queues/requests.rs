//! The rows by which the daemons of a database on PostgreSQL ask each other and share the queues. A request and its
//! answer stay until the daemon that asked has read the answer.
//!
//! - Which daemons are alive, and which of them runs which partition of the queues.
//! - Tickets, as a daemon reads them that does not run their queue, and which changes its clients were sent.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use async_trait::async_trait;

use crate::{
    matchmaking::lifecycle::{Match, QueuedPlayer, State, TicketNumber, TicketRecord},
    model::{Timestamp, record::MatchId},
    store::{
        Backend, Changes, StoreError,
        db::{
            query::{Target, insert, with_given},
            *,
        },
        queues::{QueueTables, QueueWrite, hosting, word},
    },
};

/// The longest text of a request or an answer, in bytes.
pub const MAX_REQUEST: usize = 1 << 20;
/// The most requests that wait for the daemon that runs a partition.
pub const MAX_REQUESTS: i64 = 20_000;

/// A request that is about to be written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewRequest {
    /// The name of the partition whose daemon is asked.
    pub partition: String,
    /// Its number at the daemon that asks, which gives each number once.
    pub key: i64,
    /// What is asked.
    pub body: String,
}

columns! {
    /// A request without an answer.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct Request {
        /// The name of the daemon that asks.
        pub daemon: String,
        /// Its number at that daemon.
        pub key: i64,
        /// What is asked.
        pub body: String,
        /// Whether that daemon is alive, so that it can read the answer.
        pub is_alive: bool,
    }
}

/// What has become of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DecidedRequest {
    /// The name of the daemon that has asked.
    pub daemon: String,
    /// The number of the request there.
    pub key: i64,
    /// The answer; `None` if nobody waits for one: the request is removed.
    pub answer: Option<String>,
    /// Whether the answer is that something has changed: then the request must not have been withdrawn.
    pub is_binding: bool,
}

/// What a connection of an instance to another daemon is to be sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewHostNotice {
    /// The name of the daemon.
    pub daemon: String,
    /// Its number of the connection.
    pub link: i64,
    /// The notice.
    pub body: String,
}

columns! {
    /// The same, as that daemon reads it.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct HostNoticeRow {
        /// The number of the row.
        pub number: i64,
        /// The number of the connection.
        pub link: i64,
        /// The notice.
        pub body: String,
    }
}

const REQUESTS: Target = Target::new("requests", "partition, daemon, key, body");
const NOTICES: Target = Target::new("host_notices", "daemon, link, body");
const WAITS: Target = Target::new("queue_waits", "queue, median_ms").replacing("queue");

/// Where nobody announces anything, as on SQLite.
struct Silence;

#[async_trait]
impl Changes for Silence {
    async fn next(&mut self) -> Result<(), StoreError> {
        std::future::pending().await
    }
}

impl QueueTables<'_> {
    /// A stream that wakes the caller whenever another daemon has asked, answered or decided something. It may miss
    /// some of that: look once in a while all the same.
    pub async fn wakes(self) -> Result<Box<dyn Changes>, StoreError> {
        match &self.0.backend {
            Backend::Sqlite(_) => Ok(Box::new(Silence)),
            Backend::Postgres(server) => server.wakes().await,
        }
    }

    /// Notes that a daemon counts as alive for this long. Removes daemons whose time is over, and what waits for them.
    /// Returns whether it was alive until now, and the names of all daemons that are alive.
    pub async fn is_alive(
        self,
        daemon: &str,
        lasts: Duration,
    ) -> Result<(bool, BTreeSet<String>), StoreError> {
        let lasts = i64::try_from(lasts.as_millis()).unwrap_or(i64::MAX);
        let mut tx = self.0.begin_apart().await?;
        let gone = "DELETE FROM daemons WHERE ends_at <= clock() RETURNING name";
        let gone: Vec<String> = scalar(gone).fetch_all(&mut tx).await?;
        forget(&mut tx, &gone).await?;
        let was_alive = "SELECT EXISTS (SELECT 1 FROM daemons WHERE name = $1)";
        let was_alive = scalar(was_alive).bind(daemon).fetch_one(&mut tx).await?;
        let alive = "INSERT INTO daemons (name, ends_at) VALUES ($1, clock($2))
             ON CONFLICT (name) DO UPDATE SET ends_at = excluded.ends_at";
        let alive = sql(alive).bind(daemon).bind(lasts);
        alive.execute(&mut tx).await?;
        let all = scalar("SELECT name FROM daemons");
        let all: Vec<String> = all.fetch_all(&mut tx).await?;
        tx.commit().await?;
        Ok((was_alive, all.into_iter().collect()))
    }

    /// Removes a daemon that ends, and what waits for it.
    pub async fn is_gone(self, daemon: &str) -> Result<(), StoreError> {
        let mut tx = self.0.begin_apart().await?;
        let gone = sql("DELETE FROM daemons WHERE name = $1").bind(daemon);
        gone.execute(&mut tx).await?;
        forget(&mut tx, &[daemon.to_owned()]).await?;
        tx.commit().await
    }

    /// Writes requests of a daemon, all or none, and wakes the daemons that are asked. Returns which of them are
    /// written: not those that are too long, and not those to a partition for which too many wait.
    pub async fn ask(self, daemon: &str, requests: &[NewRequest]) -> Result<Vec<bool>, StoreError> {
        let mut room = BTreeMap::<&str, i64>::new();
        let mut tx = self.0.begin_apart().await?;
        for request in requests {
            if !room.contains_key(&*request.partition) {
                let waiting = "SELECT count(*) FROM (SELECT 1 FROM requests
                               WHERE partition = $1 AND answer IS NULL LIMIT $2) few";
                let waiting = scalar(waiting).bind(&request.partition).bind(MAX_REQUESTS);
                let waiting: i64 = waiting.fetch_one(&mut tx).await?;
                room.insert(&request.partition, MAX_REQUESTS - waiting);
            }
        }
        let fits = |request: &NewRequest| {
            let left = room.get_mut(&*request.partition);
            let fits =
                request.body.len() <= MAX_REQUEST && left.as_ref().is_some_and(|left| **left > 0);
            if let (true, Some(left)) = (fits, left) {
                *left -= 1;
            }
            fits
        };
        let written: Vec<bool> = requests.iter().map(fits).collect();
        let rows = requests.iter().zip(&written).filter(|(_, fits)| **fits);
        let rows = rows.map(|(one, _)| values![&one.partition, daemon, one.key, &one.body]);
        insert(&mut tx, REQUESTS, "", rows.collect::<Vec<_>>().into_iter()).await?;
        wake(&mut tx).await?;
        tx.commit().await?;
        Ok(written)
    }

    /// The first requests to a partition that have no answer, in the order in which each daemon has asked.
    pub async fn requests(self, partition: &str, most: usize) -> Result<Vec<Request>, StoreError> {
        let query = tuple(
            "SELECT daemon, key, body, EXISTS (SELECT 1 FROM daemons d WHERE d.name = requests.daemon) AS is_alive
             FROM requests WHERE partition = $1 AND answer IS NULL ORDER BY number LIMIT $2",
        );
        let query = query.bind(partition).bind(most);
        query.fetch_all(&self.0.readers).await
    }

    /// The first requests of a daemon that have an answer: the key and the answer of each.
    pub async fn answers(
        self,
        daemon: &str,
        most: usize,
    ) -> Result<Vec<(i64, String)>, StoreError> {
        let query = tuple(
            "SELECT key, answer FROM requests WHERE daemon = $1 AND answer IS NOT NULL ORDER BY number LIMIT $2",
        );
        query
            .bind(daemon)
            .bind(most)
            .fetch_all(&self.0.readers)
            .await
    }

    /// Removes requests of a daemon, which has read their answers.
    pub async fn has_read(self, daemon: &str, keys: &[i64]) -> Result<(), StoreError> {
        self.remove(daemon, keys, "requests.answer IS NOT NULL")
            .await
            .map(drop)
    }

    /// Removes the requests of a daemon that have no answer yet, and returns their keys. They are not carried out.
    pub async fn withdraw(self, daemon: &str, keys: &[i64]) -> Result<BTreeSet<i64>, StoreError> {
        self.remove(daemon, keys, "requests.answer IS NULL").await
    }

    async fn remove(
        self,
        daemon: &str,
        keys: &[i64],
        which: &'static str,
    ) -> Result<BTreeSet<i64>, StoreError> {
        if keys.is_empty() {
            return Ok(BTreeSet::new());
        }
        let mut tx = self.0.begin_apart().await?;
        let mut query = Sql::new("DELETE FROM requests WHERE daemon = ");
        query
            .push_bind(daemon)
            .push(" AND key IN ")
            .list(keys.iter().copied());
        query.push(" AND ").push(which).push(" RETURNING key");
        let gone = query.build().fetch_all(&mut tx).await?;
        tx.commit().await?;
        gone.iter().map(|row| row.get("key")).collect()
    }

    /// The first notices for the instances that are connected to a daemon, in the order in which they were decided.
    pub async fn host_notices(
        self,
        daemon: &str,
        most: usize,
    ) -> Result<Vec<HostNoticeRow>, StoreError> {
        let query = tuple(
            "SELECT number, link, body FROM host_notices WHERE daemon = $1 ORDER BY number LIMIT $2",
        );
        let query = query.bind(daemon).bind(most);
        query.fetch_all(&self.0.readers).await
    }

    /// Removes notices that were sent.
    pub async fn has_sent(self, numbers: &[i64]) -> Result<(), StoreError> {
        if numbers.is_empty() {
            return Ok(());
        }
        let mut tx = self.0.begin_apart().await?;
        let sent = "DELETE FROM host_notices WHERE number IN (SELECT given.number FROM {given})";
        let numbers = numbers.iter().map(|number| values![number]);
        with_given(&mut tx, "number BIGINT", sent, numbers).await?;
        tx.commit().await
    }
}

/// Removes what waits for daemons that have ended. What they have asked is left to the daemon that decides: it may be
/// deciding it now.
async fn forget(tx: &mut PooledConnection, daemons: &[String]) -> Result<(), StoreError> {
    for statement in [
        "DELETE FROM requests WHERE answer IS NOT NULL AND daemon IN (SELECT given.name FROM {given})",
        "DELETE FROM host_notices WHERE daemon IN (SELECT given.name FROM {given})",
    ] {
        let daemons = daemons.iter().map(|daemon| values![daemon]);
        with_given(tx, "name TEXT", statement, daemons).await?;
    }
    Ok(())
}

/// Writes what a turn has decided for other daemons.
///
/// # Errors
/// Fails if a request was withdrawn whose answer is that something has changed.
pub(super) async fn decide(
    tx: &mut PooledConnection,
    write: &QueueWrite<'_>,
) -> Result<(), StoreError> {
    let (answered, ended): (Vec<_>, Vec<_>) =
        write.decided.iter().partition(|one| one.answer.is_some());
    let rows = answered
        .iter()
        .map(|one| values![&one.daemon, one.key, one.answer.as_ref()]);
    let answer = "UPDATE requests SET answer = given.reply FROM {given}
         WHERE requests.daemon = given.asks AND requests.key = given.as_key AND requests.answer IS NULL
         RETURNING requests.daemon, requests.key";
    let columns = "asks TEXT, as_key BIGINT, reply TEXT";
    let found = with_given(tx, columns, answer, rows).await?;
    let found = found
        .iter()
        .map(|row| Ok((row.get("daemon")?, row.get("key")?)));
    let found = found.collect::<Result<BTreeSet<(String, i64)>, StoreError>>()?;
    let is_gone =
        |one: &&&DecidedRequest| one.is_binding && !found.contains(&(one.daemon.clone(), one.key));
    if answered.iter().find(is_gone).is_some() {
        return Err(StoreError::Withdrawn);
    }
    let rows = ended.iter().map(|one| values![&one.daemon, one.key]);
    let remove = "DELETE FROM requests WHERE (daemon, key) IN (SELECT given.asks, given.as_key FROM {given})";
    with_given(tx, "asks TEXT, as_key BIGINT", remove, rows).await?;
    let notices = write.notices.iter();
    let notices = notices.map(|one| values![&one.daemon, one.link, &one.body]);
    insert(tx, NOTICES, "", notices.collect::<Vec<_>>().into_iter()).await?;
    let waits = write.waits.iter();
    let waits = waits.map(|(queue, median)| values![queue, median]);
    let waits = waits.collect::<Vec<_>>().into_iter();
    insert(tx, WAITS, "", waits).await?;
    match write.wakes {
        true => wake(tx).await,
        false => Ok(()),
    }
}

/// Wakes all daemons when this transaction is committed.
async fn wake(tx: &mut PooledConnection) -> Result<(), StoreError> {
    match tx.dialect() {
        Dialect::Sqlite => Ok(()),
        Dialect::Postgres => {
            let wake = sql("SELECT pg_notify($1, '')").bind(crate::store::postgres::REQUESTS);
            wake.execute(tx).await.map(drop)
        }
    }
}

/// By how many bits the slot of a partition is shifted in the numbers of its tickets.
const SHIFT: u32 = 40;

/// The number after which those of a partition's tickets come.
pub fn ticket_base(partition: i64) -> i64 {
    partition.checked_shl(SHIFT).unwrap_or(0)
}

impl QueueTables<'_> {
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
        let known = super::from_rows(&rows)?;
        let query = sql("SELECT * FROM formed_matches WHERE partition = $1 ORDER BY match_id");
        let matches = query.bind(partition).fetch_all(&mut tx).await?;
        let query = sql(
            "SELECT s.* FROM formed_seats s JOIN formed_matches f ON f.match_id = s.match_id
             WHERE f.partition = $1 ORDER BY s.match_id, s.seat",
        );
        let seats = query.bind(partition).fetch_all(&mut tx).await?;
        Ok((known, super::matches_from_rows(&matches, &seats)?))
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

const NOTE: &str = "UPDATE tickets SET announced = TRUE WHERE number IN
    (SELECT t.number FROM {given} JOIN tickets t ON t.number = given.as_number
     WHERE t.state = given.in_state AND t.changed_at = given.since AND NOT t.announced)";
const NOTE_BESIDE_TURNS: &str = "UPDATE tickets SET announced = TRUE WHERE number IN
    (SELECT t.number FROM {given} JOIN tickets t ON t.number = given.as_number
     WHERE t.state = given.in_state AND t.changed_at = given.since AND NOT t.announced
     FOR UPDATE OF t SKIP LOCKED)";

fn rows(keys: &[TicketKey]) -> impl Iterator<Item = Vec<SqlValue>> {
    keys.iter()
        .map(|key| values![key.number, word(key.state), key.at])
}

impl QueueTables<'_> {
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
    pub async fn ticket_players(self, partition: i64) -> Result<Vec<QueuedPlayer>, StoreError> {
        let query =
            tuple("SELECT queue_group, player, ticket FROM ticket_players WHERE partition = $1");
        let rows: Vec<(String, String, TicketNumber)> =
            query.bind(partition).fetch_all(&self.0.readers).await?;
        let player = |(group, player, ticket)| QueuedPlayer {
            group,
            player,
            ticket,
        };
        Ok(rows.into_iter().map(player).collect())
    }

    /// The first tickets of these clients, in the partitions with these slots, whose client was not sent the present
    /// state.
    pub async fn unannounced(
        self,
        partitions: &[i64],
        owners: &[String],
        most: usize,
    ) -> Result<Vec<StoredTicket>, StoreError> {
        if owners.is_empty() || partitions.is_empty() {
            return Ok(Vec::new());
        }
        let mut tx = self.0.readers.snapshot().await?;
        let mut query = Sql::new("SELECT * FROM tickets WHERE NOT announced AND owner IN ");
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
    pub async fn note_announced(self, tickets: &[TicketKey]) -> Result<(), StoreError> {
        if tickets.is_empty() {
            return Ok(());
        }
        let mut tx = self.0.begin_apart().await?;
        let announced = match tx.dialect() {
            Dialect::Sqlite => NOTE,
            // The turn that changes a ticket may wait for this, but this never waits for a turn.
            Dialect::Postgres => NOTE_BESIDE_TURNS,
        };
        with_given(&mut tx, KEYS, announced, rows(tickets)).await?;
        tx.commit().await
    }

    /// Of these states of tickets, those that clients were sent by other daemons.
    pub async fn announced(
        self,
        tickets: &[TicketKey],
    ) -> Result<BTreeSet<TicketNumber>, StoreError> {
        let mut connection = self.0.readers.acquire().await?;
        let announced = "SELECT t.number FROM {given} JOIN tickets t ON t.number = given.as_number
             WHERE t.state = given.in_state AND t.changed_at = given.since AND t.announced";
        let announced = with_given(&mut connection, KEYS, announced, rows(tickets)).await?;
        announced.iter().map(|row| row.get("number")).collect()
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
async fn with_matches(
    tx: &mut PooledConnection,
    rows: &[Row],
) -> Result<Vec<StoredTicket>, StoreError> {
    let found = super::from_rows(rows)?;
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
    tx: &mut PooledConnection,
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
    let formed = super::matches_from_rows(&formed, &seats)?;
    let mut matches: BTreeMap<_, _> = formed.into_iter().map(|one| (one.id, one)).collect();
    for row in &hosted {
        let hosted = hosting::hosted(row)?;
        let formed = matches.remove(&hosted.id).unwrap_or_default();
        matches.insert(hosted.id, hosted.formed_as(formed));
    }
    Ok(matches)
}
