//! Follows growing logs: each match is recorded as soon as it ends.
//!
//! A dedicated thread polls, reads, parses and compresses the logs. Over a bounded channel, it
//! sends requests to the async side, the [`Follower`], to record matches and to link logs to them,
//! and waits for each answer. So a slow database slows down the reading, and a slow disk delays no
//! session. A log that is already long when it is found is read at the lowest priority.
//!
//! The position in a log is not stored: after each start, a log is read from its beginning. So a
//! running game is seen from its first line, a better parser sees the whole log, and the
//! fingerprints prevent a match from being recorded twice. A log that has not changed for long counts
//! as complete, and is read again if it grows.

#![allow(
    clippy::disallowed_methods,
    reason = "the age of a log is the system's clock minus the file's time"
)]

mod file;

use std::{
    collections::{BTreeMap, VecDeque},
    io,
    panic::resume_unwind,
    path::{Path, PathBuf},
    pin::Pin,
    sync::{Arc, mpsc as std_mpsc},
    thread,
    thread::JoinHandle,
    time::{Duration, SystemTime},
};

use thread_priority::{Error, ThreadPriority};
use tokio::sync::{mpsc, oneshot};
use tokio_util::sync::{CancellationToken, DropGuard};

use super::{Archive, ArchivedLog, LogError, LogZone, log_files, record_matches};

use file::FollowedFile;

use crate::{
    ingest::Format,
    learning::Learning,
    metrics::{Counter, Gauge, Registry},
    model::{MatchRecord, fingerprint::Fingerprint},
    store::{HalfRecorded, Recorded, Store, StoreError},
};

/// A log or a folder of logs to follow.
#[derive(Clone, Debug)]
pub struct Follow {
    /// The file or folder. It need not exist yet.
    pub path: PathBuf,
    /// The format of the logs; `None` detects it.
    pub format: Option<&'static Format>,
    /// The name of the server that writes the logs.
    pub server: String,
    /// The name of the game in the types of its games; empty leaves that of the logs.
    pub game: String,
    /// The time zone of dates that state none; `None` is that of this machine.
    pub zone: Option<LogZone>,
}

impl Follow {
    /// The time zone of dates that state none.
    fn zone(&self) -> LogZone {
        self.zone.clone().unwrap_or_else(LogZone::of_machine)
    }
}

/// Follows any number of logs, on a thread of its own.
///
/// If it is dropped, the thread stops after the current chunk and archives nothing.
pub struct Follower {
    store: Arc<Store>,
    learning: Arc<Learning>,
    commands: std_mpsc::Sender<FollowCommand>,
    requests: mpsc::Receiver<FollowRequest>,
    /// When cancelled, the thread stops reading.
    stop: CancellationToken,
    _stop_when_dropped: DropGuard,
    thread: JoinHandle<()>,
    metrics: Arc<FollowMetrics>,
}

impl Follower {
    /// Starts the thread, which then waits for [`poll`](Self::poll) or [`run`](Self::run). Logs are
    /// put into `archive`. A log that has not changed for `settle` counts as complete.
    ///
    /// # Errors
    /// Fails if the operating system refuses to start a thread.
    pub fn start(
        store: Arc<Store>,
        learning: Arc<Learning>,
        follows: Vec<Follow>,
        archive: Option<Arc<Archive>>,
        settle: Duration,
    ) -> Result<Self, LogError> {
        for follow in follows.iter().filter(|follow| !follow.path.exists()) {
            tracing::warn!(path = %follow.path.display(), "there is no such file or folder yet; it is followed once it exists");
        }
        let stop = CancellationToken::new();
        let (commands, received) = std_mpsc::channel();
        // Capacity 1: the thread waits for the answer to each request before it sends the next.
        let (sender, requests) = mpsc::channel(1);
        let sender = Requests::new(sender, stop.clone());
        let metrics = Arc::new(FollowMetrics::default());
        let logs = FollowedLogs::new(follows, archive, settle, sender, metrics.clone());
        let thread = std::thread::Builder::new()
            .name("logs".to_owned())
            .spawn(move || logs.run(&received))
            .map_err(LogError::Thread)?;
        Ok(Self {
            store,
            learning,
            commands,
            requests,
            _stop_when_dropped: stop.clone().drop_guard(),
            stop,
            thread,
            metrics,
        })
    }

    /// What is counted about the followed logs.
    pub fn metrics(&self) -> &Arc<FollowMetrics> {
        &self.metrics
    }

