//! PostgreSQL: one database for several daemons, with as many readers and writers as it has connections.
//!
//! Two locks of the whole database order the writes; a write keeps its locks until it ends.
//!
//! - Games that end share the lock of the matches, so that any number of processes record theirs at a time. The same
//!   game is recorded once, because its number and the fingerprint of its match are unique.
//! - Turns of queues share that lock, too: of each partition, only the holder of its lease writes.
//! - All other writes take the lock of the writers, one after the other. So a write can read a row and rely on it, as
//!   with SQLite. A write that changes matches or players, or adds matches in other ways, also takes the lock of the
//!   matches for itself.
//!
//! Readers never wait. If a process stops during a transaction, the server ends the transaction, so that others need
//! not wait for it.
//!
//! Leases are rows that end by the clock of the server. Their statements do not wait for the lock of the writers: a
//! lease must not end because another process writes for long.
//!
//! Matches are counted once: only those of the latest transactions are counted each time.

mod changes;
mod connection;

pub use connection::PostgresUrl;
pub(super) use connection::ServerPool;

use std::{sync::Arc, time::Duration};

use parking_lot::Mutex;
use sqlx::{
    Connection as _, PgConnection, PgPool,
    postgres::{PgConnectOptions, PgPoolOptions},
};
use tokio::time::{Instant, timeout};

use crate::{
    model::Timestamp,
    store::{
        Backend, Changes, FIRST_MIGRATION, LONGEST_LEASE, LastHolder, Lease, Store, StoreError,
        StoreMetrics, Taken,
        db::{ConnectionPool, PooledConnection, Write, moved_to, scalar, sql, tuple},
        postgres::changes::Announcer,
        refuse_older,
        schema::POSTGRES,
    },
};

/// The oldest version that Evenkeel is tested with.
const OLDEST: i32 = 15;
/// The longest time that a statistics page waits for a connection.
const PAGE_PATIENCE: Duration = Duration::from_secs(2);
/// The shortest time that a lock is waited for: the writers of other processes take turns.
const LEAST_PATIENCE: Duration = Duration::from_secs(1);
/// How long this process waits while another one migrates the database.
const MIGRATION_PATIENCE: Duration = Duration::from_secs(60);
/// The connections for statements that do not wait for the lock of all writers.
const APART: u32 = 2;
/// The most partitions whose turns this process writes at a time.
const TURNS: u32 = 2;
/// How much later than the server this process gives up a statement.
const LATENCY: Duration = Duration::from_secs(5);
/// The most connections that wait for changes.
const LISTENERS: u32 = 4;
/// After how many milliseconds without a statement the server ends a transaction. The process that began it has
/// stopped, and others wait for it.
const IDLE_IN_TRANSACTION: &str = "10000";

/// Begins, waits for locks, and looks whether the database was moved, in one message to the server.
macro_rules! begin {
    ($($lock:literal),*) => {
        concat!("BEGIN; ", $("SELECT pg_advisory_xact_lock", $lock, "; ",)* moved_to!())
    };
}
/// Waits for no lock.
const BEGIN_APART: &str = begin!();
/// Waits for the lock of the writers. The number is "EVKL" in ASCII: the lock must have the same number in all daemons,
/// and no other program should take locks in this database.
const BEGIN: &str = begin!("(1163283276)");
/// Waits for both locks. The number of the second one, that of the matches, is "EVKM" in ASCII.
const BEGIN_ALONE: &str = begin!("(1163283276)", "(1163283277)");
/// Waits for the lock of the writers, and until nobody has the lock of the matches alone.
const BEGIN_IN_TURN: &str = begin!("(1163283276)", "_shared(1163283277)");
/// Waits until nobody has the lock of the matches alone.
const BEGIN_TOGETHER: &str = begin!("_shared(1163283277)");
/// The channel on which daemons announce requests and what was decided.
pub(super) const REQUESTS: &str = "evenkeel_requests";

/// What a [`Store`] needs of a PostgreSQL server besides its other connections.
#[derive(Debug)]
pub(super) struct Server {
    /// The address of the database, as the operator knows it.
    place: String,
    /// For single statements that do not wait for the writers of all processes, such as those of leases.
    pub apart: ConnectionPool,
    pub counted: MatchCount,
    /// One connection, to record games that end.
    recorder: ConnectionPool,
    /// For the turns of queues.
    turns: ConnectionPool,
    announcer: Announcer,
    listeners: PgPool,
    /// How long a lock is waited for.
    patience: Duration,
}

