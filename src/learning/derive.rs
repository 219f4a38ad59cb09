//! From matches to weights: the fold over all that is stored, and noticing when it is due.

use std::time::Duration;

use sha2::{Digest, Sha256};
use tokio::time::{Instant, sleep, timeout};

use super::{Learning, LearningError, Settings, checkpoint::Checkpoint, learned::Learned};
use crate::{
    domain::MatchRecord,
    store::{Cursor, DerivedFrom, DerivedRows, OperatorOverrides},
};

/// Part of the settings' key: change it when the fold itself changes, and every database is rebuilt.
pub(super) const FOLD_VERSION: u32 = 5;
/// The form in which settings are hashed: change it with the form, and every database is rebuilt once.
const SETTINGS_FORMAT: u32 = 1;
/// Matches read at once.
const CHUNK: u32 = 512;
/// How often the database file is checked, and an ingest under way waited for.
const TURN: Duration = Duration::from_millis(250);
/// How soon a failed read or write is tried again.
const RETRY: Duration = Duration::from_secs(1);
/// An ingest that has written nothing for so long has died before its fold; the daemon then folds.
const ABANDONED: Duration = Duration::from_secs(10);

/// New matches after which a checkpoint is written: folding so many again takes a fraction of a second.
const CHECKPOINT_EVERY: i64 = 500;

/// How far [`Learning::learn`] goes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum RefreshMode {
    /// Fold new matches. Write the result, unless the database holds weights that were derived with
    /// other settings.
    KeepOthers,
    /// Fold new matches and write the result.
    Write,
    /// Drop the learned state, fold all matches and write the result.
    Rebuild,
}

/// What a rebuild went through.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rebuilt {
    /// Matches folded.
    pub matches: u64,
    /// Of them rated.
    pub rated: u64,
    /// Weights that came out.
    pub weights: usize,
}

impl Learning {
    /// Learns from the matches that are not known yet, in memory and on disk. Whether there was
    /// anything to write: new matches, or another configuration.
    ///
    /// Matches later than all known ones are learned one by one; one that belongs in between means
    /// that all are learned anew. The bits are the same.
    ///
    /// # Errors
    /// The database's.
    pub async fn refresh(&self) -> Result<bool, LearningError> {
        self.learn(RefreshMode::Write, |_| ()).await
    }

    /// Deletes all that is derived and makes it again. `progress` is told the matches done so far.
    ///
    /// # Errors
    /// The database's.
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

    /// Brings the weights up to date, then polls the database for changes of other processes, until
    /// dropped, and publishes the new weights. Learns from matches that another process recorded and
    /// did not learn from. A failure of the database is logged and retried.
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

    /// Publishes changes of other processes as [`keep_up_to_date`](Self::keep_up_to_date) does, with
    /// the weights that are known now. Leaves what another configuration derived as it is.
    pub async fn poll_changes(&self) {
        self.poll_until_dropped(true).await;
    }

    async fn poll_until_dropped(&self, mut in_place: bool) {
        while let Err(error) = self.poll(&mut in_place).await {
            tracing::warn!(%error, "cannot look for new weights, trying again");
            self.check_file(&mut in_place);
            sleep(RETRY).await;
        }
    }

