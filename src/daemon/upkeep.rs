//! What the daemon does from time to time.
//!
//! - It keeps the database small: it deletes decisions that are old or too many, in short writes, and old notes about
//!   players.
//! - It makes the daily backups.
//! - It notices that a file of the database was deleted or replaced, and copies what the database had to a new file.
//! - It notices a last match that ended in the future. Matches are learned from in the order in which they ended. If
//!   a clock was ahead, all matches until then come late, and those after them are learned from again. `watch`
//!   compares the clocks themselves.

use std::{path::Path, sync::Arc, time::Duration};

use tokio::time::{Instant, sleep, timeout};

use crate::{
    config::Config,
    model::{Timestamp, time::DAY},
    server::{Service, watch::BackupMetrics},
    store::{BackedUp, BackupError, Backups, Store, StoreError, rescue},
};

/// The lease of the daemon that deletes: one daemon at a time does this.
const LEASE: &str = "upkeep";
/// The pause after which the daemon looks again for old rows.
const LOOK: Duration = Duration::from_secs(60);
/// The shortest pause between two writes. A pause is at least as long as the write before it, so that other tasks and
/// daemons can write, too.
const PAUSE: Duration = Duration::from_millis(50);
/// The shortest time between two log lines about failures in succession.
const HOUR: Duration = Duration::from_secs(60 * 60);
/// The most decisions that one write deletes.
const DECISIONS: u32 = 1_000;
/// For how many milliseconds the notes of forgotten players are kept. A game that began before its player was
/// forgotten, and ends after this time, is recorded with the player.
const LONGEST_GAME: i64 = 2 * DAY;

/// For how many milliseconds a repetition of what a client has recorded over HTTP gets the first answer.
const RECEIPTS: i64 = 30 * DAY;
/// For how many milliseconds a sign-in is kept, which is longer than it is accepted.
const SIGN_INS: i64 = 31 * DAY;
/// For how many milliseconds pick-up matches are kept. Their results are matches, which stay.
const PICKUPS: i64 = 30 * DAY;

/// What is kept.
#[derive(Clone, Copy, Debug)]
pub(super) struct UpkeepSettings {
    /// How many decisions; `None` if no number is configured.
    most_decisions: Option<u32>,
    /// After how many days decisions are deleted; `None` for never.
    decisions: Option<i64>,
}

impl UpkeepSettings {
    /// The settings of a configuration.
    pub fn of(config: &Config) -> Self {
        let days = |days: u32| (days > 0).then_some(i64::from(days));
        let most = config.store.keep_decisions.get();
        Self {
            most_decisions: (most > 0).then_some(most),
            decisions: days(config.store.keep_decision_days.get()),
        }
    }
}

/// Does what is due, waits for `LOOK`, and does so again. Never returns.
pub(super) async fn keep_small(service: Arc<Service>, settings: UpkeepSettings) {
    let mut failed: Option<Instant> = None;
    loop {
        match work(&service, settings).await {
            Ok(decisions) => {
                failed = None;
                if decisions > 0 {
                    tracing::info!(decisions, "old decisions are deleted");
                }
            }
            Err(error) if error.is_lease_lost() => {}
            Err(error) => {
                if failed.is_none_or(|at| at.elapsed() >= HOUR) {
                    failed = Some(Instant::now());
                    tracing::error!(%error, "old rows are not removed");
                }
            }
        }
        sleep(LOOK).await;
    }
}

/// Does what is due once, and returns how many decisions were deleted. Leaves old rows to another daemon if that one has
/// the lease.
async fn work(service: &Service, settings: UpkeepSettings) -> Result<u64, StoreError> {
    let store = service.store();
    let now = service.sessions().clock().now();
    store
        .corrections()
        .drop_forgets(now.plus_millis(-LONGEST_GAME))
        .await?;
    store
        .matches()
        .drop_receipts(now.plus_millis(-RECEIPTS))
        .await?;
    store.drop_sign_ins(now.plus_millis(-SIGN_INS)).await?;
    store.drop_pickups(now.plus_millis(-PICKUPS)).await?;
    let Ok(held) = service.leases().take_always(store, LEASE).await? else {
        return Ok(0);
    };
    let result = remove_old(store, settings, now).await;
    if let Err(error) = held.give_back().await {
        tracing::debug!(%error, "a lease is not given back");
    }
    result
}

