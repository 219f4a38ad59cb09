//! The thread that reads followed logs.

use std::{
    collections::BTreeMap,
    io,
    panic::resume_unwind,
    path::{Path, PathBuf},
    sync::{Arc, mpsc as std_mpsc},
    thread,
    time::{Duration, SystemTime},
};

use thread_priority::{Error, ThreadPriority};

use super::{Follow, FollowMetrics, FollowRequest, Requests, file::FollowedFile};
use crate::logs::{Archive, LogError, log_files};

/// A log with more bytes than this to read is read at the lowest priority.
const LONG_BYTES: u64 = 1_000_000;

/// A command to the thread, which answers each with [`FollowRequest::Done`].
pub(super) enum FollowCommand {
    /// Read the new lines of all logs; this is the current time.
    Poll(SystemTime),
    /// Archive all logs as far as they were read, and end.
    End,
}

/// All followed logs, as the thread sees them.
pub(super) struct FollowedLogs {
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
