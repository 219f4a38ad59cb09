//! Derives weights from the stored matches, and publishes them.
//!
//! Before a fold, it reads what the database contains, and whether that was made with the settings of this process.
//! It also learns while a command still records matches: each of the two keeps one core busy.

use std::sync::{Arc, atomic::Ordering};

use tokio::{sync::watch, time::Instant};
use tracing::Span;

use super::{
    CHUNK, CURRENT, Learning, LearningError, Standings,
    gaps::Gaps,
    knowledge::Knowledge,
    late::processor_time,
    learned::{EVERY, LearnedState, Slot},
    writer::WriteGuard,
};
use crate::store::{Correction, Cursor, DerivedFrom, OperatorOverrides, RecountCause, StoredMatch};

/// How many matches are folded again while new ones wait: for some tens of milliseconds.
pub(super) const SHORT: i64 = 512;

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
    /// to the database. Matches that come meanwhile wait for the next call. Returns whether it wrote anything, because there
    /// were new matches or other settings.
    ///
    /// Matches that are later than all folded ones are folded one by one. If one is earlier, those
    /// after the last earlier state before it are folded again. Both ways give the same bits.
    pub async fn refresh(&self) -> Result<bool, LearningError> {
        self.learn_in_turn(false, |_| ()).await
    }

    /// Deletes all derived data and derives it again. `progress` gets the number of matches done.
    pub async fn rebuild(&self, progress: impl FnMut(u64)) -> Result<Rebuilt, LearningError> {
        self.learn_in_turn(true, progress).await?;
        let (matches, rated, weights) = self.store.learned().derived_counts().await?;
        let count = |number: i64| u64::try_from(number).unwrap_or(0);
        Ok(Rebuilt {
            matches: count(matches),
            rated: count(rated),
            weights: count(weights),
        })
    }

    /// Goes on from the state in `slot`: learns what is new, publishes it, and writes what differs; with `rebuilds`, writes
    /// everything. Returns whether it wrote anything; `None` if many matches have to be folded again, which takes a
    /// [replay](Self::replay). Until that has ended, nothing is written.
    pub(super) async fn advance(
        &self,
        mut slot: Slot<'_>,
        mut rebuilds: bool,
        progress: &mut impl FnMut(u64),
    ) -> Result<Option<bool>, LearningError> {
        let began = Instant::now();
        let mut is_new = false;
        loop {
            self.metrics.begin();
            let pass = self.passes.begin();
            let look = self.look(rebuilds).await?;
            is_new |= slot.is_none();
            let (key, learned) = match slot.take() {
                Some(kept) => kept,
                None => (look.key.clone(), self.begin(&look, None).await?),
            };
            let goes_on = look.continues(&key, &learned);
            let before = learned.at.matches;
            let learned = self.fold_new(learned, &look, goes_on, progress).await?;
            is_new |= learned.at.matches != before;
            let from = learned.made_from(&look.key);
            let due = goes_on && look.is_due(&from);
            let lacks_rulings = due && !look.all && look.lacks_rulings(&learned);
            let is_late = look.lacks_earlier(&learned) || lacks_rulings;
            let earlier = match is_late {
                true => {
                    self.earlier(&learned, look.most(), look.stored - SHORT)
                        .await?
                }
                false => None,
            };
            if let Some(at) = earlier {
                let mut earlier = learned.earlier_at(at);
                earlier.ruled = self.ruled(&look.key, earlier.at.matches).await?;
                *slot = Some((key, earlier));
                is_new = true;
                continue;
            }
            let is_complete = goes_on && !is_late;
            if is_new || (is_complete && !self.is_current()) {
                self.publish(&learned, if is_complete { CURRENT } else { self.phase() });
            }
            self.passes.learned(pass);
            // Put back before anything is written: a write that fails is tried again with this state.
            *slot = Some((key, learned));
            if !is_complete {
                self.write_served(slot, &look).await?;
                return Ok(None);
            }
            self.metrics.caught_up();
            if let Some(guard) = look.guard.as_ref().filter(|_| due) {
                let is_written;
                (slot, is_written) = self.write(slot, &look, &from, guard).await?;
                let learned = slot.as_ref().map(|(_, learned)| learned);
                let has_more = learned.is_none_or(|own| own.at.matches != from.matches);
                rebuilds &= !is_written;
                if !is_written || has_more {
                    continue; // another process wrote meanwhile, has the lease, or there are more matches
                }
            }
            if is_new || due {
                self.metrics.folded(began.elapsed().as_secs_f64());
            }
            self.end_pass(slot, &look, &from, due).await?;
            return Ok(Some(due));
        }
    }

    /// Folds what is new. A state that does not go on is served until a replay has ended: it lacks corrections, and perhaps
    /// matches, so that their number does not tell how many are new.
    async fn fold_new(
        &self,
        mut learned: LearnedState,
        look: &Look,
        goes_on: bool,
        progress: &mut impl FnMut(u64),
    ) -> Result<LearnedState, LearningError> {
        learned.goal = look.stored;
        let enough = match goes_on {
            true => look.stored,
            false => learned.at.matches.saturating_add(look.stored),
        };
        if goes_on {
            self.know_written(look, &learned);
        }
        self.fold(learned, enough, goes_on, progress).await
    }

    /// Notes that the state in `slot` is complete, and saves it if that is due.
    async fn end_pass(
        &self,
        mut slot: Slot<'_>,
        look: &Look,
        from: &DerivedFrom,
        is_written: bool,
    ) -> Result<(), LearningError> {
        let Some((_, learned)) = slot.as_mut() else {
            return Ok(());
        };
        if !self.writes.goes_on() {
            look.forget_rulings(learned, from, is_written);
        }
        let saves = look.all || learned.at.matches - learned.saved >= EVERY;
        drop(slot);
        match self.is_daemon() {
            true if saves => self.behind.notify_one(),
            false if saves => self.save_checkpoint().await?,
            _ => {}
        }
        Ok(())
    }

    /// Publishes the weights of a fold.
    pub(super) fn publish(&self, learned: &LearnedState, phase: u8) {
        self.metrics.publish(learned);
        self.replace(learned.knowledge.clone(), None, phase);
    }

    /// Replaces the published weights.
    pub(super) fn replace(&self, knowledge: Knowledge, gaps: Option<Gaps>, phase: u8) {
        *self.standings.write() = Arc::new(Standings::new(knowledge, gaps));
        self.edition.fetch_add(1, Ordering::Release);
        self.phase.store(phase, Ordering::Release);
        self.published.notify_waiters();
    }

    /// The state with which a fold begins if it cannot go on from the one that is `known`: an earlier one of that, the one of
    /// a checkpoint, or an empty one.
    pub(super) async fn begin(
        &self,
        look: &Look,
        known: Option<&LearnedState>,
    ) -> Result<LearnedState, LearningError> {
        if look.all {
            return LearnedState::nothing(&self.settings, &look.overrides);
        }
        let earlier = match known {
            Some(known) => self.earlier(known, look.most(), 0).await?,
            None => None,
        };
        let mut learned = match known.zip(earlier) {
            Some((known, at)) => known.earlier_at(at),
            None => self.restore(&look.overrides, look.most()).await?,
        };
        learned.ruled = self.ruled(&look.key, learned.at.matches).await?;
        Ok(learned)
    }

    /// The place of the last earlier state whose matches are the first ones in the database: at least `least`, and at most
    /// `most`.
    async fn earlier(
        &self,
        learned: &LearnedState,
        most: Option<i64>,
        least: i64,
    ) -> Result<Option<usize>, LearningError> {
        for (place, past) in learned.past.iter().enumerate().rev() {
            let at = &past.point.at;
            if at.matches < least {
                break;
            }
            if most.is_none_or(|most| at.matches <= most)
                && self.store.matches().extent_to(at.cursor).await? == (at.matches, at.last_match)
            {
                return Ok(Some(place));
            }
        }
        Ok(None)
    }

    /// Folds the matches after the cursor, until `enough` are folded or there are no more: a fold that went on while
    /// matches come would never end where they come as fast as it learns. With `compares`, compares the rating
    /// systems if that is due.
    pub(super) async fn fold(
        &self,
        mut learned: LearnedState,
        enough: i64,
        compares: bool,
        progress: &mut impl FnMut(u64),
    ) -> Result<LearnedState, LearningError> {
        let mut read = self
            .read_some(learned.at.cursor, enough - learned.at.matches)
            .await?;
        while !read.0.is_empty() {
            let (matches, cursor) = read;
            let left = enough - learned.at.matches - i64::try_from(matches.len()).unwrap_or(0);
            let folding = on_blocking_thread(move || {
                let began = processor_time();
                learned.push_all(matches);
                learned.pending.spill();
                learned.cost += processor_time().saturating_sub(began);
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

    /// Some of the matches after a cursor, at most this many, and the cursor after them; none if that is not positive. Those of
    /// this process are read back as well: that costs little (see `docs/internals/figures.md`), and there is one way only.
    async fn read_some(
        &self,
        cursor: Cursor,
        most: i64,
    ) -> Result<(Vec<StoredMatch>, Cursor), LearningError> {
        match u32::try_from(most.min(i64::from(CHUNK))) {
            Ok(most @ 1..) => Ok(self.store.matches().after(cursor, most).await?),
            _ => Ok((Vec::new(), cursor)),
        }
    }

    /// Compares the rating systems on the first `count` matches, and chooses one for each ruleset. Void matches count as
    /// abandoned.
    async fn compare(
        &self,
        mut learned: LearnedState,
        count: usize,
    ) -> Result<LearnedState, LearningError> {
        let mut comparison = learned.comparison(count);
        let mut cursor = Cursor::START;
        loop {
            let missing = count - comparison.matches().min(count);
            let missing = u32::try_from(missing).unwrap_or(u32::MAX).min(CHUNK);
            let (matches, next) = self.store.matches().after(cursor, missing).await?;
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

/// What the database contains before a fold, and what this process may write after it.
pub(super) struct Look {
    pub(super) overrides: OperatorOverrides,
    /// The key of this process's settings and of the overrides.
    pub(super) key: String,
    /// Number of stored matches.
    pub(super) stored: i64,
    /// What the derived tables were made from.
    pub(super) before: Option<DerivedFrom>,
    /// Whether they were made with another configuration, or not made at all.
    pub(super) is_other: bool,
    /// The permission to write; `None` while another daemon has it.
    pub(super) guard: Option<WriteGuard>,
    /// Whether all matches are folded again, and everything is written.
    pub(super) all: bool,
}

impl Look {
    /// Whether this process has to write what was learned from these matches.
    pub(super) fn is_due(&self, from: &DerivedFrom) -> bool {
        (self.all || self.before.as_ref() != Some(from)) && self.guard.is_some()
    }

    /// Whether the state lacks matches that are earlier than its last one.
    fn lacks_earlier(&self, learned: &LearnedState) -> bool {
        let late = self.stored - learned.at.matches;
        if late > 0 {
            tracing::debug!(
                late,
                "matches are earlier than the last one, and are folded in their place"
            );
        }
        late > 0
    }

    /// What was corrected since the derived tables were written, as far as it is known before the matches in them are
    /// compared with those of the state.
    pub(super) fn correction(&self, learned: &LearnedState) -> Correction {
        let Some(before) = &self.before else {
            return Correction::None;
        };
        let (Some((old, counted)), Some((new, _))) = (parts(&before.settings), parts(&self.key))
        else {
            return Correction::None;
        };
        let corrected = self.overrides.corrected;
        match corrected.filter(|(change, _)| *change > counted) {
            _ if old != new => Correction::Known(RecountCause::Settings),
            Some((_, cause)) => Correction::Known(cause),
            None if learned.is_replayed => Correction::IfLate,
            None => Correction::None,
        }
    }

    /// The same for a state of another key, and what the tables are made from, which are still those of that state; `None` if
    /// they are not, or if somebody was forgotten since.
    pub(super) fn of_served(&self, key: &str) -> Option<(Self, DerivedFrom)> {
        let before = self
            .before
            .clone()
            .filter(|before| before.settings == key)?;
        let changes = before
            .changes()
            .filter(|known| self.overrides.forgotten <= *known)?;
        let look = Self {
            overrides: OperatorOverrides {
                changes,
                ..OperatorOverrides::default()
            },
            key: key.to_owned(),
            stored: self.stored,
            before: Some(before.clone()),
            is_other: false,
            guard: self.guard.clone(),
            all: false,
        };
        Some((look, before))
    }

    /// Drops the rulings of a state that is `from` these matches: they are on disk, or another daemon writes them.
    /// That one may end before, or learn from as many matches, but not from the same ones.
    fn forget_rulings(&self, learned: &mut LearnedState, from: &DerivedFrom, is_written: bool) {
        let is_the_writers = self.guard.is_some() && self.before.as_ref() == Some(from);
        let are_on_disk = is_written || (is_the_writers && !self.lacks_rulings(learned));
        learned.ruled = are_on_disk.then(|| from.clone());
        learned.has_all_rulings &= learned.pending.is_empty();
        learned.pending.clear();
    }

    /// Whether rulings may be missing on disk that this state does not have any more.
    fn lacks_rulings(&self, learned: &LearnedState) -> bool {
        !learned.has_all_rulings && (learned.ruled.is_none() || learned.ruled != self.before)
    }

    /// Whether the state can go on, which has this key. Else all matches are to be folded again.
    pub(super) fn continues(&self, key: &str, learned: &LearnedState) -> bool {
        key == self.key && (!self.all || learned.has_all_rulings)
    }

    /// How many matches a state may have that is gone on from: who writes the rulings needs those on its matches in the
    /// database. `None` if any number will do.
    pub(super) fn most(&self) -> Option<i64> {
        let ruled = self.before.as_ref().filter(|_| !self.is_other);
        let most = ruled.map_or(0, |ruled| ruled.matches);
        self.guard.is_some().then_some(most)
    }
}

impl Learning {
    /// Reads what the database contains, before the matches are folded. `rebuilds` is whether everything is to be derived again.
    pub(super) async fn look(&self, rebuilds: bool) -> Result<Look, LearningError> {
        let overrides = self.store.corrections().overrides().await?;
        let key = self.key(&overrides);
        let (stored, _) = self.store.matches().extent().await?;
        let before = self.store.learned().derived_from().await?;
        // If the rulings on disk come from another configuration, all of them are replaced, so all matches are
        // folded again.
        let is_other = before.as_ref().is_none_or(|before| before.settings != key);
        // While many rows are written, nothing else is.
        let guard = self.guard().filter(|_| !self.writes.goes_on());
        let all = rebuilds || (is_other && guard.is_some());
        Ok(Look {
            overrides,
            key,
            stored,
            before,
            is_other,
            guard,
            all,
        })
    }

    /// The key of everything that weights depend on besides the matches: the settings and the
    /// operator's overrides.
    pub(super) fn key(&self, overrides: &OperatorOverrides) -> String {
        format!("{} {}", self.settings_key, overrides.changes)
    }
}

/// The settings of a key, and the number of changes of the overrides.
fn parts(key: &str) -> Option<(&str, i64)> {
    let (settings, changes) = key.split_once(' ')?;
    Some((settings, changes.parse().ok()?))
}

impl Learning {
    /// Learns from the matches that a command records, until the sender of `part` is dropped, and keeps the state for
    /// [`refresh`](Self::refresh), which then has less to do: it publishes and writes the weights. `part` is how much of
    /// its input the command has recorded, from 0 to 1; each new value means that there are more matches. `before` is
    /// the number of matches that were stored before the command.
    ///
    /// Stops early and returns `false` if `refresh` has to learn them again: if a match is earlier than one already
    /// learned, or replaces one (a half that is joined), if another process changes what players are or learns from these
    /// matches, too, and if the database fails.
    pub async fn learn_ahead(&self, before: i64, mut part: watch::Receiver<f64>) -> bool {
        if !self.has_turn().await {
            return true; // a daemon learns from them
        }
        while part.changed().await.is_ok() {
            let part = *part.borrow_and_update();
            match self.learn_stored(before, part).await {
                Ok(true) => {}
                Ok(false) => return false,
                Err(error) => {
                    tracing::warn!(%error, "cannot learn while matches are recorded");
                    return false;
                }
            }
        }
        true
    }

    /// Folds the matches that are stored, without publishing or writing weights. Returns `false` if the state cannot be
    /// continued.
    async fn learn_stored(&self, before: i64, part: f64) -> Result<bool, LearningError> {
        let mut slot = self.learned.lock().await;
        let look = self.look(false).await?;
        let mut learned = match slot.take() {
            Some((key, learned)) if look.continues(&key, &learned) => learned,
            other @ Some(_) => {
                *slot = other;
                return Ok(false);
            }
            None => self.begin(&look, None).await?,
        };
        if look.lacks_rulings(&learned) {
            return Ok(false); // a daemon writes them meanwhile
        }
        self.know_written(&look, &learned);
        learned.goal = expected(before, look.stored, part).unwrap_or(look.stored);
        let mut progress = |_| ();
        let learned = self.fold(learned, look.stored, false, &mut progress);
        let learned = learned.await?;
        let is_in_order = !look.lacks_earlier(&learned);
        *slot = Some((look.key, learned));
        Ok(is_in_order)
    }
}

/// How many matches there will be if this part of those after the first `before` is stored; `None` if the part is not
/// known, because the length of the input is not known.
fn expected(before: i64, stored: i64, part: f64) -> Option<i64> {
    let new = (stored - before).max(0);
    let is_known = part > 0.0 && part <= 1.0;
    // A number that is too large becomes the largest one.
    is_known.then(|| before.saturating_add((new as f64 / part) as i64))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_recorded_part_tells_how_many_matches_there_will_be() {
        assert_eq!(expected(0, 100, 0.25), Some(400));
        assert_eq!(expected(1_000, 1_100, 0.5), Some(1_200));
        assert_eq!(expected(1_000, 1_100, 1.0), Some(1_100));
        assert_eq!(expected(50, 10, 0.5), Some(50));
        assert_eq!(expected(0, i64::MAX, 1e-300), Some(i64::MAX));
        for odd in [0.0, -1.0, 2.0, f64::NAN, f64::INFINITY] {
            assert_eq!(expected(10, 50, odd), None);
        }
    }
}