/// Does what [`open_at`](super::open_at) does, and opens a database also if it was moved to another one.
///
/// # Errors
/// Those of [`open_at`](super::open_at).
pub async fn open(
    url: &PostgresUrl,
    settings: PoolSettings,
    create: bool,
    patience: Duration,
) -> Result<Store, StoreError> {
    let patience = patience.max(LEAST_PATIENCE);
    let PoolSettings { connect, .. } = settings;
    migrate(url, create, connect).await?;
    let options = options(url, patience).options([millis("statement_timeout", settings.statement)]);
    let read_only = options
        .clone()
        .options([("default_transaction_read_only", "on")]);
    let pool = |options: &PgConnectOptions, size, wait| {
        let patience = settings.statement + LATENCY;
        ConnectionPool::Postgres(ServerPool::new(options.clone(), size, wait, patience))
    };
    let listeners = PgPoolOptions::new()
        .max_connections(LISTENERS)
        .idle_timeout(None)
        .max_lifetime(None)
        .acquire_timeout(connect);
    let listeners = listeners.connect_lazy_with(read_only.clone());
    let apart = pool(&options, APART, connect);
    let readers = pool(&read_only, settings.readers, connect);
    let server = Server {
        place: url.to_string(),
        counted: MatchCount::default(),
        recorder: pool(&options, 1, connect),
        turns: pool(&options, TURNS, connect),
        announcer: Announcer::new(apart.clone()),
        apart,
        listeners,
        patience,
    };
    let writer = pool(&options, 1, connect);
    let pages = pool(&read_only, settings.pages, connect.min(PAGE_PATIENCE));
    let pools = [writer, readers, pages];
    Ok(Store::new(Backend::Postgres(server), pools))
}

impl Server {
    /// A stream of the commits of all processes.
    pub async fn changes(&self) -> Result<Box<dyn Changes>, StoreError> {
        let changes = changes::Announcements::new(&self.listeners, changes::CHANNEL);
        Ok(Box::new(changes.await?))
    }

    /// A stream of what daemons ask and decide.
    pub async fn wakes(&self) -> Result<Box<dyn Changes>, StoreError> {
        let wakes = changes::Announcements::new(&self.listeners, REQUESTS);
        Ok(Box::new(wakes.await?))
    }

    /// The time of the server.
    pub async fn clock(&self) -> Result<Timestamp, StoreError> {
        scalar("SELECT clock()").fetch_one(&self.apart).await
    }

    /// Begins a write that takes turns with all others, and may run beside games that are recorded.
    pub async fn begin(
        &self,
        writer: &ConnectionPool,
        metrics: &Arc<StoreMetrics>,
    ) -> Result<Write, StoreError> {
        self.begin_with(BEGIN, writer, metrics).await
    }

    /// Begins a write: waits until no other connection or process writes.
    pub async fn begin_alone(
        &self,
        writer: &ConnectionPool,
        metrics: &Arc<StoreMetrics>,
    ) -> Result<Write, StoreError> {
        self.begin_with(BEGIN_ALONE, writer, metrics).await
    }

    /// Begins to record games beside other processes that do the same.
    pub async fn begin_together(&self, metrics: &Arc<StoreMetrics>) -> Result<Write, StoreError> {
        self.begin_with(BEGIN_TOGETHER, &self.recorder, metrics)
            .await
    }

    /// Begins the turn of a partition, beside those of others. One that also adds reports about behaviour takes turns
    /// with whoever else does.
    pub async fn begin_turn(
        &self,
        adds_reports: bool,
        metrics: &Arc<StoreMetrics>,
    ) -> Result<Write, StoreError> {
        let begin = match adds_reports {
            true => BEGIN_IN_TURN,
            false => BEGIN_TOGETHER,
        };
        self.begin_with(begin, &self.turns, metrics).await
    }

