//! How the rating systems compare on stored matches: on the latest ones, for the page about it, and on the whole
//! history, for `evenkeel evaluate`. By the same numbers, a ruleset can choose its rating system.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use serde::{Deserialize, Serialize};

use super::{CHUNK, Learning, LearningError, derive::on_blocking_thread, learned::LearnedState};
use crate::{
    model::{MatchRecord, Rulebook, Timestamp, merge::CountsAs},
    rating::SystemName,
    rating::history::{self, Evaluation, EvaluationPlan, Evaluator, Subset, SystemLine, evaluate},
    store::{Cursor, OperatorOverrides, StoredMatch, SystemsRow, as_text, time_of_text},
};

/// The most matches that are compared: the latest. All systems learn from them in a few seconds.
const MOST: usize = 2_000;
/// The fewest matches of a comparison.
const FEWEST: i64 = 32;
/// The shortest time between two comparisons with the same settings.
const REST: Duration = Duration::from_secs(3_600);
/// The time after which a comparison is made again as soon as there is another match.
const OLD: Duration = Duration::from_secs(24 * 3_600);

/// How well each rating system would have predicted the latest matches, as the page and `/v1` show it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SystemsReport {
    /// When this was computed.
    #[serde(serialize_with = "as_text", deserialize_with = "time_of_text")]
    pub computed: Timestamp,
    /// Number of matches that were compared: the latest.
    pub matches: usize,
    /// How many of them the predictions are measured on: those that a team won, after the first fifth.
    pub measured: usize,
    /// The end of the first match.
    #[serde(serialize_with = "as_text", deserialize_with = "time_of_text")]
    pub from: Timestamp,
    /// The end of the last match.
    #[serde(serialize_with = "as_text", deserialize_with = "time_of_text")]
    pub to: Timestamp,
    /// The configured system; `auto` if each ruleset has the best one.
    pub configured: String,
    /// The system with which the others are compared.
    pub reference: String,
    /// The systems, the best one first.
    pub systems: Vec<SystemMeasures>,
    /// The best system of each ruleset.
    pub best: Vec<BestOfRuleset>,
}

/// How well one system predicted.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SystemMeasures {
    /// The name of the system; `base rate` for the share of earlier matches that team 0 won.
    pub system: String,
    /// The share of matches that the favourite won.
    pub accuracy: f64,
    /// Mean −ln of the chance given to the result; a coin has 0.693.
    pub log_loss: f64,
    /// Mean squared difference of chance and result; a coin has 0.25.
    pub brier: f64,
    /// Mean difference between chances and how often they came true.
    pub calibration_error: f64,
    /// The 95 % interval of its log loss minus that of the reference.
    pub difference: Option<[f64; 2]>,
    /// `better`, `worse` or `level` beside the reference; `None` for the reference itself and for too few
    /// matches.
    pub beside: Option<String>,
}

/// The system that predicts a ruleset best.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BestOfRuleset {
    /// The key of the ruleset.
    pub ruleset: String,
    /// The name of the system.
    pub system: String,
    /// Its log loss there.
    pub log_loss: f64,
    /// Number of predicted matches.
    pub matches: usize,
}

impl Learning {
    /// Compares the rating systems and stores the result, if that is due at `now`: if there is no result, or
    /// if it is an hour old and there are other settings or a tenth more matches, or if it is a day old and
    /// there are more matches. Returns whether it was due.
    pub async fn compare_systems(&self, now: Timestamp) -> Result<bool, LearningError> {
        let (matches, _) = self.store.matches().extent().await?;
        let last = self.store.learned().systems_report().await?;
        if !is_due(last.as_ref(), &self.settings_key, matches, now) {
            return Ok(false);
        }
        let latest = self.store.matches().latest_matches(None, MOST).await?;
        let first = latest.last().map(|line| line.ended).unwrap_or_default();
        let records = self.matches_after(Cursor::since(first)).await?;
        let rulebook = Rulebook::new(&self.settings.rulebook)?;
        let history = self.settings.history.clone();
        let report =
            on_blocking_thread(move || compare(&records, &rulebook, &history, now)).await?;
        let row = SystemsRow {
            settings: self.settings_key.clone(),
            matches,
            computed_at: now,
            report: serde_json::to_string(&report)?,
        };
        self.store.learned().store_systems_report(&row).await?;
        Ok(true)
    }
}

