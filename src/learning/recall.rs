//! Gets back, after a start from a checkpoint, the earlier states that a running daemon has.

use tokio::time::{Instant, sleep};

use super::{Learning, LearningError, learned::Learned};

/// How many matches are folded at a time.
const SOME: i64 = 2_048;

impl Learning {
    /// Folds all matches once more, for a third of the time of one core, and keeps the earlier states: from then on, a match
    /// that comes late is folded from one that is not much older. Until then, it is folded from a checkpoint, or with all
    /// others.
    pub(super) async fn recall(&self) {
        if let Err(error) = self.try_recall().await {
            tracing::warn!(%error, "late matches are folded with all others until the next start");
        }
    }

    async fn try_recall(&self) -> Result<(), LearningError> {
        let overrides = self.store.overrides().await?;
        let mut all = Learned::nothing(&self.settings, &overrides)?;
        let Some((first, returns)) = self.lacking(&all).await else {
            return Ok(());
        };
        (all.rules, all.goal) = (false, first);
        while all.at.matches < first {
            let began = Instant::now();
            let before = all.at.matches;
            let enough = first.min(before + SOME);
            all = self.fold(all, enough, true, &mut |_| ()).await?;
            if all.at.matches == before {
                return Ok(()); // there are fewer matches now
            }
            sleep(2 * began.elapsed()).await;
        }
        let mut slot = self.learned.lock().await;
        let same =
            |learned: &&mut Learned| learned.content == all.content && learned.returns == returns;
        if let Some(learned) = slot.as_mut().map(|(_, learned)| learned).filter(same) {
            let earlier = all
                .past
                .into_iter()
                .filter(|past| past.point.at.matches < first);
            learned.past.splice(0..0, earlier);
        }
        Ok(())
    }

    /// How many matches each earlier state has that is in memory, the first one first.
    pub async fn remembers(&self) -> Vec<i64> {
        let slot = self.learned.lock().await;
        let past = slot.iter().flat_map(|(_, learned)| &learned.past);
        past.map(|past| past.point.at.matches).collect()
    }

    /// The number of matches of the first state that the present one remembers, and how often that has gone back; `None` if
    /// it was folded from nothing, or with other overrides than `all`.
    async fn lacking(&self, all: &Learned) -> Option<(i64, u64)> {
        let slot = self.learned.lock().await;
        let (_, learned) = slot.as_ref()?;
        let first = learned
            .past
            .first()
            .map_or(learned.at.matches, |first| first.point.at.matches);
        let lacks = learned.begun > 0 && learned.content == all.content;
        lacks.then_some((first, learned.returns))
    }
}
