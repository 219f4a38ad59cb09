//! The learned state. Only one task at a time adds matches to it.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use super::{
    Settings, checkpoint::Checkpoint, knowledge::Knowledge, prediction::Predictions, rulings,
    scales::todays_overrides, spacing::is_close, stored::StoredWeights,
};
use crate::{
    domain::{MatchRecord, Outcome, PatternError, PlayerKey, Rulebook, Ruleset, StartWeight},
    history::{self, Evaluation, Evaluator, Fold, Late, Plan},
    rating::{SystemChoice, SystemName},
    store::{Cursor, DerivedFrom, OperatorOverrides, RulingRow, Stored, WeightRow},
};

/// What was learned from the matches folded so far, and the position after the last of them.
#[derive(Clone)]
pub(super) struct Learned {
    /// The position after the last match folded.
    pub(super) cursor: Cursor,
    /// Number of matches folded, rated or not.
    pub(super) matches: i64,
    /// The highest id among the folded matches.
    pub(super) last_match: i64,
    /// How many of the folded matches are rated.
    pub(super) rated: u64,
    /// Rulings that have not been written to disk yet.
    pub(super) pending: Vec<RulingRow>,
    /// Whether these are the rulings on all folded matches.
    pub(super) has_all_rulings: bool,
    /// What the derived tables were made from when they had the rulings on all folded matches but the pending ones;
    /// `None` if some may be missing.
    pub(super) ruled: Option<DerivedFrom>,
    /// How good the predictions for the folded matches were.
    pub(super) predictions: Predictions,
    pub(super) knowledge: Knowledge,
    /// Ids of the matches that an operator has made void.
    void: BTreeSet<i64>,
    /// Whether rating systems are compared, and the number of matches at the last comparison.
    auto: bool,
    judged: usize,
    /// Number of matches in the last checkpoint, on disk or taken.
    pub(super) checkpointed: i64,
    /// The number of matches that there will be; `None` if no checkpoints are taken on the way.
    pub(super) goal: Option<i64>,
    /// The checkpoints that were taken, and whose rows are not on disk.
    pub(super) taken: Vec<Taken>,
    rulebook: Rulebook,
    history: history::Settings,
    warned: BTreeSet<(Ruleset, String)>,
}

/// A checkpoint that was taken, without the key of the settings.
#[derive(Clone)]
pub(super) struct Taken {
    pub(super) checkpoint: Checkpoint,
    /// The folds, as long as their pieces are not on disk.
    pub(super) folds: Option<BTreeMap<SystemName, Fold>>,
}

/// The most checkpoints that wait to be written; enough for a history of any length.
const MOST_TAKEN: usize = 24;

/// The number of matches at the latest comparison that is due: at 32, then at each growth by half.
fn comparison_step(matches: usize) -> usize {
    let grown = |n: &usize| Some(n + n / 2);
    let steps = std::iter::successors(Some(32), grown);
    steps.take_while(|n| *n <= matches).last().unwrap_or(0)
}

/// The ruling of a match that an operator has made void.
const VOID: &str = "void";

impl Learned {
    pub(super) fn nothing(
        settings: &Settings,
        overrides: &OperatorOverrides,
    ) -> Result<Self, PatternError> {
        let rulebook = Rulebook::new(&settings.rulebook)?;
        let first = settings.history.rating.system.name();
        let auto = settings.history.rating.system == SystemChoice::Auto;
        let systems: &[SystemName] = if auto { &SystemName::ALL } else { &[first] };
        let overrides = todays_overrides(overrides.clone(), first);
        let starts = start_weights(&overrides);
        let fold = |&system: &SystemName| {
            let mut history = settings.history.clone();
            history.rating.system = system.into();
            let fold = Fold::new(&rulebook, history).with_starts(starts.clone());
            (system, fold)
        };
        Ok(Self {
            cursor: Cursor::START,
            matches: 0,
            last_match: 0,
            rated: 0,
            pending: Vec::new(),
            has_all_rulings: true,
            ruled: None,
            predictions: Predictions::default(),
            knowledge: Knowledge {
                folds: systems.iter().map(fold).collect(),
                chosen: Arc::default(),
                first,
                pinned: Arc::new(overrides.pinned.iter().cloned().collect()),
                starts: Arc::new(starts.clone()),
                counts_as: Arc::new(overrides.merged.iter().cloned().collect()),
                stored: None,
            },
            void: overrides.void.clone(),
            auto,
            judged: 0,
            checkpointed: 0,
            goal: None,
            taken: Vec::new(),
            rulebook,
            history: settings.history.clone(),
            warned: BTreeSet::new(),
        })
    }

    /// Learns from matches in order. CPU-heavy: run it on a blocking thread.
    pub(super) fn push_all(&mut self, matches: Vec<Stored>) {
        for stored in matches {
            self.take_checkpoint_if_due();
            let (id, fingerprint) = (stored.id, stored.fingerprint);
            let mut record = self.rated_record(stored);
            self.cursor = Cursor::after(record.end, fingerprint);
            self.matches += 1;
            self.last_match = self.last_match.max(id);
            let seats = record.merge_players(&self.knowledge.counts_as);
            let first = self.knowledge.first;
            let folds = self.knowledge.folds.iter_mut();
            let pushed = folds.map(|(system, fold)| (*system, fold.push(&record, fingerprint)));
            // What is stored depends on the matches alone, also while rating systems are compared.
            let ruling = pushed.fold(None, |ruling, (system, pushed)| match ruling {
                Some(ruling) if system != first => Some(ruling),
                _ => Some(pushed),
            });
            match ruling {
                Some(Ok(ruling)) => {
                    if ruling.rated.is_ok() {
                        self.rated += 1;
                        let predictions = &mut self.predictions;
                        predictions.add(&ruling.ruleset, ruling.chance, record.outcome);
                    }
                    let mut row = rulings::row(id, &record, &seats, &ruling);
                    if self.void.contains(&id) {
                        row.unrated = Some(VOID);
                    }
                    self.pending.push(row);
                }
                // The store returns matches in order, and each one once.
                Some(Err(Late)) | None => {
                    tracing::warn!(match_id = id, "ignoring a match that is out of order")
                }
            }
        }
    }

