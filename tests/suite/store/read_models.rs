//! The read models of the statistics pages: whatever has happened to the matches, they are those of a
//! rebuild, and their sums are those of the matches.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::Path,
    time::Duration,
};

use evenkeel::{
    model::{Kind, PlayerKey, Timestamp},
    rating::history::{BalanceStatistics, Closeness},
    server::Service,
    store::{self, DatabaseUrl, MatchLine},
};
use proptest::prelude::*;
use tempfile::TempDir;

use crate::common::{
    backends::{chosen, open_chosen},
    config, game,
    postgres::Server,
};

/// Something that happens to the database. Players and matches are chosen by numbers.
#[derive(Clone, Debug)]
enum Step {
    /// A match ends, perhaps earlier than those that are on disk.
    Record {
        minute: i64,
        map: u8,
        first: usize,
        scores: [u8; 2],
    },
    Void(usize, bool),
    Merge(usize, usize),
    Split(usize),
    Forget(usize),
    Learn,
    /// The process ends, perhaps without time for a checkpoint, and another one begins.
    Restart(bool),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    // Forty weeks, some of them before 1970.
    let minute = -50_000..350_000_i64;
    let record = (minute, 0..3_u8, 0..6_usize, [0..4_u8, 0..4_u8]);
    let record = record.prop_map(|(minute, map, first, scores)| Step::Record {
        minute,
        map,
        first,
        scores,
    });
    let step = prop_oneof![
        8 => record,
        1 => (0..20_usize, any::<bool>()).prop_map(|(at, void)| Step::Void(at, void)),
        1 => (0..6_usize, 0..6_usize).prop_map(|(from, into)| Step::Merge(from, into)),
        1 => (0..6_usize).prop_map(Step::Split),
        1 => (0..6_usize).prop_map(Step::Forget),
        4 => Just(Step::Learn),
        1 => any::<bool>().prop_map(Step::Restart),
    ];
    proptest::collection::vec(step, 1..40)
}

fn human(number: usize) -> PlayerKey {
    PlayerKey {
        kind: Kind::Human,
        id: format!("p{}", number % 6),
    }
}

async fn opened(path: &Path) -> Service {
    let store = open_chosen(path).await;
    Service::open(store, config("").service()).unwrap()
}

async fn take(step: Step, service: Service, path: &Path) -> Service {
    let store = service.store().clone();
    match step {
        Step::Record {
            minute,
            map,
            first,
            scores,
        } => {
            let ids: Vec<String> = (first..first + 4).map(|number| human(number).id).collect();
            let side = |at: usize| [(Kind::Human, ids[at].as_str()), (Kind::Human, &ids[at + 1])];
            let mut record = game(minute, &side(0), &side(2), scores.map(f64::from));
            record.map = format!("map{map}");
            store.matches().record(&record).await.unwrap();
        }
        Step::Void(at, void) => {
            let lines = store.matches().latest_matches(None, 1_000).await.unwrap();
            if let Some(line) = lines.get(at) {
                store
                    .corrections()
                    .set_void(&[line.id], void)
                    .await
                    .unwrap();
            }
        }
        Step::Merge(from, into) if from != into => {
            store
                .corrections()
                .merge_player(&human(from), &human(into))
                .await
                .unwrap();
        }
        Step::Merge(..) => {}
        Step::Split(player) => {
            store
                .corrections()
                .split_player(&human(player))
                .await
                .unwrap();
        }
        Step::Forget(player) => {
            store
                .corrections()
                .forget_player(&human(player), Timestamp(0))
                .await
                .unwrap();
        }
        Step::Learn => {
            service.learning().refresh().await.unwrap();
        }
        Step::Restart(in_peace) => {
            if in_peace {
                service.learning().save_checkpoint().await.unwrap();
            }
            service.close().await;
            return opened(path).await;
        }
    }
    service
}

/// The sums of some matches, computed here.
fn sum<'a>(lines: impl Iterator<Item = &'a MatchLine>) -> Closeness {
    let mut sum = Closeness::default();
    for line in lines {
        sum.rated += 1;
        sum.matches += 1;
        let gap = (line.scores[0].unwrap() - line.scores[1].unwrap()).abs();
        sum.scored += 1;
        sum.draws += i64::from(line.outcome == "draw");
        sum.gap += gap;
        sum.minutes += (line.ended.0 - line.started.0) as f64 / 60_000.0;
        sum.decided += i64::from(line.winner.is_some());
        sum.first_won += i64::from(line.winner == Some(0));
        if let Some((chance, won)) = line.forecast.zip(won(line)) {
            sum.predicted += 1;
            sum.predicted_won += i64::from(won != 0.5);
            sum.favoured += i64::from((chance >= 0.5) == (won > 0.5) && won != 0.5);
            sum.brier += (chance - won).powi(2);
        }
    }
    sum
}

fn won(line: &MatchLine) -> Option<f64> {
    match line.outcome.as_str() {
        "won" => Some(f64::from(u8::from(line.winner == Some(0)))),
        "draw" => Some(0.5),
        _ => None,
    }
}