    /// Polls the logs every `interval` until `stop` resolves, and learns from their matches. Then
    /// archives the logs as far as they were read.
    pub async fn run(mut self, interval: Duration, stop: impl Future<Output = ()>) {
        let mut stop = std::pin::pin!(stop);
        while !self.stop.is_cancelled() {
            let poll = FollowCommand::Poll(SystemTime::now());
            if self.serve(poll, stop.as_mut()).await > 0 {
                self.learn().await;
            }
            if self.stop.is_cancelled() {
                break;
            }
            tokio::select! {
                () = tokio::time::sleep(interval) => {}
                () = &mut stop => break,
            }
        }
        self.end().await;
    }

    /// Reads new lines in all logs and returns the number of new matches recorded. A failure is
    /// logged; the next call tries again.
    pub async fn poll(&mut self, now: SystemTime) -> u64 {
        let never = std::pin::pin!(std::future::pending());
        self.serve(FollowCommand::Poll(now), never).await
    }

    /// Archives the logs as far as they were read, and ends the thread. The next start reads them
    /// from their beginning.
    pub async fn end(mut self) {
        self.stop.cancel();
        let never = std::pin::pin!(std::future::pending());
        self.serve(FollowCommand::End, never).await;
        // The thread closes the channel as its last action.
        while self.requests.recv().await.is_some() {}
        if self.thread.join().is_err() {
            tracing::error!("the thread that follows logs has panicked");
        }
    }

    /// Sends the thread a command and answers its requests until it is done. Once `stop` resolves,
    /// the thread stops reading. Returns the number of new matches recorded.
    async fn serve(
        &mut self,
        command: FollowCommand,
        mut stop: Pin<&mut impl Future<Output = ()>>,
    ) -> u64 {
        let mut new = 0;
        let mut gone = self.commands.send(command).is_err();
        while !gone {
            // Always answer a received request, so that the thread and the database agree on which
            // matches are recorded.
            let request = tokio::select! {
                request = self.requests.recv() => request,
                () = &mut stop, if !self.stop.is_cancelled() => {
                    self.stop.cancel();
                    continue;
                }
            };
            match request {
                Some(FollowRequest::Record(request)) => new += self.record(request).await,
                Some(FollowRequest::Link(archived, ids, answer)) => {
                    let (log, older) = (archived.fingerprint, &archived.older);
                    let _ = answer.send(self.store.matches().link_log(log, &ids, older).await);
                }
                Some(FollowRequest::Done) => return new,
                None => gone = true,
            }
        }
        if !self.stop.is_cancelled() {
            self.metrics.is_broken.set(1.0);
            tracing::error!("the thread that follows logs has failed; no log is followed");
            self.stop.cancel();
        }
        new
    }

    /// Records the matches of a log. Returns how many of them are new.
    async fn record(&self, mut request: RecordRequest) -> u64 {
        let mut recorded = Vec::with_capacity(request.matches.len());
        let (format, matches) = (request.format, &mut request.matches);
        let done = record_matches(&self.store, format, matches, &mut recorded).await;
        let path = request.log.display();
        let mut new = 0;
        for recorded in &recorded {
            match *recorded {
                HalfRecorded::Alone(Recorded::Duplicate(_)) => {}
                HalfRecorded::Alone(Recorded::New(id)) => {
                    new += 1;
                    tracing::info!(match_id = id, log = %path, "recorded a match from a log");
                }
                HalfRecorded::Joined { id, instead_of } => {
                    new += 1;
                    tracing::info!(match_id = id, instead_of, log = %path, "joined a second half from a log");
                }
            }
        }
        self.metrics.recorded.add(new);
        let recording = Recording {
            recorded,
            left: request.matches,
            error: done.err(),
        };
        // If the thread is gone, the next start reads the log again.
        let _ = request.answer.send(recording);
        new
    }

    async fn learn(&self) {
        if let Err(error) = self.learning.logs_recorded().await {
            tracing::warn!(%error, "cannot learn from new matches, trying again");
        }
    }
}

impl std::fmt::Debug for Follower {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Follower").finish_non_exhaustive()
    }
}

/// What is counted about all followed logs. Gauges are as of the last poll.
#[derive(Debug)]
pub struct FollowMetrics {
    /// All of them.
    pub registry: Registry,
    logs: Gauge,
    /// In bytes.
    unread: Gauge,
    failing: Gauge,
    missing: Gauge,
    recorded: Counter,
    is_broken: Gauge,
}

impl Default for FollowMetrics {
    fn default() -> Self {
        let mut all = Registry::default();
        Self {
            logs: all.gauge("evenkeel_followed_logs", "Logs that the daemon follows."),
            unread: all.gauge(
                "evenkeel_followed_unread_bytes",
                "Bytes of followed logs that are not read yet.",
            ),
            failing: all.gauge(
                "evenkeel_followed_failing",
                "Followed logs that could not be read.",
            ),
            missing: all.gauge(
                "evenkeel_followed_missing",
                "Configured logs and folders to follow that do not exist.",
            ),
            recorded: all.counter(
                "evenkeel_followed_matches_total",
                "Matches that were recorded from followed logs.",
            ),
            is_broken: all.gauge(
                "evenkeel_followed_broken",
                "Whether the thread that reads followed logs has failed, 0 or 1.",
            ),
            registry: all,
        }
    }
}

