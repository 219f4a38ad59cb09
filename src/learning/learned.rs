//! The learned state. Only one task at a time adds matches to it.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use serde::{Deserialize, Serialize};
use tokio::sync::MutexGuard;

use super::{
    LearningError, Settings,
    keys::content_key,
    knowledge::Knowledge,
    prediction::Predictions,
    rulings,
    spacing::{is_close, kept},
};
use crate::{
    model::{CountsAs, MatchRecord, Outcome, PlayerKey, Rulebook, Ruleset, StartWeight},
    rating::history::{self, Balance, Fold, Late},
    rating::{SystemChoice, SystemName},
    store::{Cursor, DerivedFrom, OperatorOverrides, RulingRow, Spool, Stored},
};

/// How far a fold has come.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Progress {
    /// The position after the last match folded.
    pub cursor: Cursor,
    /// Number of matches folded, rated or not.
    pub matches: i64,
    /// The sum of their fingerprints, modulo 2^128: with their number, it tells whether they are those of a database.
    pub sum: u128,
    /// The highest id among them.
    pub last_match: i64,
    /// How many of them are rated.
    pub rated: u64,
    /// How good the predictions for them were.
    pub predictions: Predictions,
    /// The number of matches at the last comparison of rating systems.
    pub judged: usize,
    /// Remarks already logged.
    pub warned: BTreeSet<(Ruleset, String)>,
}

/// A state that a fold has had, and can go on from. It shares with later ones whatever has not changed since.
#[derive(Clone)]
pub(super) struct Point {
    pub at: Progress,
    /// The rating system chosen for each ruleset.
    pub chosen: Arc<BTreeMap<Ruleset, SystemName>>,
    /// How even the rated matches were.
    pub balance: Balance,
    pub folds: BTreeMap<SystemName, Fold>,
}

/// An earlier state in memory.
#[derive(Clone)]
pub(super) struct Past {
    pub point: Point,
    /// About how many bytes it has, as if it shared nothing.
    bytes: usize,
}

impl From<Point> for Past {
    fn from(point: Point) -> Self {
        /// What a player has in a ruleset, as it was measured in a checkpoint.
        const EACH: usize = 240;
        let folds = point.folds.values();
        let players = folds.flat_map(|fold| fold.rulesets().map(|own| fold.players_of(own)));
        let bytes = players.sum::<usize>() * EACH;
        Self { point, bytes }
    }
}

/// What was learned from the matches folded so far.
pub(super) struct Learned {
    pub(super) at: Progress,
    /// Whether anybody wants the rulings.
    pub(super) rules: bool,
    /// Rulings that have not been written to disk yet.
    pub(super) pending: Spool<RulingRow>,
    /// Whether these are the rulings on all folded matches.
    pub(super) has_all_rulings: bool,
    /// Whether it was folded from an earlier state or from nothing since its rulings were written last, so that matches with a
    /// ruling may come after new ones.
    pub(super) is_replayed: bool,
    /// What the derived tables were made from when they had the rulings on all folded matches but the pending ones;
    /// `None` if some may be missing.
    pub(super) ruled: Option<DerivedFrom>,
    pub(super) knowledge: Knowledge,
    /// Ids of the matches that an operator has made void.
    void: BTreeSet<i64>,
    /// Whether rating systems are compared.
    pub(super) auto: bool,
    /// Earlier states, the first one first, from which matches that come late are folded.
    pub(super) past: Vec<Past>,
    /// The key of its checkpoints: a hash of the settings and overrides.
    pub(super) content: String,
    /// With how many matches it began: those of a checkpoint, or none.
    pub(super) begun: i64,
    /// The same value as long as it goes on, also from its earlier states, and another one in each state that begins anew.
    pub(super) line: Arc<()>,
    /// Number of matches in the last checkpoint on disk.
    pub(super) saved: i64,
    /// The number of matches that there will be, as far as it is known.
    pub(super) goal: i64,
    /// Identities in these matches that are not in the form under which their players are known, and that form: Steam ids,
    /// and names with tags. They are not on disk yet.
    pub(super) accounts: BTreeMap<PlayerKey, PlayerKey>,
    pub(super) rulebook: Rulebook,
    pub(super) history: history::Settings,
}

/// The learned state with the key of its settings and overrides, locked.
pub(super) type Slot<'a> = MutexGuard<'a, Option<(String, Learned)>>;

/// The ruling of a match that an operator has made void.
const VOID: &str = "void";

