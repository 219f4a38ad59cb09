//! The derived tables of the database: what was learned is written to them, of the weights only those that have changed
//! since they were written last. The weights of one database are compared with those of another that has the same matches.

use std::collections::{BTreeMap, BTreeSet};

use async_trait::async_trait;

use super::{
    Learning, LearningError,
    derive::{Look, on_blocking_thread},
    knowledge::Knowledge,
    learned::{LearnedState, Slot},
    writer::WriteGuard,
};

use crate::{
    model::{Kind, PlayerKey, Ruleset},
    rating::divisions::DivisionName,
    store::{
        DerivedFrom, DerivedRows, DivisionRow, Meanwhile, NewWeights, Recount, Store, StoreError,
        WeightRow,
    },
};

impl Learning {
    /// Notes which weights the database contains, if this process writes them and they are those of this state.
    pub(super) fn know_written(&self, look: &Look, learned: &LearnedState) {
        if let Some(before) = look.before.clone().filter(|_| look.guard.is_some()) {
            self.note_written(&look.key, before, learned);
        }
    }

    /// Notes that the weights in the database are those of this state, if what they are made `from` is.
    pub(super) fn note_written(&self, key: &str, from: DerivedFrom, learned: &LearnedState) {
        let mut written = self.written.lock();
        if written.is_none() && from == learned.made_from(key) {
            let knowledge = learned.knowledge.clone();
            *written = Some(Written { from, knowledge });
        }
    }

    /// Writes the derived data of the state in `slot`: all of it or what is new. The tables are made `from` these matches then,
    /// and have what was learned meanwhile. Returns `false` if that has to begin again, because another process has replaced
    /// it meanwhile, or has the lease now.
    ///
    /// While many rows are written, this process goes on learning.
    pub(super) async fn write<'a>(
        &'a self,
        mut slot: Slot<'a>,
        look: &Look,
        from: &DerivedFrom,
        guard: &WriteGuard,
    ) -> Result<(Slot<'a>, bool), LearningError> {
        let Some((_, learned)) = slot.as_mut() else {
            return Ok((slot, false));
        };
        let known = self.written.lock().take().filter(|_| !look.all);
        let derived = self.rows(learned, look, from, known.as_ref()).await?;
        let is_long = look.all || !derived.is_few();
        let was_replayed = std::mem::take(&mut learned.is_replayed);
        let mut news = News {
            learning: self,
            look,
            written: Written {
                from: from.clone(),
                knowledge: learned.knowledge.clone(),
            },
        };
        let writing = is_long.then(|| self.writes.begin());
        let locked = (!is_long).then_some(slot);
        let tables = self.store.learned();
        let written = tables.replace_derived_with(&derived, look.all, guard.lease(), &mut news);
        let written = written.await;
        let now = news.written;
        let mut slot = match locked {
            Some(slot) => slot,
            None => self.learned.lock().await,
        };
        drop(writing);
        let Some((_, learned)) = slot.as_mut().filter(|(key, _)| *key == look.key) else {
            return Ok((slot, false));
        };
        let is_written = match written {
            Err(error) if !self.has_lost_lease(&error) => Err(error),
            written => Ok(written.unwrap_or(false)),
        };
        if let Ok(true) = is_written {
            *self.written.lock() = Some(now);
            learned.ruled = Some(from.clone()).filter(|_| !learned.is_replayed);
        } else {
            learned.is_replayed |= was_replayed;
            learned.take_back(derived.rulings, is_long);
        }
        Ok((slot, is_written?))
    }

    /// Writes what a state has learned that is served until a replay has ended, as long as the tables are those of this state.
    /// They count as made from the same matches as before.
    pub(super) async fn write_served(
        &self,
        slot: Slot<'_>,
        look: &Look,
    ) -> Result<(), LearningError> {
        let Some((key, learned)) = slot.as_ref() else {
            return Ok(());
        };
        let Some((look, from)) = look.of_served(key) else {
            return Ok(());
        };
        let is_its = |written: &Written| written.from == from;
        let is_known = self.written.lock().as_ref().is_some_and(is_its);
        let goes_on = !learned.is_replayed && learned.ruled.as_ref() == Some(&from);
        let is_due = is_known && goes_on && !learned.pending.is_empty();
        if let Some(guard) = look.guard.as_ref().filter(|_| is_due) {
            drop(self.write(slot, &look, &from, guard).await?);
        }
        Ok(())
    }

    /// The rows to write where these weights are `known` to be written.
    async fn rows(
        &self,
        learned: &mut LearnedState,
        look: &Look,
        from: &DerivedFrom,
        known: Option<&Written>,
    ) -> Result<DerivedRows, LearningError> {
        let (knowledge, goes_on) = (learned.knowledge.clone(), !learned.is_replayed);
        let (known, is_all) = (known.cloned(), look.all && known.is_none());
        let new = move || knowledge.new_weights(known.as_ref(), goes_on);
        let weights = on_blocking_thread(new).await?;
        self.store
            .corrections()
            .add_accounts(&learned.accounts, is_all)
            .await?;
        learned.accounts.clear();
        Ok(DerivedRows {
            from: from.clone(),
            rulings: std::mem::take(&mut learned.pending),
            weights,
            divisions: self.division_rows(),
            seasons: self.settings.history.seasons.clone(),
            recount: Recount {
                correction: look.correction(learned),
                at: (self.clock)(),
                changes: look.overrides.changes,
            },
        })
    }

    /// The configured divisions, as the database stores them.
    fn division_rows(&self) -> Vec<DivisionRow> {
        let settings = &self.settings.history.divisions;
        let row = |name: &DivisionName| DivisionRow {
            name: name.as_str().to_owned(),
            decay_after_days: settings.decay_after_days.get(),
            decay_days: settings.decay_days.get(),
        };
        settings.names.iter().map(row).collect()
    }
}

