//! Writes checkpoints of the learned state, and continues from one. After such a start, it also gets back the earlier
//! states that a running daemon has.

use std::{collections::BTreeMap, fs, path::Path, sync::Arc};

use tokio::time::{Instant, sleep};

use super::{
    CURRENT, Learning, LearningError, OLD, STARTING,
    checkpoint::{self, Folder},
    derive::on_blocking_thread,
    derived_tables::stored_weights,
    knowledge::{Knowledge, StoredWeights},
    learned::{LearnedState, Point},
};
use crate::{
    model::{PlayerKey, weight::RoleWeights},
    store::{DerivedFrom, OperatorOverrides},
};

/// The most matches that a daemon folds before it serves: many more than come between two checkpoints, in case some
/// could not be written. It takes about a second.
pub const AT_ONCE: i64 = 1_000;

impl Learning {
    /// The state of the newest checkpoint whose matches are the first ones in the database, of at most `most` matches; else
    /// a state that has learned nothing.
    pub(super) async fn restore(
        &self,
        overrides: &OperatorOverrides,
        most: Option<i64>,
    ) -> Result<LearnedState, LearningError> {
        let mut learned = LearnedState::nothing(&self.settings, overrides)?;
        let Some(folder) = self.folder() else {
            return Ok(learned);
        };
        for path in folder.checkpoints(&learned.content)? {
            let point = self.point_in(&path, &learned, most).await?;
            if let Some(point) = point {
                (learned.begun, learned.saved) = (point.at.matches, point.at.matches);
                learned.go_on_from(point);
                break;
            }
        }
        Ok(learned)
    }

    /// The state in the file of a checkpoint, if its matches are the first ones in the database. Its bytes are decoded while the
    /// database tells which matches it has.
    async fn point_in(
        &self,
        path: &Path,
        learned: &LearnedState,
        most: Option<i64>,
    ) -> Result<Option<Point>, LearningError> {
        let (file, key) = (path.to_owned(), learned.content.clone());
        let content = on_blocking_thread(move || fs::read(file)).await??;
        let Some(at) = checkpoint::progress(&content, &key) else {
            ignore(path);
            return Ok(None);
        };
        if most.is_some_and(|most| at.matches > most) {
            return Ok(None);
        }
        let (rulebook, history) = (learned.rulebook.clone(), learned.history.clone());
        let read =
            on_blocking_thread(move || checkpoint::read(&content, &key, &rulebook, &history));
        let (point, stored) = tokio::join!(read, self.store.matches().content_to(at.cursor));
        let point = point?;
        if point.is_none() {
            ignore(path);
        }
        let is_stored = stored? == (at.matches, at.sum);
        Ok(point.filter(|_| is_stored))
    }

    /// What the derived tables were made from, if they have the rulings on the first `matches` matches.
    pub(super) async fn ruled(
        &self,
        key: &str,
        matches: i64,
    ) -> Result<Option<DerivedFrom>, LearningError> {
        let derived = self.store.learned().derived_from().await?;
        Ok(derived.filter(|derived| derived.settings == key && matches <= derived.matches))
    }

