//! Compares the weights in the database with those in another one that has the same matches.

use std::collections::BTreeMap;

use super::{Learning, LearningError};
use crate::{
    model::Kind,
    store::{Store, StoreError, WeightRow},
};

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
