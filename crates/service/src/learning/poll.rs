//! Notices new matches, of this process and of others, and learns from them.
//!
//! If history was corrected, or a match of long ago has come, a second fold learns the matches again, beside the one
//! that is served. The served one goes on learning from new matches, by the former settings and overrides, and
//! answers meanwhile. The second fold begins with the best earlier state, or with nothing, catches up, and replaces
//! the first one in one step. A correction that comes meanwhile begins another replay after this one: so each of them
//! ends. If the process ends, the next one finds other overrides or matches than those of the derived tables, and
//! begins again.

use std::time::Duration;

use tokio::{
    sync::watch,
    time::{Instant, sleep, sleep_until, timeout},
};
use tracing::{Instrument, Span};

use super::{CURRENT, Learning, LearningError, derive::SHORT, learned::Slot, writer::RETRY};
use crate::{model::Timestamp, store::DerivedFrom};

/// How often the daemon checks whether the database file is still in place.
const TURN: Duration = Duration::from_millis(250);
/// The longest time for which matches of other processes wait.
pub(super) const LONGEST: Duration = Duration::from_secs(10);
/// How long matches of other processes wait at least for further ones.
const GATHER: Duration = Duration::from_millis(100);
/// The shortest time between two looks at the database: several daemons announce hundreds of commits a second.
const PAUSE: Duration = Duration::from_millis(50);

/// What a daemon sees of the database after a change.
#[derive(PartialEq)]
struct Pulse {
    derived: Option<DerivedFrom>,
    extent: (i64, i64),
    changes: i64,
}

impl Pulse {
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
        self.try_lease().await;
        loop {
            match self.learn_new().await {
                Ok(true) => tracing::info!("weights derived from the stored matches"),
                Ok(false) => {}
                Err(error) => {
                    self.metrics.failed();
                    tracing::warn!(%error, "cannot derive weights, trying again");
                    sleep(RETRY).await;
                    continue;
                }
            }
            tokio::join!(
                self.poll_until_dropped(),
                self.replay_until_dropped(),
                self.keep_lease(),
                self.recall()
            );
            return;
        }
    }

    async fn poll_until_dropped(&self) {
        while let Err(error) = self.poll().await {
            self.metrics.failed();
            tracing::warn!(%error, "cannot check for new matches, trying again");
            sleep(RETRY).await;
        }
    }

    async fn poll(&self) -> Result<(), LearningError> {
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
                    derived: self.store.learned().derived_from().await?,
                    extent: self.store.matches().extent().await?,
                    changes: self.store.corrections().overrides().await?.changes,
                };
                if pulse.as_ref() != Some(&now) {
                    behind.get_or_insert_with(Instant::now);
                    pulse = Some(now);
                    self.metrics.waits(self.millis());
                }
            }
            let Some(since) = behind else { continue };
            let is_derived = pulse.as_ref().is_some_and(Pulse::is_derived);
            let is_ready = since.elapsed() >= patience || is_derived;
            if is_ready {
                let began = Instant::now();
                if self.learn_new().await? {
                    tracing::debug!("learned from matches of other processes");
                }
                behind = None;
                // Matches that come one after the other, as from a command that reads logs, may make each fold begin
                // again: folding takes a third of a core at most.
                patience = (2 * began.elapsed()).clamp(GATHER, LONGEST);
            }
        }
    }

    /// Whether a match that ended then is earlier than one that was learned from.
    pub fn is_late(&self, end: Timestamp) -> bool {
        self.standings().last_end().is_some_and(|last| end < last)
    }

    /// How long a client has to wait before it may report another late match over HTTP; `None` if it need not.
    pub fn wait_for_late(&self, client: &str) -> Option<Duration> {
        self.late.lock().wait(client, self.millis())
    }

    /// Notes that a client has recorded a match over HTTP, which may be late.
    pub fn note_late(&self, client: &str, end: Timestamp) {
        if self.is_late(end) {
            self.late.lock().note(client);
        }
    }

    /// The pass of the fold that learns from what this process has recorded by now.
    pub fn next_pass(&self) -> u64 {
        self.passes.next()
    }

    /// The last pass whose weights are published, now and from now on; `None` while the daemon learns its whole past, when
    /// nothing is published for long.
    pub fn passes(&self) -> Option<watch::Receiver<u64>> {
        self.is_current().then(|| self.passes.watch())
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

    /// Learns from matches of logs that were recorded. A daemon does that in another task, which may have to wait.
    ///
    /// # Errors
    /// Fails if the matches cannot be read, or the weights not be written.
    pub async fn logs_recorded(&self) -> Result<(), LearningError> {
        if self.is_daemon() {
            self.match_recorded();
            return Ok(());
        }
        self.refresh().await.map(drop)
    }

    /// Learns from the matches that this process records, and writes weights that are behind, until dropped.
    pub async fn learn_recorded(&self) {
        tokio::join!(self.learn_until_dropped(), self.save_until_dropped());
    }

    async fn learn_until_dropped(&self) {
        loop {
            self.recorded.notified().await;
            let cause = std::mem::replace(&mut *self.cause.lock(), Span::none());
            let learning = async {
                if let Err(error) = self.learn_new().await {
                    self.metrics.failed();
                    tracing::warn!(%error, "cannot learn from a match, trying again");
                    sleep(RETRY).await;
                    self.match_recorded();
                }
            };
            learning.instrument(cause).await;
        }
    }

    /// Writes checkpoints when they are due, until dropped.
    async fn save_until_dropped(&self) {
        loop {
            self.behind.notified().await;
            let began = Instant::now();
            match self.save_checkpoint().await {
                Ok(()) => sleep(rest(began.elapsed())).await,
                Err(error) => {
                    self.metrics.failed();
                    tracing::warn!(%error, "cannot write a checkpoint, trying again");
                    sleep(RETRY).await;
                    self.behind.notify_one();
                }
            }
        }
    }
}

