//! Writing only what differs leaves the same tables as writing everything, and the view of the weights has the bits of the
//! daemon.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use evenkeel::{
    domain::{Kind, PlayerKey, PointScale, Timestamp},
    history::Shares,
    store::{
        DatabaseUrl, DerivedFrom, DerivedRows, NewWeights, PartRow, Recount, SharesRow, Store,
        open_at,
    },
};
use sqlx::{ColumnIndex, Connection, Decode, PgConnection, Row, SqliteConnection, Type};
use tempfile::TempDir;

use crate::common::{draw::Draw, postgres::Server};

const PATIENCE: Duration = Duration::from_secs(20);
const RULESETS: [&str; 3] = ["ctf", "tdm", "Ω \"odd\""];
/// All weights.
const TABLE: &str =
    "SELECT ruleset, kind, player, name, weight, deviation, games, last_seen, division, progress,
        side_0, side_1, commander, plain FROM weights ORDER BY ruleset, kind, player";

type Half = (String, String, String, String, f64, f64, i64, i64);
type Rest = (Option<i64>, [Option<f64>; 4], String);
type Line = (Half, Rest);

/// Reads a row of either database.
fn line<R: Row>(row: &R) -> Line
where
    usize: ColumnIndex<R>,
    for<'r> String: Decode<'r, R::Database> + Type<R::Database>,
    for<'r> f64: Decode<'r, R::Database> + Type<R::Database>,
    for<'r> i64: Decode<'r, R::Database> + Type<R::Database>,
{
    let text = |at: usize| row.get::<String, _>(at);
    let number = |at: usize| row.get::<f64, _>(at);
    let optional = |at: usize| row.get::<Option<f64>, _>(at);
    let half = (
        text(0),
        text(1),
        text(2),
        text(3),
        number(4),
        number(5),
        row.get(6),
        row.get(7),
    );
    let numbers = [9, 10, 11, 12].map(optional);
    (half, (row.get(8), numbers, text(13)))
}

async fn table_of_sqlite(place: &DatabaseUrl) -> Vec<Line> {
    let url = format!("sqlite:{place}");
    let mut database = SqliteConnection::connect(&url).await.unwrap();
    let rows = sqlx::query(TABLE).fetch_all(&mut database).await;
    rows.unwrap().iter().map(line).collect()
}

async fn table_of_postgres(mut database: PgConnection) -> Vec<Line> {
    let rows = sqlx::query(TABLE).fetch_all(&mut database).await;
    rows.unwrap().iter().map(line).collect()
}

/// A row with numbers that are drawn anew. Some players were forgotten, and many have equal weights.
fn row(draw: &mut Draw, player: usize) -> PartRow {
    let kind = [Kind::Human, Kind::Human, Kind::Bot][player % 3];
    let forgotten = player.is_multiple_of(11);
    let id = match forgotten {
        true => format!("forgotten-{player}"),
        false => format!("player '{player}'"),
    };
    let some = |draw: &mut Draw| draw.below(40) as f64 * 0.1 - 2.0;
    PartRow {
        ruleset: RULESETS[player / 3 % 3].to_owned(),
        key: PlayerKey { kind, id },
        name: match forgotten {
            true => String::new(),
            false => format!("^1Name{}", draw.below(3)),
        },
        weight: 10.0 * some(draw) + 40.0,
        own: some(draw),
        deviation: draw.unit(),
        doubt: draw.unit(),
        division: (draw.below(2) == 0).then_some(1),
        progress: None,
        sides: (draw.below(2) == 0).then(|| [some(draw), draw.unit()]),
        commander: (draw.below(2) == 0).then(|| draw.unit()),
        factors: Some([some(draw), some(draw), 0.0]),
        games: draw.below(100) as u32,
        last_seen: Timestamp(draw.below(1_000_000) as i64),
    }
}

/// A weight that an operator has set.
fn as_it_stands(row: PartRow) -> PartRow {
    PartRow {
        weight: 61.3,
        own: 61.3,
        sides: None,
        commander: None,
        factors: None,
        progress: row.division.map(|_| 0.25),
        ..row
    }
}

fn shares(draw: &mut Draw, ruleset: &str) -> SharesRow {
    let scale = (ruleset != RULESETS[0]).then(|| PointScale {
        average: draw.unit() - 0.5,
        newcomer: draw.unit() - 0.5,
        unit: 0.46,
    });
    SharesRow {
        ruleset: ruleset.to_owned(),
        effects: [draw.unit(), draw.unit() - 0.5, draw.unit()],
        scale,
        points: Shares::POINTS_PER_UNIT,
        divisions: vec![(0.0, 30.0 * draw.unit()), (40.0, 40.0 + 20.0 * draw.unit())],
    }
}

/// What the tables contain.
#[derive(Clone, Default)]
struct World {
    rows: BTreeMap<(String, Kind, String), PartRow>,
    shares: BTreeMap<String, SharesRow>,
}

