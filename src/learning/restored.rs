//! What was learned, as the database has it.

use std::{collections::BTreeMap, sync::Arc};

use super::{
    Settings, checkpoint::Checkpoint, knowledge::Knowledge, learned::Learned, stored::StoredWeights,
};
use crate::{
    domain::PatternError,
    history::Fold,
    rating::SystemName,
    store::{OperatorOverrides, WeightRow},
};

impl Learned {
    /// The learned state of a checkpoint; `None` if it does not decode. A checkpoint from other
    /// settings contains weights by those settings: serve it, but do not add matches to it.
    /// CPU-heavy.
    pub(super) fn restore(
        settings: &Settings,
        overrides: &OperatorOverrides,
        checkpoint: Checkpoint,
        states: BTreeMap<SystemName, Vec<u8>>,
    ) -> Option<Self> {
        let mut learned = Self::nothing(settings, overrides).ok()?;
        let restored = states.into_iter().map(|(system, state)| {
            let mut history = settings.history.clone();
            history.rating.system = system.into();
            let fold = Fold::restore(&learned.rulebook, history, &state).ok()?;
            Some((
                system,
                fold.with_starts((*learned.knowledge.starts).clone()),
            ))
        });
        let folds: BTreeMap<SystemName, Fold> = restored.collect::<Option<_>>()?;
        let knowledge = &mut learned.knowledge;
        if !folds.contains_key(&knowledge.first) {
            knowledge.first = *folds.keys().next()?;
        }
        (knowledge.folds, knowledge.chosen) = (folds, Arc::new(checkpoint.chosen));
        knowledge.balance = checkpoint.balance;
        learned.cursor = checkpoint.cursor;
        learned.matches = checkpoint.matches;
        learned.has_all_rulings = checkpoint.matches == 0;
        learned.checkpointed = checkpoint.matches;
        learned.last_match = checkpoint.last_match;
        learned.rated = checkpoint.rated;
        learned.predictions = checkpoint.predictions;
        learned.judged = checkpoint.judged;
        learned.warned = checkpoint.warned;
        Some(learned)
    }
}

/// The knowledge that is in the database. It predicts no chances.
pub(super) fn stored_knowledge(
    settings: &Settings,
    overrides: &OperatorOverrides,
    rows: Vec<WeightRow>,
) -> Result<Knowledge, PatternError> {
    let mut knowledge = Learned::nothing(settings, overrides)?.knowledge;
    knowledge.folds.clear();
    knowledge.stored = Some(Arc::new(StoredWeights::new(rows)));
    Ok(knowledge)
}
