//! What operators watch: metrics for Prometheus, the status of the daemon, and what is wrong with it.
//!
//! All numbers come from memory, except for the size of the database and whether it answers, for which there is a
//! time limit: a daemon whose disk is stuck can still be watched. Nothing here changes anything.
//!
//! Counted here are the requests over HTTP, the daily backups with their failures, and how far the clock of this
//! machine is from that of the database.
//!
//! Entry point: [`Monitor`].

mod status;
pub use status::{
    BacklogStatus, BackupStatus, FollowStatus, GameStatus, HookStatus, HostingStatus,
    JournalStatus, MatchStatus, OtherSettingsStatus, PredictionStatus, QueueStatus, ShareStatus,
    Status, StoreStatus,
};

use std::{
    collections::VecDeque,
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use parking_lot::Mutex;
use tokio::time::{Instant, interval, timeout};

use crate::{
    logs::FollowMetrics,
    metrics::{CONTENT_TYPE, Counter, Gauge, Histogram, Registry, SECONDS},
    model::Timestamp,
    server::{Gate, Service},
    store::StoreError,
    webhooks::HookMetrics,
};

/// What is counted about visitors of the pages, and of the metrics themselves.
#[derive(Debug)]
pub struct HttpMetrics {
    registry: Registry,
    /// Number of connections that are open now.
    pub connections: Gauge,
    /// Connections that were refused because there were too many.
    pub refused: Counter,
    seconds: Histogram,
    /// Answers by the first digit of their status, from 1.
    answers: [Counter; 5],
}

impl Default for HttpMetrics {
    fn default() -> Self {
        let mut all = Registry::default();
        Self {
            connections: all.gauge(
                "evenkeel_http_connections",
                "Connections over HTTP that are open.",
            ),
            refused: all.counter(
                "evenkeel_http_refused_total",
                "Connections over HTTP that were refused because there were too many.",
            ),
            seconds: all.histogram(
                "evenkeel_http_request_seconds",
                "Time to make an answer over HTTP, without the time to send it.",
                SECONDS,
            ),
            answers: ["1xx", "2xx", "3xx", "4xx", "5xx"].map(|class| {
                all.counter(
                    ("evenkeel_http_requests_total", "status", class),
                    "Requests over HTTP, by the status of the answer.",
                )
            }),
            registry: all,
        }
    }
}

impl HttpMetrics {
    /// Adds an answer with this status, and the seconds that it took to make it.
    pub fn answered(&self, status: u16, seconds: f64) {
        let class = usize::from(status / 100).saturating_sub(1);
        if let Some(count) = self.answers.get(class) {
            count.count();
        }
        self.seconds.observe(seconds);
    }
}

/// When the latest daily backup was made, and how many have failed.
#[derive(Debug)]
pub struct BackupMetrics {
    registry: Registry,
    /// In seconds since 1970; 0 if there is none.
    latest: Gauge,
    failures: Counter,
}

impl Default for BackupMetrics {
    fn default() -> Self {
        let mut all = Registry::default();
        Self {
            latest: all.gauge(
                "evenkeel_backup_timestamp_seconds",
                "When the latest daily backup was made, in seconds since 1970; 0 if there is none.",
            ),
            failures: all.counter(
                "evenkeel_backup_failures_total",
                "Daily backups that failed; they are tried again every minute.",
            ),
            registry: all,
        }
    }
}

impl BackupMetrics {
    /// Notes the time of the latest backup in the folder.
    pub fn found(&self, latest: Option<Timestamp>) {
        self.latest
            .set(latest.map_or(0.0, |time| time.0 as f64 / 1_000.0));
    }

    /// Counts a backup that failed.
    pub fn failed(&self) {
        self.failures.count();
    }

    /// The time of the latest backup.
    pub fn latest(&self) -> Option<Timestamp> {
        let millis = (self.latest.get() * 1_000.0).round() as i64;
        Some(Timestamp(millis)).filter(|time| time.0 != 0)
    }

    /// How many backups have failed.
    pub fn failures(&self) -> u64 {
        self.failures.get()
    }
}

/// The greatest difference between the two clocks that is not reported, in seconds.
const APART: f64 = 3.0;

/// The difference between the clocks of this machine and of the database, as it was last measured.
#[derive(Debug, Default)]
struct ClockDifference(Mutex<Option<f64>>);

impl ClockDifference {
    /// By how many seconds this machine's clock is ahead; `None` if the database has no clock of its own, or has not
    /// been asked.
    pub fn seconds(&self) -> Option<f64> {
        *self.0.lock()
    }

    /// Measures it. Logs when the clocks begin to differ, and when they no longer do.
    pub async fn measure(&self, service: &Service) {
        let clock = service.sessions().clock();
        let before = clock.now();
        let theirs = match service.store().clock().await {
            Ok(Some(theirs)) => theirs,
            Ok(None) => return,
            Err(error) => return tracing::debug!(%error, "the clock of the database is not known"),
        };
        let seconds = ahead(before, theirs, clock.now());
        let was_apart = self.0.lock().replace(seconds).is_some_and(is_apart);
        match (was_apart, is_apart(seconds)) {
            (false, true) => tracing::warn!(
                seconds,
                "the clock of this machine differs from that of the database: set it, for example with NTP"
            ),
            (true, false) => tracing::info!("the clocks of this machine and of the database agree"),
            _ => {}
        }
    }
}

/// Whether a difference is to be reported.
fn is_apart(seconds: f64) -> bool {
    seconds.abs() > APART
}

/// By how many seconds this machine's clock is ahead, at least. The database has read its clock between two readings
/// of this machine's.
fn ahead(before: Timestamp, theirs: Timestamp, after: Timestamp) -> f64 {
    let (least, most) = (
        before.0.saturating_sub(theirs.0),
        after.0.saturating_sub(theirs.0),
    );
    let nearest = match (least > 0, most < 0) {
        (true, _) => least,
        (_, true) => most,
        _ => 0,
    };
    nearest as f64 / 1_000.0
}

/// The time limit for the database to answer, and for the file system to state the size of a file.
const PATIENCE: Duration = Duration::from_secs(1);
/// The time between two samples of the failures, from which those of the last hour are reported.
const SAMPLE: Duration = Duration::from_secs(60);

/// Why the daemon cannot answer questions yet, or not now.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotReady {
    /// The first weights are being derived.
    #[error("the first weights are being derived")]
    Starting,
    /// Weights are being derived, and the stored ones lack the last match.
    #[error("weights are being derived, and those that are stored lack the last matches")]
    Behind,
    /// The database does not answer, or not in time, and no further match can be kept.
    #[error("the database does not answer")]
    Database,
    /// What is read of the database can be wrong.
    #[error("the database is damaged")]
    Damaged,
    /// The daemon stops.
    #[error("the daemon is stopping")]
    Stopping,
}

