//! Derives weights from the stored matches.

use sha2::{Digest, Sha256};
use tokio::time::Instant;
use tracing::Span;

use super::{
    Learning, LearningError, Settings, checkpoint::FOLD_VERSION, learned::Learned, pace::FEW,
    parts::Written, spacing::EVERY, writer::WriteGuard,
};
use crate::{
    rating::divisions::DivisionName,
    store::{Cursor, DerivedFrom, DerivedRows, DivisionRow, OperatorOverrides},
};

/// The version of the form in which settings are hashed. With a new value, every database derives
/// its weights again.
const SETTINGS_FORMAT: u32 = 1;
/// Number of matches read per query.
const CHUNK: u32 = 512;

/// How much [`Learning::learn`] folds and writes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum RefreshMode {
    /// Fold new matches. Write the result, unless the database contains weights derived with other
    /// settings.
    KeepOthers,
    /// Fold new matches and write the result.
    Write,
    /// Drop the learned state, fold all matches and write the result.
    Rebuild,
}

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

/// What the database contains before a fold, and what this process may write after it.
struct Look {
    overrides: OperatorOverrides,
    /// The key of this process's settings and of the overrides.
    key: String,
    /// Number of stored matches.
    stored: i64,
    /// What the derived tables were made from.
    before: Option<DerivedFrom>,
    /// Whether they were made with another configuration, or not made at all.
    is_other: bool,
    /// The permission to write; `None` while another daemon has it.
    guard: Option<WriteGuard>,
    /// Whether all matches are folded again, and everything is written.
    all: bool,
    /// Whether the table of weights is older than the rulings, and whether the places in it are.
    is_behind: (bool, bool),
}

impl Look {
    /// Whether this process has to write what was learned from these matches; `weighs` is whether it may write
    /// the weights now.
    fn is_due(&self, from: &DerivedFrom, weighs: bool) -> bool {
        let is_new = self.before.as_ref() != Some(from) || (self.is_behind.0 && weighs);
        (self.all || (is_new && !self.is_other)) && self.guard.is_some()
    }

    /// Whether this process may write checkpoints.
    fn saves(&self) -> bool {
        self.guard.is_some() && (self.all || !self.is_other)
    }

    /// Drops the rulings of a state that is `from` these matches: they are on disk, or another daemon writes them.
    /// That one may end before, or learn from as many matches, but not from the same ones.
    fn forget_rulings(&self, learned: &mut Learned, from: &DerivedFrom, is_written: bool) {
        let is_the_writers = self.guard.is_some() && self.before.as_ref() == Some(from);
        let are_on_disk = is_written || (is_the_writers && !self.lacks_rulings(learned));
        learned.ruled = are_on_disk.then(|| from.clone());
        learned.has_all_rulings &= learned.pending.is_empty();
        learned.pending.clear();
    }

    /// Whether rulings may be missing on disk that this state does not have any more.
    fn lacks_rulings(&self, learned: &Learned) -> bool {
        !learned.has_all_rulings && (learned.ruled.is_none() || learned.ruled != self.before)
    }

