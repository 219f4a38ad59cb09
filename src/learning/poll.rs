//! Notices new matches, of this process and of others, and learns from them.

use std::time::Duration;

use tokio::{
    select,
    time::{Instant, sleep, sleep_until, timeout},
};
use tracing::{Instrument, Span};

use super::{Learning, LearningError, look::RefreshMode, writer::RETRY};
use crate::store::{DerivedFrom, WrittenSoFar};

/// How often the daemon checks whether the database file is still in place, and whether a running
/// ingest has ended.
const TURN: Duration = Duration::from_millis(250);
/// A command that has written nothing for this long ended before its fold; the daemon then folds
/// its matches, and derives anew what the command has changed.
const ABANDONED: Duration = Duration::from_secs(10);
/// How long matches of other processes wait at least for further ones.
const GATHER: Duration = Duration::from_millis(100);
/// The shortest time between two looks at the database: several daemons announce hundreds of commits a second.
const PAUSE: Duration = Duration::from_millis(50);
/// After it has taken over weights, a daemon waits this many times as long as that took.
const REST: u32 = 9;
/// The longest of these waits: how much older than necessary its weights may be.
const LONGEST_REST: Duration = Duration::from_millis(250);

/// What a daemon sees of the database after a change.
#[derive(PartialEq)]
struct Pulse {
    derived: Option<DerivedFrom>,
    extent: (i64, i64),
    changes: i64,
    written: WrittenSoFar,
}

impl Pulse {
    /// Whether a daemon that takes over weights finds others than at the `earlier` look.
    fn has_other_weights(&self, earlier: Option<&Self>) -> bool {
        let weights = |pulse: &Self| (pulse.written, pulse.changes);
        earlier.is_none_or(|earlier| weights(earlier) != weights(self))
    }

    /// Whether the derived data on disk includes all matches, with whatever configuration.
    fn is_derived(&self) -> bool {
        let derived = self.derived.as_ref();
        derived.is_some_and(|derived| (derived.matches, derived.last_match) == self.extent)
    }
}

impl Learning {
    /// Brings the weights up to date, then polls the database for changes by other processes and
    /// publishes the new weights. Also learns from matches that another process recorded and did
    /// not learn from. Takes the lease of the fold if it needs one. Logs a failure of the database and retries.
    /// Runs until dropped.
    pub async fn keep_up_to_date(&self) {
        let mut in_place = true;
        self.try_lease().await;
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
            tokio::join!(self.poll_until_dropped(in_place), self.keep_lease());
            return;
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
        let mut looked = Instant::now();
        let mut pulse: Option<Pulse> = None;
        // Since when this process knows of changes that it has not learned from.
        let mut behind = Some(Instant::now());
        let mut patience = GATHER;
        loop {
            let turn = if behind.is_some() {
                patience.min(TURN)
            } else {
                TURN
            };
            if let Ok(change) = timeout(turn, changes.next()).await {
                change?;
                sleep_until(looked + PAUSE).await;
                looked = Instant::now();
                // Compare extents, because the changes include decisions, which happen often and do
                // not matter here.
                let now = Pulse {
                    derived: self.store.derived_from().await?,
                    extent: self.store.extent().await?,
                    changes: self.store.overrides().await?.changes,
                    written: self.store.written_so_far().await?,
                };
                if pulse.as_ref() != Some(&now) {
                    if !self.takes_over() || now.has_other_weights(pulse.as_ref()) {
                        behind.get_or_insert_with(Instant::now);
                    }
                    pulse = Some(now);
                    self.metrics.waits(self.millis());
                }
            }
            self.check_file(in_place);
            let Some(since) = behind else { continue };
            let is_ready = match self.derives_elsewhere().await? {
                true => since.elapsed() >= ABANDONED,
                false => {
                    let is_derived = pulse.as_ref().is_some_and(Pulse::is_derived);
                    since.elapsed() >= patience || is_derived || self.takes_over()
                }
            };
            if is_ready {
                let began = Instant::now();
                self.learn_from_others().await?;
                behind = None;
                // Matches that come one after the other, as from a command that reads logs, may make each fold begin
                // again: folding takes a third of a core at most.
                patience = (2 * began.elapsed()).clamp(GATHER, ABANDONED);
                if self.takes_over() {
                    sleep((REST * began.elapsed()).min(LONGEST_REST)).await;
                }
            }
        }
    }

    /// Whether a command has changed what players are, and derives the weights anew.
    async fn derives_elsewhere(&self) -> Result<bool, LearningError> {
        let key = self.key(&self.store.overrides().await?);
        let derived = self.store.derived_from().await?;
        Ok(derived.is_some_and(|derived| self.is_older(&derived.settings, &key)))
    }

    /// Learns from new matches. Does not overwrite what another configuration has derived on disk:
    /// otherwise two configurations that share a database would replace each other's weights for
    /// ever.
    async fn learn_from_others(&self) -> Result<(), LearningError> {
        let key = self.key(&self.store.overrides().await?);
        let derived = self.store.derived_from().await?;
        let is_other = |settings: &str| settings != key && !self.is_older(settings, &key);
        if derived.is_some_and(|derived| is_other(&derived.settings)) {
            tracing::warn!(
                "the weights on disk were derived with another configuration and are left as they are"
            );
        }
        if self.learn(RefreshMode::KeepOthers, |_| ()).await? {
            tracing::debug!("learned from matches of other processes");
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

    /// Learns from the matches that this process records, and writes weights that are behind, until dropped.
    pub async fn learn_recorded(&self) {
        tokio::join!(self.learn_until_dropped(), self.save_until_dropped());
    }

    async fn learn_until_dropped(&self) {
        loop {
            select! {
                () = self.recorded.notified() => {}
                () = self.pace.weights.due() => {}
            }
            if self.takes_over() {
                continue; // the change of the database by the daemon that learns wakes this one
            }
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

    /// Writes the checkpoints that other daemons wait for, until dropped.
    async fn save_until_dropped(&self) {
        loop {
            self.pace.checkpoints.due().await;
            if let Err(error) = self.save_checkpoint().await {
                self.metrics.failed();
                tracing::warn!(%error, "cannot write a checkpoint, trying again");
                sleep(RETRY).await;
                self.pace.checkpoints.note_behind();
            }
        }
    }
}
