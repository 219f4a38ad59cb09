//! Continues from the checkpoint in the database, and writes it.

use super::{
    Learning, LearningError, checkpoint::Checkpoint, derive::on_blocking_thread, learned::Learned,
    writer::Permit,
};
use crate::store::{DerivedFrom, OperatorOverrides};

impl Learning {
    /// The learned state of the checkpoint on disk. `None` unless it was learned with the settings
    /// `key` from the matches on disk, and the derived tables include all of those.
    pub(super) async fn restore(
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

    pub(super) async fn write_checkpoint(
        &self,
        mut learned: Learned,
        key: &str,
        permit: &Permit,
    ) -> Result<Learned, LearningError> {
        let key = key.to_owned();
        let save = move || (learned.checkpoint(&key), learned);
        let (state, saved) = on_blocking_thread(save).await?;
        learned = saved;
        let stored = self
            .store
            .store_checkpoint(state.as_deref(), permit.lease());
        match stored.await {
            Err(error) if self.has_lost_lease(&error) => {}
            stored => {
                stored?;
                learned.checkpointed = learned.matches;
            }
        }
        Ok(learned)
    }

    /// Writes a checkpoint of what was learned since the last one, unless the database contains
    /// weights derived with other settings, or another daemon writes checkpoints.
    ///
    /// # Errors
    /// Fails if the database does.
    pub async fn save_checkpoint(&self) -> Result<(), LearningError> {
        let mut slot = self.learned.lock().await;
        let derived = self.store.derived_from().await?;
        let Some((key, learned)) = slot.take() else {
            return Ok(());
        };
        let ours = derived.is_some_and(|derived| derived.settings == key);
        let due = ours && learned.matches > learned.checkpointed;
        let learned = match self.permit().filter(|_| due) {
            Some(permit) => self.write_checkpoint(learned, &key, &permit).await?,
            None => learned,
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
}
