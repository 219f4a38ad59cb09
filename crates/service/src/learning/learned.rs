//! The learned state: the folds of all matches so far. Only one task at a time adds matches to it.
//!
//! - Earlier states of a fold stay in memory. The further one lies behind the last match, the further apart they are,
//!   so that there are few of them, and a match that comes late is folded from one that is not much older.
//! - The state counts how good the predictions for the folded matches were, and has the rulings in the form in which
//!   they are stored.
//! - Hashes tell whether something was learned with the same settings and overrides.

use std::{
    collections::{BTreeMap, BTreeSet, VecDeque},
    sync::Arc,
    time::Duration,
};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use tokio::sync::MutexGuard;

use super::{LearningError, Settings, knowledge::Knowledge};
use crate::{
    model::{
        MatchRecord, Outcome, PlayerKey, Rulebook, Ruleset, merge::CountsAs, text::to_hex,
        weight::StartWeight,
    },
    rating::history::{
        self, BalanceStatistics, BesideCoin, Fold, Forecast, Gains, Late, Played, Ruling,
    },
    rating::{SystemChoice, SystemName},
    store::{
        Cursor, DerivedFrom, OperatorOverrides, Performance, RowSpool, RulingRow, StoredMatch,
    },
};

/// How far a fold has come.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct FoldProgress {
    /// The position after the last match folded.
    pub cursor: Cursor,
    /// Number of matches folded, rated or not.
    pub matches: i64,
    /// The sum of their numbers, modulo 2^128: with how many they are, it tells whether they are those of a database. Twice
    /// the fingerprint is the number of a match that is not rated because it had too much new, else once.
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
    pub at: FoldProgress,
    /// The rating system chosen for each ruleset.
    pub chosen: Arc<BTreeMap<Ruleset, SystemName>>,
    /// How even the rated matches were.
    pub balance: BalanceStatistics,
    pub folds: BTreeMap<SystemName, Fold>,
}

/// An earlier state in memory.
#[derive(Clone)]
pub(super) struct PastState {
    pub point: Point,
    /// About how many bytes it has, as if it shared nothing.
    bytes: usize,
}