    /// Publishes the weights with which this process begins, before anybody can ask. Returns the number of stored
    /// matches.
    ///
    /// If at most `at_once` matches have come since the checkpoint, folds them: the weights are then those of all
    /// stored matches. Otherwise, because the settings or the version have changed or there is much to fold, publishes
    /// the weights of the last process until [`refresh`](Self::refresh) has derived the present ones. If there are
    /// none but there are matches, [`is_starting`](Self::is_starting) is true until then.
    pub async fn resume(&self, at_once: i64) -> Result<i64, LearningError> {
        let overrides = self.store.corrections().overrides().await?;
        let extent = self.store.matches().extent().await?;
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

    /// What somebody is worth on each side and as a commander, by ruleset. It is not in the database: nothing is known where
    /// there is no checkpoint, or an old one.
    pub async fn roles(
        &self,
        key: &PlayerKey,
    ) -> Result<BTreeMap<String, RoleWeights>, LearningError> {
        if self.standings().knowledge().is_none() {
            self.resume(AT_ONCE).await?;
        }
        let standings = self.standings();
        let known = standings.knowledge();
        Ok(known.map_or_else(BTreeMap::new, |known| known.roles_of(key)))
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
        let mut learned = self.restore(overrides, None).await?;
        self.discard(&learned).await;
        learned.ruled = self.ruled(&key, learned.at.matches).await?;
        if matches - learned.at.matches > at_once {
            return Ok(false);
        }
        // The tables are those of the first matches if no other one has come among them.
        if let Some(from) = learned.ruled.clone() {
            let later = self.store.matches().later_than(from.last_match).await?;
            if matches - later == from.matches {
                learned = self.fold(learned, from.matches, false, &mut |_| ()).await?;
                self.note_written(&key, from, &learned);
            }
        }
        // To compare rating systems takes as long as to fold all matches several times.
        let due = learned.comparison_due_at(matches);
        let compares = due.is_none_or(|due| i64::try_from(due).is_ok_and(|due| due <= at_once));
        let mut progress = |_| ();
        let learned = self.fold(learned, matches, compares, &mut progress);
        let learned = learned.await?;
        self.metrics.publish(&learned);
        let phase = if compares { CURRENT } else { OLD };
        self.replace(learned.knowledge.clone(), None, phase);
        *slot = Some((key, learned));
        Ok(true)
    }

    /// Publishes the weights of the last process, which are in the database.
    async fn serve_stored(
        &self,
        overrides: &OperatorOverrides,
        (matches, _): (i64, i64),
    ) -> Result<(), LearningError> {
        let derived = self.store.learned().derived_from().await?;
        let (known, last) = derived.map_or((0, 0), |derived| (derived.matches, derived.last_match));
        let knowledge = self.stored_knowledge(overrides).await?;
        let gaps = self.gaps(&knowledge.counts_as, last).await?;
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

    /// What the database has of weights. It predicts no chances.
    async fn stored_knowledge(
        &self,
        overrides: &OperatorOverrides,
    ) -> Result<Knowledge, LearningError> {
        let mut knowledge = LearnedState::nothing(&self.settings, overrides)?.knowledge;
        let rows = stored_weights(&self.store).await?;
        knowledge.folds.clear();
        knowledge.stored = Some(Arc::new(StoredWeights::new(rows)));
        Ok(knowledge)
    }
}

/// Says that a file is no checkpoint.
fn ignore(path: &Path) {
    tracing::info!(
        path = %path.display(),
        "ignoring a checkpoint: it is damaged, or of another version"
    );
}

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
    pub(super) async fn discard(&self, learned: &LearnedState) {
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

/// How many matches are folded at a time.
const SOME: i64 = 2_048;

impl Learning {
    /// Folds all matches once more, for a third of the time of one core, and keeps the earlier states: from then on, a match
    /// that comes late is folded from one that is not much older. Until then, it is folded from a checkpoint, or with all
    /// others.
    pub(super) async fn recall(&self) {
        loop {
            match self.try_recall().await {
                Ok(true) => return,
                Ok(false) => self.replays.end().await,
                Err(error) => {
                    tracing::warn!(%error, "late matches are folded with all others until the next start");
                    return;
                }
            }
        }
    }

    /// Returns whether it is done. A replay comes first, so that there are never three folds.
    async fn try_recall(&self) -> Result<bool, LearningError> {
        let overrides = self.store.corrections().overrides().await?;
        let mut all = LearnedState::nothing(&self.settings, &overrides)?;
        let Some((first, line)) = self.lacking(&all).await else {
            return Ok(true);
        };
        (all.rules, all.goal) = (false, first);
        while all.at.matches < first {
            let began = Instant::now();
            let before = all.at.matches;
            let enough = first.min(before + SOME);
            all = self.fold(all, enough, true, &mut |_| ()).await?;
            if self.is_learning_again() {
                return Ok(false);
            }
            if all.at.matches == before {
                return Ok(true); // there are fewer matches now
            }
            sleep(2 * began.elapsed()).await;
        }
        let mut slot = self.learned.lock().await;
        let learned = slot.as_mut().map(|(_, learned)| learned);
        let Some(learned) = learned.filter(|own| Arc::ptr_eq(&own.line, &line)) else {
            return Ok(false);
        };
        let first = learned.first();
        let earlier = all.past.into_iter();
        let earlier = earlier.filter(|past| past.point.at.matches < first);
        learned.past.splice(0..0, earlier);
        Ok(true)
    }

    /// How many matches each earlier state has that is in memory, the first one first.
    pub async fn remembers(&self) -> Vec<i64> {
        let slot = self.learned.lock().await;
        let past = slot.iter().flat_map(|(_, learned)| &learned.past);
        past.map(|past| past.point.at.matches).collect()
    }

    /// The number of matches of the first state that the present one remembers, and its line; `None` if it was folded from
    /// nothing, or with other overrides than `all`.
    async fn lacking(&self, all: &LearnedState) -> Option<(i64, Arc<()>)> {
        let slot = self.learned.lock().await;
        let (_, learned) = slot.as_ref()?;
        let lacks = learned.begun > 0 && learned.content == all.content;
        lacks.then(|| (learned.first(), learned.line.clone()))
    }
}
