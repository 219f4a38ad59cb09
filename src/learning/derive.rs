//! Derives weights from the stored matches, and publishes them.

use std::sync::{Arc, atomic::Ordering};

use tokio::time::Instant;
use tracing::Span;

use super::{
    CURRENT, Learning, LearningError, Standings, gaps::Gaps, knowledge::Knowledge,
    learned::Learned, look::Look, spacing::EVERY,
};
use crate::store::{Cursor, Stored};

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
    pub weights: u64,
}

impl Learning {
    /// Learns from the stored matches that have not been folded, publishes the weights and writes them
    /// to the database. Matches that come meanwhile wait for the next call. Returns whether it wrote anything, because there were new matches or other
    /// settings.
    ///
    /// Matches that are later than all folded ones are folded one by one. If one is earlier, those
    /// after the last checkpoint before it are folded again. Both ways give the same bits.
    pub async fn refresh(&self) -> Result<bool, LearningError> {
        self.learn_in_turn(false, |_| ()).await
    }

    /// Deletes all derived data and derives it again. `progress` gets the number of matches done.
    pub async fn rebuild(&self, progress: impl FnMut(u64)) -> Result<Rebuilt, LearningError> {
        self.learn_in_turn(true, progress).await?;
        let (matches, rated, weights) = self.store.derived_counts().await?;
        let count = |number: i64| u64::try_from(number).unwrap_or(0);
        Ok(Rebuilt {
            matches: count(matches),
            rated: count(rated),
            weights: count(weights),
        })
    }

    /// Learns from new matches, or with `rebuilds` from all of them again, without waiting for another process.
    pub(super) async fn learn(
        &self,
        rebuilds: bool,
        mut progress: impl FnMut(u64),
    ) -> Result<bool, LearningError> {
        // The lock admits one caller at a time. The state is put back only after a complete fold.
        let mut slot = self.learned.lock().await;
        if rebuilds {
            *slot = None;
        }
        let began = Instant::now();
        let mut goes_on = true;
        loop {
            self.metrics.begin();
            let look = self.look(rebuilds).await?;
            let kept = slot.take().filter(|(key, _)| *key == look.key);
            // What has never been published is not known.
            let known = kept.as_ref().filter(|_| goes_on);
            let known = known.map(|(_, learned)| learned.at.matches);
            let mut learned = match kept {
                Some((_, learned)) if goes_on && look.continues(&learned) => learned,
                kept => self.begin(&look, kept.map(|(_, learned)| learned)).await?,
            };
            self.know_written(&look, &learned);
            let is_daemon = self.is_daemon();
            learned.goal = look.stored;
            let learned = self.fold(learned, look.stored, true, &mut progress);
            let learned = learned.await?;
            let from = look.made_from(&learned);
            let due = look.is_due(&from);
            let lacks_rulings = due && !look.all && look.lacks_rulings(&learned);
            if look.lacks_earlier(&learned) || lacks_rulings {
                goes_on = false; // from the last state before them
                *slot = Some((look.key, learned));
                continue;
            }
            let is_changed = known != Some(learned.at.matches);
            if is_changed || !self.is_current() {
                self.publish(&learned);
            }
            self.metrics.caught_up();
            // Put back before anything is written: a write that fails is tried again with this state.
            *slot = Some((look.key.clone(), learned));
            if let Some(guard) = look.guard.as_ref().filter(|_| due) {
                let is_written;
                (slot, is_written) = self.write(slot, &look, &from, guard).await?;
                if !is_written {
                    goes_on = slot
                        .as_ref()
                        .is_some_and(|(_, learned)| learned.has_all_rulings);
                    continue; // another process wrote meanwhile, has the lease, or there are more matches
                }
            }
            let Some((_, learned)) = slot.as_mut() else {
                return Ok(due);
            };
            look.forget_rulings(learned, &from, due);
            if is_changed || due {
                self.metrics.folded(began.elapsed().as_secs_f64());
            }
            let saves = look.all || learned.at.matches - learned.saved >= EVERY;
            drop(slot);
            match is_daemon {
                true if saves => self.pace.note_behind(),
                false if saves => self.save_checkpoint().await?,
                _ => {}
            }
            return Ok(due);
        }
    }

    /// Publishes the weights of a fold by the present settings.
    fn publish(&self, learned: &Learned) {
        self.metrics.publish(learned);
        self.replace(learned.knowledge.clone(), None, CURRENT);
    }

    /// Replaces the published weights.
    pub(super) fn replace(&self, knowledge: Knowledge, gaps: Option<Gaps>, phase: u8) {
        *self.standings.write() = Arc::new(Standings::new(knowledge, gaps));
        self.edition.fetch_add(1, Ordering::Release);
        self.phase.store(phase, Ordering::Release);
        self.published.notify_waiters();
    }

    /// The state with which a fold begins if it cannot go on from the last one: an earlier one that is `known`, that of a
    /// checkpoint, or an empty one. Who writes the rulings needs those on the matches of that state in the database.
    pub(super) async fn begin(
        &self,
        look: &Look,
        known: Option<Learned>,
    ) -> Result<Learned, LearningError> {
        if look.all {
            return Learned::nothing(&self.settings, &look.overrides);
        }
        let ruled = look.before.as_ref().filter(|_| !look.is_other);
        let most = look
            .guard
            .is_some()
            .then(|| ruled.map_or(0, |ruled| ruled.matches));
        let earlier = match known {
            Some(known) => self.went_back(known, most).await?,
            None => None,
        };
        let mut learned = match earlier {
            Some(earlier) => earlier,
            None => self.restored(look, most).await?,
        };
        learned.ruled = self.ruled(&look.key, learned.at.matches).await?;
        Ok(learned)
    }

    /// The state of a checkpoint, after those of other overrides were deleted.
    async fn restored(&self, look: &Look, most: Option<i64>) -> Result<Learned, LearningError> {
        let restored = self.restore(&look.overrides, most).await?;
        self.discard(&restored).await;
        Ok(restored)
    }

    /// The last earlier state whose matches are the first ones in the database, of at most `most` matches.
    async fn went_back(
        &self,
        mut learned: Learned,
        most: Option<i64>,
    ) -> Result<Option<Learned>, LearningError> {
        let mut found = None;
        for at in learned.past.iter().rev().map(|past| &past.point.at) {
            if most.is_none_or(|most| at.matches <= most)
                && self.store.extent_to(at.cursor).await? == (at.matches, at.last_match)
            {
                found = Some(at.matches);
                break;
            }
        }
        Ok(found
            .filter(|matches| learned.go_back(*matches))
            .map(|_| learned))
    }

    /// Folds the matches after the cursor, until `enough` are folded or there are no more: a fold that went on while
    /// matches come would never end where they come as fast as it learns. With `compares`, compares the rating
    /// systems if that is due.
    pub(super) async fn fold(
        &self,
        mut learned: Learned,
        enough: i64,
        compares: bool,
        progress: &mut impl FnMut(u64),
    ) -> Result<Learned, LearningError> {
        let mut read = self
            .read_some(learned.at.cursor, enough - learned.at.matches)
            .await?;
        while !read.0.is_empty() {
            let (matches, cursor) = read;
            let left = enough - learned.at.matches - i64::try_from(matches.len()).unwrap_or(0);
            let folding = on_blocking_thread(move || {
                learned.push_all(matches);
                learned.pending.spill();
                learned
            });
            // The next ones are read meanwhile.
            let (folded, next) = tokio::join!(folding, self.read_some(cursor, left));
            (learned, read) = (folded?, next?);
            progress(u64::try_from(learned.at.matches).unwrap_or(0));
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
