//! Gets back, after a start from a checkpoint, the earlier states that a running daemon has.

use std::sync::Arc;

use tokio::time::{Instant, sleep};

use super::{Learning, LearningError, learned::Learned};

/// How many matches are folded at a time.
const SOME: i64 = 2_048;

impl Learning {
    /// Folds all matches once more, for a third of the time of one core, and keeps the earlier states: from then on, a match
    /// that comes late is folded from one that is not much older. Until then, it is folded from a checkpoint, or with all
    /// others.
    pub(super) async fn recall(&self) {
        loop {
            match self.try_recall().await {
                Ok(true) => return,
                Ok(false) => self.replays.end().await,
                Err(error) => {
                    tracing::warn!(%error, "late matches are folded with all others until the next start");
                    return;
                }
            }
        }
    }

    /// Returns whether it is done. A replay comes first, so that there are never three folds.
    async fn try_recall(&self) -> Result<bool, LearningError> {
        let overrides = self.store.corrections().overrides().await?;
        let mut all = Learned::nothing(&self.settings, &overrides)?;
        let Some((first, line)) = self.lacking(&all).await else {
            return Ok(true);
        };
        (all.rules, all.goal) = (false, first);
        while all.at.matches < first {
            let began = Instant::now();
            let before = all.at.matches;
            let enough = first.min(before + SOME);
            all = self.fold(all, enough, true, &mut |_| ()).await?;
            if self.is_learning_again() {
                return Ok(false);
            }
            if all.at.matches == before {
                return Ok(true); // there are fewer matches now
            }
            sleep(2 * began.elapsed()).await;
        }
        let mut slot = self.learned.lock().await;
        let learned = slot.as_mut().map(|(_, learned)| learned);
        let Some(learned) = learned.filter(|own| Arc::ptr_eq(&own.line, &line)) else {
            return Ok(false);
        };
        let first = learned.first();
        let earlier = all.past.into_iter();
        let earlier = earlier.filter(|past| past.point.at.matches < first);
        learned.past.splice(0..0, earlier);
        Ok(true)
    }

    /// How many matches each earlier state has that is in memory, the first one first.
    pub async fn remembers(&self) -> Vec<i64> {
        let slot = self.learned.lock().await;
        let past = slot.iter().flat_map(|(_, learned)| &learned.past);
        past.map(|past| past.point.at.matches).collect()
    }

    /// The number of matches of the first state that the present one remembers, and its line; `None` if it was folded from
    /// nothing, or with other overrides than `all`.
    async fn lacking(&self, all: &Learned) -> Option<(i64, Arc<()>)> {
        let slot = self.learned.lock().await;
        let (_, learned) = slot.as_ref()?;
        let lacks = learned.begun > 0 && learned.content == all.content;
        lacks.then(|| (learned.first(), learned.line.clone()))
    }
}
