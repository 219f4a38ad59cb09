//! Folds matches again, because history was corrected or a match of long ago has come, beside the state that is served.
//!
//! That one goes on learning from new matches, by the former settings and overrides, and answers meanwhile. A second fold
//! begins with the best earlier state, or with nothing, catches up, and replaces the first one in one step. A correction that
//! comes meanwhile begins another replay after this one: so each of them ends. If the process ends, the next one finds other
//! overrides or matches than those of the derived tables, and begins again.

use tokio::time::{Instant, sleep};

use super::{
    CURRENT, Learning, LearningError,
    derive::SHORT,
    learned::Slot,
    poll::{GATHER, LONGEST},
    writer::RETRY,
};

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
    pub(super) async fn replay_until_dropped(&self) {
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
        let known = {
            let mut slot = self.learned.lock().await;
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
