//! Which weights differ from those that this process wrote last.
//!
//! A match changes the weights of one ruleset: those of its players by much, and those of all others by a little,
//! because the rating system learns from it what newcomers and points are worth. Few players move to another
//! place, and none has another name, so that no index has to be written but that of the places. Writing only what
//! differs leaves the same table as writing everything.

use std::{
    hash::{DefaultHasher, Hash, Hasher},
    ops::Range,
};

use super::{DerivedFrom, WeightRow};
use crate::domain::Kind;

/// The most new weights, and the most ranges of places that move; with more of them, everything is written.
const MOST: usize = 2_000;

/// The content of the table of weights, as this process has left it.
#[derive(Clone, Debug)]
pub(super) struct WrittenWeights {
    pub from: DerivedFrom,
    pub rows: Vec<WrittenRow>,
}

/// A row that was written, in few bytes: there may be millions. Texts and numbers are 64 bits of a hash.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct WrittenRow {
    player: u64,
    name: u64,
    numbers: u64,
    /// The place among the weights of its ruleset and kind, from 1; `None` for players who were forgotten.
    place: Option<u32>,
}

impl WrittenRow {
    pub fn of(row: &WeightRow, place: Option<u32>) -> Self {
        fn hash(of: impl Hash) -> u64 {
            let mut hasher = DefaultHasher::new();
            of.hash(&mut hasher);
            hasher.finish()
        }
        let WeightRow { rank, roles, .. } = row;
        let numbers = [Some(row.weight), Some(row.deviation), roles.commander];
        let sides = roles.sides.map(|sides| sides.map(f64::to_bits));
        let rank = rank.map(|rank| (rank.division, rank.progress.to_bits()));
        let whole = (row.scale, row.games, row.last_seen);
        Self {
            player: hash(order(row)),
            name: hash(&row.name),
            numbers: hash((numbers.map(|n| n.map(f64::to_bits)), sides, rank, whole)),
            place,
        }
    }
}

/// What differs among the weights of one ruleset and kind. Rows are named by their positions.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct GroupChanges {
    /// Rows whose numbers differ.
    pub updated: Vec<usize>,
    /// Rows whose names differ.
    pub renamed: Vec<usize>,
    /// Rows of players who had none.
    pub new: Vec<usize>,
    /// Ranges of places that do not overlap, and by how much the rows that had them have moved.
    pub moved: Vec<(Range<u32>, i64)>,
}

impl GroupChanges {
    /// One of the rows that differ; `None` if none does.
    pub fn any(&self) -> Option<usize> {
        let mut rows = self.updated.iter().chain(&self.renamed).chain(&self.new);
        rows.next().copied()
    }
}

/// Everything that differs.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct WeightChanges {
    pub groups: Vec<GroupChanges>,
    /// The place of each row.
    pub places: Vec<Option<u32>>,
}

/// What differs between `before` and `rows`. `places` computes the places of rows of one ruleset and kind.
/// `None` if too much differs, a row has gone, or the rows are not in order.
pub(super) fn changes(
    before: &WrittenWeights,
    rows: &[WeightRow],
    places: impl Fn(&[WeightRow]) -> Vec<Option<u32>>,
) -> Option<WeightChanges> {
    let known = pair(before, rows)?;
    let (mut all, mut groups, mut added) = (Vec::with_capacity(rows.len()), Vec::new(), 0);
    let mut begin = 0;
    for group in rows.chunk_by(is_one_group) {
        let known = &known[begin..begin + group.len()];
        let mut changes = GroupChanges::default();
        for ((row, known), at) in group.iter().zip(known).zip(begin..) {
            let now = WrittenRow::of(row, None);
            match known {
                None => changes.new.push(at),
                Some(known) if known.name != now.name => changes.renamed.push(at),
                Some(known) if known.numbers != now.numbers => changes.updated.push(at),
                Some(_) => {}
            }
        }
        let was = known
            .iter()
            .map(|known| known.and_then(|known| known.place));
        if changes.any().is_some() {
            let is = places(group);
            changes.moved = moves(was, &is);
            added += changes.renamed.len() + changes.new.len();
            if added > MOST || changes.moved.len() > MOST {
                return None;
            }
            all.extend(is);
            groups.push(changes);
        } else {
            all.extend(was);
        }
        begin += group.len();
    }
    Some(WeightChanges {
        groups,
        places: all,
    })
}