/// What a look at the database has found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Look {
    /// It answers, and its weights are those of all matches, unless these are learned just now.
    Whole,
    /// It answers, and its weights are of fewer matches.
    Behind,
    /// It does not answer, or not in time, and may do so later.
    Silent,
    /// It cannot be read.
    Broken,
    /// What is read can be wrong.
    Damaged,
}

impl Look {
    /// Whether the database answers.
    pub fn answers(self) -> bool {
        matches!(self, Self::Whole | Self::Behind)
    }
}

/// The parts of a running daemon whose counters make up its metrics and its status.
#[derive(Debug)]
pub struct Monitor {
    service: Arc<Service>,
    /// The counters of connections; `None` without a listener for game servers.
    pub gate: Option<Arc<Gate>>,
    /// What is counted about followed logs; `None` if there are none.
    pub followed: Option<Arc<FollowMetrics>>,
    /// What is counted about webhooks.
    pub hooks: Vec<Arc<HookMetrics>>,
    /// What is counted about daily backups; `None` if there are none.
    pub backups: Option<Arc<BackupMetrics>>,
    /// Where the database is, for people.
    pub place: String,
    /// The file of the database; `None` if its size is not shown.
    pub database: Option<PathBuf>,
    http: HttpMetrics,
    started: Timestamp,
    began: Instant,
    recent: Mutex<RecentFailures>,
    clocks: ClockDifference,
    stopping: AtomicBool,
}

impl Monitor {
    /// The content type of [`metrics`](Self::metrics).
    pub const METRICS_TYPE: &'static str = CONTENT_TYPE;

    /// Watches a service. The daemon then sets the other parts that it has.
    pub fn new(service: Arc<Service>) -> Self {
        Self {
            started: service.sessions().clock().now(),
            service,
            gate: None,
            followed: None,
            hooks: Vec::new(),
            backups: None,
            place: String::new(),
            database: None,
            http: HttpMetrics::default(),
            began: Instant::now(),
            recent: Mutex::default(),
            clocks: ClockDifference::default(),
            stopping: AtomicBool::new(false),
        }
    }