/// What this process learns while it writes many rows.
struct News<'a> {
    learning: &'a Learning,
    look: &'a Look,
    /// What the tables have then.
    written: Written,
}

#[async_trait]
impl Meanwhile for News<'_> {
    async fn next(&mut self) -> Option<DerivedRows> {
        let mut slot = self.learning.learned.lock().await;
        let (_, learned) = slot.as_mut().filter(|(key, _)| *key == self.look.key)?;
        if learned.is_replayed || learned.pending.is_empty() {
            return None;
        }
        let from = self.written.from.clone();
        let rows = self
            .learning
            .rows(learned, self.look, &from, Some(&self.written));
        match rows.await {
            Ok(rows) => {
                self.written.knowledge = learned.knowledge.clone();
                Some(rows)
            }
            Err(error) => {
                tracing::warn!(%error, "what was learned meanwhile is written later");
                None
            }
        }
    }
}

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
    fn new_weights(&self, written: Option<&Written>, goes_on: bool) -> NewWeights {
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

/// What came of a comparison.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verified {
    /// All weights are equal, to the last bit; their number.
    Equal(usize),
    /// Some are not: how many, and one of them with its ruleset.
    Different(usize, String),
    /// They cannot be compared, because the other database has none yet, or not those of all its matches, or those of
    /// another configuration.
    Incomparable(&'static str),
}

impl Learning {
    /// Compares the weights with those in the other database, which has the same matches.
    pub async fn compare_with(&self, other: &Store) -> Result<Verified, LearningError> {
        let overrides = self.store.corrections().overrides().await?;
        let (matches, _) = self.store.matches().extent().await?;
        Ok(match other.learned().derived_from().await? {
            None => Verified::Incomparable("it has no weights yet"),
            Some(from) if from.settings != self.key(&overrides) => {
                Verified::Incomparable("its weights are those of another configuration or version")
            }
            Some(from) if from.matches != matches => {
                Verified::Incomparable("its weights are not those of all its matches")
            }
            Some(_) => compare(
                &stored_weights(&self.store).await?,
                &stored_weights(other).await?,
            ),
        })
    }
}

/// All weights in a database.
pub(super) async fn stored_weights(store: &Store) -> Result<Vec<WeightRow>, StoreError> {
    let mut rows = Vec::new();
    for ruleset in store.learned().rulesets().await? {
        for kind in [Kind::Human, Kind::Bot] {
            rows.extend(store.learned().weights(&ruleset, kind).await?);
        }
    }
    Ok(rows)
}

/// Compares two sets of weights. Numbers that are equal have the same bits: none is NaN, and -0 counts as 0,
/// as SQLite stores it.
fn compare(derived: &[WeightRow], stored: &[WeightRow]) -> Verified {
    let by_key = |rows: &'_ [WeightRow]| -> BTreeMap<_, WeightRow> {
        let rows = rows.iter().cloned();
        rows.map(|row| ((row.ruleset.clone(), row.key.clone()), row))
            .collect()
    };
    let (derived, stored) = (by_key(derived), by_key(stored));
    let missing = derived.keys().filter(|key| !stored.contains_key(key));
    let other = stored
        .iter()
        .filter(|(key, row)| derived.get(key) != Some(row));
    let mut different = missing.chain(other.map(|(key, _)| key));
    match different.next() {
        None => Verified::Equal(derived.len()),
        Some((ruleset, player)) => {
            let one = format!("{} in {ruleset}", player.id);
            Verified::Different(1 + different.count(), one)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    use crate::model::{PlayerKey, Timestamp};

    fn row(player: &str, weight: f64) -> WeightRow {
        let (kind, id) = (Kind::Human, player.to_owned());
        WeightRow {
            ruleset: "ctf".into(),
            key: PlayerKey { kind, id },
            name: player.into(),
            weight,
            deviation: 1.0,
            rank: None,
            games: 1,
            wins: 1,
            last_seen: Timestamp(0),
            is_pinned: false,
        }
    }

    #[test]
    fn a_weight_that_differs_in_its_last_bit_is_found() {
        let both = [row("ann", 50.5), row("bob", 49.5)];
        let swapped = [both[1].clone(), both[0].clone()];
        assert_eq!(compare(&both, &swapped), Verified::Equal(2));
        let ann = |count| Verified::Different(count, "ann in ctf".to_owned());
        let close = [row("ann", 50.5_f64.next_up()), both[1].clone()];
        assert_eq!(compare(&both, &close), ann(1));
        assert_eq!(compare(&both, &both[1..]), ann(1));
        assert_eq!(compare(&both[1..], &both), ann(1));
        assert_eq!(compare(&both, &[]), ann(2));
    }
}