    /// Begins a write beside all others.
    pub async fn begin_apart(&self, metrics: &Arc<StoreMetrics>) -> Result<Write, StoreError> {
        self.begin_with(BEGIN_APART, &self.apart, metrics).await
    }

    /// Waits for the locks for as long as the server allows, which is `patience`, and for the server twice as long as
    /// that.
    async fn begin_with(
        &self,
        statements: &'static str,
        pool: &ConnectionPool,
        metrics: &Arc<StoreMetrics>,
    ) -> Result<Write, StoreError> {
        let began = Instant::now();
        let mut write = Write::new(pool.acquire().await?, began, metrics);
        let begun = timeout(2 * self.patience, write.begin(statements, &self.place)).await;
        begun.unwrap_or(Err(sqlx::Error::PoolTimedOut.into()))?;
        Ok(write)
    }

    /// Commits a write, and wakes the tasks of all processes that wait for changes.
    pub async fn commit(&self, tx: Write) -> Result<(), StoreError> {
        tx.commit().await?;
        self.announcer.announce();
        Ok(())
    }

    pub async fn close(&self) {
        self.announcer.close().await;
        self.recorder.close().await;
        self.turns.close().await;
        self.listeners.close().await;
        self.apart.close().await;
    }
}

/// Checks that the database can be used, and brings its tables up to date.
async fn migrate(url: &PostgresUrl, create: bool, connect: Duration) -> Result<(), StoreError> {
    let options = options(url, MIGRATION_PATIENCE);
    let connected = connection::connect(&options, connect).await;
    let mut connection = connected.map_err(|error| StoreError::new(url, error))?;
    let fits = check(url, &mut connection, create).await;
    fits.map_err(|error| StoreError::at(url, error))?;
    // The server ends it in any case.
    let _ = connection.close().await;
    let pool = PgPoolOptions::new()
        .max_connections(1)
        .idle_timeout(None)
        .max_lifetime(None)
        .acquire_timeout(connect);
    let pool = pool.connect_lazy_with(options);
    let first = sqlx::query_scalar(FIRST_MIGRATION).fetch_optional(&pool);
    refuse_older(url, &POSTGRES, first.await.ok().flatten())?;
    let migrated = POSTGRES.run(&pool).await;
    migrated.map_err(|error| StoreError::migrating(url, &POSTGRES, error))?;
    pool.close().await;
    Ok(())
}

/// The options of every connection.
fn options(url: &PostgresUrl, patience: Duration) -> PgConnectOptions {
    let settings = [
        ("idle_in_transaction_session_timeout", IDLE_IN_TRANSACTION),
        // The server notices within half a minute that this machine no longer answers.
        ("tcp_keepalives_idle", "10"),
        ("tcp_keepalives_interval", "5"),
        ("tcp_keepalives_count", "4"),
        ("timezone", "UTC"),
    ];
    let options = url.options().clone().options(settings);
    options.options([millis("lock_timeout", patience)])
}

/// A setting of the server that is a time.
fn millis(name: &'static str, time: Duration) -> (&'static str, String) {
    (name, time.as_millis().to_string())
}

/// Refuses a server or a database that cannot be used; with `create`, an empty one can.
async fn check(
    url: &PostgresUrl,
    connection: &mut PgConnection,
    create: bool,
) -> Result<(), StoreError> {
    let unsuitable = |why: String| StoreError::Unsuitable {
        place: url.to_string(),
        why,
    };
    let query = sqlx::query_as(
        "SELECT current_setting('server_version_num'), current_setting('server_encoding'), pg_is_in_recovery()",
    );
    let (version, encoding, only_reads): (String, String, bool) =
        query.fetch_one(&mut *connection).await?;
    let version = version.parse::<i32>().unwrap_or(0) / 10_000;
    if version < OLDEST {
        let why = format!("the server is PostgreSQL {version}, not {OLDEST} or newer");
        return Err(unsuitable(why));
    }
    if encoding != "UTF8" {
        return Err(unsuitable(format!("its encoding is {encoding}, not UTF8")));
    }
    if only_reads {
        return Err(StoreError::Recovering);
    }
    // The migrator makes its own table before it makes ours.
    let query = sqlx::query_as(
        "SELECT count(*) FILTER (WHERE relname = 'match_players') > 0,
                count(*) FILTER (WHERE relname <> '_sqlx_migrations') > 0
         FROM pg_class WHERE relkind IN ('r', 'p', 'v', 'm', 'f')
           AND relnamespace = (SELECT oid FROM pg_namespace WHERE nspname = current_schema())",
    );
    let (ours, any): (bool, bool) = query.fetch_one(connection).await?;
    let place = url.to_string();
    match (ours, any) {
        (true, _) => Ok(()),
        (false, true) => Err(StoreError::Foreign { place }),
        (false, false) if create => Ok(()),
        (false, false) => Err(StoreError::Empty { place }),
    }
}