    /// What is counted about requests over HTTP.
    pub fn http(&self) -> &HttpMetrics {
        &self.http
    }

    /// Once a minute, samples the counters of failures and compares the clocks; never returns.
    pub async fn run(&self) {
        let mut ticks = interval(SAMPLE);
        loop {
            ticks.tick().await;
            self.recent.lock().sample(self.failures());
            self.clocks.measure(&self.service).await;
        }
    }

    /// Notes that the daemon stops.
    pub fn stop(&self) {
        self.stopping.store(true, Ordering::Relaxed);
    }

    /// Whether matches that end are stored or kept, and questions are answered rightly.
    ///
    /// # Errors
    /// Fails with the reason if the daemon stops, if it has no weights of all matches yet, if the database may answer
    /// wrongly, or if it does not answer and no further match can be kept.
    pub async fn readiness(&self) -> Result<(), NotReady> {
        self.judge(self.look().await)
    }

    /// What a look at the database means for the readiness.
    fn judge(&self, look: Look) -> Result<(), NotReady> {
        if self.stopping.load(Ordering::Relaxed) {
            return Err(NotReady::Stopping);
        }
        if self.service.learning().is_starting() {
            return Err(NotReady::Starting);
        }
        match look {
            Look::Whole => Ok(()),
            Look::Behind => Err(NotReady::Behind),
            Look::Silent if self.service.sessions().can_keep() => Ok(()),
            Look::Silent | Look::Broken => Err(NotReady::Database),
            Look::Damaged => Err(NotReady::Damaged),
        }
    }

    /// Asks the database how far its weights are.
    async fn look(&self) -> Look {
        let store = self.service.store();
        let asked = async {
            let derived = store.learned().derived_from().await?;
            let extent = store.matches().extent().await?;
            let of = derived.map_or((0, 0), |derived| (derived.matches, derived.last_match));
            Ok::<_, StoreError>(of == extent)
        };
        match timeout(PATIENCE, asked).await {
            Ok(Ok(false)) if self.service.learning().is_deriving() => Look::Behind,
            Ok(Ok(_)) => Look::Whole,
            Ok(Err(error)) => {
                tracing::warn!(%error, "the database does not answer");
                match (error.is_damage(), error.is_passing()) {
                    (true, _) => Look::Damaged,
                    (false, true) => Look::Silent,
                    (false, false) => Look::Broken,
                }
            }
            Err(_) => {
                tracing::warn!("the database does not answer in time");
                Look::Silent
            }
        }
    }

    /// All metrics, in the text format of Prometheus.
    pub async fn metrics(&self) -> String {
        let look = self.look().await;
        let size = self.database_size().await;
        let mut all = self.own_metrics(look, size);
        if let Some(gate) = &self.gate {
            gate.metrics().gather(&mut all, gate.failed_hellos());
        }
        let (learning, sessions) = (self.service.learning(), self.service.sessions());
        learning.metrics().gather(&mut all, learning.millis());
        sessions.metrics().gather(&mut all, sessions.levels());
        self.service.queues().metrics().gather(&mut all);
        let store = self.service.store().metrics().map(|own| &own.registry);
        let backups = self.backups.as_ref().map(|own| &own.registry);
        let followed = self.followed.as_ref().map(|own| &own.registry);
        let hooks = self.hooks.iter().map(|own| &own.registry);
        let parts = store
            .into_iter()
            .chain(backups)
            .chain(followed)
            .chain(hooks);
        parts.for_each(|part| all.extend(part));
        all.extend(&self.http.registry);
        all.text()
    }

    /// The metrics that no part of the daemon counts.
    fn own_metrics(&self, look: Look, size: Option<u64>) -> Registry {
        let mut all = Registry::default();
        let build = all.gauge(
            ("evenkeel_build_info", "version", env!("CARGO_PKG_VERSION")),
            "Always 1; the label has the version of the program.",
        );
        build.set(1.0);
        if let Some(size) = size {
            let bytes = all.gauge(
                "evenkeel_database_size_bytes",
                "Size of the database, with what is not yet written back to its main file.",
            );
            bytes.set(size as f64);
        }
        for (name, help, value) in [
            (
                "evenkeel_start_time_seconds",
                "When the daemon was started, in seconds since 1970.",
                self.started.0 as f64 / 1_000.0,
            ),
            (
                "evenkeel_ready",
                "Whether matches that end are stored or kept, and questions are answered rightly, 0 or 1.",
                f64::from(self.judge(look).is_ok()),
            ),
            (
                "evenkeel_database_answers",
                "Whether the database answers within a second, 0 or 1.",
                f64::from(look.answers()),
            ),
            (
                "evenkeel_database_in_place",
                "Whether the files of the open database are still at their paths, 0 or 1.",
                f64::from(self.service.store().is_in_place()),
            ),
            (
                "evenkeel_other_settings",
                "Number of leases whose holder has other settings than this daemon.",
                self.service.leases().others().len() as f64,
            ),
            (
                "evenkeel_clock_difference_seconds",
                "By how many seconds the clock of this machine is ahead of that of the database; 0 if that is the same.",
                self.clocks.seconds().unwrap_or(0.0),
            ),
        ] {
            all.gauge(name, help).set(value);
        }
        all
    }

