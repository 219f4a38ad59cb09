//! What every database must do with experiments, also if several daemons use it.

use std::sync::Arc;

use evenkeel::{
    model::Timestamp,
    store::{ArmAsker, DatabaseUrl, DrawnArm, ExperimentRow, Store},
};
use futures_util::future::join_all;

use crate::common::backends::{Backend, Postgres, Sqlite, on_each_database};

fn row(settings: &str, at: i64) -> ExperimentRow {
    ExperimentRow {
        number: 0,
        began_at: Timestamp(at),
        ended_at: None,
        why_ended: None,
        ruleset: "ctf".into(),
        settings: settings.into(),
        one_sided: 0.4,
        secret: vec![u8::try_from(at % 200).unwrap(); 32],
    }
}

async fn arm(store: &Store, experiment: i64, game: i64, at: i64) -> Option<DrawnArm> {
    let draw = |number: i64| if number % 2 == 0 { "a" } else { "b" };
    let asker = ArmAsker::Server("alpha");
    let at = (game, Timestamp(at), "[]");
    let drawn = store.experiments().arm(experiment, &asker, at, draw);
    drawn.await.unwrap()
}

/// Two daemons begin the same experiment, and ask for the arms of the same games at the same time.
async fn daemons_agree(open: impl Backend) {
    let (one, other) = (open.database("one").await, open.database("one").await);
    let begun = one.experiments().begin(row("first", 5)).await.unwrap();
    let same = other.experiments().begin(row("first", 6)).await.unwrap();
    assert_eq!((same.number, &same.secret), (begun.number, &begun.secret));
    let ask = |store: &Arc<Store>, game: i64| {
        let (store, number) = (store.clone(), begun.number);
        async move { arm(&store, number, game, 1_000 - game).await.unwrap() }
    };
    let mut drawn = Vec::new();
    for game in 0..40 {
        match open.place("one").await {
            // One daemon at a time writes to a file.
            DatabaseUrl::File(_) => drawn.extend([ask(&one, game).await, ask(&other, game).await]),
            DatabaseUrl::Server(..) => {
                drawn.extend(join_all([ask(&one, game), ask(&other, game)]).await);
            }
        }
    }
    for pair in drawn.chunks(2) {
        assert_eq!(pair[0], pair[1]);
    }
    let mut numbers: Vec<i64> = drawn.iter().map(|drawn| drawn.number).collect();
    numbers.sort_unstable();
    numbers.dedup();
    assert_eq!(
        numbers,
        (1..=40).collect::<Vec<_>>(),
        "no game is counted twice"
    );
    // The clock does not matter.
    assert_eq!(arm(&one, begun.number, 7, -5).await.unwrap(), drawn[14]);
    // A later number of the same game has its arm.
    one.experiments().renumber(7, 700).await.unwrap();
    let later = arm(&other, begun.number, 700, 9).await.unwrap();
    assert_eq!(
        (later.number, &later.arm),
        (drawn[14].number, &drawn[14].arm)
    );
    // Other settings end it. Who has not heard of that draws no arm any more, but those that were drawn stay.
    let next = other.experiments().begin(row("second", 7)).await.unwrap();
    assert!(next.number > begun.number);
    assert_eq!(arm(&one, begun.number, 900, 9).await, None);
    assert_eq!(arm(&one, begun.number, 3, 9).await.unwrap(), drawn[6]);
    let all = one.experiments().latest(10).await.unwrap();
    assert_eq!(all[1].ended_at, Some(Timestamp(7)));
    assert_eq!((all[0].number, all[0].ended_at), (next.number, None));
    assert_eq!(
        one.experiments().drawn(begun.number).await.unwrap().len(),
        40
    );
    assert!(
        other
            .experiments()
            .end(Timestamp(8), "enough")
            .await
            .unwrap()
    );
    assert!(!one.experiments().end(Timestamp(9), "enough").await.unwrap());
    assert_eq!(one.experiments().present().await.unwrap(), None);
}

on_each_database! {
    daemons_agree
}