/// How many connections a process makes to a PostgreSQL server, and for how long it waits for the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PoolSettings {
    /// The most connections that read, without those of statistics pages.
    pub readers: u32,
    /// The most connections of statistics pages.
    pub pages: u32,
    /// How long a caller waits for a connection, which has to be made if none is free.
    pub connect: Duration,
    /// How long one statement may take.
    pub statement: Duration,
}

impl Default for PoolSettings {
    fn default() -> Self {
        Self {
            readers: 4,
            pages: 2,
            connect: Duration::from_secs(5),
            statement: Duration::from_secs(60),
        }
    }
}

/// Finds the holder of a lease that has not ended.
const HELD: &str = "SELECT holder, epoch FROM leases
     WHERE name = $1 AND ends_at > clock() AND ends_at <= clock($2)";
/// Takes a lease that is free, and waits for a write of its old holder that is under way.
const TAKE: &str =
    "INSERT INTO leases AS l (name, holder, epoch, ends_at) VALUES ($1, $2, 1, clock($3))
     ON CONFLICT (name) DO UPDATE
         SET holder = excluded.holder, epoch = l.epoch + 1, ends_at = excluded.ends_at, given_back_at = NULL
         WHERE l.ends_at IS NULL OR l.ends_at <= clock() OR l.ends_at > clock($4)
     RETURNING epoch";

impl Server {
    pub async fn take_lease(
        &self,
        name: &str,
        holder: &str,
        lasts: Duration,
    ) -> Result<Taken, StoreError> {
        let lasts = lasts.min(LONGEST_LEASE);
        loop {
            if let Some((holder, epoch)) = self.lease_holder(name).await? {
                return Ok(Taken::No { holder, epoch });
            }
            let query = scalar(TAKE).bind(name).bind(holder);
            let query = query
                .bind(lease_millis(lasts))
                .bind(lease_millis(LONGEST_LEASE));
            let epoch: Option<i64> = query.fetch_optional(&self.apart).await?;
            if let Some(epoch) = epoch {
                return Ok(Taken::Yes(Lease {
                    name: name.to_owned(),
                    epoch,
                    lasts: Some(lasts),
                    _lock: None,
                }));
            }
        }
    }

    pub async fn lease_holder(&self, name: &str) -> Result<Option<(String, i64)>, StoreError> {
        let query = tuple(HELD).bind(name);
        let query = query.bind(lease_millis(LONGEST_LEASE));
        query.fetch_optional(&self.apart).await
    }

    pub async fn renew_lease(&self, lease: &Lease) -> Result<bool, StoreError> {
        let renew = "UPDATE leases SET ends_at = clock($3)
                     WHERE name = $1 AND epoch = $2 AND ends_at > clock()";
        let query = sql(renew).bind(&lease.name).bind(lease.epoch);
        let query = query.bind(lease_millis(lease.lasts.unwrap_or_default()));
        Ok(query.execute(&self.apart).await? > 0)
    }

    pub async fn give_back_lease(&self, lease: &Lease) -> Result<(), StoreError> {
        let free = "UPDATE leases SET ends_at = NULL, given_back_at = clock() WHERE name = $1 AND epoch = $2";
        let query = sql(free).bind(&lease.name).bind(lease.epoch);
        query.execute(&self.apart).await?;
        Ok(())
    }

    pub async fn describe_lease(&self, lease: &Lease, settings: &str) -> Result<(), StoreError> {
        let describe = "UPDATE leases SET settings = $3
                        WHERE name = $1 AND epoch = $2 AND ends_at > clock()";
        let query = sql(describe).bind(&lease.name).bind(lease.epoch);
        query.bind(settings).execute(&self.apart).await?;
        Ok(())
    }