/// Finds each row among those before; `None` if one of those has gone, or the rows are not in order.
fn pair(before: &WrittenWeights, rows: &[WeightRow]) -> Option<Vec<Option<WrittenRow>>> {
    if !rows.is_sorted_by(|a, b| order(a) < order(b)) {
        return None;
    }
    let mut old = before.rows.iter().copied();
    let mut next = old.next();
    let find = |row| match next {
        Some(known) if known.player == WrittenRow::of(row, None).player => {
            std::mem::replace(&mut next, old.next())
        }
        _ => None,
    };
    let known: Vec<Option<WrittenRow>> = rows.iter().map(find).collect();
    // What was not found is still the next one.
    next.is_none().then_some(known)
}

fn order(row: &WeightRow) -> (&str, Kind, &str) {
    (&row.ruleset, row.key.kind, &row.key.id)
}

fn is_one_group(a: &WeightRow, b: &WeightRow) -> bool {
    (&a.ruleset, a.key.kind) == (&b.ruleset, b.key.kind)
}

/// Rows as they are known once they are written.
pub(super) fn written_rows(rows: &[WeightRow], places: &[Option<u32>]) -> Vec<WrittenRow> {
    let rows = rows.iter().zip(places);
    rows.map(|(row, place)| WrittenRow::of(row, *place))
        .collect()
}

