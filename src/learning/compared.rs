//! The choice of a rating system for each ruleset, by how well it predicts the matches so far.

use std::{collections::BTreeMap, sync::Arc};

use super::learned::Learned;
use crate::{
    model::MatchRecord,
    rating::history::{Evaluation, Evaluator, Plan},
    store::Stored,
};

/// The number of matches at the latest comparison that is due: at 32, then at each growth by half.
fn comparison_step(matches: usize) -> usize {
    let grown = |n: &usize| Some(n + n / 2);
    let steps = std::iter::successors(Some(32), grown);
    steps.take_while(|n| *n <= matches).last().unwrap_or(0)
}

impl Learned {
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