    /// Logs once that the database file is gone: what is written from then on is lost.
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
                // Decisions are written all the time, and mean nothing here.
                let now = (self.store.derived_from().await?, self.store.extent().await?);
                if pulse.as_ref() != Some(&now) {
                    (pulse, changed, behind) = (Some(now), Instant::now(), true);
                }
            }
            self.check_file(in_place);
            // An ingest under way is waited for: it learns once, at its end.
            if behind && (self.is_derived().await? || changed.elapsed() >= ABANDONED) {
                self.learn_from_others().await?;
                behind = false;
            }
        }
    }

    /// Learns what is new. What another configuration has derived on disk is left as it is: two that
    /// share a database would undo each other's work for ever.
    async fn learn_from_others(&self) -> Result<(), LearningError> {
        let key = self.key(&self.store.overrides().await?);
        let derived = self.store.derived_from().await?;
        if derived.is_some_and(|derived| derived.settings != key) {
            tracing::warn!("the weights on disk were made with another configuration");
        }
        if self.learn(RefreshMode::KeepOthers, |_| ()).await? {
            tracing::info!("matches nobody had learned from found, and learned from");
        }
        Ok(())
    }

    /// Notifies [`learn_recorded`](Self::learn_recorded) that this process has recorded a match.
    pub fn match_recorded(&self) {
        self.recorded.notify_one();
    }

    /// Learns from the matches that this process records, until dropped.
    pub async fn learn_recorded(&self) {
        loop {
            self.recorded.notified().await;
            if let Err(error) = self.learn(RefreshMode::KeepOthers, |_| ()).await {
                tracing::warn!(%error, "cannot learn from a match, trying again");
                sleep(RETRY).await;
                self.match_recorded();
            }
        }
    }

    /// Whether what is derived on disk knows all matches, by whatever configuration.
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
        // One at a time; and what is taken out is only put back whole.
        let mut slot = self.learned.lock().await;
        loop {
            let said = self.store.overrides().await?;
            let key = self.key(&said);
            let (stored, _) = self.store.extent().await?;
            let before = self.store.derived_from().await?;
            // Rulings by another configuration are all replaced, and so all needed.
            let other = before.as_ref().is_none_or(|before| before.settings != key);
            let all = mode == RefreshMode::Rebuild || (other && mode == RefreshMode::Write);
            let mut learned = match slot.take() {
                Some((own, learned)) if own == key && !all => learned,
                None if !all => match self.restore(&key, &said, before.as_ref()).await? {
                    Some(learned) => learned,
                    None => Learned::nothing(&self.settings, &said)?,
                },
                _ => Learned::nothing(&self.settings, &said)?,
            };
            let known = learned.matches;
            learned = self.catch_up(learned, &mut progress).await?;
            if learned.matches < stored {
                continue; // one of them belongs in between: all anew
            }
            let from = DerivedFrom {
                matches: learned.matches,
                last_match: learned.last_match,
                settings: key.clone(),
            };
            let due = all || (before.as_ref() != Some(&from) && !other);
            if due && !self.write(&mut learned, from, all).await? {
                continue; // somebody else has another configuration, just now
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

    /// Folds whatever comes behind the cursor.
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
                Some(due) => Some(self.first_matches(due).await?),
                None => None,
            };
            let folded = tokio::task::spawn_blocking(move || {
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

    /// The first matches in order, as they are stored.
    async fn first_matches(&self, count: usize) -> Result<Vec<MatchRecord>, LearningError> {
        let (mut first, mut cursor) = (Vec::new(), Cursor::START);
        while first.len() < count {
            let (matches, next) = self.store.matches(cursor, CHUNK).await?;
            if matches.is_empty() {
                break;
            }
            first.extend(matches.into_iter().map(|stored| stored.record));
            cursor = next;
        }
        first.truncate(count);
        Ok(first)
    }

    /// The learned state of the checkpoint on disk, if it was learned with these settings from the
    /// matches that are on disk, and the derived tables know all of those.
    async fn restore(
        &self,
        key: &str,
        said: &OperatorOverrides,
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
            true => self.restored(checkpoint, said).await,
            false => Ok(None),
        }
    }

    async fn stored_checkpoint(&self) -> Result<Option<Checkpoint>, LearningError> {
        let Some(bytes) = self.store.checkpoint().await? else {
            return Ok(None);
        };
        let opened = tokio::task::spawn_blocking(move || Checkpoint::open(&bytes)).await?;
        if opened.is_none() {
            tracing::info!("the checkpoint is of another version or damaged, and not used");
        }
        Ok(opened)
    }

    async fn restored(
        &self,
        checkpoint: Checkpoint,
        said: &OperatorOverrides,
    ) -> Result<Option<Learned>, LearningError> {
        let (settings, said) = (self.settings.clone(), said.clone());
        let restore = move || Learned::restore(&settings, &said, checkpoint);
        Ok(tokio::task::spawn_blocking(restore).await?)
    }

    async fn write_checkpoint(
        &self,
        mut learned: Learned,
        key: &str,
    ) -> Result<Learned, LearningError> {
        let key = key.to_owned();
        let save = move || (learned.checkpoint(&key), learned);
        let (state, saved) = tokio::task::spawn_blocking(save).await?;
        learned = saved;
        self.store.store_checkpoint(state.as_deref()).await?;
        learned.checkpointed = learned.matches;
        Ok(learned)
    }

    /// Writes a checkpoint of what was learned since the last one, unless the database holds weights
    /// that were derived with other settings. For the end of the program.
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

    /// Publishes the weights of the checkpoint on disk, so that they can be served until
    /// [`refresh`](Self::refresh) has caught up with the matches. Without a usable checkpoint, and with
    /// matches on disk, [`is_starting`](Self::is_starting) holds until then.
    ///
    /// # Errors
    /// Fails if the database does.
    pub async fn resume(&self) -> Result<(), LearningError> {
        let said = self.store.overrides().await?;
        let (matches, _) = self.store.extent().await?;
        let old = match self.stored_checkpoint().await? {
            Some(checkpoint) => {
                let other = checkpoint.key != self.key(&said);
                let learned = self.restored(checkpoint, &said).await?;
                learned.map(|learned| (learned, other))
            }
            None => None,
        };
        match old {
            Some((learned, other)) => {
                if other {
                    tracing::info!(
                        "settings or players have changed: the old weights are served until the new \
                         ones are derived"
                    );
                }
                self.publish(&learned, false);
            }
            None if matches > 0 => {
                tracing::info!(matches, "no weights until those of all matches are derived");
                self.set_starting();
            }
            None => {}
        }
        Ok(())
    }

    /// Writes what was learned; `false` when what is there was made with another configuration.
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
        };
        let written = self.store.replace_derived(&derived, all).await;
        learned.pending = derived.rulings;
        Ok(written?)
    }

    /// What the weights depend on beside the matches: the configuration, and what was said of players.
    fn key(&self, said: &OperatorOverrides) -> String {
        format!("{} {}", self.settings_key, said.changes)
    }
}

/// A hash of the settings that weights depend on, in a form that has a version.
///
/// The form is the settings as JSON, so that renaming a Rust type leaves the key as it is. A renamed
/// field changes the key, and the weights are derived again once.
pub(super) fn settings_key(settings: &Settings) -> Result<String, serde_json::Error> {
    let form = serde_json::to_vec(&(SETTINGS_FORMAT, FOLD_VERSION, settings))?;
    let digest = Sha256::digest(&form);
    let bytes = digest[..8].iter();
    Ok(bytes.map(|byte| format!("{byte:02x}")).collect())
}