impl FollowMetrics {
    /// The number of bytes that are not read yet.
    pub fn unread(&self) -> i64 {
        self.unread.get() as i64
    }

    /// The number of logs that could not be read.
    pub fn failing(&self) -> i64 {
        self.failing.get() as i64
    }

    /// The number of configured paths at which there is nothing: removed, or never there.
    pub fn missing(&self) -> i64 {
        self.missing.get() as i64
    }

    /// Whether no log is followed any more, because the thread that reads them has failed.
    pub fn is_broken(&self) -> bool {
        self.is_broken.get() != 0.0
    }
}

/// A request of the thread to the async side.
enum FollowRequest {
    /// Record these matches in the store.
    Record(RecordRequest),
    /// Link an archived log to the matches with these ids.
    Link(
        ArchivedLog,
        Vec<i64>,
        oneshot::Sender<Result<(), StoreError>>,
    ),
    /// There are no more requests for this command.
    Done,
}

/// A request to record the matches of a log.
struct RecordRequest {
    /// The file that contains the matches.
    pub log: PathBuf,
    /// The format of the file.
    pub format: &'static Format,
    /// The matches in the order of the log, with their fingerprints.
    pub matches: VecDeque<(MatchRecord, Fingerprint)>,
    /// The channel for the answer.
    pub answer: oneshot::Sender<Recording>,
}

/// The answer to a [`RecordRequest`].
struct Recording {
    /// The results for the first matches, which are on disk.
    pub recorded: Vec<HalfRecorded>,
    /// The matches that may not be on disk.
    pub left: VecDeque<(MatchRecord, Fingerprint)>,
    /// The error that left matches unrecorded.
    pub error: Option<StoreError>,
}

/// The thread's side of the channel to the async side.
struct Requests {
    sender: mpsc::Sender<FollowRequest>,
    stop: CancellationToken,
}

impl Requests {
    pub fn new(sender: mpsc::Sender<FollowRequest>, stop: CancellationToken) -> Self {
        Self { sender, stop }
    }

    /// Whether reading should stop.
    pub fn is_stopped(&self) -> bool {
        self.stop.is_cancelled()
    }

    /// Sends a request; fails if the async side is gone.
    pub fn send(&self, request: FollowRequest) -> Result<(), LogError> {
        let sent = self.sender.blocking_send(request);
        sent.map_err(|_| LogError::Stopped)
    }

    /// Sends a request to record matches, and waits for the result.
    pub fn record(
        &self,
        log: &Path,
        format: &'static Format,
        matches: VecDeque<(MatchRecord, Fingerprint)>,
    ) -> Result<Recording, LogError> {
        let (answer, answered) = oneshot::channel();
        self.send(FollowRequest::Record(RecordRequest {
            log: log.to_owned(),
            format,
            matches,
            answer,
        }))?;
        answered.blocking_recv().map_err(|_| LogError::Stopped)
    }

    /// Sends a request to link an archived log to its matches, and waits for the result.
    pub fn link(&self, archived: ArchivedLog, ids: Vec<i64>) -> Result<(), LogError> {
        let (answer, answered) = oneshot::channel();
        self.send(FollowRequest::Link(archived, ids, answer))?;
        let linked = answered.blocking_recv().map_err(|_| LogError::Stopped)?;
        Ok(linked?)
    }
}

/// A log with more bytes than this to read is read at the lowest priority.
const LONG_BYTES: u64 = 1_000_000;

/// A command to the thread, which answers each with [`FollowRequest::Done`].
enum FollowCommand {
    /// Read the new lines of all logs; this is the current time.
    Poll(SystemTime),
    /// Archive all logs as far as they were read, and end.
    End,
}

/// All followed logs, as the thread sees them.
struct FollowedLogs {
    follows: Vec<Follow>,
    archive: Option<Arc<Archive>>,
    /// How long a log must be unchanged to count as complete.
    settle: Duration,
    /// The files, by the index in `follows` and their path.
    files: BTreeMap<(usize, PathBuf), FollowedFile>,
    requests: Requests,
    metrics: Arc<FollowMetrics>,
}

