//! Lists of a player's matches go on in the archive.

use evenkeel::{
    domain::{
        Kind::{self, Human},
        PlayerKey, Timestamp,
    },
    server::Service,
    store::{MatchFilter, Store},
};

use crate::common::{
    self,
    backends::{Backend, Postgres, Sqlite, on_each_database},
    game,
};

/// Who plays against whom, in turn.
const LINEUPS: [(&[&str], &[&str]); 7] = [
    (&["ann", "bob"], &["cid", "dan"]),
    (&["ann"], &["bob"]),
    (&["ann", "cid"], &["bob", "dan"]),
    (&["anna", "bob"], &["cid"]),
    (&["bob"], &["anna"]),
    (&["cid"], &["dan"]),
    (&["dan"], &["bob", "anna"]),
];

/// The ids of all matches that a filter leaves, read some at a time.
async fn all(store: &Store, filter: MatchFilter<'_>) -> Vec<i64> {
    let (mut ids, mut filter) = (Vec::new(), filter);
    loop {
        let page = store.filtered_matches(&filter, 7).await.unwrap();
        assert!(page.lines.len() <= 7);
        ids.extend(page.lines.iter().map(|line| line.id));
        match page.next {
            Some(next) => filter.before = Some(next),
            None => return ids,
        }
    }
}

async fn person(store: &Store, id: &str) -> i64 {
    let found = store.person(id, Some(Human)).await.unwrap();
    found.unwrap_or_else(|| panic!("{id}")).person
}

/// The lists of some players, alone and with or against another one.
async fn lists(store: &Store) -> Vec<Vec<i64>> {
    let mut lists = Vec::new();
    let (ann, bob) = (person(store, "ann").await, person(store, "bob").await);
    for (one, other) in [(ann, bob), (bob, ann)] {
        let of = MatchFilter {
            person: Some(one),
            ..MatchFilter::default()
        };
        lists.push(all(store, of).await);
        for together in [true, false] {
            let other = Some((other, together));
            lists.push(all(store, MatchFilter { other, ..of }).await);
        }
        let map = Some("m1");
        lists.push(all(store, MatchFilter { map, ..of }).await);
        let since = Some(Timestamp(90 * 60_000));
        lists.push(all(store, MatchFilter { since, ..of }).await);
    }
    lists
}

async fn a_list_of_a_player_is_the_same_when_matches_are_archived(open: impl Backend) {
    let store = open.database("one").await;
    let settings = common::config("rating.min_seconds = 0").service();
    let service = Service::open(store, settings).unwrap();
    let store = &**service.store();
    let mut ends = Vec::new();
    for number in 0..75_usize {
        let (zero, one) = LINEUPS[number % LINEUPS.len()];
        let team = |ids: &[&'static str]| -> Vec<(Kind, &'static str)> {
            ids.iter().map(|id| (Human, *id)).collect()
        };
        let minute = 5 * i64::try_from(number).unwrap();
        let scores = [2.0, (number % 4) as f64];
        let mut record = game(minute, &team(zero), &team(one), scores);
        record.map = format!("m{}", number / 3 % 2);
        ends.push(record.end);
        store.record(&record).await.unwrap();
    }
    let key = |id: &str| PlayerKey {
        kind: Human,
        id: id.to_owned(),
    };
    store.merge_player(&key("anna"), &key("ann")).await.unwrap();
    service.learning().refresh().await.unwrap();
    let before = lists(store).await;
    assert!(before.iter().all(|list| list.len() > 3), "{before:?}");
    // Some archived matches are later than some that are not: these were recorded late.
    for end in ends.iter().step_by(3).take(22) {
        store.archive_matches(*end, 1, None).await.unwrap();
    }
    assert_eq!(
        store.chunks().await.unwrap().len(),
        21,
        "more than a page reads"
    );
    let late = game(7, &[(Human, "ann")], &[(Human, "bob")], [1.0, 0.0]);
    let late = store.record(&late).await.unwrap().id();
    service.learning().refresh().await.unwrap();
    let after = lists(store).await;
    let without_late =
        |list: &Vec<i64>| -> Vec<i64> { list.iter().copied().filter(|id| *id != late).collect() };
    assert_eq!(after.iter().map(without_late).collect::<Vec<_>>(), before);
    assert!(after[0].contains(&late));
}

on_each_database! {
    a_list_of_a_player_is_the_same_when_matches_are_archived
}