    /// Whether a fold can go on from a state with this key.
    fn continues(&self, key: &str, learned: &Learned) -> bool {
        key == self.key && (!self.all || learned.has_all_rulings)
    }
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
            let kept = slot.take();
            let kept = kept.filter(|(key, learned)| look.continues(key, learned));
            let known = kept.as_ref().map(|(_, learned)| learned.matches);
            let mut learned = match kept {
                Some((_, learned)) => learned,
                None => self.begin(&look).await?,
            };
            self.know_written(&look, &learned);
            let is_daemon = mode == RefreshMode::KeepOthers;
            let rests = is_daemon && self.pace.checkpoints.rests();
            let weighs = look.all || !is_daemon || !self.pace.weights.rests();
            learned.goal = (look.saves() && !rests).then_some(look.stored);
            let guard = look.guard.as_ref();
            let learned = self.fold(learned, look.stored, true, guard, &mut progress);
            let learned = learned.await?;
            if learned.matches < look.stored {
                let late = look.stored - learned.matches;
                tracing::debug!(
                    late,
                    "matches are earlier than the last one, and are folded in their place"
                );
                continue; // from the last checkpoint before them
            }
            let from = DerivedFrom {
                matches: learned.matches,
                last_match: learned.last_match,
                settings: look.key.clone(),
            };
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
                && !self
                    .write(learned, &from, (look.all, weighs, is_daemon), guard)
                    .await?
            {
                if !learned.has_all_rulings {
                    *slot = None;
                }
                continue; // another process wrote meanwhile, has the lease, or recorded a match
            }
            look.forget_rulings(learned, &from, due);
            if !due && look.is_behind.1 {
                self.pace.places.note_behind();
            }
            if !rests {
                self.save_checkpoints(&mut slot, &look, &from).await?;
            }
            if is_changed || due {
                self.metrics.folded(began.elapsed().as_secs_f64());
            }
            return Ok(due);
        }
    }

    /// Writes the checkpoints of a state that is `from` these matches, if this process may and they are due.
    async fn save_checkpoints(
        &self,
        slot: &mut Option<(String, Learned)>,
        look: &Look,
        from: &DerivedFrom,
    ) -> Result<(), LearningError> {
        let is_due = slot.as_ref().is_some_and(|(_, learned)| {
            let new = learned.matches - learned.checkpointed;
            let is_new = look.all || new >= EVERY || !learned.taken.is_empty();
            is_new && learned.ruled.as_ref() == Some(from)
        });
        if let Some(guard) = look.guard.as_ref().filter(|_| look.saves() && is_due) {
            let since = Instant::now();
            self.write_checkpoint(slot, guard).await?;
            self.pace.checkpoint_written(since);
        }
        Ok(())
    }

    /// Reads what the database contains, before the matches are folded.
    async fn look(&self, mode: RefreshMode) -> Result<Look, LearningError> {
        let overrides = self.store.overrides().await?;
        let key = self.key(&overrides);
        let (stored, _) = self.store.extent().await?;
        let before = self.store.derived_from().await?;
        // If the rulings on disk come from another configuration, all of them are replaced, so all matches are
        // folded again.
        let is_other = before.as_ref().is_none_or(|before| before.settings != key);
        let replaces = mode == RefreshMode::Write
            || before
                .as_ref()
                .is_some_and(|before| self.is_older(&before.settings, &key));
        let guard = self.guard();
        let all = mode == RefreshMode::Rebuild || (is_other && replaces && guard.is_some());
        Ok(Look {
            overrides,
            key,
            stored,
            before,
            is_other,
            guard,
            all,
            is_behind: self.store.are_behind().await?,
        })
    }

    /// The state with which a fold begins if it cannot continue the last one: that of the checkpoint, or an empty one.
    async fn begin(&self, look: &Look) -> Result<Learned, LearningError> {
        let restored = match look.all {
            true => None,
            false => {
                let before = look.before.as_ref();
                self.restore(&look.key, &look.overrides, before).await?
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
        loop {
            let missing = (enough - learned.matches).clamp(0, i64::from(CHUNK));
            let missing = u32::try_from(missing).unwrap_or(0);
            let (matches, _) = self.store.matches(learned.cursor, missing).await?;
            let done = matches.is_empty();
            learned = on_blocking_thread(move || {
                learned.push_all(matches);
                learned
            })
            .await?;
            if let Some(guard) = guard
                && let Err(error) = self.write_pieces(&mut learned, guard).await
            {
                tracing::warn!(%error, "cannot write a checkpoint");
            }
            if done {
                if let Some(due) = learned.comparison_due().filter(|_| compares) {
                    learned = self.compare(learned, due).await?;
                }
                learned.log_warnings();
                return Ok(learned);
            }
            progress(u64::try_from(learned.matches).unwrap_or(0));
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

    /// Notes which weights the database contains, if this process writes them and they are those of this state.
    fn know_written(&self, look: &Look, learned: &Learned) {
        let is_its = look.before.as_ref().is_some_and(|before| {
            let own = (learned.matches, learned.last_match, &look.key);
            (before.matches, before.last_match, &before.settings) == own
        });
        let mut written = self.written.lock();
        if written.is_none() && is_its && !look.is_behind.0 && look.guard.is_some() {
            *written = look.before.clone().map(|from| Written {
                from,
                count: learned.knowledge.count(),
                knowledge: learned.knowledge.clone(),
            });
        }
    }

    /// Writes the derived data: all of it or what is new, with the weights or without. Returns `false` if another
    /// process has replaced it meanwhile, or has the lease now.
    async fn write(
        &self,
        learned: &mut Learned,
        from: &DerivedFrom,
        (all, weighs, is_daemon): (bool, bool, bool),
        guard: &WriteGuard,
    ) -> Result<bool, LearningError> {
        let since = Instant::now();
        let known = self.written.lock().take();
        let (mut weights, mut count) = (None, 0);
        if weighs {
            let known = known.clone().filter(|_| !all);
            let knowledge = learned.knowledge.clone();
            let new = move || knowledge.new_weights(known.as_ref());
            let (mut new, all) = on_blocking_thread(new).await?;
            new.places = all <= FEW || !is_daemon;
            (weights, count) = (Some(new), all);
        }
        let derived = DerivedRows {
            from: from.clone(),
            rulings: std::mem::take(&mut learned.pending),
            weights,
            divisions: self.division_rows(),
            seasons: self.settings.history.seasons.clone(),
        };
        let written = self.store.replace_derived(&derived, all, guard.lease());
        let written = written.await;
        learned.pending = derived.rulings;
        match written {
            Err(error) if self.has_lost_lease(&error) => return Ok(false),
            Ok(true) => {}
            failed => return Ok(failed?),
        }
        let from = from.clone();
        *self.written.lock() = match derived.weights {
            Some(new) => {
                self.pace.wrote(&new, since);
                let knowledge = learned.knowledge.clone();
                Some(Written {
                    from,
                    knowledge,
                    count,
                })
            }
            None => {
                self.pace.weights.note_behind();
                known.map(|known| Written { from, ..known })
            }
        };
        Ok(true)
    }

    /// The configured divisions, as the database stores them.
    fn division_rows(&self) -> Vec<DivisionRow> {
        let settings = &self.settings.history.divisions;
        let row = |name: &DivisionName| DivisionRow {
            name: name.as_str().to_owned(),
            decay_after_days: settings.decay_after_days.get(),
            decay_days: settings.decay_days.get(),
        };
        settings.names.iter().map(row).collect()
    }

    /// The key of everything that weights depend on besides the matches: the settings and the
    /// operator's overrides.
    pub(super) fn key(&self, overrides: &OperatorOverrides) -> String {
        format!("{} {}", self.settings_key, overrides.changes)
    }

    /// Whether `key` is of the settings of this process, and of older overrides than the key `than`.
    pub(super) fn is_older(&self, key: &str, than: &str) -> bool {
        let changes = |key: &str| {
            let (settings, changes) = key.split_once(' ')?;
            let changes: u64 = changes.parse().ok()?;
            (settings == self.settings_key).then_some(changes)
        };
        changes(key).is_some_and(|old| changes(than).is_some_and(|new| old < new))
    }
}

/// Runs work that takes long on a thread that may block, in the current span.
pub(super) async fn on_blocking_thread<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, LearningError> {
    let span = Span::current();
    Ok(tokio::task::spawn_blocking(move || span.in_scope(work)).await?)
}

/// A hash of the settings that weights depend on, in a form that has a version.
///
/// The settings are hashed as JSON: a new name of a Rust type does not change the key. A new name
/// of a field does, and the weights are then derived again.
pub(super) fn settings_key(settings: &Settings) -> Result<String, serde_json::Error> {
    let form = serde_json::to_vec(&(SETTINGS_FORMAT, FOLD_VERSION, settings))?;
    let digest = Sha256::digest(&form);
    let bytes = digest[..8].iter();
    Ok(bytes.map(|byte| format!("{byte:02x}")).collect())
}