    /// Takes a checkpoint before the next match is folded, if that one is too far from the last checkpoint.
    fn take_checkpoint_if_due(&mut self) {
        let Some(goal) = self.goal.filter(|_| self.matches > self.checkpointed) else {
            return;
        };
        let before = |matches: i64| (goal - matches).max(0);
        if !is_close(before(self.checkpointed), before(self.matches + 1)) {
            self.take_checkpoint();
        }
    }

    /// Takes a checkpoint of this state. It shares everything with this state that does not change.
    pub(super) fn take_checkpoint(&mut self) {
        if self.taken.len() >= MOST_TAKEN {
            self.taken.remove(0);
        }
        let checkpoint = Checkpoint {
            key: String::new(),
            cursor: self.cursor,
            matches: self.matches,
            last_match: self.last_match,
            rated: self.rated,
            predictions: self.predictions.clone(),
            judged: self.judged,
            folds: BTreeMap::new(),
            chosen: (*self.knowledge.chosen).clone(),
            warned: self.warned.clone(),
            pieces: Vec::new(),
            bytes: 0,
        };
        let folds = Some(self.knowledge.folds.clone());
        self.taken.push(Taken { checkpoint, folds });
        self.checkpointed = self.matches;
    }

    /// The record in the form in which it is rated. A void match counts as abandoned: it keeps its
    /// place in the order of matches and changes no rating.
    fn rated_record(&self, stored: Stored) -> MatchRecord {
        let mut record = stored.record;
        if self.void.contains(&stored.id) {
            record.outcome = Outcome::Abandoned;
        }
        record
    }

    /// Logs the warnings about the ratings, each one once.
    pub(super) fn log_warnings(&mut self) {
        for (ruleset, warning) in self.knowledge.warnings() {
            if self.warned.insert((ruleset.clone(), warning.clone())) {
                tracing::info!(%ruleset, "{warning}");
            }
        }
    }

    /// The number of matches, from the first, on which to compare the rating systems now; `None` if
    /// no comparison is due. One is due whenever the history has grown by half. That depends on the
    /// matches alone, not on how many of them arrive at a time.
    pub(super) fn comparison_due(&self) -> Option<usize> {
        self.comparison_due_at(self.matches)
    }

    /// The same once `matches` are folded.
    pub(super) fn comparison_due_at(&self, matches: i64) -> Option<usize> {
        let due = comparison_step(usize::try_from(matches).unwrap_or(0));
        (self.auto && due > self.judged).then_some(due)
    }

    /// A comparison of all rating systems on the first `count` matches, which it has not begun yet.
    pub(super) fn comparison(&self, count: usize) -> Evaluator {
        Evaluator::new(count, &self.rulebook, &self.history, &Plan::default())
    }

    /// The record in the form in which rating systems are compared.
    pub(super) fn compared_record(&self, stored: Stored) -> MatchRecord {
        let mut record = self.rated_record(stored);
        record.merge_players(&self.knowledge.counts_as);
        record
    }

    /// Chooses for each ruleset the rating system that predicted best; see [`Evaluation::best`].
    pub(super) fn choose(&mut self, result: &Evaluation) {
        self.judged = result.matches;
        let mut chosen = BTreeMap::new();
        for ruleset in &result.rulesets {
            if let Some((system, line)) = result.best(ruleset) {
                let log_loss = line.metrics.log_loss;
                tracing::info!(%ruleset, %system, log_loss, "chose the rating system that predicts best");
                chosen.insert(ruleset.clone(), system);
            }
        }
        self.knowledge.chosen = Arc::new(chosen);
        // They have all these matches: what continues from them need not compare again.
        for Taken {
            checkpoint: one, ..
        } in &mut self.taken
        {
            if usize::try_from(one.matches).is_ok_and(|matches| matches >= self.judged) {
                (one.judged, one.chosen) = (self.judged, (*self.knowledge.chosen).clone());
            }
        }
    }
}

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
    knowledge.stored = Some(Arc::new(StoredWeights::new(rows, settings)));
    Ok(knowledge)
}

/// The start weights by the identity that each player counts as; its own comes first.
fn start_weights(overrides: &OperatorOverrides) -> BTreeMap<PlayerKey, StartWeight> {
    let into: BTreeMap<_, _> = overrides
        .merged
        .iter()
        .map(|(who, into)| (who, into))
        .collect();
    let mut starts = BTreeMap::new();
    for (key, start) in &overrides.starts {
        match into.get(key) {
            Some(into) => {
                starts.entry((*into).clone()).or_insert(*start);
            }
            None => {
                starts.insert(key.clone(), *start);
            }
        }
    }
    starts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn systems_are_compared_again_as_the_history_grows() {
        assert_eq!([0, 31].map(comparison_step), [0, 0]);
        assert_eq!(
            [32, 47, 48, 71, 72].map(comparison_step),
            [32, 32, 48, 48, 72]
        );
    }
}
