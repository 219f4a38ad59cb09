//! What answers questions about weights: the folds, and what operators have set. While new weights are derived, those
//! in the database answer.

use std::{
    cmp::Reverse,
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use crate::{
    model::{
        Kind, PlayerKey, Ruleset, Timestamp,
        merge::CountsAs,
        weight::{RoleWeights, StartWeight},
    },
    rating::SystemName,
    rating::history::{BalanceStatistics, Fold, Level, PART_FROM_ELSEWHERE, Suspect, Weight},
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
    pub(super) balance: BalanceStatistics,
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

    /// Whether a player is in a match that was learned from.
    pub(super) fn knows(&self, key: &PlayerKey) -> bool {
        match &self.stored {
            Some(stored) => stored.players.contains_key(key),
            None => {
                let mut folds = self.folds.values();
                folds.any(|fold| fold.knows(key))
            }
        }
    }

    /// Whether a match of this ruleset was learned from. Nothing tells that if these are `old` weights without any ruleset.
    pub(super) fn knows_ruleset(&self, ruleset: &Ruleset, old: bool) -> bool {
        match &self.stored {
            Some(stored) => {
                stored.rulesets.contains_key(ruleset) || (old && stored.rulesets.is_empty())
            }
            None => {
                let mut folds = self.folds.values();
                folds.any(|fold| fold.has_ruleset(ruleset))
            }
        }
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

/// The weights in the database.
#[derive(Debug, Default)]
pub(super) struct StoredWeights {
    players: BTreeMap<PlayerKey, Vec<(Ruleset, WeightRow)>>,
    /// Who has a weight in each ruleset.
    rulesets: BTreeMap<Ruleset, BTreeSet<PlayerKey>>,
}

impl StoredWeights {
    pub fn new(rows: Vec<WeightRow>) -> Self {
        let mut stored = Self::default();
        for row in rows {
            stored.add(row);
        }
        stored
    }

    fn add(&mut self, row: WeightRow) {
        let ruleset = Ruleset::parse(&row.ruleset);
        let of_ruleset = self.rulesets.entry(ruleset.clone()).or_default();
        of_ruleset.insert(row.key.clone());
        let of_player = self.players.entry(row.key.clone()).or_default();
        of_player.push((ruleset, row));
        of_player.sort_by(|(one, _), (other, _)| one.cmp(other));
    }

    /// The rulesets with weights.
    pub fn rulesets(&self) -> impl Iterator<Item = &Ruleset> {
        self.rulesets.keys()
    }

    /// The weights of one ruleset, ordered by player.
    pub fn rows_of(&self, ruleset: &Ruleset) -> Vec<WeightRow> {
        let players = self.rulesets.get(ruleset).into_iter().flatten();
        let rows = players.filter_map(|key| {
            let mut own = self.players.get(key)?.iter();
            own.find(|(other, _)| other == ruleset)
        });
        rows.map(|(_, row)| row.clone()).collect()
    }

    /// The weights of one player.
    pub fn rows_of_player(&self, key: &PlayerKey) -> Vec<WeightRow> {
        let rows = self.players.get(key).into_iter().flatten();
        rows.map(|(_, row)| row.clone()).collect()
    }

    /// A player's closest weight for a ruleset and the level it comes from, as
    /// [`Fold::best_weight`](crate::rating::history::Fold::best_weight) gives it. The database has weights of rulesets
    /// only: a player who is known from other games than such ones has that weight to which most matches have led.
    ///
    /// Of a weight from games with other rules, the part counts that counts before anything is learned about it; the
    /// distance is that from the start weight, if there is one. Strengths, hours and first matches are not stored.
    pub fn best_weight(
        &self,
        ruleset: &Ruleset,
        kind: Kind,
        id: &str,
        starts: &BTreeMap<PlayerKey, StartWeight>,
    ) -> Option<(Weight<'_>, Level)> {
        let id = id.to_owned();
        let rows = self.players.get(&PlayerKey { kind, id })?;
        Self::best(rows, ruleset, starts)
    }

    /// The same of all bots that have one, ordered by name.
    pub fn best_weights_of_bots(
        &self,
        ruleset: &Ruleset,
        starts: &BTreeMap<PlayerKey, StartWeight>,
    ) -> Vec<(Weight<'_>, Level)> {
        let bots = self.players.iter().filter(|(key, _)| key.kind == Kind::Bot);
        bots.filter_map(|(_, rows)| Self::best(rows, ruleset, starts))
            .collect()
    }

    fn best<'a>(
        rows: &'a [(Ruleset, WeightRow)],
        ruleset: &Ruleset,
        starts: &BTreeMap<PlayerKey, StartWeight>,
    ) -> Option<(Weight<'a>, Level)> {
        // Of rulesets with fewer mutators, the one with most; of those that are far, the one with most matches.
        let order = |(at, (own, row)): &(usize, &(Ruleset, WeightRow))| {
            let (level, mutators) = (level(own, ruleset), own.mutators().count());
            match level.is_near() {
                true => (level, 0, Err((Reverse(mutators), Reverse(*at)))),
                false => (level, u32::MAX - row.games, Ok((mutators, *at))),
            }
        };
        let (_, (own, row)) = rows.iter().enumerate().min_by_key(order)?;
        let level = level(own, ruleset);
        let mut weight = weight(own, row);
        if !level.is_near() {
            let start = starts.get(weight.key).map_or(50.0, |start| start.weight);
            weight.weight = start + PART_FROM_ELSEWHERE * (weight.weight - start);
        }
        Some((weight, level))
    }
}

/// How close games of `own` are to those of `asked`.
fn level(own: &Ruleset, asked: &Ruleset) -> Level {
    if own == asked {
        Level::Ruleset
    } else if own.is_simpler(asked) {
        Level::FewerMutators
    } else if own.game_type() == asked.game_type() {
        Level::GameType
    } else {
        Level::AllGames
    }
}

fn weight<'a>(ruleset: &'a Ruleset, row: &'a WeightRow) -> Weight<'a> {
    Weight {
        ruleset,
        key: &row.key,
        name: &row.name,
        weight: row.weight,
        deviation: row.deviation,
        strength_deviation: 0.0,
        strength: 0.0,
        points: row.weight,
        rank: row.rank,
        roles: RoleWeights::default(),
        games: row.games,
        wins: row.wins,
        first_seen: row.last_seen,
        last_seen: row.last_seen,
        hours: 0.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Timestamp;

    fn key(id: &str) -> PlayerKey {
        PlayerKey {
            kind: Kind::Human,
            id: id.into(),
        }
    }

    fn stored(rows: &[(&str, &str, f64, u32)]) -> StoredWeights {
        let mut stored = StoredWeights::default();
        for &(ruleset, id, weight, games) in rows {
            let row = WeightRow {
                ruleset: ruleset.into(),
                key: key(id),
                name: id.into(),
                weight,
                deviation: 1.0,
                rank: None,
                games,
                wins: 1,
                last_seen: Timestamp(0),
                is_pinned: false,
            };
            stored.add(row);
        }
        stored
    }

    #[test]
    fn the_closest_games_count() {
        let stored = stored(&[
            ("ctf", "ann", 60.0, 9),
            ("ctf+a", "ann", 61.0, 9),
            ("ctf+a+b", "ann", 62.0, 1),
            ("ctf+c", "ann", 63.0, 9),
            ("tdm", "ann", 64.0, 9),
            ("ctf+c", "bob", 30.0, 2),
            ("tdm", "bob", 31.0, 9),
            ("dm", "cid", 40.0, 3),
            ("tdm", "cid", 41.0, 4),
            ("xdm", "cid", 42.0, 4),
        ]);
        let best = |ruleset: &str| -> Vec<(String, f64, Level)> {
            let ruleset = Ruleset::parse(ruleset);
            let best = |id| {
                let best = stored.best_weight(&ruleset, Kind::Human, id, &BTreeMap::new());
                best.map(|(weight, level)| (weight.key.id.clone(), weight.weight, level))
            };
            ["ann", "bob", "cid"].into_iter().filter_map(best).collect()
        };
        let of = |id: &str, weight, level| (id.to_owned(), weight, level);
        assert_eq!(
            best("ctf+a+b"),
            [
                of("ann", 62.0, Level::Ruleset),
                of("bob", 40.0, Level::GameType), // half as far from 50
                of("cid", 45.5, Level::AllGames),
            ]
        );
        assert_eq!(best("ctf+a+z")[0], of("ann", 61.0, Level::FewerMutators));
        assert_eq!(best("ctf+z")[0], of("ann", 60.0, Level::FewerMutators));
        assert_eq!(best("dm")[2], of("cid", 40.0, Level::Ruleset));
        assert_eq!(best("new")[0].2, Level::AllGames);
        assert_eq!(
            StoredWeights::default().best_weight(
                &Ruleset::parse("ctf"),
                Kind::Human,
                "ann",
                &BTreeMap::new()
            ),
            None
        );
        // From the weight at which the player starts.
        let start = StartWeight {
            weight: 80.0,
            uncertain: false,
        };
        let ruleset = Ruleset::parse("new");
        let starts = [(key("bob"), start)].into();
        let bob = stored.best_weight(&ruleset, Kind::Human, "bob", &starts);
        let (bob, level) = bob.unwrap();
        assert_eq!((bob.weight, level), (55.5, Level::AllGames));
    }
}
