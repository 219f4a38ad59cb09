//! The weights as they are written: what has changed since they were written last.

use std::collections::{BTreeMap, BTreeSet};

use super::knowledge::Knowledge;
use crate::{
    model::{PlayerKey, Ruleset},
    store::{DerivedFrom, NewWeights, WeightRow},
};

/// The content of the table of weights.
#[derive(Clone)]
pub(super) struct Written {
    /// What the derived tables are made from.
    pub from: DerivedFrom,
    /// The state whose weights are in the table.
    pub knowledge: Knowledge,
}

impl Knowledge {
    /// What to write where these weights were `written`, if they are known. `goes_on` is whether this state has learned
    /// further matches only.
    pub(super) fn new_weights(&self, written: Option<&Written>, goes_on: bool) -> NewWeights {
        let Some(Written { from, knowledge }) = written else {
            return NewWeights {
                rows: self.rows(),
                spans: self.all_spans().into_iter().collect(),
                ..NewWeights::default()
            };
        };
        let is_same = self.chosen == knowledge.chosen && self.pinned == knowledge.pinned;
        let new = match goes_on && is_same {
            true => self.weights_since(knowledge),
            false => self.weights_unlike(knowledge),
        };
        NewWeights {
            since: Some(from.clone()),
            ..new
        }
    }

    /// The weights of those who have played since an earlier state.
    fn weights_since(&self, before: &Self) -> NewWeights {
        let mut new = NewWeights::default();
        for (system, fold) in &self.folds {
            let Some(old) = before.folds.get(system) else {
                continue;
            };
            let rated = fold.rated_since(old);
            for ruleset in rated.filter(|own| self.serves(*system, own)) {
                let mut keys: BTreeSet<&PlayerKey> = fold.weighed_since(old, ruleset).collect();
                if let (Some(now), Some(was)) = (self.accounts(ruleset), before.accounts(ruleset)) {
                    keys.extend(now.weighed_since(was, ruleset));
                }
                let spans = self.spans(ruleset);
                if spans != before.spans(ruleset) {
                    keys.extend(self.pinned.keys()); // the division of a weight that is set
                    new.spans.push((ruleset.to_string(), spans));
                }
                let rows = keys.into_iter().filter_map(|key| self.row_of(ruleset, key));
                new.rows.extend(rows);
            }
            let renamed = fold.renamed_since(old).filter_map(|key| {
                let name = fold.name_of(key.kind, &key.id)?;
                let was = old.name_of(key.kind, &key.id)?;
                (was != name).then(|| (key.clone(), name.to_owned()))
            });
            new.names.extend(renamed);
        }
        new.names.sort();
        new.names.dedup();
        new
    }

    /// The weights that are others than those of any other state.
    fn weights_unlike(&self, before: &Self) -> NewWeights {
        let by_key = |rows: Vec<WeightRow>| -> BTreeMap<(String, PlayerKey), WeightRow> {
            let rows = rows.into_iter();
            rows.map(|row| ((row.ruleset.clone(), row.key.clone()), row))
                .collect()
        };
        let (mut old, mut old_spans) = (by_key(before.rows()), before.all_spans());
        let rows = by_key(self.rows()).into_iter();
        let rows = rows.filter(|(key, row)| old.remove(key).as_ref() != Some(row));
        let rows = rows.map(|(_, row)| row).collect();
        let spans = self.all_spans().into_iter();
        let spans = spans.filter(|(key, own)| old_spans.remove(key).as_ref() != Some(own));
        let mut spans: Vec<_> = spans.collect();
        spans.extend(old_spans.into_keys().map(|gone| (gone, Vec::new())));
        NewWeights {
            rows,
            gone: old.into_keys().collect(),
            spans,
            ..NewWeights::default()
        }
    }

    /// The spans of the divisions of a ruleset: those of the accounts.
    fn spans(&self, ruleset: &Ruleset) -> Vec<(f64, f64)> {
        let fold = self.accounts(ruleset).or(self.fold(ruleset));
        fold.map_or(Vec::new(), |fold| fold.spans(ruleset))
    }

    /// Those of all rulesets.
    fn all_spans(&self) -> BTreeMap<String, Vec<(f64, f64)>> {
        let served = self.folds.iter().flat_map(|(system, fold)| {
            let own = fold.rulesets();
            own.filter(|ruleset| self.serves(*system, ruleset))
        });
        served
            .map(|ruleset| (ruleset.to_string(), self.spans(ruleset)))
            .collect()
    }
}
