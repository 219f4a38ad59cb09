//! What answers questions about weights: the folds, and what operators have set.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use super::stored::StoredWeights;
use crate::{
    model::{CountsAs, Kind, PlayerKey, RoleWeights, Ruleset, StartWeight, Timestamp},
    rating::SystemName,
    rating::history::{Balance, Fold, Level, Suspect, Weight},
    store::{WeightRow, is_forgotten},
};

/// The part of the learned state that answers questions about weights. A copy shares with it whatever neither changes.
#[derive(Clone)]
pub(super) struct Knowledge {
    /// The fold of each rating system in use.
    pub(super) folds: BTreeMap<SystemName, Fold>,
    /// The rating system of each ruleset that does not use `first`.
    pub(super) chosen: Arc<BTreeMap<Ruleset, SystemName>>,
    pub(super) first: SystemName,
    /// How even the rated matches were. It is empty while `stored` is served.
    pub(super) balance: Balance,
    pub(super) pinned: Arc<BTreeMap<PlayerKey, f64>>,
    /// The weights at which players start, by the identity that they count as.
    pub(super) starts: Arc<BTreeMap<PlayerKey, StartWeight>>,
    /// The identities that an operator has merged into others.
    pub(super) counts_as: Arc<CountsAs>,
    /// The weights in the database, if these are served instead of those of a fold.
    pub(super) stored: Option<Arc<StoredWeights>>,
}

impl std::fmt::Debug for Knowledge {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Knowledge").finish_non_exhaustive()
    }
}