/// Whether a comparison is due at `now`, with these settings and `matches` matches.
fn is_due(last: Option<&SystemsRow>, settings: &str, matches: i64, now: Timestamp) -> bool {
    let Some(last) = last else {
        return matches >= FEWEST;
    };
    let age = now.0.saturating_sub(last.computed_at.0);
    let older = |than: Duration| u128::try_from(age).is_ok_and(|age| age >= than.as_millis());
    let more = matches.saturating_sub(last.matches);
    let is_other = last.settings != settings || more > last.matches / 10;
    (older(REST) && is_other && matches >= FEWEST) || (older(OLD) && more > 0)
}

/// Compares all systems on matches in order. CPU-heavy.
fn compare(
    records: &[MatchRecord],
    rulebook: &Rulebook,
    settings: &history::Settings,
    now: Timestamp,
) -> SystemsReport {
    let plan = EvaluationPlan::default();
    let result = evaluate(
        records.iter(),
        records.len(),
        rulebook,
        settings,
        &plan,
        &mut || 0.0,
        &mut |_| (),
    );
    let configured = settings.rating.system;
    let reference = configured.name();
    let table = result.table(None, Subset::All, Some(reference));
    let mut systems: Vec<SystemMeasures> =
        table.iter().map(|line| measures(line, reference)).collect();
    systems.sort_by(|a, b| a.log_loss.total_cmp(&b.log_loss));
    let end = |record: Option<&MatchRecord>| record.map(|record| record.end).unwrap_or_default();
    SystemsReport {
        computed: now,
        matches: records.len(),
        measured: table.first().map_or(0, |line| line.metrics.matches),
        from: end(records.first()),
        to: end(records.last()),
        configured: configured.as_str().to_owned(),
        reference: reference.as_str().to_owned(),
        systems,
        best: best(&result),
    }
}

fn measures(line: &SystemLine, reference: SystemName) -> SystemMeasures {
    let beside = line.comparison().filter(|_| line.system != Some(reference));
    let metrics = &line.metrics;
    SystemMeasures {
        system: line
            .system
            .map_or("base rate", SystemName::as_str)
            .to_owned(),
        accuracy: metrics.accuracy,
        log_loss: metrics.log_loss,
        brier: metrics.brier,
        calibration_error: metrics.calibration_error,
        difference: line
            .against
            .filter(|_| line.system != Some(reference))
            .map(|interval| [interval.low, interval.high]),
        beside: beside.map(|beside| beside.as_str().to_owned()),
    }
}

fn best(result: &Evaluation) -> Vec<BestOfRuleset> {
    let of = |ruleset| {
        let (system, line) = result.best(ruleset)?;
        Some(BestOfRuleset {
            ruleset: ruleset.to_string(),
            system: system.as_str().to_owned(),
            log_loss: line.metrics.log_loss,
            matches: line.metrics.matches,
        })
    };
    result.rulesets.iter().filter_map(of).collect()
}

/// The number of matches at the latest comparison that is due: at 32, then at each growth by half.
fn comparison_step(matches: usize) -> usize {
    let grown = |n: &usize| Some(n + n / 2);
    let steps = std::iter::successors(Some(32), grown);
    steps.take_while(|n| *n <= matches).last().unwrap_or(0)
}

impl LearnedState {
    /// The number of matches, from the first, on which to compare the rating systems now; `None` if
    /// no comparison is due. One is due whenever the history has grown by half. That depends on the
    /// matches alone, not on how many of them arrive at a time.
    pub(super) fn comparison_due(&self) -> Option<usize> {
        self.comparison_due_at(self.at.matches)
    }

    /// The same once `matches` are folded.
    pub(super) fn comparison_due_at(&self, matches: i64) -> Option<usize> {
        let due = comparison_step(usize::try_from(matches).unwrap_or(0));
        (self.auto && due > self.at.judged).then_some(due)
    }

    /// A comparison of all rating systems on the first `count` matches, which it has not begun yet.
    pub(super) fn comparison(&self, count: usize) -> Evaluator {
        Evaluator::new(
            count,
            &self.rulebook,
            &self.history,
            &EvaluationPlan::default(),
        )
    }

