//! Derives weights from the stored matches, and publishes them.

use std::sync::{Arc, atomic::Ordering};

use tokio::time::Instant;
use tracing::Span;

use super::{
    CURRENT, Learning, LearningError, Standings,
    gaps::Gaps,
    knowledge::Knowledge,
    learned::Learned,
    look::{Look, RefreshMode},
    spacing::EVERY,
    writer::WriteGuard,
};
use crate::store::{Cursor, DerivedFrom, Stored};

/// Number of matches read per query.
const CHUNK: u32 = 512;

/// The result of a rebuild.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rebuilt {
    /// Number of matches folded.
    pub matches: u64,
    /// How many of them are rated.
    pub rated: u64,
    /// Number of weights derived, over all players and rulesets.
    pub weights: usize,
}

impl Learning {
    /// Learns from the stored matches that have not been folded, publishes the weights and writes them
    /// to the database. Matches that come meanwhile wait for the next call. Returns whether it wrote anything, because there were new matches or other
    /// settings.
    ///
    /// Matches that are later than all folded ones are folded one by one. If one is earlier, those
    /// after the last checkpoint before it are folded again. Both ways give the same bits.
    pub async fn refresh(&self) -> Result<bool, LearningError> {
        self.learn(RefreshMode::Write, |_| ()).await
    }

    /// Learns from stored matches that have not been folded, and writes the weights to the database unless
    /// another configuration has derived those that it contains.
    pub(super) async fn learn_beside_others(&self) -> Result<(), LearningError> {
        self.learn(RefreshMode::KeepOthers, |_| ()).await?;
        Ok(())
    }

    /// Deletes all derived data and derives it again. `progress` gets the number of matches done.
    pub async fn rebuild(&self, progress: impl FnMut(u64)) -> Result<Rebuilt, LearningError> {
        self.learn(RefreshMode::Rebuild, progress).await?;
        let learned = self.learned.lock().await;
        let Some((_, learned)) = learned.as_ref() else {
            return Ok(Rebuilt::default());
        };
        Ok(Rebuilt {
            matches: u64::try_from(learned.matches).unwrap_or(0),
            rated: learned.rated,
            weights: learned.knowledge.rows().len(),
        })
    }

    pub(super) async fn learn(
        &self,
        mode: RefreshMode,
        mut progress: impl FnMut(u64),
    ) -> Result<bool, LearningError> {
        // The lock admits one caller at a time. The state is put back only after a complete fold.
        let mut slot = self.learned.lock().await;
        if mode == RefreshMode::Rebuild {
            *slot = None;
        }
        let began = Instant::now();
        loop {
            self.metrics.begin();
            let look = self.look(mode).await?;
            if self.is_follower(&look) && self.take_over(&look, &mut slot).await? {
                return Ok(false);
            }
            let kept = slot
                .take()
                .filter(|(key, learned)| look.continues(key, learned));
            let known = kept.as_ref().map(|(_, learned)| learned.matches);
            let mut learned = match kept {
                Some((_, learned)) => learned,
                None => self.begin(&look).await?,
            };
            self.know_written(&look, &learned);
            let is_daemon = self.is_daemon();
            let weighs = look.all || !is_daemon || !self.pace.weights.rests();
            let many = look.stored - learned.matches > EVERY && !self.pace.checkpoints.rests();
            learned.goal = (look.saves() && (many || !is_daemon)).then_some(look.stored);
            let guard = look.guard.as_ref();
            let learned = self.fold(learned, look.stored, true, guard, &mut progress);
            let learned = learned.await?;
            if look.lacks_earlier(&learned) {
                continue; // from the last checkpoint before them
            }
            let from = look.made_from(&learned);
            let due = look.is_due(&from, weighs);
            if due && !look.all && look.lacks_rulings(&learned) {
                continue; // fold again from the checkpoint, to get the rulings again
            }
            let is_changed = known != Some(learned.matches);
            if is_changed || !self.is_current() {
                self.publish(&learned);
            }
            self.metrics.caught_up();
            // Put back before anything is written: a write that fails is tried again with this state.
            let (_, learned) = slot.insert((look.key.clone(), learned));
            if let Some(guard) = look.guard.as_ref().filter(|_| due)
                && !self.write(learned, &look, weighs, guard).await?
            {
                if !learned.has_all_rulings {
                    *slot = None;
                }
                continue; // another process wrote meanwhile, has the lease, or recorded a match
            }
            look.forget_rulings(learned, &from, due);
            self.save_checkpoints(&mut slot, &look, &from, is_daemon)
                .await?;
            if is_changed || due {
                self.metrics.folded(began.elapsed().as_secs_f64());
            }
            return Ok(due);
        }
    }

    /// Publishes the weights of a fold by the present settings.
    fn publish(&self, learned: &Learned) {
        self.metrics.publish(learned);
        self.replace(learned.knowledge.clone(), None, CURRENT);
        *self.taken_over.lock() = None;
    }