    /// How often each kind of failure has happened since the start.
    fn failures(&self) -> Failures {
        let store = self.service.store().metrics();
        Failures {
            writes: store.map_or(0, |store| store.failures()),
            journals: self.service.sessions().metrics().journal_failures(),
            folds: self.service.learning().metrics().failures(),
            backups: self.backups.as_ref().map_or(0, |own| own.failures()),
            dropped_events: self.hooks.iter().map(|own| own.dropped()).sum(),
        }
    }

    /// The size of the database's files; `None` if the file system does not state it in time.
    async fn database_size(&self) -> Option<u64> {
        let path = self.database.clone()?;
        let size = tokio::task::spawn_blocking(move || size(&path));
        timeout(PATIENCE, size).await.ok()?.ok()?
    }
}

/// The size of a database: its main file, and what is not yet written back to it.
fn size(path: &Path) -> Option<u64> {
    let main = path.metadata().ok()?.len();
    let mut log = path.as_os_str().to_owned();
    log.push("-wal");
    let log = Path::new(&log).metadata().map_or(0, |file| file.len());
    Some(main + log)
}

/// The number of samples that are kept; one is taken each minute.
const SAMPLES: usize = 60;

/// How often each kind of failure has happened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Failures {
    /// Writes to the database that failed.
    pub writes: u64,
    /// Times that a running game could not be journaled.
    pub journals: u64,
    /// Attempts to learn from matches that failed.
    pub folds: u64,
    /// Daily backups that could not be made.
    pub backups: u64,
    /// Events that were dropped before a webhook got them.
    pub dropped_events: u64,
}

impl Failures {
    fn since(self, before: Self) -> Self {
        Self {
            writes: self.writes.saturating_sub(before.writes),
            journals: self.journals.saturating_sub(before.journals),
            folds: self.folds.saturating_sub(before.folds),
            backups: self.backups.saturating_sub(before.backups),
            dropped_events: self.dropped_events.saturating_sub(before.dropped_events),
        }
    }
}

/// Samples of the counters, the oldest first.
#[derive(Debug, Default)]
struct RecentFailures(VecDeque<Failures>);

impl RecentFailures {
    /// Adds a sample, and drops one that is more than an hour old.
    pub fn sample(&mut self, now: Failures) {
        if self.0.len() >= SAMPLES {
            self.0.pop_front();
        }
        self.0.push_back(now);
    }

    /// What has failed since the oldest sample; since the start of the daemon if that is less than an hour.
    pub fn since(&self, now: Failures) -> Failures {
        match self.0.front() {
            Some(before) if self.0.len() >= SAMPLES => now.since(*before),
            _ => now,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slow_answer_is_no_difference() {
        let seconds =
            |before, theirs, after| ahead(Timestamp(before), Timestamp(theirs), Timestamp(after));
        assert_eq!(seconds(10_000, 15_000, 60_000), 0.0);
        assert_eq!(seconds(610_000, 10_000, 612_000), 600.0);
        assert_eq!(seconds(10_000, 610_000, 12_000), -598.0);
        assert!(is_apart(-598.0) && !is_apart(2.9));
    }

    #[test]
    fn failures_are_forgotten_after_an_hour() {
        let mut recent = RecentFailures::default();
        let failures = |writes| Failures {
            writes,
            ..Failures::default()
        };
        assert_eq!(recent.since(failures(2)).writes, 2);
        for _ in 1..SAMPLES {
            recent.sample(failures(2));
            assert_eq!(recent.since(failures(2)).writes, 2);
        }
        recent.sample(failures(3));
        assert_eq!(recent.since(failures(3)).writes, 1);
        for _ in 1..SAMPLES {
            recent.sample(failures(3));
        }
        assert_eq!(recent.since(failures(3)), failures(0));
    }
}