/// Deletes decisions until none is old, and what is left of players who were forgotten. Returns how many decisions.
async fn remove_old(
    store: &Store,
    settings: UpkeepSettings,
    now: Timestamp,
) -> Result<u64, StoreError> {
    let mut deleted = 0;
    let before = |days: i64| now.plus_millis(-days * DAY);
    while let Some(most) = settings.most_decisions {
        let began = Instant::now();
        match store.decisions().trim_decisions(most, DECISIONS).await? {
            0 => break,
            dropped => deleted += dropped,
        }
        sleep(began.elapsed().max(PAUSE)).await;
    }
    while let Some(days) = settings.decisions {
        let began = Instant::now();
        match store
            .decisions()
            .drop_decisions(before(days), DECISIONS)
            .await?
        {
            0 => break,
            dropped => deleted += dropped,
        }
        sleep(began.elapsed().max(PAUSE)).await;
    }
    // What a command had begun that was killed.
    store.corrections().finish_forgetting().await?;
    Ok(deleted)
}

/// Makes backups when they are due, as long as the files of the database are in place. While a backup fails, the log says
/// so once an hour at most.
pub(super) async fn back_up_daily(
    backups: Backups,
    service: Arc<Service>,
    metrics: Arc<BackupMetrics>,
) {
    let mut failed: Option<Instant> = None;
    while service.store().is_in_place() {
        let now = service.sessions().clock().now();
        match back_up_if_due(backups.clone(), now, metrics.clone()).await {
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

/// The pause between two looks at the files of the database.
const GLANCE: Duration = Duration::from_millis(250);
/// The longest time of a copy at the end of the daemon.
const LAST_COPY: Duration = Duration::from_secs(60);

/// Waits until a file of the database is taken away, says so, and copies what the database had.
pub(super) async fn guard(store: Arc<Store>) {
    loop {
        let _ = store.is_in_place(); // notes it
        match store.gone() {
            None => sleep(GLANCE).await,
            Some(gone) if copy(&store, gone).await => return,
            Some(_) => sleep(LOOK).await,
        }
    }
}

/// At the end of the daemon: copies the database if one of its files was taken away, and that was not noticed before.
pub(super) async fn copy_at_the_end(store: &Store) {
    if let Some(gone) = store.gone().filter(|_| store.rescued().is_none())
        && timeout(LAST_COPY, copy(store, gone)).await.is_err()
    {
        tracing::error!("what the database had is not copied in time");
    }
}

/// Copies the database of which a file is gone. Returns whether it is copied.
async fn copy(store: &Store, gone: &Path) -> bool {
    let file = gone.display();
    tracing::error!(
        %file,
        "the database file was removed or replaced: nothing is written to the database any more"
    );
    match rescue(store).await {
        Ok(rescued) => {
            let rescued = rescued.unwrap_or_default();
            let rescued = rescued.display();
            tracing::error!(
                %rescued,
                "all that the database had is copied: stop the daemon, put this file in the place of the database, without the files beside that, and start the daemon"
            );
            true
        }
        Err(error) => {
            tracing::error!(%error, "what the database had cannot be copied");
            false
        }
    }
}

/// The pause between two looks.
const PAUSE_OF_CLOCK: Duration = Duration::from_secs(60);

/// Looks every minute, and logs once that the last match ended in the future. Never returns.
pub(super) async fn watch(service: Arc<Service>) {
    let mut was_ahead = false;
    loop {
        match service.store().matches().last_end().await {
            Ok(last) => {
                let ahead = last.and_then(|last| ahead(service.sessions().clock().now(), last));
                if let Some(millis) = ahead.filter(|_| !was_ahead) {
                    tracing::warn!(
                        seconds = millis / 1_000,
                        "the last match ended in the future: its log is in another time zone, which time_zone in its [[follow]] section or --time-zone sets (rebuild --from-logs then mends the match), or the one who reported it is ahead of this machine"
                    );
                }
                was_ahead = ahead.is_some();
            }
            Err(error) => tracing::debug!(%error, "the end of the last match is not known"),
        }
        sleep(PAUSE_OF_CLOCK).await;
    }
}

/// By how many milliseconds `last` is later than `now`, if that is more than clocks differ.
fn ahead(now: Timestamp, last: Timestamp) -> Option<i64> {
    let ahead = last.0.saturating_sub(now.0);
    last.is_ahead_of(now).then_some(ahead)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_an_end_that_is_far_ahead_is_reported() {
        let ahead = |now, last| ahead(Timestamp(now), Timestamp(last));
        assert_eq!(ahead(1_000_000, 1_010_000), None);
        assert_eq!(ahead(1_000_000, 1_600_000), Some(600_000));
        assert_eq!(ahead(1_600_000, 1_000_000), None);
        assert_eq!(ahead(i64::MIN, i64::MAX), Some(i64::MAX));
    }
}
