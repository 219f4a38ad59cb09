//! Weights that another daemon has written, newer than those of this one's learned state.

use std::collections::{BTreeMap, HashMap};

use crate::{
    domain::{Kind, PlayerKey, Ruleset},
    history::{Fold, Level, Shares, Weight, WeightParts},
    rating::{Parts, RoleStrengths, Strength},
    store::{NewParts, PartRow},
};

/// What newer weights are computed from.
#[derive(Debug)]
pub(super) struct NewerWeights {
    /// The number of matches from which they are made.
    pub matches: i64,
    rulesets: BTreeMap<Ruleset, NewerRuleset>,
}

#[derive(Debug)]
struct NewerRuleset {
    /// What all its weights have in common.
    shares: Shares,
    /// The parts of those players whose parts may have changed.
    parts: HashMap<PlayerKey, PartRow>,
}

impl NewerWeights {
    pub fn new(rows: NewParts) -> Self {
        let rulesets = rows.shares.into_iter().map(|row| {
            let shares = Shares {
                effects: row.effects,
                scale: row.scale,
                divisions: row.divisions,
            };
            let parts = HashMap::new();
            (row.ruleset, NewerRuleset { shares, parts })
        });
        let mut rulesets: HashMap<String, NewerRuleset> = rulesets.collect();
        // A weight that stands as it is was set by the operator, which every daemon knows.
        for part in rows.parts.into_iter().filter(|part| part.factors.is_some()) {
            if let Some(ruleset) = rulesets.get_mut(&part.ruleset) {
                ruleset.parts.insert(part.key.clone(), part);
            }
        }
        let rulesets = rulesets.into_iter();
        Self {
            matches: rows.weighed,
            rulesets: rulesets
                .map(|(key, own)| (Ruleset::parse(&key), own))
                .collect(),
        }
    }

    /// The player's weight for a ruleset, given the closest one that is known beside these. It is newer if it comes from
    /// games of the ruleset itself: who has played has the account of the row, and whose strength alone is another one
    /// keeps the account that is known.
    pub fn best_weight<'a>(
        &'a self,
        ruleset: &'a Ruleset,
        (kind, id): (Kind, &str),
        (fold, known): (&'a Fold, Option<(Weight<'a>, Level)>),
    ) -> Option<(Weight<'a>, Level)> {
        let Some(NewerRuleset { shares, parts }) = self.rulesets.get(ruleset) else {
            return known;
        };
        let own = known.as_ref().filter(|(_, level)| *level == Level::Ruleset);
        let id = id.to_owned();
        let row = parts.get(&PlayerKey { kind, id });
        let is_newer = row.is_some();
        let part = match row {
            Some(row) => Some(part(row)),
            None => own.and_then(|(own, _)| fold.part(ruleset, kind, &own.key.id)),
        };
        let Some(part) = part else { return known };
        let mut weight = shares.weight_of(ruleset, &part);
        if let Some((own, _)) = own {
            (weight.first_seen, weight.hours) = (own.first_seen, own.hours);
            if !is_newer {
                (weight.weight, weight.deviation) = (own.weight, own.deviation);
                weight.rank = own
                    .rank
                    .and_then(|rank| shares.rank(rank.division, own.weight));
            }
        }
        Some((weight, Level::Ruleset))
    }

    /// The same of all bots that have one, ordered by name.
    pub fn best_weights_of_bots<'a>(
        &'a self,
        ruleset: &'a Ruleset,
        (fold, known): (&'a Fold, impl Iterator<Item = (Weight<'a>, Level)>),
    ) -> Vec<(Weight<'a>, Level)> {
        let known = known.map(|(weight, level)| (weight.key, Some((weight, level))));
        let mut bots: BTreeMap<&PlayerKey, Option<(Weight<'a>, Level)>> = known.collect();
        let own = self.rulesets.get(ruleset).into_iter();
        let own = own.flat_map(|own| own.parts.keys());
        for key in own.filter(|key| key.kind == Kind::Bot) {
            bots.entry(key).or_default();
        }
        let bots = bots.into_iter();
        bots.filter_map(|(key, known)| {
            self.best_weight(ruleset, (key.kind, &key.id), (fold, known))
        })
        .collect()
    }
}

fn part(row: &PartRow) -> WeightParts<'_> {
    WeightParts {
        key: &row.key,
        name: &row.name,
        parts: Parts {
            own: Strength {
                mean: row.own,
                deviation: row.doubt,
            },
            roles: RoleStrengths {
                sides: row.sides,
                commander: row.commander,
            },
            factors: row.factors.unwrap_or_default(),
        },
        weight: row.weight,
        deviation: row.deviation,
        division: row.division,
        games: row.games,
        last_seen: row.last_seen,
    }
}