    pub async fn last_holder(&self, name: &str) -> Result<Option<LastHolder>, StoreError> {
        // A lease that ends later than any can was taken before the clock of the server was set back.
        let last = "SELECT holder, epoch, coalesce(settings, ''), ends_at IS NULL,
                           CASE WHEN ends_at > clock() AND ends_at <= clock($2) THEN NULL
                                WHEN ends_at > clock() THEN $2
                                ELSE millis(clock()) - millis(coalesce(ends_at, given_back_at)) END
                    FROM leases WHERE name = $1";
        let query = tuple(last).bind(name).bind(lease_millis(LONGEST_LEASE));
        let row: Option<(String, i64, String, bool, Option<i64>)> =
            query.fetch_optional(&self.apart).await?;
        let last = |(holder, epoch, settings, gave_it_back, free): (_, _, _, _, Option<i64>)| {
            let free = free.map(|free| u64::try_from(free).unwrap_or(0));
            LastHolder {
                holder,
                epoch,
                settings,
                free_for: free.map(Duration::from_millis),
                gave_it_back,
            }
        };
        Ok(row.map(last))
    }
}

fn lease_millis(time: Duration) -> i64 {
    i64::try_from(time.as_millis()).unwrap_or(i64::MAX)
}

/// How many matches the transactions before one have recorded. All of those have ended, so no further match is theirs:
/// matches that are committed late are among those of later transactions, which are counted each time.
#[derive(Clone, Copy, Debug)]
struct RecordedBefore {
    /// The first transaction whose matches are not counted.
    before: i64,
    matches: i64,
    /// How often stored matches had been changed, perhaps removed, by then.
    changes: i64,
}

/// What this process knows of the number of matches.
#[derive(Debug, Default)]
pub(super) struct MatchCount(Mutex<Option<RecordedBefore>>);

impl MatchCount {
    /// The number of matches that this connection sees, and the highest id.
    pub async fn extent(&self, on: &mut PooledConnection) -> Result<(i64, i64), StoreError> {
        let known = *self.0.lock();
        if let Some(known) = known {
            let seen = count(on, Some(&known)).await?;
            if seen.known.changes == known.changes {
                return Ok(self.note(seen));
            }
        }
        Ok(self.note(count(on, None).await?))
    }

    /// Keeps what was counted, and returns the extent.
    fn note(&self, seen: QueryCount) -> (i64, i64) {
        let QueryCount {
            known,
            open,
            highest,
        } = seen;
        let matches = known.matches + open;
        *self.0.lock() = Some(known);
        (matches, highest)
    }
}

/// What one query has counted.
struct QueryCount {
    known: RecordedBefore,
    /// How many matches later transactions have recorded, some of which are still open.
    open: i64,
    highest: i64,
}

/// Counts the matches that are not known yet.
async fn count(
    on: &mut PooledConnection,
    known: Option<&RecordedBefore>,
) -> Result<QueryCount, StoreError> {
    // Matches of older versions have no transaction. After a crash, a server gives the numbers of transactions that
    // left nothing on disk once more, so the first one that is not counted comes just after one that has a match.
    let new = match known {
        Some(RecordedBefore { before, .. }) => format!("WHERE xid >= {before}"),
        None => String::new(),
    };
    let query = tuple(format!(
        "SELECT before, (SELECT count(*) FROM matches {new}), (SELECT count(*) FROM matches WHERE xid >= before),
             (SELECT number FROM state WHERE name = 'player_changes'), (SELECT coalesce(max(id), 0) FROM matches)
         FROM (SELECT coalesce(max(xid), 0) + 1 AS before FROM matches
                WHERE xid < CAST(CAST(pg_snapshot_xmin(pg_current_snapshot()) AS TEXT) AS BIGINT)) AS ended"
    ));
    let (before, new, open, changes, highest): (i64, i64, i64, i64, i64) =
        query.once().fetch_one(on).await?;
    let matches = known.map_or(0, |known| known.matches) + new - open;
    let known = RecordedBefore {
        before,
        matches,
        changes,
    };
    Ok(QueryCount {
        known,
        open,
        highest,
    })
}
