//! Writing only the weights that differ leaves the same table as writing all of them.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use evenkeel::{
    domain::{Kind, PlayerKey, Rank, RoleWeights, Timestamp},
    store::{DatabaseUrl, DerivedFrom, DerivedRows, Store, WeightRow, open_at},
};
use sqlx::{ColumnIndex, Connection, Decode, PgConnection, Row, SqliteConnection, Type};
use tempfile::TempDir;

use crate::common::{draw::Draw, postgres::Server};

const PATIENCE: Duration = Duration::from_secs(20);
/// All of the table.
const TABLE: &str =
    "SELECT ruleset, kind, player, name, weight, deviation, games, last_seen, division, progress,
        side_0, side_1, commander, place, plain, scale FROM weights ORDER BY ruleset, kind, player";

type Half = (String, String, String, String, f64, f64, i64, i64);
type Rest = (
    Option<i64>,
    [Option<f64>; 4],
    Option<i64>,
    Option<String>,
    i64,
);
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
    (
        half,
        (row.get(8), numbers, row.get(13), row.get(14), row.get(15)),
    )
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
fn row(draw: &mut Draw, player: usize) -> WeightRow {
    let kind = [Kind::Human, Kind::Human, Kind::Bot][player % 3];
    let forgotten = player.is_multiple_of(11);
    let id = match forgotten {
        true => format!("forgotten-{player}"),
        false => format!("player '{player}'"),
    };
    let weight = draw.below(40) as f64 * 2.5;
    WeightRow {
        ruleset: ["ctf", "tdm", "Ω \"odd\""][player / 3 % 3].to_owned(),
        key: PlayerKey { kind, id },
        name: match forgotten {
            true => String::new(),
            false => format!("^1Name{}", draw.below(3)),
        },
        weight,
        scale: draw.below(3) as u8,
        deviation: draw.unit(),
        rank: (draw.below(2) == 0).then(|| Rank {
            division: 1,
            progress: draw.unit(),
        }),
        roles: RoleWeights {
            sides: (draw.below(2) == 0).then(|| [draw.unit(), draw.unit()]),
            commander: None,
        },
        games: draw.below(100) as u32,
        last_seen: Timestamp(draw.below(1_000_000) as i64),
    }
}

fn derived(number: i64, rows: &BTreeMap<(String, Kind, String), WeightRow>) -> DerivedRows {
    DerivedRows {
        from: DerivedFrom {
            matches: number,
            last_match: number,
            settings: "settings".into(),
        },
        rulings: Vec::new(),
        weights: Arc::new(rows.values().cloned().collect()),
        divisions: Vec::new(),
        seasons: Vec::new(),
    }
}

/// Writes the same weights to both databases, to the second one always as a whole; `tables` reads them.
async fn same_tables(stores: [Arc<Store>; 3], tables: impl AsyncFn() -> [Vec<Line>; 2], seed: u64) {
    let mut draw = Draw(seed);
    let mut rows = BTreeMap::new();
    let [one, whole, elsewhere] = stores;
    for number in 1..=40 {
        // At first all are new; later, some differ, and some are new.
        let count = [400, 9, 1, 40, 0, 8, 300][if number == 1 { 0 } else { draw.below(7) }];
        for _ in 0..count {
            let player = draw.below(900);
            let row = row(&mut draw, player);
            let key = (row.ruleset.clone(), row.key.kind, row.key.id.clone());
            rows.insert(key, row);
        }
        if draw.below(8) == 0 {
            rows.pop_first();
        }
        let derived = derived(number, &rows);
        // Now and then another process writes.
        let writer = if draw.below(6) == 0 { &elsewhere } else { &one };
        // Now and then only rulings come, and the weights follow later.
        if number > 1 && draw.below(4) == 0 {
            let [before, _] = tables().await;
            assert!(writer.add_rulings(&derived, None).await.unwrap());
            assert!(writer.weights_are_behind().await.unwrap());
            assert_eq!(tables().await[0], before);
            continue;
        }
        let replaced = writer.replace_derived(&derived, number == 1, None);
        assert!(replaced.await.unwrap());
        assert!(!writer.weights_are_behind().await.unwrap());
        let replaced = whole.replace_derived(&derived, true, None);
        assert!(replaced.await.unwrap());
        let [found, expected] = tables().await;
        assert_eq!(found.len(), rows.len());
        assert_eq!(found, expected, "{number}");
    }
    for store in [one, whole, elsewhere] {
        store.close().await;
    }
}

#[tokio::test]
async fn on_sqlite_what_differs_is_enough() {
    for seed in 0..2 {
        let folder = TempDir::new().unwrap();
        let place = |name: &str| DatabaseUrl::File(folder.path().join(name));
        let open = async |name: &str| open_at(&place(name), true, PATIENCE).await.unwrap();
        let stores = [open("one").await, open("whole").await, open("one").await];
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
    let stores = [open(one).await, open(whole).await, open(one).await];
    let table = async |name: &str| table_of_postgres(server.connect(name).await).await;
    let tables = async || [table(one).await, table(whole).await];
    same_tables(stores, tables, 7).await;
}
