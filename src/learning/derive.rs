//! Derives weights from the stored matches, and derives them again when there are new matches.

use std::time::Duration;

use sha2::{Digest, Sha256};
use tokio::time::{Instant, sleep, timeout};
use tracing::{Instrument, Span};

use super::{Learning, LearningError, Settings, checkpoint::Checkpoint, learned::Learned};
use crate::{
    domain::MatchRecord,
    rating::divisions::DivisionName,
    store::{Cursor, DerivedFrom, DerivedRows, DivisionRow, OperatorOverrides},
};

/// Part of the settings' key. Change it when the fold changes: a new value makes every database
/// derive its weights again.
pub(super) const FOLD_VERSION: u32 = 15;
/// The version of the form in which settings are hashed. A new value makes every database derive
/// its weights once again.
const SETTINGS_FORMAT: u32 = 1;
/// Number of matches read per query.
const CHUNK: u32 = 512;
/// How often the daemon checks whether the database file is still in place, and whether a running
/// ingest has ended.
const TURN: Duration = Duration::from_millis(250);
/// The delay before a failed read or write is tried again.
const RETRY: Duration = Duration::from_secs(1);
/// An ingest that has written nothing for this long ended before its fold; the daemon then folds
/// its matches.
const ABANDONED: Duration = Duration::from_secs(10);

/// The number of new matches after which a checkpoint is written. Folding that many again takes a
/// fraction of a second.
const CHECKPOINT_EVERY: i64 = 500;

/// How much [`Learning::learn`] folds and writes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum RefreshMode {
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

impl Learning {
    /// Learns from stored matches that have not been folded, publishes the weights and writes them
    /// to the database. Returns whether it wrote anything, because there were new matches or other
    /// settings.
    ///
    /// Matches that are later than all folded ones are folded one by one; if one is earlier, all
    /// matches are folded again. Both ways give the same bits.
    ///
    /// # Errors
    /// Fails if the database does.
    pub async fn refresh(&self) -> Result<bool, LearningError> {
        self.learn(RefreshMode::Write, |_| ()).await
    }