/// Compares sums; those of numbers with decimals may differ by the order of the terms.
fn assert_same(is: Closeness, should: Closeness, what: &str) {
    let whole = |of: Closeness| {
        (
            of.rated,
            of.matches,
            of.draws,
            of.first_won,
            of.decided,
            of.predicted,
            of.favoured,
            of.scored,
            of.predicted_won,
        )
    };
    assert_eq!(whole(is), whole(should), "{what}");
    for (is, should) in [
        (is.gap, should.gap),
        (is.minutes, should.minutes),
        (is.brier, should.brier),
    ] {
        assert!((is - should).abs() < 1e-9, "{what}: {is} and {should}");
    }
}

/// The Monday with which the week of a time begins.
fn monday(at: Timestamp) -> Timestamp {
    let (week, shift) = (7 * 86_400_000, 3 * 86_400_000);
    Timestamp((at.0 + shift).div_euclid(week) * week - shift)
}

/// Checks the numbers of the balance page, and returns them.
async fn check_sums(service: &Service) -> BalanceStatistics {
    let lines = service.store().matches().latest_matches(None, 1_000);
    let lines = lines.await.unwrap();
    let rated = |line: &MatchLine| line.ruleset.is_some() && line.unrated.is_none();
    let lines: Vec<MatchLine> = lines.into_iter().filter(rated).collect();
    let balance = service.learning().standings().balance().unwrap();
    let rulesets = balance.rulesets(100);
    let all = rulesets.iter().map(|line| line.closeness.rated);
    assert_eq!(all.sum::<i64>(), lines.len() as i64);
    for ruleset in rulesets {
        let name = ruleset.ruleset;
        let own = || {
            lines
                .iter()
                .filter(|line| line.ruleset.as_ref() == Some(&name))
        };
        assert_same(ruleset.closeness, sum(own()), &name);
        let counted = balance.of(&name);
        let weeks = counted.weeks();
        let mondays: BTreeSet<Timestamp> = own().map(|line| monday(line.ended)).collect();
        let begins: Vec<Timestamp> = weeks.iter().map(|week| week.begins).collect();
        assert_eq!(begins, mondays.into_iter().collect::<Vec<_>>());
        for week in weeks {
            let of_week = own().filter(|line| monday(line.ended) == week.begins);
            assert_same(week.closeness, sum(of_week), "a week");
        }
        for map in counted.maps(100) {
            let on_map = own().filter(|line| line.map == map.map);
            assert_same(map.closeness, sum(on_map), &map.map);
        }
        let mut gaps: BTreeMap<i64, i64> = BTreeMap::new();
        for line in own() {
            *gaps
                .entry((line.scores[0].unwrap() - line.scores[1].unwrap()).abs() as i64)
                .or_default() += 1;
        }
        assert_eq!(counted.gaps(), gaps.into_iter().collect::<Vec<_>>());
        let steps = counted.chances();
        let predicted: i64 = steps.iter().map(|step| step.matches).sum();
        assert_eq!(predicted, sum(own()).predicted);
    }
    balance
}

/// A hash of each derived table. The numbers of persons depend on the order in which matches came; their handles
/// do not.
async fn hashes(path: &Path) -> Vec<(String, String)> {
    if let DatabaseUrl::Server(..) = chosen(path).await {
        return hashes_on_server(path).await;
    }
    let file = store::open_file(path, Duration::from_secs(5))
        .await
        .unwrap();
    file.derived_hashes().await.unwrap()
}

async fn hashes_on_server(path: &Path) -> Vec<(String, String)> {
    let name = fs::read_to_string(path.with_extension("postgres")).unwrap();
    let mut connection = Server::shared().unwrap().connect(&name).await;
    let mut hashes = Vec::new();
    for table in [
        "rulings",
        "performances",
        "weights",
        "divisions",
        "seasons",
        "persons",
    ] {
        let handle = match table {
            "performances" => "(SELECT handle FROM persons p WHERE p.person = t.person)",
            _ => "''",
        };
        let hash = format!(
            "SELECT md5(coalesce(string_agg(line, ' ' ORDER BY line), '')) FROM
             (SELECT CAST(to_jsonb(t) - 'person' AS TEXT) || {handle} AS line FROM {table} t) AS lines"
        );
        let hash = sqlx::query_scalar(sqlx::AssertSqlSafe(hash));
        let hash: String = hash.fetch_one(&mut connection).await.unwrap();
        hashes.push((table.to_owned(), hash));
    }
    hashes
}

async fn run(steps: Vec<Step>) {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("test.db");
    let mut service = opened(&path).await;
    for step in steps {
        service = take(step, service, &path).await;
    }
    service.learning().refresh().await.unwrap();
    let balance = check_sums(&service).await;
    let learned = hashes(&path).await;
    service.learning().rebuild(|_| ()).await.unwrap();
    assert_eq!(learned, hashes(&path).await);
    let again = check_sums(&service).await;
    let bytes = |balance: &BalanceStatistics| postcard::to_stdvec(balance).unwrap();
    assert_eq!(bytes(&balance), bytes(&again));
    service.close().await;
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn whatever_happens_the_read_models_are_those_of_a_rebuild(steps in steps()) {
        tokio::runtime::Runtime::new().unwrap().block_on(run(steps));
    }
}
