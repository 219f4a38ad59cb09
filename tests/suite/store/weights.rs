//! Writing only what differs leaves the same tables as writing everything, and rows are read with the bits of the daemon.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use async_trait::async_trait;
use evenkeel::{
    model::{Kind, PlayerKey, Timestamp, weight::Rank},
    store::{
        Correction, DatabaseUrl, DerivedFrom, DerivedRows, DivisionRow, Meanwhile, NewWeights,
        Recount, RecountCause, Store, WeightRow, open_at,
    },
};
use tempfile::TempDir;

use crate::common::{
    backends::{Backend, Postgres, Sqlite, on_each_database},
    draw::Draw,
    postgres::Server,
};

const PATIENCE: Duration = Duration::from_secs(20);
const RULESETS: [&str; 3] = ["ctf", "tdm", "Ω \"odd\""];

/// All weights that a database has.
async fn table(store: &Store) -> Vec<WeightRow> {
    let mut rows = Vec::new();
    for ruleset in store.learned().rulesets().await.unwrap() {
        for kind in [Kind::Human, Kind::Bot] {
            rows.extend(store.learned().weights(&ruleset, kind).await.unwrap());
        }
    }
    rows.sort_by(|a, b| (&a.ruleset, &a.key).cmp(&(&b.ruleset, &b.key)));
    rows
}

/// A row with numbers that are drawn anew. Some players were forgotten, and many have equal weights.
fn row(draw: &mut Draw, player: usize) -> WeightRow {
    let kind = [Kind::Human, Kind::Human, Kind::Bot][player % 3];
    let forgotten = player.is_multiple_of(11);
    let id = match forgotten {
        true => format!("forgotten-{player}"),
        false => format!("player '{player}'"),
    };
    WeightRow {
        ruleset: RULESETS[player / 3 % 3].to_owned(),
        key: PlayerKey { kind, id },
        name: match forgotten {
            true => String::new(),
            false => format!("^1Name{}", draw.below(3)),
        },
        weight: draw.below(40) as f64 + 30.0,
        deviation: draw.unit(),
        rank: (draw.below(2) == 0).then_some(Rank {
            division: 1,
            progress: 0.0,
        }),
        games: draw.below(100) as u32,
        wins: draw.below(50) as u32,
        last_seen: Timestamp(draw.below(1_000_000) as i64),
        is_pinned: draw.below(9) == 0,
    }
}

type Spans = Vec<(f64, f64)>;

/// What the tables contain.
#[derive(Clone, Default)]
struct World {
    rows: BTreeMap<(String, PlayerKey), WeightRow>,
    spans: BTreeMap<String, Spans>,
}

impl World {
    /// Changes it, and returns the changes.
    fn change(&mut self, draw: &mut Draw, count: usize) -> NewWeights {
        let mut new = NewWeights::default();
        let mut changed = BTreeMap::new();
        for _ in 0..count {
            let player = draw.below(900);
            let row = row(draw, player);
            changed.insert((row.ruleset.clone(), row.key.clone()), row);
        }
        for (key, row) in changed {
            match draw.below(12) == 0 && self.rows.remove(&key).is_some() {
                true => new.gone.push(key),
                false => {
                    self.rows.insert(key, row.clone());
                    new.rows.push(row);
                }
            }
        }
        for ruleset in RULESETS {
            let one = (0.0, 30.0 * draw.unit());
            let spans = vec![one, (40.0, 40.0 + 20.0 * draw.unit())];
            self.spans.insert(ruleset.to_owned(), spans.clone());
            new.spans.push((ruleset.to_owned(), spans));
        }
        self.rename(draw, &mut new);
        new
    }

    /// The same while other rows are written: nobody loses a weight.
    fn go_on(&mut self, draw: &mut Draw, count: usize) -> NewWeights {
        let before = self.rows.clone();
        let mut new = self.change(draw, count);
        for key in new.gone.drain(..) {
            self.rows.insert(key.clone(), before[&key].clone());
        }
        new
    }

    /// Gives somebody another name in all rulesets.
    fn rename(&mut self, draw: &mut Draw, new: &mut NewWeights) {
        let at = draw.below(self.rows.len().max(1));
        let Some((_, row)) = self.rows.iter().nth(at) else {
            return;
        };
        let (key, name) = (row.key.clone(), format!("New{}", draw.below(9)));
        for row in self.rows.values_mut().filter(|row| row.key == key) {
            row.name.clone_from(&name);
        }
        new.names.push((key, name));
    }

    fn all(&self) -> NewWeights {
        NewWeights {
            rows: self.rows.values().cloned().collect(),
            spans: self.spans.clone().into_iter().collect(),
            ..NewWeights::default()
        }
    }

    /// The rows with the progress that the daemon computes.
    fn expected(&self) -> Vec<WeightRow> {
        let progress = |row: &WeightRow| {
            let (low, high) = self.spans[&row.ruleset][1];
            ((row.weight - low) / (high - low)).clamp(0.0, 1.0)
        };
        let row = |row: &WeightRow| WeightRow {
            rank: row.rank.map(|rank| Rank {
                progress: progress(row),
                ..rank
            }),
            ..row.clone()
        };
        self.rows.values().map(row).collect()
    }
}