impl World {
    /// Changes it, and returns the changes.
    fn change(&mut self, draw: &mut Draw, count: usize) -> NewWeights {
        let mut new = NewWeights::default();
        let mut changed = BTreeMap::new();
        for _ in 0..count {
            let player = draw.below(900);
            let row = row(draw, player);
            let row = if draw.below(9) == 0 {
                as_it_stands(row)
            } else {
                row
            };
            changed.insert((row.ruleset.clone(), row.key.kind, row.key.id.clone()), row);
        }
        for (key, row) in changed {
            let old = self.rows.insert(key, row.clone());
            match old.is_some_and(|old| old.name == row.name) {
                true => new.changed.push(row),
                false => new.named.push(row),
            }
        }
        for ruleset in RULESETS {
            self.shares
                .insert(ruleset.to_owned(), shares(draw, ruleset));
        }
        new.shares = self.shares.values().cloned().collect();
        new
    }

    fn all(&self) -> NewWeights {
        NewWeights {
            named: self.rows.values().cloned().collect(),
            shares: self.shares.values().cloned().collect(),
            ..NewWeights::default()
        }
    }

    /// Asserts that the view has the bits of the daemon.
    fn check(&self, found: &[Line]) {
        assert_eq!(found.len(), self.rows.len());
        for ((ruleset, kind, player, _, weight, ..), (division, [progress, sides @ ..], ..)) in
            found
        {
            let kind = Kind::parse(kind).unwrap();
            let row = &self.rows[&(ruleset.clone(), kind, player.clone())];
            assert_eq!(weight.to_bits(), row.weight.to_bits());
            let Some(factors) = row.factors else {
                assert_eq!(*progress, row.progress);
                continue;
            };
            let own = &self.shares[ruleset];
            let shares = Shares {
                effects: own.effects,
                scale: own.scale,
                divisions: own.divisions.clone(),
            };
            let points = |own| shares.points(own, factors);
            let [zero, one] = row.sides.map_or([None; 2], |sides| sides.map(Some));
            assert_eq!(
                *sides,
                [zero, one, row.commander].map(|own| own.map(points))
            );
            let rank = division.and_then(|_| shares.rank(1, *weight));
            assert_eq!(*progress, rank.map(|rank| rank.progress));
        }
    }
}

fn derived(number: i64, weights: Option<NewWeights>) -> DerivedRows {
    DerivedRows {
        from: DerivedFrom {
            matches: number,
            last_match: number,
            settings: "settings".into(),
        },
        rulings: vec![].into(),
        weights,
        divisions: Vec::new(),
        seasons: Vec::new(),
        recount: Recount::default(),
    }
}

/// Writes the same weights to both databases, to the second one always as a whole; `tables` reads them.
async fn same_tables(stores: [Arc<Store>; 2], tables: impl AsyncFn() -> [Vec<Line>; 2], seed: u64) {
    let mut draw = Draw(seed);
    let mut world = World::default();
    let [one, whole] = stores;
    for number in 1..=30 {
        // Now and then only rulings come, and the weights follow later.
        if number > 1 && draw.below(4) == 0 {
            let [before, _] = tables().await;
            let rulings = derived(number, None);
            assert!(one.replace_derived(&rulings, false, None).await.unwrap());
            assert!(one.are_behind().await.unwrap());
            assert_eq!(tables().await[0], before);
            continue;
        }
        // At first all are new; later, some differ, and some are new.
        let count = [400, 9, 1, 40, 0, 8, 300][if number == 1 { 0 } else { draw.below(7) }];
        let new = world.change(&mut draw, count);
        let since = one.derived_from().await.unwrap();
        let new = NewWeights {
            since: since.clone(),
            ..new
        };
        if let Some(mut other) = since {
            other.last_match += 1;
            let refused = NewWeights {
                since: Some(other),
                ..new.clone()
            };
            let refused = derived(number, Some(refused));
            assert!(!one.replace_derived(&refused, false, None).await.unwrap());
        }
        let added = derived(number, Some(new));
        let is_first = number == 1;
        assert!(one.replace_derived(&added, is_first, None).await.unwrap());
        assert!(!one.are_behind().await.unwrap());
        let all = derived(number, Some(world.all()));
        assert!(whole.replace_derived(&all, true, None).await.unwrap());
        let [found, expected] = tables().await;
        world.check(&found);
        assert_eq!(found, expected, "{number}");
    }
    for store in [one, whole] {
        store.close().await;
    }
}

#[tokio::test]
async fn on_sqlite_what_differs_is_enough() {
    for seed in 0..2 {
        let folder = TempDir::new().unwrap();
        let place = |name: &str| DatabaseUrl::File(folder.path().join(name));
        let open = async |name: &str| open_at(&place(name), true, PATIENCE).await.unwrap();
        let stores = [open("one").await, open("whole").await];
        let tables = async || {
            [
                table_of_sqlite(&place("one")).await,
                table_of_sqlite(&place("whole")).await,
            ]
        };
        same_tables(stores, tables, seed).await;
    }
}

#[tokio::test]
async fn on_postgresql_what_differs_is_enough() {
    let Some(server) = Server::shared() else {
        return;
    };
    let names = [server.unused_name(), server.unused_name()];
    let open = async |name: &str| open_at(&server.place(name), true, PATIENCE).await.unwrap();
    for name in &names {
        server.create(name).await;
    }
    let [one, whole] = &names;
    let stores = [open(one).await, open(whole).await];
    let table = async |name: &str| table_of_postgres(server.connect(name).await).await;
    let tables = async || [table(one).await, table(whole).await];
    same_tables(stores, tables, 7).await;
}