    /// The record in the form in which rating systems are compared.
    pub(super) fn compared_record(&self, stored: StoredMatch) -> MatchRecord {
        let mut record = self.rated_record(stored);
        record.merge_players(&self.knowledge.counts_as);
        record
    }

    /// Chooses for each ruleset the rating system that predicted best; see [`Evaluation::best`].
    pub(super) fn choose(&mut self, result: &Evaluation) {
        self.at.judged = result.matches;
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
        for one in self.past.iter_mut().map(|past| &mut past.point) {
            if usize::try_from(one.at.matches).is_ok_and(|matches| matches >= self.at.judged) {
                (one.at.judged, one.chosen) = (self.at.judged, self.knowledge.chosen.clone());
            }
        }
    }
}

impl Learning {
    /// Reads every stored match in (end time, fingerprint) order, except for those that an operator has made
    /// void. Players that an operator merged appear under one identity.
    pub async fn matches(&self) -> Result<Vec<MatchRecord>, LearningError> {
        self.matches_after(Cursor::START).await
    }

    /// Passes on the same matches, with their ids in the store: some at a time are in memory. Stops at the first error.
    pub async fn each_match<E: From<LearningError>>(
        &self,
        each: impl FnMut(StoredMatch) -> Result<(), E>,
    ) -> Result<(), E> {
        self.each_match_after(Cursor::START, each).await
    }

    /// The operator's overrides.
    pub async fn overrides(&self) -> Result<OperatorOverrides, LearningError> {
        let stored = self.store.corrections().overrides().await?;
        Ok(stored.without_tags(&self.settings.tags))
    }

    /// Reads the matches after a position.
    pub(super) async fn matches_after(
        &self,
        cursor: Cursor,
    ) -> Result<Vec<MatchRecord>, LearningError> {
        let mut all = Vec::new();
        let add = |stored: StoredMatch| {
            all.push(stored.record);
            Ok::<(), LearningError>(())
        };
        self.each_match_after(cursor, add).await?;
        Ok(all)
    }

    async fn each_match_after<E: From<LearningError>>(
        &self,
        mut cursor: Cursor,
        mut each: impl FnMut(StoredMatch) -> Result<(), E>,
    ) -> Result<(), E> {
        let overrides = self
            .store
            .corrections()
            .overrides()
            .await
            .map_err(LearningError::from)?;
        let counts_as = CountsAs::new(overrides.merged, &self.settings.tags);
        loop {
            let read = self.store.matches().after(cursor, CHUNK).await;
            let (matches, next) = read.map_err(LearningError::from)?;
            if matches.is_empty() {
                return Ok(());
            }
            cursor = next;
            let valid = |stored: &StoredMatch| !overrides.void.contains(&stored.id);
            for mut stored in matches.into_iter().filter(valid) {
                stored.record.merge_players(&counts_as);
                each(stored)?;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_comparison_is_due_as_the_matches_grow() {
        let hours = |hours: i64| Timestamp(hours * 3_600_000);
        let last = SystemsRow {
            settings: "a".into(),
            matches: 100,
            computed_at: hours(0),
            report: String::new(),
        };
        let due = |settings, matches, at| is_due(Some(&last), settings, matches, at);
        assert!(!is_due(None, "a", 31, hours(0)) && is_due(None, "a", 32, hours(0)));
        assert!(!due("a", 200, Timestamp(3_599_999)) && due("a", 200, hours(1)));
        assert!(!due("a", 110, hours(23)) && due("a", 111, hours(1)));
        assert!(due("a", 101, hours(24)) && !due("a", 100, hours(1_000)));
        assert!(!due("b", 100, Timestamp(1)) && due("b", 100, hours(1)));
        assert!(!due("b", 200, hours(-5)), "a clock that was set back");
    }

    #[test]
    fn systems_are_compared_again_as_the_history_grows() {
        assert_eq!([0, 31].map(comparison_step), [0, 0]);
        assert_eq!(
            [32, 47, 48, 71, 72].map(comparison_step),
            [32, 32, 48, 48, 72]
        );
    }
}
