//! The weights as they are written: what has changed since they were written last.

use std::collections::HashSet;

use super::knowledge::Knowledge;
use crate::{
    domain::{Kind, PlayerKey, Ruleset},
    history::{Fold, Shares, WeightParts},
    rating::SystemName,
    store::{DerivedFrom, NewWeights, PartRow, SharesRow},
};

/// The part of a player that differs from an earlier one; `None` for somebody who is new.
type Differing<'a> = (WeightParts<'a>, Option<WeightParts<'a>>);

/// The content of the table of weights.
#[derive(Clone)]
pub(super) struct Written {
    /// What the derived tables are made from.
    pub from: DerivedFrom,
    /// The state whose weights are in the table.
    pub knowledge: Knowledge,
    /// Their number, or a few more.
    pub count: usize,
}

impl Knowledge {
    /// What to write, and the number of weights that the table then has.
    pub(super) fn new_weights(&self, written: Option<&Written>) -> (NewWeights, usize) {
        let since = written.and_then(|written| {
            let (mut new, added) = self.weights_since(&written.knowledge)?;
            new.since = Some(written.from.clone());
            Some((new, written.count + added))
        });
        since.unwrap_or_else(|| self.all_weights())
    }

    /// The number of all weights, or a few more.
    pub(super) fn count(&self) -> usize {
        let served = self.served().into_iter();
        let players = served.map(|(_, fold, ruleset)| fold.players_of(ruleset));
        players.sum()
    }

    fn all_weights(&self) -> (NewWeights, usize) {
        let mut new = NewWeights::default();
        for (_, fold, ruleset) in self.served() {
            let parts = fold.parts(ruleset).into_iter();
            new.named
                .extend(parts.map(|part| self.part_row(ruleset, &part)));
            let shares = self.shares(fold, ruleset);
            new.shares
                .extend(shares.map(|shares| shares_row(ruleset, shares)));
        }
        let count = new.named.len();
        (new, count)
    }

    /// The weights that differ from those of `before`, and how many of them it does not have. `None` if some are gone,
    /// or the rating system of a ruleset is another one.
    fn weights_since(&self, before: &Self) -> Option<(NewWeights, usize)> {
        let names = |of: &Self| {
            let served = of.served().into_iter();
            served
                .map(|(system, _, ruleset)| (ruleset.clone(), system))
                .collect::<Vec<_>>()
        };
        let now = names(self);
        if self.pinned != before.pinned || !names(before).iter().all(|name| now.contains(name)) {
            return None;
        }
        let (mut new, mut added) = (NewWeights::default(), 0);
        for (system, fold, ruleset) in self.served() {
            let old = before.folds.get(&system)?;
            let rows = new.named.len() + new.changed.len();
            let mut parts = fold.parts_since(old, ruleset)?;
            if let (Some(now), Some(before)) = (self.accounts(ruleset), before.accounts(ruleset)) {
                add_accounts(
                    &mut parts,
                    now.parts_since(before, ruleset)?,
                    (fold, old),
                    ruleset,
                );
            }
            for (part, was) in parts {
                added += usize::from(was.is_none());
                let row = self.part_row(ruleset, &part);
                match was.is_some_and(|was| was.name == part.name) {
                    true => new.changed.push(row),
                    false => new.named.push(row),
                }
            }
            // The rank of a weight that an operator has set changes with those of others.
            let pinned = self.pinned.keys().filter_map(|key| {
                let part = fold.part(ruleset, key.kind, &key.id)?;
                old.part(ruleset, key.kind, &key.id)?;
                Some(self.part_row(ruleset, &part))
            });
            let pinned: Vec<PartRow> = pinned.collect();
            new.changed.extend(pinned);
            let shares = self.shares(fold, ruleset)?;
            let differs = before.shares(old, ruleset).as_ref() != Some(&shares);
            if differs || new.named.len() + new.changed.len() > rows {
                new.shares.push(shares_row(ruleset, shares));
            }
        }
        Some((new, added))
    }

    /// The rulesets with weights, each with the rating system that gives them.
    fn served(&self) -> Vec<(SystemName, &Fold, &Ruleset)> {
        let folds = self.folds.iter();
        let served = folds.flat_map(|(system, fold)| {
            let own = fold
                .rulesets()
                .filter(|ruleset| self.serves(*system, ruleset));
            own.map(move |ruleset| (*system, fold, ruleset))
        });
        served.collect()
    }

    /// What all players of a ruleset share: what strengths are computed from is the fold's, and the divisions are those of
    /// the accounts.
    fn shares(&self, fold: &Fold, ruleset: &Ruleset) -> Option<Shares> {
        let own = fold.shares(ruleset)?;
        let accounts = self.accounts(ruleset).and_then(|f| f.shares(ruleset));
        Some(match accounts {
            Some(Shares { divisions, .. }) => Shares { divisions, ..own },
            None => own,
        })
    }

    fn part_row(&self, ruleset: &Ruleset, part: &WeightParts<'_>) -> PartRow {
        let pinned = self.pinned.get(part.key).copied();
        let own = part.parts.own.mean;
        // A weight that is no number would be 50.
        let odd = (!own.is_finite()).then_some(50.0);
        let stands = pinned.or(odd);
        let rank = pinned
            .filter(|_| part.key.kind == Kind::Human)
            .and_then(|pinned| {
                let fold = self.fold(ruleset)?;
                fold.rank_of_weight(ruleset, pinned)
            });
        let accounts = self.accounts(ruleset);
        let account = accounts.and_then(|f| f.part(ruleset, part.key.kind, &part.key.id));
        let account = account.as_ref().unwrap_or(part);
        PartRow {
            ruleset: ruleset.to_string(),
            key: part.key.clone(),
            name: part.name.to_owned(),
            weight: stands.unwrap_or(account.weight),
            own: stands.unwrap_or(own),
            sides: part.parts.roles.sides.filter(|_| stands.is_none()),
            commander: part.parts.roles.commander.filter(|_| stands.is_none()),
            factors: stands.is_none().then_some(part.parts.factors),
            deviation: pinned.map_or(account.deviation, |_| 0.0),
            doubt: pinned.map_or(part.parts.own.deviation, |_| 0.0),
            division: match pinned {
                Some(_) => rank.map(|rank| rank.division),
                None => account.division,
            },
            progress: rank.map(|rank| rank.progress),
            games: part.games,
            last_seen: part.last_seen,
        }
    }
}

/// Adds to the parts that differ those of the other players whose accounts do.
fn add_accounts<'a>(
    parts: &mut Vec<Differing<'a>>,
    accounts: Vec<Differing<'_>>,
    (now, before): (&'a Fold, &'a Fold),
    ruleset: &Ruleset,
) {
    let known: HashSet<&PlayerKey> = parts.iter().map(|(part, _)| part.key).collect();
    let others = accounts.into_iter().map(|(account, _)| account.key);
    let others = others.filter(|key| !known.contains(key));
    let of = |fold: &'a Fold, key: &PlayerKey| fold.part(ruleset, key.kind, &key.id);
    let others = others.filter_map(|key| Some((of(now, key)?, of(before, key))));
    let others: Vec<Differing<'a>> = others.collect();
    parts.extend(others);
}

fn shares_row(ruleset: &Ruleset, shares: Shares) -> SharesRow {
    SharesRow {
        ruleset: ruleset.to_string(),
        effects: shares.effects,
        scale: shares.scale,
        points: Shares::POINTS_PER_UNIT,
        divisions: shares.divisions,
    }
}
