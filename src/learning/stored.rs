//! The weights in the database as an answer to questions: they are served while new ones are derived.

use std::{
    cmp::Reverse,
    collections::{BTreeMap, btree_map::Entry},
};

use super::{Settings, scales::on_todays_scale};
use crate::{
    domain::{PlayerKey, Ruleset, StartWeight},
    history::{Level, PART_FROM_ELSEWHERE, Weight},
    store::WeightRow,
};

/// The weights in the database, on today's scale.
#[derive(Debug, Default)]
pub(super) struct StoredWeights {
    rulesets: BTreeMap<Ruleset, Vec<WeightRow>>,
}

impl StoredWeights {
    pub fn new(rows: Vec<WeightRow>, settings: &Settings) -> Self {
        let system = settings.history.rating.system.name();
        let mut stored = Self::default();
        for row in rows {
            let of_ruleset = stored.rulesets.entry(Ruleset::parse(&row.ruleset));
            of_ruleset.or_default().push(on_todays_scale(row, system));
        }
        stored
    }

    /// Each player's closest weight for a ruleset and the level it comes from, ordered by player, as
    /// [`Fold::best_weights`](crate::history::Fold::best_weights) gives them. The database has weights of rulesets
    /// only: a player who is known from other games than such ones has that weight to which most matches have led.
    ///
    /// Of a weight from games with other rules, the part counts that counts before anything is learned about it; the
    /// distance is that from the start weight, if there is one. Strengths, hours and first matches are not stored.
    pub fn best_weights(
        &self,
        ruleset: &Ruleset,
        starts: &BTreeMap<PlayerKey, StartWeight>,
    ) -> Vec<(Weight<'_>, Level)> {
        let leveled = |(own, rows)| (level(own, ruleset), own, rows);
        let mut closest_last: Vec<(Level, &Ruleset, &Vec<WeightRow>)> =
            self.rulesets.iter().map(leveled).collect();
        closest_last.sort_by_key(|(level, own, _)| (Reverse(*level), own.mutators().count()));
        let mut best: BTreeMap<&PlayerKey, (Weight<'_>, Level)> = BTreeMap::new();
        for (level, own, rows) in closest_last {
            for row in rows {
                let this = (weight(own, row), level);
                match best.entry(&row.key) {
                    Entry::Vacant(entry) => {
                        entry.insert(this);
                    }
                    Entry::Occupied(mut entry) => {
                        let (known, at) = entry.get();
                        if *at != level || level.is_near() || known.games < row.games {
                            entry.insert(this);
                        }
                    }
                }
            }
        }
        for (weight, _) in best.values_mut().filter(|(_, level)| !level.is_near()) {
            let start = starts.get(weight.key).map_or(50.0, |start| start.weight);
            weight.weight = start + PART_FROM_ELSEWHERE * (weight.weight - start);
        }
        best.into_values().collect()
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
        rank: row.rank,
        roles: row.roles,
        games: row.games,
        first_seen: row.last_seen,
        last_seen: row.last_seen,
        hours: 0.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::{Kind, RoleWeights, Timestamp};

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
                scale: 1,
                deviation: 1.0,
                rank: None,
                roles: RoleWeights::default(),
                games,
                last_seen: Timestamp(0),
            };
            let rows = stored.rulesets.entry(Ruleset::parse(ruleset));
            rows.or_default().push(row);
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
            let best = stored.best_weights(&ruleset, &BTreeMap::new()).into_iter();
            best.map(|(weight, level)| (weight.key.id.clone(), weight.weight, level))
                .collect()
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
            StoredWeights::default().best_weights(&Ruleset::parse("ctf"), &BTreeMap::new()),
            []
        );
        // From the weight at which the player starts.
        let start = StartWeight {
            weight: 80.0,
            uncertain: false,
        };
        let ruleset = Ruleset::parse("new");
        let bob = stored.best_weights(&ruleset, &[(key("bob"), start)].into());
        assert_eq!((bob[1].0.weight, bob[1].1), (55.5, Level::AllGames));
    }
}