fn derived(number: i64, weights: NewWeights) -> DerivedRows {
    let division = |name: &str| DivisionRow {
        name: name.to_owned(),
        decay_after_days: 0,
        decay_days: 0,
    };
    DerivedRows {
        from: DerivedFrom {
            matches: number,
            last_match: number,
            settings: "settings".into(),
        },
        rulings: vec![].into(),
        weights,
        divisions: ["Low", "High"].map(division).to_vec(),
        seasons: Vec::new(),
        recount: Recount::default(),
    }
}

/// Writes the same weights to both databases, to the second one always as a whole.
async fn same_tables([one, whole]: [Arc<Store>; 2], seed: u64) {
    let mut draw = Draw(seed);
    let mut world = World::default();
    for number in 1..=30 {
        // At first all are new; later, some differ, and some are new.
        let count = [400, 9, 1, 40, 0, 8, 300][if number == 1 { 0 } else { draw.below(7) }];
        let new = world.change(&mut draw, count);
        let since = one.learned().derived_from().await.unwrap();
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
            let refused = derived(number, refused);
            assert!(
                !one.learned()
                    .replace_derived(&refused, false, None)
                    .await
                    .unwrap()
            );
        }
        let added = derived(number, new);
        let is_first = number == 1;
        assert!(
            one.learned()
                .replace_derived(&added, is_first, None)
                .await
                .unwrap()
        );
        let all = derived(number, world.all());
        assert!(
            whole
                .learned()
                .replace_derived(&all, true, None)
                .await
                .unwrap()
        );
        assert_eq!(table(&one).await, world.expected(), "{number}");
        assert_eq!(table(&whole).await, world.expected(), "{number}");
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
        same_tables([open("one").await, open("whole").await], seed).await;
    }
}

/// What is learned while many rows are written; nothing in every third turn.
struct Later<'a> {
    world: &'a mut World,
    draw: &'a mut Draw,
    turns: usize,
}

#[async_trait]
impl Meanwhile for Later<'_> {
    async fn next(&mut self) -> Option<DerivedRows> {
        self.turns += 1;
        let goes_on = !self.turns.is_multiple_of(3);
        goes_on.then(|| derived(0, self.world.go_on(self.draw, 40)))
    }
}

#[tokio::test]
async fn what_is_learned_while_rows_are_written_is_among_them() {
    let folder = TempDir::new().unwrap();
    let place = DatabaseUrl::File(folder.path().join("one"));
    let store = open_at(&place, true, PATIENCE).await.unwrap();
    let (mut draw, mut world) = (Draw(7), World::default());
    for number in 1..=6 {
        let all = number % 2 == 1;
        let since = store.learned().derived_from().await.unwrap();
        let changed = world.change(&mut draw, 900);
        let first = match all {
            true => world.all(),
            false => NewWeights { since, ..changed },
        };
        assert!(first.rows.len() > 200, "one transaction would write them");
        let first = derived(number, first);
        let mut later = Later {
            world: &mut world,
            draw: &mut draw,
            turns: 0,
        };
        let tables = store.learned();
        let written = tables.replace_derived_with(&first, all, None, &mut later);
        assert!(written.await.unwrap());
        assert!(later.turns > 2, "in several transactions");
        let all = table(&store).await.into_iter().zip(world.expected());
        all.for_each(|(row, expected)| assert_eq!(row, expected, "{number}"));
        assert_eq!(table(&store).await.len(), world.rows.len());
        let from = store.learned().derived_from().await.unwrap();
        assert_eq!(from, Some(first.from));
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
    same_tables([open(one).await, open(whole).await], 7).await;
}

/// A game may name its type and its mutators as it likes: weights and notices have rulesets of any length.
async fn a_ruleset_of_any_length_has_weights_and_notices(open: impl Backend) {
    let store = open.database("one").await;
    let mut draw = Draw(3);
    // Nothing that a database could compress.
    let ruleset = (0..6_000).map(|_| char::from(b'a' + draw.below(26) as u8));
    let ruleset: String = ruleset.collect();
    let mut write = async |number: i64, weight: f64| {
        let weights = NewWeights {
            rows: vec![WeightRow {
                ruleset: ruleset.clone(),
                weight,
                last_seen: Timestamp(7),
                is_pinned: false,
                ..row(&mut draw, 1)
            }],
            ..NewWeights::default()
        };
        let recount = Recount {
            correction: Correction::Known(RecountCause::Void),
            at: Timestamp(number * 1_000_000),
            changes: 0,
        };
        let rows = DerivedRows {
            recount,
            ..derived(number, weights)
        };
        let written = store.learned().replace_derived(&rows, true, None).await;
        assert!(written.unwrap(), "{number}");
    };
    write(1, 40.0).await;
    write(2, 50.0).await;
    // Once more at the same time: the notice says what is counted now.
    write(2, 60.0).await;
    let rows = table(&store).await;
    assert_eq!((rows.len(), &rows[0].ruleset), (1, &ruleset));
    let notices = store.learned().recounts_of(&rows[0].key, 9).await.unwrap();
    let notices: Vec<_> = notices
        .iter()
        .map(|one| (&one.ruleset, one.then, one.now))
        .collect();
    assert_eq!(notices, [(&ruleset, 40.0, 60.0)]);
}

on_each_database! {
    a_ruleset_of_any_length_has_weights_and_notices
}