impl Knowledge {
    /// A player's closest weight for a ruleset, and the level it comes from.
    pub(super) fn best_weight<'a>(
        &'a self,
        ruleset: &'a Ruleset,
        kind: Kind,
        id: &str,
    ) -> Option<(Weight<'a>, Level)> {
        if let Some(stored) = &self.stored {
            return stored.best_weight(ruleset, kind, id, &self.starts);
        }
        let fold = self.fold(ruleset)?;
        let known = fold.best_weight(ruleset, kind, id);
        known.map(|known| self.with_account(ruleset, known))
    }

    /// The fold whose accounts are the weights, if another one decides in this ruleset: that of the first system.
    pub(super) fn accounts(&self, ruleset: &Ruleset) -> Option<&Fold> {
        let others = !self.serves(self.first, ruleset);
        self.folds.get(&self.first).filter(|_| others)
    }

    /// What is known of a player, with the weight of the account.
    fn with_account<'a>(
        &'a self,
        ruleset: &'a Ruleset,
        (known, level): (Weight<'a>, Level),
    ) -> (Weight<'a>, Level) {
        let accounts = self.accounts(ruleset);
        let own = accounts.and_then(|f| f.best_weight(ruleset, known.key.kind, &known.key.id));
        let Some((own, _)) = own else {
            return (known, level);
        };
        let known = Weight {
            weight: own.weight,
            deviation: own.deviation,
            rank: own.rank,
            ..known
        };
        (known, level)
    }

    /// The same of all bots that have one, ordered by name.
    pub(super) fn best_weights_of_bots<'a>(
        &'a self,
        ruleset: &'a Ruleset,
    ) -> Vec<(Weight<'a>, Level)> {
        if let Some(stored) = &self.stored {
            return stored.best_weights_of_bots(ruleset, &self.starts);
        }
        let Some(fold) = self.fold(ruleset) else {
            return Vec::new();
        };
        let known = fold.best_weights_of_bots(ruleset).into_iter();
        known
            .map(|known| self.with_account(ruleset, known))
            .collect()
    }

    /// The fold whose weights the ruleset uses.
    pub(super) fn fold(&self, ruleset: &Ruleset) -> Option<&Fold> {
        self.folds
            .get(self.chosen.get(ruleset).unwrap_or(&self.first))
    }

    /// When the next season begins; `None` if no more are configured.
    pub(super) fn next_season(&self) -> Option<Timestamp> {
        self.folds.values().filter_map(Fold::next_season).min()
    }

    /// The same with the seasons up to `now` begun.
    pub(super) fn in_season(&self, now: Timestamp) -> Self {
        let mut later = self.clone();
        for fold in later.folds.values_mut() {
            fold.begin_seasons(now);
        }
        later
    }

    /// Remarks for the operator, by ruleset.
    pub(super) fn warnings(&self) -> Vec<(Ruleset, String)> {
        let of = |(system, fold): (&SystemName, &Fold)| {
            let rulesets = fold.rulesets().filter(|r| self.serves(*system, r));
            let warnings = rulesets.flat_map(|r| {
                let warnings = fold.warnings(r).into_iter();
                warnings.map(|warning| (r.clone(), warning))
            });
            warnings.collect::<Vec<_>>()
        };
        self.folds.iter().flat_map(of).collect()
    }

    /// The players who play far above a newcomer, by the rating system of each ruleset.
    pub(super) fn suspects(&self) -> Vec<Suspect> {
        let of = |(system, fold): (&SystemName, &Fold)| {
            let rulesets = fold.rulesets().filter(|r| self.serves(*system, r));
            rulesets.flat_map(|r| fold.suspects(r)).collect::<Vec<_>>()
        };
        self.folds.iter().flat_map(of).collect()
    }

    pub(super) fn serves(&self, system: SystemName, ruleset: &Ruleset) -> bool {
        *self.chosen.get(ruleset).unwrap_or(&self.first) == system
    }

    /// The keys of the rulesets with weights.
    pub(super) fn rulesets(&self) -> BTreeSet<String> {
        let stored = self.stored.iter().flat_map(|stored| stored.rulesets());
        let folds = self.folds.iter().flat_map(|(system, fold)| {
            let rulesets = fold.rulesets();
            rulesets.filter(|ruleset| self.serves(*system, ruleset))
        });
        stored.chain(folds).map(Ruleset::to_string).collect()
    }

    /// The weights of all players, each by the rating system of its ruleset.
    pub(super) fn rows(&self) -> Vec<WeightRow> {
        let rulesets = self.rulesets().into_iter();
        rulesets
            .flat_map(|ruleset| self.rows_of(&ruleset))
            .collect()
    }

    /// The weights of the players of one ruleset, ordered by player.
    pub(super) fn rows_of(&self, key: &str) -> Vec<WeightRow> {
        let ruleset = Ruleset::parse(key);
        if ruleset.to_string() != key {
            return Vec::new(); // another spelling
        }
        if let Some(stored) = &self.stored {
            return stored.rows_of(&ruleset);
        }
        let fold = self.fold(&ruleset).into_iter();
        let weights = fold.flat_map(|fold| fold.weights_on(&ruleset, Level::Ruleset));
        weights.map(|weight| self.row(weight)).collect()
    }

    /// The weights of one player, ordered by ruleset; none of somebody who was forgotten.
    pub(super) fn rows_of_player(&self, key: &PlayerKey) -> Vec<WeightRow> {
        let mut rows = match &self.stored {
            Some(stored) => stored.rows_of_player(key),
            None => Vec::new(),
        };
        for (system, fold) in &self.folds {
            let weights = fold.weights_of(key.kind, &key.id);
            let own = weights.filter(|weight| self.serves(*system, weight.ruleset));
            rows.extend(own.map(|weight| self.row(weight)));
        }
        rows.retain(|row| !is_forgotten(&row.key, &row.name));
        rows.sort_by(|a, b| a.ruleset.cmp(&b.ruleset));
        rows
    }

    /// The weight of one player under one ruleset.
    pub(super) fn row_of(&self, ruleset: &Ruleset, key: &PlayerKey) -> Option<WeightRow> {
        let weight = self.fold(ruleset)?.weight_of(ruleset, key.kind, &key.id)?;
        Some(self.row(weight))
    }

    /// What somebody is worth on each side and as a commander, by ruleset; nothing while stored weights are served, and for
    /// a weight that is set.
    pub(super) fn roles_of(&self, key: &PlayerKey) -> BTreeMap<String, RoleWeights> {
        let is_pinned = self.pinned.contains_key(key);
        let folds = self.folds.iter().filter(|_| !is_pinned);
        let weights = folds.flat_map(|(system, fold)| {
            let weights = fold.weights_of(key.kind, &key.id);
            weights.filter(|weight| self.serves(*system, weight.ruleset))
        });
        weights
            .map(|weight| (weight.ruleset.to_string(), weight.roles))
            .collect()
    }

    /// The row of a weight for its ruleset, with the weight of the account.
    fn row(&self, weight: Weight<'_>) -> WeightRow {
        let (weight, _) = self.with_account(weight.ruleset, (weight, Level::Ruleset));
        let pinned = self.pinned.get(weight.key).copied();
        let human = weight.key.kind == Kind::Human;
        let rank = match pinned.filter(|_| human) {
            Some(pinned) => {
                let fold = self.accounts(weight.ruleset).or(self.fold(weight.ruleset));
                fold.and_then(|fold| fold.rank_of_weight(weight.ruleset, pinned))
            }
            None => weight.rank,
        };
        WeightRow {
            ruleset: weight.ruleset.to_string(),
            key: weight.key.clone(),
            name: weight.name.to_owned(),
            weight: pinned.unwrap_or(weight.weight),
            deviation: if pinned.is_some() {
                0.0
            } else {
                weight.deviation
            },
            rank,
            games: weight.games,
            wins: weight.wins,
            last_seen: weight.last_seen,
            is_pinned: pinned.is_some(),
        }
    }
}
