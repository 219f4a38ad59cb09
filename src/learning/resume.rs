//! Continues from a checkpoint in the database.

use std::collections::BTreeMap;

use tokio::time::Instant;

use super::{
    CURRENT, Learning, LearningError, OLD, STARTING,
    checkpoint::{Checkpoint, join},
    derive::on_blocking_thread,
    knowledge::Knowledge,
    learned::Learned,
    restored::stored_knowledge,
};
use crate::store::{CheckpointRow, DerivedFrom, OperatorOverrides, PieceHash};

/// The most matches that a daemon folds before it serves: many more than come between two checkpoints, in case some
/// could not be written. It takes about a second.
pub const AT_ONCE: i64 = 1_000;
/// How many pieces of a checkpoint are read at a time: 3 MiB.
const PIECES: usize = 64;

impl Learning {
    /// The learned state of the newest checkpoint on disk that was learned with the settings `key` from the first
    /// matches on disk, and whose matches are all in the derived tables, and more than these. `None` if there is none.
    pub(super) async fn restore(
        &self,
        key: &str,
        overrides: &OperatorOverrides,
        derived: Option<&DerivedFrom>,
        more_than: Option<i64>,
    ) -> Result<Option<Learned>, LearningError> {
        let matches = derived.map_or(0, |derived| derived.matches);
        for row in self.store.checkpoints().await? {
            if row.settings == key
                && row.matches <= matches
                && more_than.is_none_or(|known| row.matches > known)
                && self.is_valid(&row).await?
                && let Some(checkpoint) = self.stored_checkpoint(&row).await?
                && let Some(mut learned) = self.restored(checkpoint, overrides).await?
            {
                learned.ruled = derived.cloned();
                return Ok(Some(learned));
            }
        }
        Ok(None)
    }

    /// Whether the matches of a checkpoint are the first ones on disk. A match that came late is not among them.
    pub(super) async fn is_valid(&self, row: &CheckpointRow) -> Result<bool, LearningError> {
        let extent = (row.matches, row.last_match);
        Ok(self.store.extent_to(row.cursor).await? == extent)
    }

    async fn stored_checkpoint(
        &self,
        row: &CheckpointRow,
    ) -> Result<Option<Checkpoint>, LearningError> {
        let Some((head, pieces)) = self.store.checkpoint(row.matches).await? else {
            return Ok(None);
        };
        let opened = Checkpoint::open(&head, pieces).filter(|one| one.is_of(row));
        if opened.is_none() {
            tracing::info!("ignoring a stored checkpoint: it is damaged, or of another version");
        }
        Ok(opened)
    }

    async fn restored(
        &self,
        checkpoint: Checkpoint,
        overrides: &OperatorOverrides,
    ) -> Result<Option<Learned>, LearningError> {
        let mut states = BTreeMap::new();
        for (system, pieces) in checkpoint.pieces_of_folds() {
            let Some(state) = self.joined(pieces).await? else {
                tracing::info!("ignoring a stored checkpoint: a piece is missing or damaged");
                return Ok(None);
            };
            states.insert(system, state);
        }
        let (settings, overrides) = (self.settings.clone(), overrides.clone());
        let restore = move || Learned::restore(&settings, &overrides, checkpoint, states);
        on_blocking_thread(restore).await
    }

    /// The state that consists of these pieces; `None` if one is missing or damaged.
    async fn joined(&self, pieces: &[PieceHash]) -> Result<Option<Vec<u8>>, LearningError> {
        let mut state = Vec::new();
        for some in pieces.chunks(PIECES) {
            let found = self.store.pieces(some).await?;
            let wanted = some.to_vec();
            let added = on_blocking_thread(move || {
                let is_whole = join(&mut state, &wanted, &found);
                is_whole.then_some(state)
            });
            match added.await? {
                Some(longer) => state = longer,
                None => return Ok(None),
            }
        }
        Ok(Some(state))
    }