impl FollowedLogs {
    pub fn new(
        follows: Vec<Follow>,
        archive: Option<Arc<Archive>>,
        settle: Duration,
        requests: Requests,
        metrics: Arc<FollowMetrics>,
    ) -> Self {
        Self {
            follows,
            archive,
            settle,
            files: BTreeMap::new(),
            requests,
            metrics,
        }
    }

    /// The main loop of the thread; it returns on [`FollowCommand::End`], or when the async side is
    /// gone.
    pub fn run(mut self, commands: &std_mpsc::Receiver<FollowCommand>) {
        while let Ok(command) = commands.recv() {
            let ends = matches!(command, FollowCommand::End);
            match command {
                FollowCommand::Poll(now) => self.poll(now),
                FollowCommand::End => self.archive(),
            }
            if self.requests.send(FollowRequest::Done).is_err() || ends {
                return;
            }
        }
    }

    /// Reads the new lines of all logs.
    fn poll(&mut self, now: SystemTime) {
        for (at, follow) in self.follows.iter().enumerate() {
            for path in log_files(&follow.path) {
                let new =
                    |path: &Path| FollowedFile::new(path, follow.clone(), self.archive.clone());
                let file = self.files.entry((at, path));
                file.or_insert_with_key(|(_, path)| new(path));
            }
        }
        // The files take turns, so that a long log does not hold up the running games.
        while self.turn(now) && self.files.values().any(|file| file.is_behind) {
            self.count();
        }
        self.count();
        self.files
            .retain(|(_, path), file| !file.is_complete() || path.exists());
    }

    /// Takes over what is read and what is not.
    fn count(&self) {
        let files = || self.files.values();
        let unread: u64 = files().map(FollowedFile::unread).sum();
        let failing = files().filter(|file| file.failed).count();
        let missing = self.follows.iter().filter(|follow| !follow.path.exists());
        self.metrics.logs.set(self.files.len() as f64);
        self.metrics.unread.set(unread as f64);
        self.metrics.failing.set(failing as f64);
        self.metrics.missing.set(missing.count() as f64);
    }

    /// Polls each file once. A file that has been renamed is still read to its end. Returns false if the
    /// thread should stop.
    fn turn(&mut self, now: SystemTime) -> bool {
        for file in self.files.values_mut() {
            let requests = &self.requests;
            let long = file.unread() > LONG_BYTES;
            let mut poll = || file.poll(requests, now, self.settle);
            let polled = if long {
                at_lowest(poll).unwrap_or_else(|error| Err(LogError::Thread(error)))
            } else {
                poll()
            };
            match polled {
                Ok(()) => file.failed = false,
                Err(LogError::Stopped) => return false,
                Err(error) if !std::mem::replace(&mut file.failed, true) => {
                    tracing::warn!(%error, "cannot follow a log, trying again");
                }
                Err(_) => {}
            }
        }
        true
    }

    /// Archives all logs as far as they were read.
    fn archive(&mut self) {
        for file in self.files.values_mut() {
            match file.archive(&self.requests) {
                Ok(()) => {}
                Err(LogError::Stopped) => return,
                Err(error) => tracing::warn!(%error, "cannot archive a log"),
            }
        }
    }
}

/// Runs `work` on a thread of the lowest priority, so that it uses only time that no session needs.
/// If the operating system refuses the priority, the thread has the normal one.
///
/// On a machine whose cores are all busy, `work` takes very long. Use it only for work that no
/// session waits for.
///
/// # Errors
/// Fails if the operating system refuses to start a thread.
fn at_lowest<T: Send>(work: impl FnOnce() -> T + Send) -> io::Result<T> {
    thread::scope(|scope| {
        let builder = thread::Builder::new().name("long log".to_owned());
        let worker = builder.spawn_scoped(scope, || {
            if let Err(error) = set_lowest() {
                tracing::debug!(%error, "cannot lower the priority of the thread that reads logs");
            }
            work()
        })?;
        Ok(worker.join().unwrap_or_else(|panic| resume_unwind(panic)))
    })
}

/// Sets the policy "idle". On Linux, a core that runs only idle threads counts as free for a thread
/// that wakes up. A core that runs a thread of merely low priority does not, so that the thread of
/// a session might wait for another core.
#[cfg(any(target_os = "linux", target_os = "android"))]
fn set_lowest() -> Result<(), Error> {
    use thread_priority::{
        NormalThreadSchedulePolicy::Idle, ThreadSchedulePolicy::Normal,
        set_thread_priority_and_policy, thread_native_id,
    };
    set_thread_priority_and_policy(thread_native_id(), ThreadPriority::Min, Normal(Idle))
}

#[cfg(not(any(target_os = "linux", target_os = "android")))]
fn set_lowest() -> Result<(), Error> {
    thread_priority::set_current_thread_priority(ThreadPriority::Min)
}
