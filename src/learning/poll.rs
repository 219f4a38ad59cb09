//! Notices new matches, of this process and of others, and learns from them.

use std::time::Duration;

use tokio::time::{Instant, sleep, timeout};
use tracing::{Instrument, Span};

use super::{Learning, LearningError, derive::RefreshMode};

/// How often the daemon checks whether the database file is still in place, and whether a running
/// ingest has ended.
const TURN: Duration = Duration::from_millis(250);
/// The delay before a failed read or write is tried again.
const RETRY: Duration = Duration::from_secs(1);
/// An ingest that has written nothing for this long ended before its fold; the daemon then folds
/// its matches.
const ABANDONED: Duration = Duration::from_secs(10);

impl Learning {
    /// Brings the weights up to date, then polls the database for changes by other processes and
    /// publishes the new weights. Also learns from matches that another process recorded and did
    /// not learn from. Logs a failure of the database and retries. Runs until dropped.
    pub async fn keep_up_to_date(&self) {
        let mut in_place = true;
        loop {
            match self.refresh().await {
                Ok(true) => tracing::info!("weights derived from the stored matches"),
                Ok(false) => {}
                Err(error) => {
                    self.metrics.failed();
                    tracing::warn!(%error, "cannot derive weights, trying again");
                    self.check_file(&mut in_place);
                    sleep(RETRY).await;
                    continue;
                }
            }
            return self.poll_until_dropped(in_place).await;
        }
    }

    async fn poll_until_dropped(&self, mut in_place: bool) {
        while let Err(error) = self.poll(&mut in_place).await {
            self.metrics.failed();
            tracing::warn!(%error, "cannot check for new matches, trying again");
            self.check_file(&mut in_place);
            sleep(RETRY).await;
        }
    }

    /// Logs once that the database file was removed or replaced; later writes are lost.
    fn check_file(&self, in_place: &mut bool) {
        if *in_place && !self.store.is_in_place() {
            tracing::error!("the database file was removed or replaced; restart the daemon");
            *in_place = false;
        }
    }

    async fn poll(&self, in_place: &mut bool) -> Result<(), LearningError> {
        let mut changes = self.store.changes().await?;
        let (mut pulse, mut changed, mut behind) = (None, Instant::now(), true);
        loop {
            if let Ok(change) = timeout(TURN, changes.next()).await {
                change?;
                // Compare extents, because the changes include decisions, which happen often and do
                // not matter here.
                let now = (self.store.derived_from().await?, self.store.extent().await?);
                if pulse.as_ref() != Some(&now) {
                    (pulse, changed, behind) = (Some(now), Instant::now(), true);
                    self.metrics.waits(self.millis());
                }
            }
            self.check_file(in_place);
            // While an ingest is running, wait: it folds its matches once, at its end.
            if behind && (self.is_derived().await? || changed.elapsed() >= ABANDONED) {
                self.learn_from_others().await?;
                behind = false;
            }
        }
    }

    /// Learns from new matches. Does not overwrite what another configuration has derived on disk:
    /// otherwise two configurations that share a database would replace each other's weights for
    /// ever.
    async fn learn_from_others(&self) -> Result<(), LearningError> {
        let key = self.key(&self.store.overrides().await?);
        let derived = self.store.derived_from().await?;
        if derived.is_some_and(|derived| derived.settings != key) {
            tracing::warn!(
                "the weights on disk were derived with another configuration and are left as they are"
            );
        }
        if self.learn(RefreshMode::KeepOthers, |_| ()).await? {
            tracing::info!(
                "learned from matches that another process had recorded without learning from them"
            );
        }
        Ok(())
    }

    /// Notifies [`learn_recorded`](Self::learn_recorded) that this process has recorded a match.
    /// Log lines about learning from it belong to the current span.
    pub fn match_recorded(&self) {
        self.metrics.waits(self.millis());
        let mut cause = self.cause.lock();
        if cause.is_none() {
            *cause = Span::current();
        }
        drop(cause);
        self.recorded.notify_one();
    }

    /// Learns from the matches that this process records, until dropped.
    pub async fn learn_recorded(&self) {
        loop {
            self.recorded.notified().await;
            let cause = std::mem::replace(&mut *self.cause.lock(), Span::none());
            let learning = async {
                if let Err(error) = self.learn(RefreshMode::KeepOthers, |_| ()).await {
                    self.metrics.failed();
                    tracing::warn!(%error, "cannot learn from a match, trying again");
                    sleep(RETRY).await;
                    self.match_recorded();
                }
            };
            learning.instrument(cause).await;
        }
    }

    /// Whether the derived data on disk includes all matches, with whatever configuration.
    async fn is_derived(&self) -> Result<bool, LearningError> {
        let derived = self.store.derived_from().await?;
        let extent = self.store.extent().await?;
        Ok(derived.is_some_and(|derived| (derived.matches, derived.last_match) == extent))
    }
}