    /// Replaces the published weights.
    pub(super) fn replace(&self, knowledge: Knowledge, gaps: Option<Gaps>, phase: u8) {
        *self.standings.write() = Arc::new(Standings::new(knowledge, gaps));
        self.edition.fetch_add(1, Ordering::Release);
        self.phase.store(phase, Ordering::Release);
        self.published.notify_waiters();
    }

    /// Writes the checkpoints of a state that is `from` these matches, if this process may write and they are due. In a
    /// daemon, it only notes that they are due: the next matches are not learned before this call returns.
    async fn save_checkpoints(
        &self,
        slot: &mut Option<(String, Learned)>,
        look: &Look,
        from: &DerivedFrom,
        is_daemon: bool,
    ) -> Result<(), LearningError> {
        let Some(guard) = look.guard.as_ref().filter(|_| look.saves()) else {
            return Ok(());
        };
        let is_due = slot.as_ref().is_some_and(|(_, learned)| {
            let new = learned.matches - learned.checkpointed;
            let is_new = look.all || new >= EVERY || !learned.taken.is_empty();
            is_new && learned.ruled.as_ref() == Some(from)
        });
        if is_due && !is_daemon {
            return self.write_checkpoint(slot, guard).await;
        }
        let is_new = |(_, learned): &(String, Learned)| learned.matches > learned.checkpointed;
        if is_due || (self.store.is_shared() && slot.as_ref().is_some_and(is_new)) {
            self.pace.checkpoints.note_behind();
        }
        Ok(())
    }

    /// The state with which a fold begins if it cannot continue the last one: that of the checkpoint, or an empty one.
    pub(super) async fn begin(&self, look: &Look) -> Result<Learned, LearningError> {
        let restored = match look.all {
            true => None,
            false => {
                let before = look.before.as_ref();
                self.restore(&look.key, &look.overrides, before, None)
                    .await?
            }
        };
        Ok(match restored {
            Some(learned) => learned,
            None => Learned::nothing(&self.settings, &look.overrides)?,
        })
    }

    /// Folds the matches after the cursor, until `enough` are folded or there are no more: a fold that went on while
    /// matches come would never end where they come as fast as it learns. With `compares`, compares the rating
    /// systems if that is due. With a guard, writes the pieces of the checkpoints that it takes.
    pub(super) async fn fold(
        &self,
        mut learned: Learned,
        enough: i64,
        compares: bool,
        guard: Option<&WriteGuard>,
        progress: &mut impl FnMut(u64),
    ) -> Result<Learned, LearningError> {
        let mut read = self
            .read_some(learned.cursor, enough - learned.matches)
            .await?;
        while !read.0.is_empty() {
            let (matches, cursor) = read;
            let left = enough - learned.matches - i64::try_from(matches.len()).unwrap_or(0);
            let folding = on_blocking_thread(move || {
                learned.push_all(matches);
                learned.pending.spill();
                learned
            });
            // The next ones are read meanwhile.
            let (folded, next) = tokio::join!(folding, self.read_some(cursor, left));
            (learned, read) = (folded?, next?);
            if let Some(guard) = guard
                && let Err(error) = self.write_pieces(&mut learned, guard).await
            {
                tracing::warn!(%error, "cannot write a checkpoint");
            }
            progress(u64::try_from(learned.matches).unwrap_or(0));
        }
        if let Some(due) = learned.comparison_due().filter(|_| compares) {
            learned = self.compare(learned, due).await?;
        }
        learned.log_warnings();
        Ok(learned)
    }

    /// Some of the matches after a cursor, at most this many, and the cursor after them; none if that is not positive.
    async fn read_some(
        &self,
        cursor: Cursor,
        most: i64,
    ) -> Result<(Vec<Stored>, Cursor), LearningError> {
        match u32::try_from(most.min(i64::from(CHUNK))) {
            Ok(most @ 1..) => Ok(self.store.matches(cursor, most).await?),
            _ => Ok((Vec::new(), cursor)),
        }
    }

    /// Compares the rating systems on the first `count` matches, and chooses one for each ruleset. Void matches count as
    /// abandoned.
    async fn compare(&self, mut learned: Learned, count: usize) -> Result<Learned, LearningError> {
        let mut comparison = learned.comparison(count);
        let mut cursor = Cursor::START;
        loop {
            let missing = count - comparison.matches().min(count);
            let missing = u32::try_from(missing).unwrap_or(u32::MAX).min(CHUNK);
            let (matches, next) = self.store.matches(cursor, missing).await?;
            if matches.is_empty() {
                learned.choose(&comparison.finish());
                return Ok(learned);
            }
            cursor = next;
            (comparison, learned) = on_blocking_thread(move || {
                for stored in matches {
                    let record = learned.compared_record(stored);
                    comparison.push(&record, &mut || 0.0);
                }
                (comparison, learned)
            })
            .await?;
        }
    }
}

/// Runs work that takes long on a thread that may block, in the current span.
pub(super) async fn on_blocking_thread<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, LearningError> {
    let span = Span::current();
    Ok(tokio::task::spawn_blocking(move || span.in_scope(work)).await?)
}