/// How long no checkpoint is written after one that took so long, which grows with the number of players: what was learned
/// since the last one is learned again after a start.
fn rest(took: Duration) -> Duration {
    (20 * took).max(Duration::from_secs(60))
}

/// How often a second fold reads what has come meanwhile, before new matches have to wait for it. Each time, there are
/// fewer, unless they come faster than they are folded.
const ROUNDS: usize = 8;

impl Learning {
    /// Learns from new matches, or with `rebuilds` from all of them again, without waiting for another process. Returns
    /// whether it wrote anything.
    pub(super) async fn learn(
        &self,
        rebuilds: bool,
        progress: &mut impl FnMut(u64),
    ) -> Result<bool, LearningError> {
        let _second = self.second.lock().await;
        let mut slot = self.learned.lock().await;
        let mut replays = rebuilds && slot.is_some();
        loop {
            if replays {
                drop(slot);
                slot = self.replay(rebuilds, progress).await?;
            }
            if let Some(written) = self.advance(slot, rebuilds, progress).await? {
                return Ok(written);
            }
            replays = true;
            slot = self.learned.lock().await;
        }
    }

    /// Learns from new matches. What has to be folded again is left to [`replay_until_dropped`](Self::replay_until_dropped).
    pub(super) async fn learn_new(&self) -> Result<bool, LearningError> {
        let slot = self.learned.lock().await;
        let written = self.advance(slot, false, &mut |_| ()).await?;
        if written.is_none() {
            self.corrected.notify_one();
        }
        Ok(written == Some(true))
    }

    /// Folds matches again whenever that is due.
    async fn replay_until_dropped(&self) {
        loop {
            self.corrected.notified().await;
            let began = Instant::now();
            match self.refresh().await {
                Ok(true) => tracing::info!("weights derived from the stored matches again"),
                Ok(false) => {}
                Err(error) => {
                    self.metrics.failed();
                    tracing::warn!(%error, "cannot derive weights again, trying again");
                    sleep(RETRY).await;
                    self.corrected.notify_one();
                }
            }
            // Matches that come one after the other, as from a command that reads logs, may make each replay begin again:
            // they take a third of a core at most.
            sleep((2 * began.elapsed()).clamp(GATHER, LONGEST)).await;
        }
    }

    /// Whether matches are being folded again, because history was corrected. The published weights do not include the
    /// correction yet.
    pub fn is_learning_again(&self) -> bool {
        self.replays.goes_on()
    }

    /// Folds the matches again, and replaces the state that is served. It may lack matches that have come meanwhile.
    async fn replay(
        &self,
        rebuilds: bool,
        progress: &mut impl FnMut(u64),
    ) -> Result<Slot<'_>, LearningError> {
        let _replaying = self.replays.begin();
        let mut look = self.look(rebuilds).await?;
        let is_corrected;
        let known = {
            let mut slot = self.learned.lock().await;
            is_corrected = slot.as_ref().is_none_or(|(key, _)| *key != look.key);
            let known = slot.as_ref().filter(|(key, _)| *key == look.key);
            let known = known.and_then(|(_, learned)| {
                let last = learned.past.len().checked_sub(1)?;
                Some(learned.earlier_at(last))
            });
            if self.is_command() {
                *slot = None; // nobody asks
            }
            known
        };
        let mut second = self.begin(&look, known.as_ref()).await?;
        for _ in 0..ROUNDS {
            second.goal = look.stored;
            let before = second.at.matches;
            second = self.fold(second, look.stored, true, progress).await?;
            look.stored = self.store.matches().extent().await?.0;
            let left = look.stored - second.at.matches;
            if left <= SHORT || second.at.matches == before {
                break;
            }
        }
        match is_corrected || rebuilds {
            true => self.late.lock().forgive(),
            false => self.late.lock().charge(second.cost, self.millis()),
        }
        let mut slot = self.locked_between_writes().await;
        self.discard(&second).await;
        self.publish(&second, CURRENT);
        *slot = Some((look.key, second));
        Ok(slot)
    }

    /// The state, while nobody writes many rows of it.
    async fn locked_between_writes(&self) -> Slot<'_> {
        loop {
            self.writes.end().await;
            let slot = self.learned.lock().await;
            if !self.writes.goes_on() {
                return slot;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn checkpoints_are_written_once_a_minute_and_a_twentieth_of_the_time() {
        for (took, rests) in [(1, 60), (2, 60), (4, 80)] {
            assert_eq!(rest(Duration::from_secs(took)), Duration::from_secs(rests));
        }
    }
}