impl From<Point> for PastState {
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
pub(super) struct LearnedState {
    pub(super) at: FoldProgress,
    /// Whether anybody wants the rulings.
    pub(super) rules: bool,
    /// Rulings that have not been written to disk yet.
    pub(super) pending: RowSpool<RulingRow>,
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
    pub(super) past: Vec<PastState>,
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
    /// The processor time of the folds since it began, or went on from an earlier state.
    pub(super) cost: Duration,
    /// Identities in these matches that are not in the form under which their players are known, and that form: Steam ids,
    /// and names with tags. They are not on disk yet.
    pub(super) accounts: BTreeMap<PlayerKey, PlayerKey>,
    pub(super) rulebook: Rulebook,
    pub(super) history: history::Settings,
}

/// The learned state with the key of its settings and overrides, locked.
pub(super) type Slot<'a> = MutexGuard<'a, Option<(String, LearnedState)>>;

/// The ruling of a match that an operator has made void.
const VOID: &str = "void";

impl LearnedState {
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
            at: FoldProgress::default(),
            content,
            rules: true,
            pending: RowSpool::default(),
            has_all_rulings: true,
            is_replayed: true,
            ruled: None,
            knowledge: Knowledge {
                folds: systems.iter().map(fold).collect(),
                chosen: Arc::default(),
                first,
                balance: BalanceStatistics::default(),
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
            cost: Duration::ZERO,
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
    pub(super) fn push_all(&mut self, matches: Vec<StoredMatch>) {
        for stored in matches {
            self.remember_if_due();
            let (id, fingerprint) = (stored.id, stored.fingerprint);
            let mut record = self.rated_record(stored);
            self.note_accounts(&record);
            self.at.cursor = Cursor::after(record.end, fingerprint);
            self.at.matches += 1;
            let number = u128::from_be_bytes(fingerprint.0);
            for _ in 0..=u8::from(record.too_many_new.is_some()) {
                self.at.sum = self.at.sum.wrapping_add(number);
            }
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
                        let mut row = ruling_row(id, &record, &seats, &ruling);
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
    pub(super) fn rated_record(&self, stored: StoredMatch) -> MatchRecord {
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
            let kept = kept_states(&all, self.at.matches);
            self.past
                .retain(|past| kept.contains(&past.point.at.matches));
        }
    }

    /// Takes back rulings that were not written. If it has learned more meanwhile, it does not have them all any more.
    pub(super) fn take_back(&mut self, rulings: RowSpool<RulingRow>, has_gone_on: bool) {
        self.has_all_rulings &= !has_gone_on;
        self.pending = match has_gone_on {
            true => RowSpool::default(),
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
            at: FoldProgress::default(),
            cost: Duration::ZERO,
            pending: RowSpool::default(),
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

/// A checkpoint is written after this number of new matches. To fold that many again takes a fraction of a second.
pub(super) const EVERY: i64 = 64;
/// If a match comes late, and `n` later ones are on disk, at most this multiple of `n`, and [`NEAR`], are folded
/// again. With 2, there are at most twenty states of 60,000 matches.
const RATIO: i64 = 2;
/// Where several daemons record matches, many come after a few later ones.
const NEAR: i64 = 8;
/// The most bytes of all states together, or as many as [`FEW`] states like the newest have; the older ones are left
/// out. What several states share counts for each of them.
const MOST_BYTES: usize = 256 << 20;
const FEW: usize = 4;

/// Whether no state is needed between two others, which lie `older` and `newer` matches before the last one.
fn is_close(older: i64, newer: i64) -> bool {
    older <= newer.saturating_mul(RATIO).saturating_add(NEAR)
}

/// Chooses the states to keep when there are `total` matches; returns how many matches each of them has. `all` are the
/// matches and bytes of each, the newest first. If these are close enough to each other, so are those that are kept.
pub(super) fn kept_states(all: &[(i64, usize)], total: i64) -> Vec<i64> {
    let (mut kept, mut bytes) = (Vec::new(), 0_usize);
    let newest = all.first().map_or(0, |(_, bytes)| *bytes);
    let most = MOST_BYTES.max(newest.saturating_mul(FEW));
    let mut newer = 0;
    for (index, (matches, own)) in all.iter().enumerate() {
        // Before the first one, there is the state without any match.
        let next = all.get(index + 1).map_or(0, |(matches, _)| *matches);
        if index > 0 && is_close(total - next, newer) {
            continue;
        }
        bytes = bytes.saturating_add(*own);
        if bytes > most {
            break;
        }
        newer = total - matches;
        kept.push(*matches);
    }
    kept
}

/// The number of last predictions that have a mean of their own.
const RECENT: usize = 100;
/// The most rulesets whose predictions are compared with a coin. It is limited because peers can invent rulesets.
const RULESETS: usize = 256;

/// The log losses of all predictions, summed up in the order of the matches.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Predictions {
    count: u64,
    sum: f64,
    /// The log losses of the last predictions.
    recent: VecDeque<f64>,
    /// How far all predictions are from a coin.
    gains: Gains,
    /// The same of each ruleset.
    by_ruleset: BTreeMap<Ruleset, Gains>,
}

impl Predictions {
    /// Adds a rated match, and the prediction for it, if it has one and a winner.
    pub fn add(&mut self, ruleset: &Ruleset, chance: Option<f64>, outcome: Outcome) {
        let forecast = match (chance, outcome) {
            (Some(chance), Outcome::Won(winner)) => Some(Forecast {
                chance,
                won: winner == 0,
            }),
            _ => None,
        };
        self.gains.add(forecast);
        if let Some(gains) = self.by_ruleset.get_mut(ruleset) {
            gains.add(forecast);
        } else if self.by_ruleset.len() < RULESETS {
            let gains = self.by_ruleset.entry(ruleset.clone()).or_default();
            gains.add(forecast);
        }
        let Some(forecast) = forecast else {
            return;
        };
        let loss = forecast.log_loss();
        self.count += 1;
        self.sum += loss;
        if self.recent.len() >= RECENT {
            self.recent.pop_front();
        }
        self.recent.push_back(loss);
    }

    /// Number of predictions.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// The mean log loss of all predictions; 0 if there are none.
    pub fn mean(&self) -> f64 {
        self.sum / self.count.max(1) as f64
    }

    /// How far all predictions are from a coin.
    pub fn beside_coin(&self) -> BesideCoin {
        self.gains.beside_coin()
    }

    /// How far the predictions of each ruleset are from a coin.
    pub fn beside_coin_by_ruleset(&self) -> BTreeMap<String, BesideCoin> {
        let of = |(ruleset, gains): (&Ruleset, &Gains)| (ruleset.to_string(), gains.beside_coin());
        self.by_ruleset.iter().map(of).collect()
    }

    /// The mean log loss of the last [`RECENT`] predictions; 0 if there are none.
    pub fn recent_mean(&self) -> f64 {
        self.recent.iter().sum::<f64>() / self.recent.len().max(1) as f64
    }
}

/// Converts the ruling on a folded record for the store. `seats` maps the participants of the record
/// to those of the stored one, which may have more identities.
pub(super) fn ruling_row(
    match_id: i64,
    record: &MatchRecord,
    seats: &[usize],
    ruling: &Ruling,
) -> RulingRow {
    let played = ruling.rated.as_ref().map_or(&[][..], Vec::as_slice);
    let performance = |own: &Played| {
        let participant = record.participants.get(own.participant)?;
        let team = participant.main_team().filter(|_| record.has_teams());
        let performance = Performance {
            key: participant.key.clone(),
            team,
            result: team.and_then(|team| result(record.outcome, team)),
            entry: own.entry,
            points_for: (!record.unscored).then_some(own.scored),
            points_against: (!record.unscored).then_some(own.conceded),
        };
        Some((*seats.get(own.participant)?, performance))
    };
    RulingRow {
        match_id,
        ruleset: ruling.ruleset.to_string(),
        unrated: ruling.rated.as_ref().err().map(|why| why.as_str().into()),
        ended_at: record.end,
        chance: ruling.chance,
        causes: ruling.causes,
        performances: played.iter().filter_map(performance).collect(),
    }
}

/// The result of a match for one team: 1, 0.5 or 0.
fn result(outcome: Outcome, team: u8) -> Option<f64> {
    match outcome {
        Outcome::Won(winner) => Some(f64::from(u8::from(winner == team))),
        Outcome::Draw => Some(0.5),
        Outcome::Undecided | Outcome::Abandoned => None,
    }
}

/// The version of the fold, a part of the settings' key. Increase it when the fold changes: every
/// database then derives its weights again.
pub(super) const FOLD_VERSION: u32 = 36;
/// The version of the form in which settings are hashed. With a new value, every database derives
/// its weights again.
const SETTINGS_FORMAT: u32 = 1;

/// Two hashes of everything that a learned state depends on besides the matches: of the settings, and of the operator's
/// overrides, which are the same in all daemons of a database. Two copies of a database may have the same number of changes,
/// and other ones.
fn content_key(
    settings: &Settings,
    overrides: &OperatorOverrides,
) -> Result<String, serde_json::Error> {
    let OperatorOverrides {
        merged,
        pinned,
        starts,
        void,
        forgotten,
        ..
    } = overrides;
    let form = serde_json::to_vec(&(merged, pinned, starts, void, forgotten))?;
    Ok(format!("{}-{}", settings_key(settings)?, short_hash(&form)))
}

fn short_hash(form: &[u8]) -> String {
    let digest = Sha256::digest(form);
    to_hex(&digest[..8])
}

/// A hash of the settings that weights depend on, in a form that has a version.
///
/// The settings are hashed as JSON: a new name of a Rust type does not change the key. A new name
/// of a field does, and the weights are then derived again.
pub(super) fn settings_key(settings: &Settings) -> Result<String, serde_json::Error> {
    let form = serde_json::to_vec(&(SETTINGS_FORMAT, FOLD_VERSION, settings))?;
    Ok(short_hash(&form))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The states after `total` matches that came `step` at a time.
    fn after(total: i64, step: i64) -> Vec<i64> {
        let mut all: Vec<(i64, usize)> = Vec::new();
        for matches in (0..=total).step_by(step as usize).skip(1) {
            all.insert(0, (matches, 1_000));
            let kept = kept_states(&all, matches);
            all.retain(|(matches, _)| kept.contains(matches));
        }
        all.into_iter().map(|(matches, _)| matches).collect()
    }

    #[test]
    fn few_are_kept_and_each_late_match_is_soon_after_one() {
        for (total, step, most) in [
            (640, 8, 10),
            (60_000, 64, 20),
            (60_000, 500, 20),
            (64, 64, 1),
        ] {
            let kept = after(total, step);
            assert!(kept.len() <= most, "{total} {step}: {kept:?}");
            let chain = kept.iter().chain(&[0]);
            let ages: Vec<i64> = chain.map(|matches| total - matches).collect();
            for pair in ages.windows(2) {
                assert!(pair[1] <= RATIO * pair[0] + step.max(NEAR), "{ages:?}");
            }
        }
    }

    #[test]
    fn large_ones_are_fewer() {
        let all = [
            (900, MOST_BYTES / 4),
            (700, MOST_BYTES / 2),
            (300, MOST_BYTES / 2),
        ];
        assert_eq!(kept_states(&all, 900), [900, 700]);
        let all = [(900, MOST_BYTES), all[1], all[2]];
        assert_eq!(kept_states(&all, 900), [900, 700, 300]);
        assert_eq!(kept_states(&[(900, usize::MAX)], 900), [900]);
        assert_eq!(kept_states(&[], 0), [0; 0]);
    }

    #[test]
    fn each_ruleset_is_compared_with_a_coin_and_strangers_cannot_add_many() {
        let mut predictions = Predictions::default();
        for number in 0..2 * RULESETS {
            let ruleset = Ruleset::parse(&format!("game{number}"));
            predictions.add(&ruleset, Some(0.8), Outcome::Won(0));
        }
        predictions.add(&Ruleset::parse("game0"), Some(0.8), Outcome::Draw);
        assert_eq!(predictions.by_ruleset.len(), RULESETS);
        let of = &predictions.beside_coin_by_ruleset()["game0"];
        assert_eq!((of.learned, of.predicted), (2, 1));
        let all = predictions.beside_coin();
        assert_eq!(all.learned, 2 * RULESETS as u64 + 1);
        assert_eq!(all.predicted, predictions.count());
        let mean = std::f64::consts::LN_2 - predictions.mean();
        assert!((all.gain - mean).abs() < 1e-12);
    }

    #[test]
    fn the_last_predictions_have_a_mean_of_their_own() {
        let mut predictions = Predictions::default();
        let ruleset = Ruleset::parse("ctf");
        assert_eq!((predictions.mean(), predictions.recent_mean()), (0.0, 0.0));
        predictions.add(&ruleset, Some(0.5), Outcome::Draw);
        predictions.add(&ruleset, None, Outcome::Won(0));
        assert_eq!(predictions.count(), 0, "without a winner or a chance");
        predictions.add(&ruleset, Some(0.75), Outcome::Won(1));
        for _ in 0..RECENT {
            predictions.add(&ruleset, Some(0.5), Outcome::Won(0));
        }
        let coin = 2.0_f64.ln();
        assert_eq!(predictions.count(), 101);
        assert!((predictions.recent_mean() - coin).abs() < 1e-12);
        let all = (4.0_f64.ln() + 100.0 * coin) / 101.0;
        assert!((predictions.mean() - all).abs() < 1e-12);
    }
}