/// The ranges of places whose rows have moved by the same number of places.
fn moves(was: impl Iterator<Item = Option<u32>>, is: &[Option<u32>]) -> Vec<(Range<u32>, i64)> {
    let pairs = was.zip(is);
    let mut pairs: Vec<(u32, u32)> = pairs.filter_map(|(was, is)| was.zip(*is)).collect();
    pairs.sort_unstable();
    let mut moved: Vec<(Range<u32>, i64)> = Vec::new();
    for (was, is) in pairs {
        let by = i64::from(is) - i64::from(was);
        match moved.last_mut() {
            Some((range, last)) if *last == by && range.end == was => range.end += 1,
            _ => moved.push((was..was + 1, by)),
        }
    }
    moved.retain(|(_, by)| *by != 0);
    moved
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;
    use crate::domain::{PlayerKey, RoleWeights, Timestamp};

    fn row(player: u8, weight: f64) -> WeightRow {
        let kind = if player % 5 == 4 {
            Kind::Bot
        } else {
            Kind::Human
        };
        let id = format!("p{player:03}");
        WeightRow {
            ruleset: format!("r{}", player % 3),
            key: PlayerKey { kind, id },
            name: format!("{}", weight < 5.0),
            weight,
            scale: 0,
            deviation: 0.0,
            rank: None,
            roles: RoleWeights::default(),
            games: 1,
            last_seen: Timestamp(0),
        }
    }

    /// Places by weight; those of players with a number that 7 divides are forgotten.
    fn places(rows: &[WeightRow]) -> Vec<Option<u32>> {
        let is_forgotten = |row: &WeightRow| row.key.id[1..].parse::<u8>().unwrap() % 7 == 0;
        let place = |row: &WeightRow| {
            let before = rows.iter().filter(|other| {
                let order = other.weight.total_cmp(&row.weight).reverse();
                let first = order.then_with(|| other.key.id.cmp(&row.key.id)).is_lt();
                first && is_one_group(row, other) && !is_forgotten(other)
            });
            (!is_forgotten(row)).then(|| 1 + u32::try_from(before.count()).unwrap())
        };
        rows.iter().map(place).collect()
    }

    fn written(rows: &[WeightRow]) -> WrittenWeights {
        let settings = String::new();
        WrittenWeights {
            from: DerivedFrom {
                matches: 0,
                last_match: 0,
                settings,
            },
            rows: written_rows(rows, &places(rows)),
        }
    }

    type Table = BTreeMap<(String, Kind, String), (u64, Option<u32>)>;

    fn table(rows: &[WeightRow], places: &[Option<u32>]) -> Table {
        let rows = rows.iter().zip(places).map(|(row, place)| {
            let (ruleset, kind, id) = order(row);
            let key = (ruleset.to_owned(), kind, id.to_owned());
            (key, (row.weight.to_bits(), *place))
        });
        rows.collect()
    }

    /// Does to a table what the store does to its own.
    fn apply(table: &mut Table, rows: &[WeightRow], changes: &WeightChanges) {
        for group in &changes.groups {
            let (ruleset, kind, _) = order(&rows[group.any().unwrap()]);
            for ((own_ruleset, own_kind, _), (_, place)) in table.iter_mut() {
                let own = (own_ruleset.as_str(), *own_kind) == (ruleset, kind);
                let Some(place) = place.as_mut().filter(|_| own) else {
                    continue;
                };
                let ranges = group.moved.iter();
                let mut own = ranges.filter(|(range, _)| range.contains(place));
                if let Some((_, by)) = own.next() {
                    assert_eq!(own.next(), None);
                    *place = u32::try_from(i64::from(*place) + by).unwrap();
                }
            }
            let key = |at: usize| {
                let (ruleset, kind, id) = order(&rows[at]);
                (ruleset.to_owned(), kind, id.to_owned())
            };
            for &at in &group.updated {
                table.get_mut(&key(at)).unwrap().0 = rows[at].weight.to_bits();
            }
            for &at in group.renamed.iter().chain(&group.new) {
                let is_known = table.contains_key(&key(at));
                assert_eq!(is_known, group.renamed.contains(&at));
                table.insert(key(at), (rows[at].weight.to_bits(), changes.places[at]));
            }
        }
    }

    fn sorted(weights: &BTreeMap<u8, u8>) -> Vec<WeightRow> {
        let weights = weights.iter();
        let mut rows: Vec<_> = weights.map(|(p, w)| row(*p, f64::from(*w))).collect();
        rows.sort_by(|a, b| order(a).cmp(&order(b)));
        rows
    }

    proptest! {
        #[test]
        fn the_changes_give_the_new_table(
            start in proptest::collection::btree_map(any::<u8>(), 0..20_u8, 0..80),
            steps in proptest::collection::vec(
                proptest::collection::btree_map(any::<u8>(), 0..20_u8, 0..12), 1..6),
        ) {
            let mut weights = start;
            let mut rows = sorted(&weights);
            let mut known = written(&rows);
            let mut stored = table(&rows, &places(&rows));
            for step in steps {
                weights.extend(step);
                rows = sorted(&weights);
                let found = changes(&known, &rows, places).unwrap();
                apply(&mut stored, &rows, &found);
                prop_assert_eq!(&found.places, &places(&rows));
                prop_assert_eq!(&stored, &table(&rows, &places(&rows)));
                known = written(&rows);
            }
        }
    }

    #[test]
    fn too_much_is_written_as_a_whole() {
        let rows: Vec<WeightRow> = sorted(&(0..200).map(|player| (player, 7)).collect());
        let before = written(&rows);
        assert_eq!(changes(&before, &rows, places).unwrap().groups, []);
        assert_eq!(changes(&before, &rows[1..], places), None, "one has gone");
        assert_eq!(
            changes(&before, &rows[..9], places),
            None,
            "others have gone"
        );
        let turned: Vec<WeightRow> = rows.iter().rev().cloned().collect();
        assert_eq!(changes(&before, &turned, places), None, "not in order");
        let many: Vec<WeightRow> = (0..=MOST)
            .map(|number| WeightRow {
                ruleset: format!("{number:04}"),
                ..row(1, 0.0)
            })
            .collect();
        assert_eq!(changes(&written(&[]), &many, places), None);
        assert!(changes(&written(&[]), &many[1..], places).is_some());
    }

    #[test]
    fn the_last_bit_counts() {
        let rows = [row(1, 50.0), row(4, 50.0)];
        let close = [row(1, 50.0_f64.next_up()), row(4, 50.0)];
        let found = changes(&written(&rows), &close, places).unwrap();
        assert_eq!(found.groups.len(), 1);
        assert_eq!(found.groups[0].updated, [0]);
        let zeros = [row(1, 0.0)].map(|row| {
            (
                row.clone(),
                WeightRow {
                    weight: -0.0,
                    ..row
                },
            )
        });
        let (zero, minus) = &zeros[0];
        assert_eq!(
            changes(
                &written(std::slice::from_ref(zero)),
                std::slice::from_ref(minus),
                places
            )
            .unwrap()
            .groups
            .len(),
            1
        );
    }
}
