//! What daemons and database wait for while they are loaded.

use std::{
    fmt, fs,
    time::{Duration, Instant},
};

use sqlx::{Connection, PgConnection};

use crate::process::Process;

/// How often the server is asked what its connections wait for.
const LOOK: Duration = Duration::from_millis(50);

/// What was waited for in a row.
pub struct Waits {
    /// Cores that the daemons used, and those that the database did; the latter are 0 on SQLite.
    daemons: f64,
    database: f64,
    /// Connections that waited on average for the lock of all writers, and for the disk.
    lock: f64,
    disk: f64,
    /// Matches that are formed, each second; 0 on SQLite.
    formed: f64,
    commits: f64,
    /// By how many bytes a second the database has grown, and its log of writes.
    grown: f64,
    log: f64,
}

impl fmt::Display for Waits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.2} cores daemons", self.daemons)?;
        if self.database > 0.0 {
            write!(
                f,
                ", {:.2} cores database; waiting for the lock {:.1}, for the disk {:.1}; \
                 {:.0} commits/s; {:.0} kB/s more data, {:.0} kB/s log",
                self.database,
                self.lock,
                self.disk,
                self.commits,
                self.grown / 1e3,
                self.log / 1e3
            )?;
        }
        if self.formed > 0.0 {
            write!(f, "; {:.0} tickets matched/s", 2.0 * self.formed)?;
        }
        Ok(())
    }
}

/// The processor seconds of a process and its children; 0 if it has gone.
fn processor(pid: &str) -> f64 {
    let Ok(stat) = fs::read_to_string(format!("/proc/{pid}/stat")) else {
        return 0.0;
    };
    let fields: Vec<&str> = stat
        .rsplit(')')
        .next()
        .unwrap()
        .split_whitespace()
        .collect();
    let ticks = |at: usize| fields[at].parse::<f64>().unwrap();
    (ticks(11) + ticks(12)) / 100.0
}

impl Waits {
    /// What a thousand of something cost, of which `rate` were done each second.
    pub fn cost_of_thousand(&self, rate: f64) -> String {
        let thousand = 1e3 / rate;
        let mut cost = format!(
            "{:.1} s of a core",
            thousand * (self.daemons + self.database)
        );
        if self.database > 0.0 {
            let [data, log] = [self.grown, self.log].map(|bytes| thousand * bytes / 1e6);
            cost += &format!(", {data:.1} MB of data, {log:.1} MB of log");
        }
        cost
    }

    /// Watches until a time.
    pub fn watch(daemons: &[Process], url: Option<&str>, until: Instant) -> Self {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap();
        runtime.block_on(Self::watched(daemons, url, until))
    }

    async fn watched(daemons: &[Process], url: Option<&str>, until: Instant) -> Self {
        let since = Instant::now();
        let used = || -> f64 {
            let daemons = daemons.iter();
            daemons
                .map(|one| processor(&one.child.id().to_string()))
                .sum()
        };
        let before = used();
        let mut waits = Self {
            daemons: 0.0,
            database: 0.0,
            lock: 0.0,
            disk: 0.0,
            formed: 0.0,
            commits: 0.0,
            grown: 0.0,
            log: 0.0,
        };
        if let Some(url) = url {
            let mut db = PgConnection::connect(url).await.unwrap();
            waits.ask(&mut db, until).await;
        } else {
            tokio::time::sleep(until.saturating_duration_since(Instant::now())).await;
        }
        waits.daemons = (used() - before) / since.elapsed().as_secs_f64();
        waits
    }

    async fn ask(&mut self, db: &mut PgConnection, until: Instant) {
        let since = Instant::now();
        let before = totals(db).await;
        let query = "SELECT count(*) FILTER (WHERE wait_event = 'advisory'),
                            count(*) FILTER (WHERE wait_event_type = 'IO' OR wait_event = 'WALWrite')
                     FROM pg_stat_activity WHERE datname = current_database()";
        let mut looks = 0.0;
        while Instant::now() < until {
            let query = sqlx::query_as(query);
            let (lock, disk): (i64, i64) = query.fetch_one(&mut *db).await.unwrap();
            looks += 1.0;
            self.lock += lock as f64;
            self.disk += disk as f64;
            tokio::time::sleep(LOOK).await;
        }
        self.lock /= looks;
        self.disk /= looks;
        let seconds = since.elapsed().as_secs_f64();
        let after = totals(db).await;
        let rate = |at: usize| (after[at] - before[at]).max(0.0) / seconds;
        self.commits = rate(0);
        self.formed = rate(1);
        self.grown = rate(2);
        self.log = rate(3);
        self.database = rate(4);
    }
}

/// The commits, the matches that are formed, the bytes of the database and of its log, and the processor seconds of
/// its connections.
async fn totals(db: &mut PgConnection) -> [f64; 5] {
    let query = "SELECT xact_commit::float8, (SELECT count(*) FROM formed_matches)::float8,
                        pg_database_size(datname)::float8,
                        (pg_current_wal_lsn() - '0/0'::pg_lsn)::float8
                 FROM pg_stat_database WHERE datname = current_database()";
    let (commits, formed, bytes, log): (f64, f64, f64, f64) =
        sqlx::query_as(query).fetch_one(&mut *db).await.unwrap();
    let pids = "SELECT pid::text FROM pg_stat_activity";
    let pids: Vec<String> = sqlx::query_scalar(pids).fetch_all(db).await.unwrap();
    let processors = pids.iter().map(|pid| processor(pid)).sum();
    [commits, formed, bytes, log, processors]
}
