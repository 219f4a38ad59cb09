//! Writes checkpoints of the learned state.

use std::{collections::BTreeMap, io};

use tokio::{sync::mpsc, time::Instant};

use super::{
    Learning, LearningError,
    checkpoint::Checkpoint,
    derive::on_blocking_thread,
    learned::{Learned, Taken},
    spacing,
    writer::WriteGuard,
};
use crate::{
    history::Fold,
    rating::SystemName,
    store::{CheckpointRow, DerivedFrom, NewCheckpoint},
};

/// The most pieces in a transaction, about half a megabyte: a match that ends waits for it.
const TOGETHER: usize = 8;

impl Learning {
    /// Writes a checkpoint of what was learned since the last one, unless the database contains
    /// weights derived with other settings, or another daemon writes checkpoints. This process learns meanwhile.
    pub async fn save_checkpoint(&self) -> Result<(), LearningError> {
        let since = Instant::now();
        let mut slot = self.learned.lock().await;
        let derived = self.store.derived_from().await?;
        let due = slot.as_mut().filter(|(key, learned)| {
            let is_its = |derived: &DerivedFrom| derived.settings == *key;
            derived.as_ref().is_some_and(is_its)
                && learned.ruled == derived
                && learned.matches > learned.checkpointed
        });
        let (Some((key, learned)), Some(guard)) = (due, self.guard()) else {
            return Ok(());
        };
        let taken_with = key.clone();
        learned.take_checkpoint();
        let taken = std::mem::take(&mut learned.taken);
        drop(slot);
        self.pace.checkpoint_written(since, self.store.is_shared()); // no other one meanwhile
        let written = self.write_taken(taken, &guard).await;
        let mut slot = self.learned.lock().await;
        // If overrides have changed meanwhile, the state is another one, and what was written is not a checkpoint of it.
        let Some((key, learned)) = slot.as_mut().filter(|(key, _)| *key == taken_with) else {
            return written.map(|_| ());
        };
        if learned.put_back(written)? {
            self.write_rows(key, learned, &guard).await?;
            self.pace.checkpoint_written(since, self.store.is_shared());
        }
        Ok(())
    }

    /// Writes a checkpoint of the learned state, if there is one, and those that were taken on the way to it. Deletes
    /// those that are not needed any more: without any match, all of them.
    pub(super) async fn write_checkpoint(
        &self,
        slot: &mut Option<(String, Learned)>,
        guard: &WriteGuard,
    ) -> Result<(), LearningError> {
        let since = Instant::now();
        let Some((key, learned)) = slot else {
            return Ok(());
        };
        if learned.matches > 0 {
            learned.take_checkpoint();
        }
        if self.write_pieces(learned, guard).await? {
            self.write_rows(key, learned, guard).await?;
            self.pace.checkpoint_written(since, self.store.is_shared());
        }
        Ok(())
    }

    /// Writes the rows of the checkpoints that were taken, whose pieces are on disk.
    async fn write_rows(
        &self,
        key: &str,
        learned: &mut Learned,
        guard: &WriteGuard,
    ) -> Result<(), LearningError> {
        let old = self.valid_checkpoints(key, learned.matches).await?;
        let taken = std::mem::take(&mut learned.taken).into_iter();
        let keyed = taken.map(|one| Checkpoint {
            key: key.to_owned(),
            ..one.checkpoint
        });
        let mut new: Vec<NewCheckpoint> = keyed.filter_map(|one| one.stored()).collect();
        // Another process deletes pieces that no row names yet.
        let stored = self.store.piece_hashes().await?;
        new.retain(|one| one.pieces.iter().all(|piece| stored.contains(piece)));
        let is_old = |old: &&CheckpointRow| !new.iter().any(|new| new.row.matches == old.matches);
        let mut all: Vec<&CheckpointRow> = new.iter().map(|new| &new.row).collect();
        all.extend(old.iter().filter(is_old));
        all.sort_by_key(|row| std::cmp::Reverse(row.matches));
        let kept = spacing::kept(&all, learned.matches);
        new.retain(|new| kept.contains(&new.row.matches));
        let stored = self.store.store_checkpoints(&new, &kept, guard.lease());
        if let Err(error) = stored.await {
            learned.checkpointed = 0; // the next one is due at once
            if !self.has_lost_lease(&error) {
                return Err(error.into());
            }
        }
        Ok(())
    }

    /// Writes the pieces of the checkpoints that were taken, as far as they are not on disk. Returns `false` if another
    /// daemon has the lease now. If that or anything else prevents it, these checkpoints are dropped.
    pub(super) async fn write_pieces(
        &self,
        learned: &mut Learned,
        guard: &WriteGuard,
    ) -> Result<bool, LearningError> {
        let taken = std::mem::take(&mut learned.taken);
        learned.put_back(self.write_taken(taken, guard).await)
    }

    /// Writes the pieces of these checkpoints that are not on disk. Returns the checkpoints without their folds; `None` if
    /// another daemon has the lease now.
    async fn write_taken(
        &self,
        mut taken: Vec<Taken>,
        guard: &WriteGuard,
    ) -> Result<Option<Vec<Taken>>, LearningError> {
        for one in &mut taken {
            let Some(folds) = one.folds.take() else {
                continue;
            };
            let cut = self.write_folds(one.checkpoint.clone(), folds, guard).await;
            one.checkpoint = match cut {
                Ok(cut) => cut,
                Err(LearningError::Store(error)) if self.has_lost_lease(&error) => return Ok(None),
                Err(error) => return Err(error),
            };
        }
        Ok(Some(taken))
    }

    /// Cuts the folds of a checkpoint into pieces, and writes those that are not on disk while it cuts others: memory
    /// holds few of them.
    async fn write_folds(
        &self,
        mut checkpoint: Checkpoint,
        folds: BTreeMap<SystemName, Fold>,
        guard: &WriteGuard,
    ) -> Result<Checkpoint, LearningError> {
        let mut known = self.store.piece_hashes().await?;
        let (send, queue) = mpsc::channel(TOGETHER);
        let cutting = on_blocking_thread(move || {
            let cut = checkpoint.cut(&folds, |hash, piece| match known.insert(hash) {
                true => send
                    .blocking_send((hash, piece.to_vec()))
                    .map_err(io::Error::other),
                false => Ok(()),
            });
            cut.map(|()| checkpoint)
        });
        let writing = async move {
            let (mut some, mut queue) = (Vec::new(), queue);
            while queue.recv_many(&mut some, TOGETHER).await > 0 {
                self.store.store_pieces(&some, guard.lease()).await?;
                some.clear();
            }
            Ok::<_, LearningError>(())
        };
        let (cut, written) = tokio::join!(cutting, writing);
        written?;
        Ok(cut??)
    }

    /// The stored checkpoints from which a state of `matches` matches can have been continued.
    async fn valid_checkpoints(
        &self,
        key: &str,
        matches: i64,
    ) -> Result<Vec<CheckpointRow>, LearningError> {
        let mut valid = Vec::new();
        for row in self.store.checkpoints().await? {
            if row.settings == key && row.matches <= matches && self.is_valid(&row).await? {
                valid.push(row);
            }
        }
        Ok(valid)
    }
}
