//! Writes checkpoints of the learned state.

use super::{
    Learning, LearningError, checkpoint::Folder, derive::on_blocking_thread, learned::Learned,
};

impl Learning {
    /// Writes a checkpoint of what was learned since the last one. This process learns meanwhile.
    pub async fn save_checkpoint(&self) -> Result<(), LearningError> {
        let slot = self.learned.lock().await;
        let due = slot
            .as_ref()
            .filter(|(_, learned)| learned.at.matches > learned.saved);
        let (Some((_, learned)), Some(folder)) = (due, self.folder()) else {
            return Ok(());
        };
        let (key, point) = (learned.content.clone(), learned.point());
        drop(slot);
        let (matches, own) = (point.at.matches, key.clone());
        on_blocking_thread(move || folder.save(&own, &point)).await??;
        let mut slot = self.learned.lock().await;
        match slot.as_mut().filter(|(_, learned)| learned.content == key) {
            Some((_, learned)) => learned.saved = matches,
            // What players are has changed meanwhile.
            None => {
                if let Some((_, learned)) = slot.as_ref() {
                    self.discard(learned).await;
                }
            }
        }
        Ok(())
    }

    /// Deletes the checkpoints of other overrides than those of this state.
    pub(super) async fn discard(&self, learned: &Learned) {
        let Some(folder) = self.folder() else { return };
        let key = learned.content.clone();
        let deleted = on_blocking_thread(move || folder.tidy(&key)).await;
        if let Err(error) = deleted.and_then(|deleted| Ok(deleted?)) {
            tracing::warn!(%error, "old checkpoints cannot be deleted");
        }
    }

    /// The folder of checkpoints; `None` if there is none.
    pub(super) fn folder(&self) -> Option<Folder> {
        self.folder.get().cloned()
    }
}
