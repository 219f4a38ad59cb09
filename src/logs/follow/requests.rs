//! What the thread that reads followed logs asks of the async side.

use std::{
    collections::VecDeque,
    path::{Path, PathBuf},
};

use tokio::sync::{mpsc, oneshot};
use tokio_util::sync::CancellationToken;

use crate::{
    ingest::Format,
    logs::{ArchivedLog, LogError},
    model::{Fingerprint, MatchRecord},
    store::{HalfRecorded, StoreError},
};

/// A request of the thread to the async side.
pub(super) enum FollowRequest {
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
pub(super) struct RecordRequest {
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
pub(super) struct Recording {
    /// The results for the first matches, which are on disk.
    pub recorded: Vec<HalfRecorded>,
    /// The matches that may not be on disk.
    pub left: VecDeque<(MatchRecord, Fingerprint)>,
    /// The error that left matches unrecorded.
    pub error: Option<StoreError>,
}

/// The thread's side of the channel to the async side.
pub(super) struct Requests {
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
