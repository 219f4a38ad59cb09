//! A running daemon, as operators see it, also what has happened within the last hour: that comes from counters that
//! only grow.

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

use super::{BackupMetrics, ClockDifference, HttpMetrics};
use crate::{
    logs::FollowMetrics,
    metrics::{CONTENT_TYPE, Registry},
    model::Timestamp,
    server::{Gate, Service},
    store::StoreError,
    webhooks::HookMetrics,
};

/// The time limit for the database to answer, and for the file system to state the size of a file.
pub(super) const PATIENCE: Duration = Duration::from_secs(1);
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
pub(super) enum Look {
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
    pub(super) service: Arc<Service>,
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
    pub(super) started: Timestamp,
    pub(super) began: Instant,
    pub(super) recent: Mutex<RecentFailures>,
    pub(super) clocks: ClockDifference,
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
    pub(super) fn judge(&self, look: Look) -> Result<(), NotReady> {
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
    pub(super) async fn look(&self) -> Look {
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
    pub(super) fn failures(&self) -> Failures {
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
    pub(super) async fn database_size(&self) -> Option<u64> {
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
pub(super) struct Failures {
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
pub(super) struct RecentFailures(VecDeque<Failures>);

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