    /// Deletes all derived data and derives it again. `progress` gets the number of matches done.
    ///
    /// # Errors
    /// Fails if the database does.
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
                    tracing::warn!(%error, "cannot derive weights, trying again");
                    self.check_file(&mut in_place);
                    sleep(RETRY).await;
                    continue;
                }
            }
            return self.poll_until_dropped(in_place).await;
        }
    }

    /// Publishes changes by other processes as [`keep_up_to_date`](Self::keep_up_to_date) does,
    /// without deriving weights first. Never overwrites weights that another configuration derived.
    pub async fn poll_changes(&self) {
        self.poll_until_dropped(true).await;
    }

    async fn poll_until_dropped(&self, mut in_place: bool) {
        while let Err(error) = self.poll(&mut in_place).await {
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

    async fn learn(
        &self,
        mode: RefreshMode,
        mut progress: impl FnMut(u64),
    ) -> Result<bool, LearningError> {
        // The lock admits one caller at a time. The state is put back only after a complete fold.
        let mut slot = self.learned.lock().await;
        loop {
            let overrides = self.store.overrides().await?;
            let key = self.key(&overrides);
            let (stored, _) = self.store.extent().await?;
            let before = self.store.derived_from().await?;
            // If the rulings on disk come from another configuration, all of them are replaced, so
            // all matches are folded again.
            let other = before.as_ref().is_none_or(|before| before.settings != key);
            let all = mode == RefreshMode::Rebuild || (other && mode == RefreshMode::Write);
            let mut learned = match slot.take() {
                Some((own, learned)) if own == key && !all => learned,
                None if !all => match self.restore(&key, &overrides, before.as_ref()).await? {
                    Some(learned) => learned,
                    None => Learned::nothing(&self.settings, &overrides)?,
                },
                _ => Learned::nothing(&self.settings, &overrides)?,
            };
            let known = learned.matches;
            learned = self.catch_up(learned, &mut progress).await?;
            if learned.matches < stored {
                continue; // a match is earlier than the last one: fold all again
            }
            let from = DerivedFrom {
                matches: learned.matches,
                last_match: learned.last_match,
                settings: key.clone(),
            };
            let due = all || (before.as_ref() != Some(&from) && !other);
            if due && !self.write(&mut learned, from, all).await? {
                continue; // another process wrote with other settings meanwhile
            }
            learned.pending.clear();
            if learned.matches != known || known == 0 || due || !self.is_current() {
                self.publish(&learned, true);
            }
            let new = learned.matches - learned.checkpointed;
            if (due || !other) && (all || new >= CHECKPOINT_EVERY) {
                learned = self.write_checkpoint(learned, &key).await?;
            }
            *slot = Some((key, learned));
            return Ok(due);
        }
    }

    /// Folds all matches after the cursor.
    async fn catch_up(
        &self,
        mut learned: Learned,
        progress: &mut impl FnMut(u64),
    ) -> Result<Learned, LearningError> {
        loop {
            let (matches, next) = self.store.matches(learned.cursor, CHUNK).await?;
            let done = matches.is_empty();
            learned.cursor = next;
            let trial = match learned.comparison_due().filter(|_| done) {
                Some(due) => Some(self.first_matches(due, &learned).await?),
                None => None,
            };
            let folded = on_blocking_thread(move || {
                learned.push_all(matches);
                if let Some(trial) = trial {
                    learned.choose(trial);
                }
                if done {
                    learned.remark();
                }
                learned
            });
            learned = folded.await?;
            if done {
                return Ok(learned);
            }
            progress(u64::try_from(learned.matches).unwrap_or(0));
        }
    }

    /// The first `count` matches in order, under the identities in which they are stored. Void matches
    /// have no result.
    async fn first_matches(
        &self,
        count: usize,
        learned: &Learned,
    ) -> Result<Vec<MatchRecord>, LearningError> {
        let (mut first, mut cursor) = (Vec::new(), Cursor::START);
        while first.len() < count {
            let (matches, next) = self.store.matches(cursor, CHUNK).await?;
            if matches.is_empty() {
                break;
            }
            first.extend(
                matches
                    .into_iter()
                    .map(|stored| learned.rated_record(stored)),
            );
            cursor = next;
        }
        first.truncate(count);
        Ok(first)
    }

    /// The learned state of the checkpoint on disk. `None` unless it was learned with the settings
    /// `key` from the matches on disk, and the derived tables include all of those.
    async fn restore(
        &self,
        key: &str,
        overrides: &OperatorOverrides,
        derived: Option<&DerivedFrom>,
    ) -> Result<Option<Learned>, LearningError> {
        let Some(checkpoint) = self.stored_checkpoint().await? else {
            return Ok(None);
        };
        let extent = (checkpoint.matches, checkpoint.last_match);
        let fits = checkpoint.key == key
            && derived.is_some_and(|derived| derived.matches >= checkpoint.matches)
            && self.store.extent_to(checkpoint.cursor).await? == extent;
        match fits {
            true => self.restored(checkpoint, overrides).await,
            false => Ok(None),
        }
    }

    async fn stored_checkpoint(&self) -> Result<Option<Checkpoint>, LearningError> {
        let Some(bytes) = self.store.checkpoint().await? else {
            return Ok(None);
        };
        let opened = on_blocking_thread(move || Checkpoint::open(&bytes)).await?;
        if opened.is_none() {
            tracing::info!("ignoring the stored checkpoint: it is damaged, or of another version");
        }
        Ok(opened)
    }

    async fn restored(
        &self,
        checkpoint: Checkpoint,
        overrides: &OperatorOverrides,
    ) -> Result<Option<Learned>, LearningError> {
        let (settings, overrides) = (self.settings.clone(), overrides.clone());
        let restore = move || Learned::restore(&settings, &overrides, checkpoint);
        on_blocking_thread(restore).await
    }

    async fn write_checkpoint(
        &self,
        mut learned: Learned,
        key: &str,
    ) -> Result<Learned, LearningError> {
        let key = key.to_owned();
        let save = move || (learned.checkpoint(&key), learned);
        let (state, saved) = on_blocking_thread(save).await?;
        learned = saved;
        self.store.store_checkpoint(state.as_deref()).await?;
        learned.checkpointed = learned.matches;
        Ok(learned)
    }

    /// Writes a checkpoint of what was learned since the last one, unless the database contains
    /// weights derived with other settings. Called when the program ends.
    ///
    /// # Errors
    /// Fails if the database does.
    pub async fn checkpoint(&self) -> Result<(), LearningError> {
        let mut slot = self.learned.lock().await;
        let derived = self.store.derived_from().await?;
        let Some((key, learned)) = slot.take() else {
            return Ok(());
        };
        let ours = derived.is_some_and(|derived| derived.settings == key);
        let learned = match ours && learned.matches > learned.checkpointed {
            true => self.write_checkpoint(learned, &key).await?,
            false => learned,
        };
        *slot = Some((key, learned));
        Ok(())
    }

    /// Publishes the weights of the checkpoint on disk, which are served until
    /// [`refresh`](Self::refresh) has folded the newer matches. If there is no usable checkpoint
    /// but there are matches, [`is_starting`](Self::is_starting) is true until then.
    ///
    /// # Errors
    /// Fails if the database does.
    pub async fn resume(&self) -> Result<(), LearningError> {
        let overrides = self.store.overrides().await?;
        let (matches, _) = self.store.extent().await?;
        let old = match self.stored_checkpoint().await? {
            Some(checkpoint) => {
                let other = checkpoint.key != self.key(&overrides);
                let learned = self.restored(checkpoint, &overrides).await?;
                learned.map(|learned| (learned, other))
            }
            None => None,
        };
        match old {
            Some((learned, other)) => {
                if other {
                    tracing::info!(
                        "the settings or overrides of players have changed: serving the old weights until the new \
                         ones are derived"
                    );
                }
                self.publish(&learned, false);
            }
            None if matches > 0 => {
                tracing::info!(
                    matches,
                    "no weights are served until all matches are folded"
                );
                self.set_starting();
            }
            None => {}
        }
        Ok(())
    }

    /// Writes the derived data; `false` if another configuration has replaced it meanwhile.
    async fn write(
        &self,
        learned: &mut Learned,
        from: DerivedFrom,
        all: bool,
    ) -> Result<bool, LearningError> {
        let derived = DerivedRows {
            from,
            rulings: std::mem::take(&mut learned.pending),
            weights: learned.knowledge.rows(),
            divisions: self.division_rows(),
        };
        let written = self.store.replace_derived(&derived, all).await;
        learned.pending = derived.rulings;
        Ok(written?)
    }

    fn division_rows(&self) -> Vec<DivisionRow> {
        let settings = &self.settings.history.divisions;
        let row = |name: &DivisionName| DivisionRow {
            name: name.as_str().to_owned(),
            decay_after_days: settings.decay_after_days.get(),
            decay_days: settings.decay_days.get(),
        };
        settings.names.iter().map(row).collect()
    }

    /// The key of everything besides the matches that weights depend on: the settings and the
    /// operator's overrides.
    fn key(&self, overrides: &OperatorOverrides) -> String {
        format!("{} {}", self.settings_key, overrides.changes)
    }
}

/// Runs work that takes long on a thread that may block, in the current span.
async fn on_blocking_thread<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, LearningError> {
    let span = Span::current();
    Ok(tokio::task::spawn_blocking(move || span.in_scope(work)).await?)
}

/// A hash of the settings that weights depend on, in a form that has a version.
///
/// The settings are hashed as JSON, so that renaming a Rust type does not change the key. Renaming
/// a field does, and then the weights are derived again once.
pub(super) fn settings_key(settings: &Settings) -> Result<String, serde_json::Error> {
    let form = serde_json::to_vec(&(SETTINGS_FORMAT, FOLD_VERSION, settings))?;
    let digest = Sha256::digest(&form);
    let bytes = digest[..8].iter();
    Ok(bytes.map(|byte| format!("{byte:02x}")).collect())
}
