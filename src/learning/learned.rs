//! The learned state. Only one task at a time adds matches to it.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use super::{
    LearningError, Settings, checkpoint::Checkpoint, knowledge::Knowledge, prediction::Predictions,
    rulings, spacing::is_close,
};
use crate::{
    domain::{
        CountsAs, MatchRecord, Outcome, PatternError, PlayerKey, Rulebook, Ruleset, StartWeight,
    },
    history::{self, Balance, Fold, Late},
    rating::{SystemChoice, SystemName},
    store::{Cursor, DerivedFrom, OperatorOverrides, RulingRow, Spool, Stored},
};

/// What was learned from the matches folded so far, and the position after the last of them.
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
    pub(super) pending: Spool<RulingRow>,
    /// Whether these are the rulings on all folded matches.
    pub(super) has_all_rulings: bool,
    /// Whether it was folded from a checkpoint or from nothing since its rulings were written last, so that matches with a
    /// ruling may come after new ones.
    pub(super) is_replayed: bool,
    /// What the derived tables were made from when they had the rulings on all folded matches but the pending ones;
    /// `None` if some may be missing.
    pub(super) ruled: Option<DerivedFrom>,
    /// How good the predictions for the folded matches were.
    pub(super) predictions: Predictions,
    pub(super) knowledge: Knowledge,
    /// Ids of the matches that an operator has made void.
    void: BTreeSet<i64>,
    /// Whether rating systems are compared, and the number of matches at the last comparison.
    pub(super) auto: bool,
    pub(super) judged: usize,
    /// Number of matches in the last checkpoint, on disk or taken.
    pub(super) checkpointed: i64,
    /// The number of matches that there will be; `None` if no checkpoints are taken on the way.
    pub(super) goal: Option<i64>,
    /// The checkpoints that were taken, and whose rows are not on disk.
    pub(super) taken: Vec<Taken>,
    /// Identities in these matches that are not in the form under which their players are known, and that form: Steam ids,
    /// and names with tags. They are not on disk yet.
    pub(super) accounts: BTreeMap<PlayerKey, PlayerKey>,
    pub(super) rulebook: Rulebook,
    pub(super) history: history::Settings,
    pub(super) warned: BTreeSet<(Ruleset, String)>,
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
        let overrides = overrides.clone().without_tags(&settings.tags);
        let counts_as = CountsAs::new(overrides.merged.iter().cloned(), &settings.tags);
        let starts = start_weights(&overrides, &counts_as);
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
            pending: Spool::default(),
            has_all_rulings: true,
            is_replayed: true,
            ruled: None,
            predictions: Predictions::default(),
            knowledge: Knowledge {
                folds: systems.iter().map(fold).collect(),
                chosen: Arc::default(),
                first,
                balance: Balance::default(),
                pinned: Arc::new(overrides.pinned.iter().cloned().collect()),
                starts: Arc::new(starts.clone()),
                counts_as: Arc::new(counts_as),
                stored: None,
                newer: None,
            },
            void: overrides.void.clone(),
            auto,
            judged: 0,
            checkpointed: 0,
            goal: None,
            taken: Vec::new(),
            accounts: BTreeMap::new(),
            rulebook,
            history: settings.history.clone(),
            warned: BTreeSet::new(),
        })
    }

    /// Notes the identities of a match that are not in the form under which their players are known.
    fn note_accounts(&mut self, record: &MatchRecord) {
        for PlayerKey { kind, id } in record.participants.iter().map(|one| &one.key) {
            if let Some(canonical) = self.knowledge.counts_as.canonical(*kind, id) {
                let (kind, id) = (*kind, id.clone());
                self.accounts.insert(PlayerKey { kind, id }, canonical);
            }
        }
    }

    /// Learns from matches in order. CPU-heavy: run it on a blocking thread.
    pub(super) fn push_all(&mut self, matches: Vec<Stored>) {
        for stored in matches {
            self.take_checkpoint_if_due();
            let (id, fingerprint) = (stored.id, stored.fingerprint);
            let mut record = self.rated_record(stored);
            self.note_accounts(&record);
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
                    self.knowledge.balance.push(&record, &ruling);
                    if ruling.rated.is_ok() {
                        self.rated += 1;
                        let predictions = &mut self.predictions;
                        predictions.add(&ruling.ruleset, ruling.chance, record.outcome);
                    }
                    let mut row = rulings::row(id, &record, &seats, &ruling);
                    if self.void.contains(&id) {
                        row.unrated = Some(VOID.into());
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

    /// The record in the form in which it is rated. A void match counts as abandoned: it keeps its
    /// place in the order of matches and changes no rating.
    pub(super) fn rated_record(&self, stored: Stored) -> MatchRecord {
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
            balance: self.knowledge.balance.clone(),
            warned: self.warned.clone(),
            pieces: Vec::new(),
            bytes: 0,
        };
        let folds = Some(self.knowledge.folds.clone());
        self.taken.push(Taken { checkpoint, folds });
        self.checkpointed = self.matches;
    }

    /// Takes back checkpoints whose pieces were to be written; `None` if they were not, because the lease is lost. Those
    /// that were not written are dropped. Returns whether they were.
    pub(super) fn put_back(
        &mut self,
        written: Result<Option<Vec<Taken>>, LearningError>,
    ) -> Result<bool, LearningError> {
        match written {
            Ok(Some(written)) => {
                self.taken.splice(0..0, written);
                Ok(true)
            }
            failed => {
                self.checkpointed = 0; // the next one is due at once
                failed.map(|_| false)
            }
        }
    }
}

/// The start weights by the identity that each player counts as; its own comes first.
fn start_weights(
    overrides: &OperatorOverrides,
    into: &CountsAs,
) -> BTreeMap<PlayerKey, StartWeight> {
    let mut starts = BTreeMap::new();
    for (key, start) in &overrides.starts {
        match into.get(key.kind, &key.id) {
            Some(into) => {
                starts.entry(into.into_owned()).or_insert(*start);
            }
            None => {
                starts.insert(key.clone(), *start);
            }
        }
    }
    starts
}