    /// Publishes the weights with which this process begins, before anybody can ask. Returns the number of stored
    /// matches.
    ///
    /// If at most `at_once` matches have come since the checkpoint, folds them: the weights are then those of all
    /// stored matches. Otherwise, because the settings or the version have changed or there is much to fold, publishes
    /// the weights of the last process until [`refresh`](Self::refresh) has derived the present ones. If there are
    /// none but there are matches, [`is_starting`](Self::is_starting) is true until then.
    pub async fn resume(&self, at_once: i64) -> Result<i64, LearningError> {
        let overrides = self.store.overrides().await?;
        let extent = self.store.extent().await?;
        let is_complete = match self.fold_rest(&overrides, extent.0, at_once).await {
            Ok(is_complete) => is_complete,
            Err(error) => {
                tracing::warn!(%error, "cannot fold the latest matches");
                false
            }
        };
        if !is_complete {
            self.serve_stored(&overrides, extent).await?;
        }
        let _ = self.resumed.set(Instant::now());
        Ok(extent.0)
    }

    /// Continues from the checkpoint, or from nothing, until `matches` are folded, and publishes the weights. Returns
    /// `false` without effect if there is too much to fold.
    async fn fold_rest(
        &self,
        overrides: &OperatorOverrides,
        matches: i64,
        at_once: i64,
    ) -> Result<bool, LearningError> {
        let mut slot = self.learned.lock().await;
        let key = self.key(overrides);
        let derived = self.store.derived_from().await?;
        let learned = match self
            .restore(&key, overrides, derived.as_ref(), None)
            .await?
        {
            Some(learned) => learned,
            None => Learned::nothing(&self.settings, overrides)?,
        };
        if matches - learned.matches > at_once {
            return Ok(false);
        }
        // To compare rating systems takes as long as to fold all matches several times.
        let due = learned.comparison_due_at(matches);
        let compares = due.is_none_or(|due| i64::try_from(due).is_ok_and(|due| due <= at_once));
        let mut progress = |_| ();
        let learned = self.fold(learned, matches, compares, None, &mut progress);
        let learned = learned.await?;
        self.metrics.publish(&learned);
        let phase = if compares { CURRENT } else { OLD };
        self.replace(learned.knowledge.clone(), None, phase);
        *slot = Some((key, learned));
        Ok(true)
    }

    /// Publishes the weights of the last process: those of its checkpoint if this contains all matches, else those
    /// in the database.
    async fn serve_stored(
        &self,
        overrides: &OperatorOverrides,
        extent: (i64, i64),
    ) -> Result<(), LearningError> {
        let stored = self.store.checkpoints().await?;
        let complete = stored.first();
        let complete = complete.filter(|one| (one.matches, one.last_match) == extent);
        let checkpoint = match complete {
            Some(row) => self.stored_checkpoint(row).await?,
            None => None,
        };
        let learned = match checkpoint {
            Some(checkpoint) => self.restored(checkpoint, overrides).await?,
            None => None,
        };
        if let Some(learned) = learned {
            tracing::info!("serving the weights of the checkpoint until the new ones are derived");
            let gaps = self.gaps(&learned.knowledge.counts_as, true).await?;
            self.metrics.publish(&learned);
            self.replace(learned.knowledge, Some(gaps), OLD);
            return Ok(());
        }
        let derived = self.store.derived_from().await?;
        let known = derived.map_or(0, |derived| derived.matches);
        let knowledge = self.stored_knowledge(overrides).await?;
        let gaps = self.gaps(&knowledge.counts_as, false).await?;
        let (matches, _) = extent;
        let phase = match known {
            0 => {
                tracing::info!(
                    matches,
                    "no weights are served until all matches are folded"
                );
                STARTING
            }
            _ => {
                tracing::info!(
                    matches,
                    known,
                    "serving the weights in the database until the new ones are derived"
                );
                self.metrics.publish_stored(known);
                OLD
            }
        };
        self.replace(knowledge, Some(gaps), phase);
        Ok(())
    }

    async fn stored_knowledge(
        &self,
        overrides: &OperatorOverrides,
    ) -> Result<Knowledge, LearningError> {
        let rows = self.stored_weights().await?;
        Ok(stored_knowledge(&self.settings, overrides, rows)?)
    }
}
