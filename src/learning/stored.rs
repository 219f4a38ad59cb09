//! The weights in the database as an answer to questions: they are served while new ones are derived.

use std::{
    cmp::Reverse,
    collections::{BTreeMap, BTreeSet},
};

use crate::{
    model::{Kind, PlayerKey, RoleWeights, Ruleset, StartWeight},
    rating::history::{Level, PART_FROM_ELSEWHERE, Weight},
    store::WeightRow,
};

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
        doubt: 0.0,
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
