//! The daily backups of the daemon.

use std::{sync::Arc, time::Duration};

use tokio::time::Instant;

use crate::{
    model::Timestamp,
    server::watch::BackupMetrics,
    session::Clock,
    store::{BackedUp, BackupError, Backups},
};

/// How often the daemon looks whether a backup is due, and tries one again that has failed.
const LOOK: Duration = Duration::from_secs(60);
const HOUR: Duration = Duration::from_secs(60 * 60);

/// Makes backups when they are due. Never returns. While a backup fails, the log says so once an hour at most.
pub(super) async fn back_up_daily(
    backups: Backups,
    clock: Arc<dyn Clock>,
    metrics: Arc<BackupMetrics>,
) {
    let mut failed: Option<Instant> = None;
    loop {
        match back_up_if_due(backups.clone(), clock.now(), metrics.clone()).await {
            Ok(None) => failed = None,
            Ok(Some(done)) => {
                failed = None;
                let (name, removed, outdated) = (done.name, done.removed, done.outdated);
                tracing::info!(name, removed, outdated, "the database is backed up");
            }
            Err(error) => {
                metrics.failed();
                if failed.is_none_or(|at| at.elapsed() >= HOUR) {
                    failed = Some(Instant::now());
                    tracing::error!(%error, "the database cannot be backed up");
                }
            }
        }
        tokio::time::sleep(LOOK).await;
    }
}

/// Makes a backup on a thread that may block: the folder may be on a disk that does not answer.
async fn back_up_if_due(
    backups: Backups,
    now: Timestamp,
    metrics: Arc<BackupMetrics>,
) -> Result<Option<BackedUp>, BackupError> {
    let runtime = tokio::runtime::Handle::current();
    let work = move || {
        let done = runtime.block_on(backups.make_if_due(now));
        if let Ok(latest) = backups.latest() {
            metrics.found(latest);
        }
        done
    };
    let done = tokio::task::spawn_blocking(work).await;
    done.unwrap_or_else(|error| Err(BackupError::Ended(error)))
}