impl Learned {
    pub(super) fn nothing(
        settings: &Settings,
        overrides: &OperatorOverrides,
    ) -> Result<Self, LearningError> {
        let rulebook = Rulebook::new(&settings.rulebook)?;
        let first = settings.history.rating.system.name();
        let auto = settings.history.rating.system == SystemChoice::Auto;
        let systems: &[SystemName] = if auto { &SystemName::ALL } else { &[first] };
        let content = content_key(settings, overrides)?;
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
            at: Progress::default(),
            content,
            rules: true,
            pending: Spool::default(),
            has_all_rulings: true,
            is_replayed: true,
            ruled: None,
            knowledge: Knowledge {
                folds: systems.iter().map(fold).collect(),
                chosen: Arc::default(),
                first,
                balance: Balance::default(),
                pinned: Arc::new(overrides.pinned.iter().cloned().collect()),
                starts: Arc::new(starts.clone()),
                counts_as: Arc::new(counts_as),
                stored: None,
            },
            void: overrides.void.clone(),
            auto,
            past: Vec::new(),
            begun: 0,
            line: Arc::default(),
            saved: 0,
            goal: 0,
            accounts: BTreeMap::new(),
            rulebook,
            history: settings.history.clone(),
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
            self.remember_if_due();
            let (id, fingerprint) = (stored.id, stored.fingerprint);
            let mut record = self.rated_record(stored);
            self.note_accounts(&record);
            self.at.cursor = Cursor::after(record.end, fingerprint);
            self.at.matches += 1;
            self.at.sum = self.at.sum.wrapping_add(u128::from_be_bytes(fingerprint.0));
            self.at.last_match = self.at.last_match.max(id);
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
                        self.at.rated += 1;
                        let predictions = &mut self.at.predictions;
                        predictions.add(&ruling.ruleset, ruling.chance, record.outcome);
                    }
                    if self.rules {
                        let mut row = rulings::row(id, &record, &seats, &ruling);
                        if self.void.contains(&id) {
                            row.unrated = Some(VOID.into());
                        }
                        self.pending.push(row);
                    }
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
            if self.at.warned.insert((ruleset.clone(), warning.clone())) {
                tracing::info!(%ruleset, "{warning}");
            }
        }
    }

    /// Remembers this state before the next match is folded, if that one is too far from the state remembered last.
    fn remember_if_due(&mut self) {
        let last = self.past.last().map_or(0, |last| last.point.at.matches);
        let before = |matches: i64| (self.goal - matches).max(0);
        if self.at.matches > last && !is_close(before(last), before(self.at.matches + 1)) {
            self.past.push(self.point().into());
            let all = self.past.iter().rev();
            let all: Vec<(i64, usize)> = all
                .map(|past| (past.point.at.matches, past.bytes))
                .collect();
            let kept = kept(&all, self.at.matches);
            self.past
                .retain(|past| kept.contains(&past.point.at.matches));
        }
    }

    /// Takes back rulings that were not written. If it has learned more meanwhile, it does not have them all any more.
    pub(super) fn take_back(&mut self, rulings: Spool<RulingRow>, has_gone_on: bool) {
        self.has_all_rulings &= !has_gone_on;
        self.pending = match has_gone_on {
            true => Spool::default(),
            false => rulings,
        };
        self.ruled = self.ruled.take().filter(|_| !has_gone_on);
    }

    /// The number of matches of the first state that it remembers.
    pub(super) fn first(&self) -> i64 {
        let first = self.past.first().map_or(&self.at, |past| &past.point.at);
        first.matches
    }

    /// What rows of this state are made from, with the key of its settings and overrides.
    pub(super) fn made_from(&self, key: &str) -> DerivedFrom {
        DerivedFrom {
            matches: self.at.matches,
            last_match: self.at.last_match,
            settings: key.to_owned(),
        }
    }

    /// This state, to go on from it later.
    pub(super) fn point(&self) -> Point {
        Point {
            at: self.at.clone(),
            chosen: self.knowledge.chosen.clone(),
            balance: self.knowledge.balance.clone(),
            folds: self.knowledge.folds.clone(),
        }
    }

    /// A state that goes on from an earlier one, the one at this place of [`past`](Self::past). It shares with this one what
    /// neither changes. The rulings on the later matches are not those of the database any more.
    pub(super) fn earlier_at(&self, at: usize) -> Self {
        let point = self.past[at].point.clone();
        let mut earlier = Self {
            past: self.past[..=at].to_vec(),
            saved: self.saved.min(point.at.matches),
            line: self.line.clone(),
            at: Progress::default(),
            pending: Spool::default(),
            ruled: None,
            knowledge: self.knowledge.clone(),
            void: self.void.clone(),
            content: self.content.clone(),
            accounts: self.accounts.clone(),
            rulebook: self.rulebook.clone(),
            history: self.history.clone(),
            ..*self
        };
        earlier.go_on_from(point);
        earlier
    }

    /// Takes over a state whose rulings are in the database.
    pub(super) fn go_on_from(&mut self, point: Point) {
        let Point {
            at,
            chosen,
            balance,
            folds,
        } = point;
        self.has_all_rulings = at.matches == 0;
        self.is_replayed = true;
        self.pending.clear();
        self.at = at;
        self.knowledge.chosen = chosen;
        self.knowledge.balance = balance;
        let starts = &self.knowledge.starts;
        let started =
            |(name, fold): (SystemName, Fold)| (name, fold.with_starts((**starts).clone()));
        self.knowledge.folds = folds.into_iter().map(started).collect();
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
