//! What every database must do, shown through the traits of the store alone: a backend that joins has
//! one line at the end of this file.

use std::sync::Arc;

use evenkeel::{
    model::{
        Kind::{Bot, Human},
        MatchRecord, Outcome, PlayerKey, Timestamp,
        fingerprint::Fingerprint,
        match_chances::{MAX_TEAM_CHANGES, MatchChances, TeamCause, TeamChances, TeamChange},
        record::{Presence, Role, ScoreEvent, Span},
        weight::{Rank, WeightCause, WeightEntry},
    },
    store::{
        Cursor, DecisionRow, DerivedFrom, DerivedRows, DivisionRow, HalfRecorded, LogMatches,
        LogReplaced, NewWeights, Performance, Recorded, Recount, RulingRow, Store, StoreError,
        WeightRow,
    },
};

use crate::common::{
    as_they_stand,
    backends::{Backend, Postgres, Sqlite, on_each_database},
    game, player,
};

/// A record that uses every field.
pub fn full() -> MatchRecord {
    let mut record = game(
        5,
        &[(Human, "a'); DROP TABLE matches;--"), (Bot, "Sarge")],
        &[(Human, "Ren\u{e9}")],
        [2.0, 1.0],
    );
    let again = Presence {
        team: 1,
        span: Span {
            from: 400_000,
            to: 600_000,
        },
    };
    record.participants[0].presence[0].span.to = 300_000;
    record.participants[0].presence.push(again);
    record.participants[1].points = Some(-3.5);
    record.participants[1].kills = 7;
    record.participants[1].deaths = 4;
    record.participants[2].name = "\u{1b}[31mRené".into();
    record.participants[2].presence.clear();
    record.events[0].by = Some(1);
    record.events.push(ScoreEvent {
        at: 599_999,
        team: 1,
        points: -0.1,
        by: None,
    });
    record.participants[0].party = Some(3);
    record.participants[1].roles = vec![Role {
        name: "commander".into(),
        team: 0,
        share: 0.75,
    }];
    record.mode = "gather".into();
    record.clock = Some(12_345);
    record.mutators = vec!["A".into(), "b".into()];
    record
}

async fn all(store: &Store, limit: u32) -> Vec<MatchRecord> {
    let (mut records, mut cursor) = (Vec::new(), Cursor::START);
    loop {
        let (page, next) = store.matches().after(cursor, limit).await.unwrap();
        if page.is_empty() {
            return records;
        }
        records.extend(page.into_iter().map(|stored| stored.record));
        cursor = next;
    }
}

async fn what_goes_in_comes_out(open: impl Backend) {
    let store = open.database("one").await;
    let mut ffa = full();
    ffa.scores.clear();
    ffa.events.clear();
    ffa.outcome = Outcome::Abandoned;
    ffa.participants = vec![player(Human, "x", 0, 600_000)];
    let mut draw = game(500, &[(Human, "x")], &[(Human, "y")], [1.0, 1.0]);
    draw.end = draw.end.plus_millis(7);
    for record in [&draw, &full(), &ffa] {
        assert!(matches!(
            store.matches().record(record).await.unwrap(),
            Recorded::New(_)
        ));
    }
    let found = all(&store, 100).await;
    assert_eq!(found.len(), 3);
    for record in [&draw, &full(), &ffa] {
        assert!(found.contains(record), "{record:?}");
    }
    assert!(found.is_sorted_by_key(|record| record.end));
}

async fn the_same_match_twice_is_one(open: impl Backend) {
    let store = open.database("one").await;
    let record = game(5, &[(Human, "a")], &[(Human, "b")], [2.0, 1.0]);
    let Recorded::New(id) = store.matches().record(&record).await.unwrap() else {
        panic!()
    };
    // Who is listed first does not matter, nor what a second log says of the score.
    let mut again = record.clone();
    again.participants.reverse();
    for event in &mut again.events {
        event.by = None;
    }
    assert_eq!(
        store.matches().record(&again).await.unwrap(),
        Recorded::Duplicate(id)
    );
    type Change = fn(&mut MatchRecord);
    let others: [Change; 4] = [
        |m| m.server = "other".into(),
        |m| m.map = "other".into(),
        |m| {
            m.start = m.start.plus_millis(1_000);
            m.end = m.end.plus_millis(1_000);
        },
        |m| m.participants[0].key.id = "c".into(),
    ];
    for change in others {
        let mut other = record.clone();
        change(&mut other);
        assert!(matches!(
            store.matches().record(&other).await.unwrap(),
            Recorded::New(_)
        ));
    }
}

async fn without_dates_the_course_of_the_game_tells_matches_apart(open: impl Backend) {
    let store = open.database("one").await;
    let mut record = game(5, &[(Human, "a")], &[(Human, "b")], [2.0, 1.0]);
    record.clock = Some(0);
    assert!(matches!(
        store.matches().record(&record).await.unwrap(),
        Recorded::New(_)
    ));
    // The copied file has another date; it is the same game.
    let mut copied = record.clone();
    copied.start = copied.start.plus_millis(86_400_000);
    copied.end = copied.end.plus_millis(86_400_000);
    assert!(matches!(
        store.matches().record(&copied).await.unwrap(),
        Recorded::Duplicate(_)
    ));
    let mut rematch = copied;
    rematch.events[0].at += 1;
    assert!(matches!(
        store.matches().record(&rematch).await.unwrap(),
        Recorded::New(_)
    ));
}

async fn many_matches_at_once_are_the_same_as_one_after_the_other(open: impl Backend) {
    let (one, many) = (open.database("one").await, open.database("many").await);
    let mut records = vec![full()];
    for minute in 0..40_i32 {
        let score = f64::from(minute % 3);
        records.push(game(
            minute.into(),
            &[(Human, "a")],
            &[(Human, "b")],
            [2.0, score],
        ));
    }
    records.push(full()); // twice in one batch
    let mut expected = Vec::new();
    for record in &records {
        expected.push(one.matches().record(record).await.unwrap());
    }
    let known: Vec<_> = records
        .iter()
        .map(|record| (record.clone(), Fingerprint::of(record)))
        .collect();
    assert_eq!(many.matches().record_all(&known).await.unwrap(), expected);
    assert_eq!(all(&many, 7).await, all(&one, 100).await);
    let Recorded::Duplicate(_) = many.matches().record_all(&known).await.unwrap()[3] else {
        panic!()
    };
    // One that cannot be: what comes before it is on disk, and nothing of it and the rest.
    let (mut bad, new) = (
        full(),
        game(900, &[(Human, "c")], &[(Human, "d")], [1.0, 0.0]),
    );
    bad.end = bad.start.plus_millis(-1);
    let mut later = new.clone();
    later.server = "later".into();
    let batch = [new, bad, later].map(|record| {
        let fingerprint = Fingerprint::of(&record);
        (record, fingerprint)
    });
    let before = many.matches().extent().await.unwrap().0;
    let refused = many.matches().record_all(&batch).await;
    assert!(matches!(refused, Err(StoreError::BadRecord { .. })));
    assert_eq!(many.matches().extent().await.unwrap().0, before + 1);
}

async fn commits_arrive_as_a_stream_from_here_and_from_elsewhere(open: impl Backend) {
    let (store, elsewhere) = (open.database("one").await, open.database("one").await);
    let mut changes = store.changes().await.unwrap();
    changes.next().await.unwrap(); // what was there before
    let match_of = |server: &str| {
        let mut record = game(5, &[(Human, "a")], &[(Human, "b")], [2.0, 1.0]);
        record.server = server.into();
        record
    };
    for (writer, server) in [(&store, "here"), (&elsewhere, "elsewhere")] {
        let (record, before) = (match_of(server), store.matches().extent().await.unwrap());
        let (written, changed) = tokio::join!(writer.matches().record(&record), changes.next());
        written.unwrap();
        changed.unwrap();
        assert_eq!(store.matches().extent().await.unwrap().0, before.0 + 1);
    }
}

async fn pages_of_any_size_give_all_matches_in_order(open: impl Backend) {
    let store = open.database("one").await;
    for n in [3, 1, 2, 2, 5, 4] {
        // Two end at the same time, told apart by who played.
        let name = format!("p{n}{}", store.matches().extent().await.unwrap().0);
        store
            .matches()
            .record(&game(n, &[(Human, &name)], &[(Human, "b")], [1.0, 0.0]))
            .await
            .unwrap();
    }
    let whole = all(&store, 100).await;
    assert_eq!(whole.len(), 6);
    for limit in 1..6 {
        assert_eq!(all(&store, limit).await, whole);
    }
}

async fn a_record_that_cannot_be_is_refused_whole(open: impl Backend) {
    let store = open.database("one").await;
    let mut record = full();
    record.scores[0] = f64::INFINITY;
    assert!(matches!(
        store.matches().record(&record).await,
        Err(StoreError::BadRecord { .. })
    ));
    assert_eq!(store.matches().extent().await.unwrap(), (0, 0));
}

/// From the first match to the forgotten player, by two handles on one database: what one of them
/// writes, the other reads.
async fn a_database_from_beginning_to_end(open: impl Backend) {
    let (store, elsewhere) = (open.database("one").await, open.database("one").await);
    let ids = matches_come_in(&store, &elsewhere).await;
    weights_are_derived(&store, &elsewhere, &ids).await;
    decisions_are_kept(&store, &elsewhere).await;
    logs_are_linked(&store, &elsewhere, &ids).await;
    an_operator_decides(&store, &elsewhere).await;
    store.close().await;
    // What one handle closed, the other has still.
    assert_eq!(elsewhere.matches().extent().await.unwrap().0, 3);
    assert!(elsewhere.is_in_place());
    elsewhere.close().await;
    let again = open.database("one").await;
    assert_eq!(again.matches().extent().await.unwrap().0, 3);
    assert_eq!(again.decisions().decision(3).await.unwrap(), None);
}

fn key(id: &str) -> PlayerKey {
    PlayerKey {
        kind: Human,
        id: id.into(),
    }
}

/// The match that starts at this minute: of one and the other, who has a bot.
fn duel(minute: i64, one: &str, other: &str) -> MatchRecord {
    let team = [(Human, other), (Bot, "Sarge")];
    game(minute, &[(Human, one)], &team, [3.0, 1.0])
}

async fn matches_come_in(store: &Store, elsewhere: &Store) -> Vec<i64> {
    assert_eq!(store.matches().extent().await.unwrap(), (0, 0));
    let records = [
        duel(0, "ann", "bob"),
        duel(20, "ann", "cid"),
        duel(40, "bob", "cid"),
    ];
    let mut ids = Vec::new();
    for record in &records {
        let Recorded::New(id) = store.matches().record(record).await.unwrap() else {
            panic!()
        };
        assert_eq!(
            elsewhere.matches().record(record).await.unwrap(),
            Recorded::Duplicate(id)
        );
        ids.push(id);
    }
    assert!(ids.is_sorted());
    let extent = (3, ids[2]);
    assert_eq!(elsewhere.matches().extent().await.unwrap(), extent);
    let start = (records[1].start, "ctf".to_owned());
    assert_eq!(
        elsewhere.matches().start_of(ids[1]).await.unwrap(),
        Some(start)
    );
    assert_eq!(elsewhere.matches().start_of(999).await.unwrap(), None);
    let last = elsewhere
        .matches()
        .match_with_id(ids[2])
        .await
        .unwrap()
        .unwrap();
    assert_eq!((last.id, &last.record), (ids[2], &records[2]));
    assert_eq!(last.fingerprint, Fingerprint::of(&records[2]));
    assert_eq!(elsewhere.matches().match_of_game(1).await.unwrap(), None);
    let (page, cursor) = elsewhere.matches().after(Cursor::START, 2).await.unwrap();
    assert_eq!(page.iter().map(|one| one.id).collect::<Vec<_>>(), ids[..2]);
    assert_eq!(
        elsewhere.matches().extent_to(cursor).await.unwrap(),
        (2, ids[1])
    );
    let (page, _) = elsewhere
        .matches()
        .after(Cursor::since(records[2].end), 2)
        .await
        .unwrap();
    assert_eq!(page.iter().map(|one| one.id).collect::<Vec<_>>(), ids[2..]);
    ids
}

async fn weights_are_derived(store: &Store, elsewhere: &Store, ids: &[i64]) {
    assert_eq!(elsewhere.learned().derived_from().await.unwrap(), None);
    let performance = Performance {
        key: key("ann"),
        team: Some(0),
        result: Some(1.0),
        entry: Some(WeightEntry {
            before: 58.0,
            weight: 60.5,
            deviation: 2.5,
            cause: Some(WeightCause::Won),
        }),
        points_for: Some(3.0),
        points_against: Some(1.0),
    };
    let ruling = |id: i64, unrated: Option<&'static str>| RulingRow {
        match_id: id,
        ruleset: "ctf".into(),
        unrated: unrated.map(Into::into),
        ended_at: Timestamp(7),
        chance: Some(0.5),
        causes: None,
        performances: vec![(0, performance.clone())],
    };
    let weight = |id: &str, weight| WeightRow {
        ruleset: "ctf".into(),
        key: key(id),
        name: id.to_uppercase(),
        weight,
        deviation: 2.5,
        rank: (id == "bob").then_some(Rank {
            division: 1,
            progress: 0.25,
        }),
        games: 2,
        wins: 1,
        last_seen: Timestamp(7),
        is_pinned: id == "ann",
    };
    let division = |name: &str| DivisionRow {
        name: name.into(),
        decay_after_days: 0,
        decay_days: 0,
    };
    let mut rows = DerivedRows {
        from: DerivedFrom {
            matches: 2,
            last_match: ids[1],
            settings: "one".into(),
        },
        rulings: vec![ruling(ids[0], None), ruling(ids[1], Some("too-short"))].into(),
        weights: NewWeights {
            spans: vec![("ctf".into(), vec![(0.0, 50.0), (69.25, 73.25)])],
            ..as_they_stand(vec![weight("ann", 60.5), weight("bob", 70.25)])
        },
        divisions: ["Low", "High"].map(division).to_vec(),
        seasons: vec![Timestamp(86_400_000), Timestamp(1_000)],
        recount: Recount::default(),
    };
    assert!(
        !store
            .learned()
            .replace_derived(&rows, false, None)
            .await
            .unwrap(),
        "there is nothing to add to"
    );
    assert!(
        store
            .learned()
            .replace_derived(&rows, true, None)
            .await
            .unwrap()
    );
    assert_eq!(
        elsewhere.learned().derived_from().await.unwrap().as_ref(),
        Some(&rows.from)
    );
    assert_eq!(elsewhere.learned().rulesets().await.unwrap(), ["ctf"]);
    let highest_first = [weight("bob", 70.25), weight("ann", 60.5)];
    assert_eq!(
        elsewhere.learned().weights("ctf", Human).await.unwrap(),
        highest_first
    );
    assert_eq!(elsewhere.learned().weights("ctf", Bot).await.unwrap(), []);
    assert_eq!(
        elsewhere.learned().weights_of(&key("ann")).await.unwrap(),
        [weight("ann", 60.5)]
    );
    let mut reasons = elsewhere.learned().rulings(ids).await.unwrap();
    reasons.sort();
    assert_eq!(reasons, [None, Some("too-short".into())]);
    // One match more; and another configuration, which may only replace everything.
    rows.from.matches = 3;
    rows.from.last_match = ids[2];
    rows.rulings = vec![ruling(ids[2], None)].into();
    assert!(
        elsewhere
            .learned()
            .replace_derived(&rows, false, None)
            .await
            .unwrap()
    );
    assert_eq!(store.learned().rulings(ids).await.unwrap().len(), 3);
    rows.from.settings = "other".into();
    assert!(
        !elsewhere
            .learned()
            .replace_derived(&rows, false, None)
            .await
            .unwrap()
    );
    assert_eq!(
        store
            .learned()
            .derived_from()
            .await
            .unwrap()
            .unwrap()
            .settings,
        "one"
    );
    assert!(
        elsewhere
            .learned()
            .replace_derived(&rows, true, None)
            .await
            .unwrap()
    );
    assert_eq!(store.learned().rulings(ids).await.unwrap().len(), 1);
    // A match of a queue may be recorded after others with higher ids, and one that was ruled may be ruled again.
    rows.rulings = vec![ruling(ids[0], None), ruling(ids[2], Some("void"))].into();
    assert!(
        elsewhere
            .learned()
            .replace_derived(&rows, false, None)
            .await
            .unwrap()
    );
    let mut reasons = store.learned().rulings(ids).await.unwrap();
    reasons.sort();
    assert_eq!(reasons, [None, Some("void".into())]);
    // Rows that were made from fewer matches do not replace those that were made from all.
    (rows.from.matches, rows.from.last_match) = store.matches().extent().await.unwrap();
    assert!(
        store
            .learned()
            .replace_derived(&rows, false, None)
            .await
            .unwrap()
    );
    rows.from.matches -= 1;
    for all in [false, true] {
        assert!(
            !elsewhere
                .learned()
                .replace_derived(&rows, all, None)
                .await
                .unwrap()
        );
    }
}

async fn decisions_are_kept(store: &Store, elsewhere: &Store) {
    let decision = |seed: u64, about: &str| DecisionRow {
        made_at: Timestamp(5),
        server: "test".into(),
        ruleset: "ctf".into(),
        game: 7,
        kind: "place".into(),
        seed,
        chance: Some(0.25),
        decision: format!("{{\"who\":\"{about}\"}}"),
    };
    let (first, second, third) = (
        decision(1, "ann"),
        decision(u64::MAX, "bob"),
        decision(3, "cid"),
    );
    let decisions = [first, second.clone(), third.clone()];
    store.decisions().write_decisions(&decisions).await.unwrap();
    assert_eq!(store.decisions().trim_decisions(2, 9).await.unwrap(), 1);
    assert_eq!(
        elsewhere.decisions().decision(1).await.unwrap(),
        None,
        "two are kept"
    );
    assert_eq!(
        elsewhere.decisions().decision(2).await.unwrap(),
        Some(second)
    );
    assert_eq!(
        elsewhere.decisions().decision(3).await.unwrap(),
        Some(third)
    );
}

async fn logs_are_linked(store: &Store, elsewhere: &Store, ids: &[i64]) {
    let (draft, whole) = (Fingerprint([1; 16]), Fingerprint([2; 16]));
    store
        .matches()
        .link_log(draft, &ids[..1], &[])
        .await
        .unwrap();
    // The log has grown: it holds two matches, of which a parser that has improved reads one otherwise.
    store
        .matches()
        .link_log(whole, &ids[1..2], &[draft])
        .await
        .unwrap();
    let (same, mut better) = (duel(0, "ann", "bob"), duel(20, "ann", "cid"));
    better.participants[0].kills = 9;
    let with_print = |record: &MatchRecord| (record.clone(), Fingerprint::of(record));
    let read = LogMatches {
        fingerprint: whole,
        matches: vec![with_print(&same), with_print(&better)],
        halves: None,
    };
    let expected = LogReplaced {
        removed: 1,
        added: 1,
        same: 1,
        kept: 0,
    };
    assert_eq!(
        elsewhere.matches().replace_log(&read).await.unwrap(),
        expected
    );
    let found = all(store, 1).await;
    assert_eq!(found.len(), 3);
    assert!(found.contains(&same) && found.contains(&better));
    // Two halves of one match, the second of which joins the first.
    let join = |one: &MatchRecord, other: &MatchRecord| {
        let mut joined = one.clone();
        joined.end = other.end;
        Some(joined)
    };
    let (mut one, mut other) = (duel(100, "eve", "fay"), duel(111, "eve", "fay"));
    (one.server, other.server) = ("halves".into(), "halves".into());
    let alone = store
        .matches()
        .record_half(&one, Fingerprint::of(&one), 120_000, join)
        .await
        .unwrap();
    let HalfRecorded::Alone(Recorded::New(first)) = alone else {
        panic!("{alone:?}")
    };
    let joined = store
        .matches()
        .record_half(&other, Fingerprint::of(&other), 120_000, join)
        .await
        .unwrap();
    let HalfRecorded::Joined { id, instead_of } = joined else {
        panic!("{joined:?}")
    };
    assert!(instead_of == first && id != first);
    for half in [&one, &other] {
        assert_eq!(
            elsewhere.matches().record(half).await.unwrap(),
            Recorded::Duplicate(id)
        );
    }
    assert_eq!(elsewhere.matches().extent().await.unwrap().0, 4);
    let read = LogMatches {
        fingerprint: Fingerprint([3; 16]),
        matches: Vec::new(),
        halves: None,
    };
    elsewhere
        .matches()
        .link_log(read.fingerprint, &[id], &[])
        .await
        .unwrap();
    assert_eq!(store.matches().replace_log(&read).await.unwrap().removed, 1);
}

async fn an_operator_decides(store: &Store, elsewhere: &Store) {
    let before = store.corrections().overrides().await.unwrap().changes;
    store
        .corrections()
        .merge_player(&key("ann"), &key("bob"))
        .await
        .unwrap();
    store
        .corrections()
        .merge_player(&key("bob"), &key("cid"))
        .await
        .unwrap();
    store
        .corrections()
        .pin_weight(&key("cid"), Some(33.5))
        .await
        .unwrap();
    store
        .corrections()
        .pin_weight(&key("ann"), Some(1.0))
        .await
        .unwrap();
    store
        .corrections()
        .pin_weight(&key("ann"), None)
        .await
        .unwrap();
    let overrides = elsewhere.corrections().overrides().await.unwrap();
    let merged = [(key("ann"), key("cid")), (key("bob"), key("cid"))];
    assert_eq!(
        overrides.merged, merged,
        "who counts as one who counts as a third"
    );
    assert_eq!(overrides.pinned, [(key("cid"), 33.5)]);
    assert!(overrides.changes > before);
    assert!(
        elsewhere
            .corrections()
            .split_player(&key("ann"))
            .await
            .unwrap()
    );
    assert!(
        !elsewhere
            .corrections()
            .split_player(&key("ann"))
            .await
            .unwrap()
    );
    let names = elsewhere.matches().names(&key("cid")).await.unwrap();
    let seen: Vec<_> = names
        .iter()
        .map(|seen| (&*seen.name, seen.matches))
        .collect();
    assert_eq!(seen, [("cid", 2)]);
    // Cid, and Bob who counts as Cid: nothing of them is left but what they did.
    assert_eq!(
        store
            .corrections()
            .forget_player(&key("cid"), Timestamp(0))
            .await
            .unwrap(),
        4
    );
    for id in ["bob", "cid"] {
        assert_eq!(elsewhere.matches().names(&key(id)).await.unwrap(), []);
        assert_eq!(elsewhere.learned().weights_of(&key(id)).await.unwrap(), []);
    }
    assert_eq!(
        elsewhere.corrections().overrides().await.unwrap().pinned,
        []
    );
    assert_eq!(elsewhere.decisions().decision(2).await.unwrap(), None);
    let again = duel(40, "bob", "cid");
    assert!(matches!(
        elsewhere.matches().record(&again).await.unwrap(),
        Recorded::Duplicate(_)
    ));
}

/// A player is forgotten while a game runs, and plays another one later.
async fn a_player_is_forgotten_while_a_game_runs(open: impl Backend) {
    let (store, elsewhere) = (open.database("one").await, open.database("one").await);
    let (running, later) = (duel(500, "dan", "eva"), duel(600, "dan", "eva"));
    let (dan, now) = (key("dan"), running.start.plus_millis(60_000));
    elsewhere
        .corrections()
        .forget_player(&dan, now)
        .await
        .unwrap();
    let id = store
        .matches()
        .record_game(&running, &MatchChances::default(), 71)
        .await
        .unwrap()
        .id();
    let players = async |id: i64| {
        let stored = elsewhere
            .matches()
            .match_with_id(id)
            .await
            .unwrap()
            .unwrap();
        let players = stored.record.participants.into_iter();
        players
            .map(|one| (one.key.id, one.name))
            .collect::<Vec<_>>()
    };
    let first = players(id).await;
    assert!(first[1].0.starts_with("forgotten-"), "{first:?}");
    assert_eq!((&*first[1].1, &*first[0].0), ("", "eva"));
    // END again, and the log of the game, add nothing.
    let again = [
        elsewhere
            .matches()
            .record_game(&running, &MatchChances::default(), 71)
            .await
            .unwrap(),
        elsewhere.matches().record(&running).await.unwrap(),
    ];
    assert_eq!(again, [Recorded::Duplicate(id); 2]);
    let id = store
        .matches()
        .record_game(&later, &MatchChances::default(), 72)
        .await
        .unwrap()
        .id();
    assert_eq!(players(id).await[0].0, "dan");
    store
        .corrections()
        .drop_forgets(now.plus_millis(1))
        .await
        .unwrap();
    let early = duel(499, "dan", "eva");
    let id = store
        .matches()
        .record_game(&early, &MatchChances::default(), 73)
        .await
        .unwrap()
        .id();
    assert_eq!(players(id).await[0].0, "dan");
}

/// How many matches have rows with an identity.
async fn matches_with(store: &Store, key: &PlayerKey) -> u64 {
    let names = store.matches().names(key).await.unwrap();
    names.iter().map(|seen| u64::from(seen.matches)).sum()
}

/// Begins to forget a player, and ends before all matches are rewritten.
pub async fn forget_in_some(store: Arc<Store>, player: &PlayerKey, elsewhere: &Store) {
    let all = matches_with(elsewhere, player).await;
    let forgotten = player.clone();
    let forgetting = tokio::spawn(async move {
        store
            .corrections()
            .forget_player(&forgotten, Timestamp(0))
            .await
    });
    while matches_with(elsewhere, player).await == all {
        assert!(!forgetting.is_finished(), "all of it in one transaction");
        tokio::task::yield_now().await;
    }
    forgetting.abort();
    let _ = forgetting.await;
    let left = matches_with(elsewhere, player).await;
    assert!(0 < left && left < all, "{left} of {all}");
}

/// A player whose forgetting has ended early is in no match that is read, and on no page; whoever comes next goes on.
async fn forgetting_goes_on_after_an_end(open: impl Backend) {
    let (store, elsewhere) = (open.database("one").await, open.database("one").await);
    let records: Vec<_> = (0..600)
        .map(|n| duel(30 * n, "gus", "eva"))
        .map(|record| (record.clone(), Fingerprint::of(&record)))
        .collect();
    store.matches().record_all(&records).await.unwrap();
    forget_in_some(store, &key("gus"), &elsewhere).await;
    let all = async || {
        elsewhere
            .matches()
            .after(Cursor::START, 1_000)
            .await
            .unwrap()
            .0
    };
    let before = all().await;
    let changes = elsewhere.corrections().overrides().await.unwrap().changes;
    let mut players = before.iter().flat_map(|stored| &stored.record.participants);
    assert!(players.all(|one| one.key.id != "gus" && one.name != "gus"));
    for stored in &before {
        let page = elsewhere
            .matches()
            .page_match(stored.id)
            .await
            .unwrap()
            .unwrap();
        let gone = page.seats.iter().find(|seat| seat.seat == 0).unwrap();
        assert_eq!(
            (&gone.shown.player.name, &gone.shown.player.handle),
            (&None, &None)
        );
    }
    // Nothing else changes until the end: what was learned meanwhile holds.
    elsewhere.corrections().finish_forgetting().await.unwrap();
    assert_eq!(all().await, before);
    assert_eq!(
        elsewhere.corrections().overrides().await.unwrap().changes,
        changes
    );
    assert_eq!(matches_with(&elsewhere, &key("gus")).await, 0);
    assert_eq!(elsewhere.matches().record_faults().await.unwrap(), [""; 0]);
    assert_eq!(
        elsewhere.learned().handles().await.unwrap().hidden,
        [].into()
    );
    // Who plays again is somebody new.
    let later = elsewhere
        .matches()
        .record(&duel(60_000, "gus", "eva"))
        .await
        .unwrap();
    let later = elsewhere
        .matches()
        .match_with_id(later.id())
        .await
        .unwrap()
        .unwrap();
    assert_eq!(later.record.participants[0].key, key("gus"));
}

/// The course of chances of a match whose seats 1 and 2 have changed their teams.
fn told(win: &[f64]) -> MatchChances {
    let teams = |one, other| TeamChances {
        win: win.to_vec(),
        humans: (0..win.len().max(2))
            .map(|team| if team == 0 { one } else { other })
            .collect(),
        bots: vec![1; win.len().max(2)],
    };
    let change = |at, cause, who, from, to| TeamChange {
        at,
        cause,
        who,
        from,
        to,
        teams: teams(at as u32, 9),
    };
    MatchChances {
        picked: Some(teams(7, 6)),
        started: Some(teams(7, 5)),
        changes: vec![
            change(1, TeamCause::Place, Some(1), None, Some(1)),
            change(2, TeamCause::Leave, Some(0), Some(0), None),
            change(3, TeamCause::Balance, None, None, None),
            change(604_800_000, TeamCause::AutoMove, Some(1), Some(1), Some(0)),
        ],
    }
}

/// What a page of a match shows of its chances.
async fn shown(store: &Arc<Store>, id: i64) -> MatchChances {
    let page = store.matches().page_match(id).await.unwrap().unwrap();
    let line = &store.matches().latest_matches(None, 100).await.unwrap();
    let line = line.iter().find(|line| line.id == id).unwrap();
    assert_eq!(line.chances, page.line.chances, "a list shows the same");
    MatchChances {
        picked: page.line.chances.picked,
        started: page.line.chances.started,
        changes: page.changes,
    }
}

/// What was predicted of a match comes with it, whichever way it was recorded.
async fn what_was_predicted_of_a_match_is_kept(open: impl Backend) {
    let (store, elsewhere) = (open.database("one").await, open.database("one").await);
    let courses = [
        MatchChances::default(),
        told(&[]),
        told(&[0.1 + 0.2, 1.0 - (0.1 + 0.2)]),
        told(&[0.5, 0.3, 0.2]),
        MatchChances {
            changes: vec![told(&[1.0, 0.0]).changes[1].clone(); MAX_TEAM_CHANGES],
            ..told(&[0.0, 1.0])
        },
    ];
    let mut ids = Vec::new();
    for (game, course) in (1..).zip(&courses) {
        let record = duel(game, "ann", "bob");
        let first = store
            .matches()
            .record_game(&record, course, game)
            .await
            .unwrap();
        let again = elsewhere
            .matches()
            .record_game(&record, &told(&[0.5, 0.5]), game)
            .await
            .unwrap();
        assert_eq!(
            again,
            Recorded::Duplicate(first.id()),
            "END again changes nothing"
        );
        assert_eq!(shown(&elsewhere, first.id()).await, *course);
        ids.push(first.id());
    }
    // The log of a game was read before its END, and lists the players the other way round.
    let mut log = duel(50, "cid", "dan");
    log.participants.reverse();
    let id = store.matches().record(&log).await.unwrap().id();
    log.participants.reverse();
    let course = told(&[0.25, 0.75]);
    let recorded = store
        .matches()
        .record_game(&log, &course, 50)
        .await
        .unwrap();
    assert_eq!(recorded, Recorded::Duplicate(id));
    let seats =
        |course: &MatchChances| course.changes.iter().map(|one| one.who).collect::<Vec<_>>();
    assert_eq!(
        seats(&shown(&store, id).await),
        [Some(1), Some(2), None, Some(1)]
    );
    // The players go from it with the matches.
    let page = store.matches().page_match(ids[2]).await.unwrap().unwrap();
    let of = |who: u32| page.seats.iter().find(|seat| seat.seat == who).unwrap();
    assert_eq!(
        (of(0).key.id.as_str(), of(1).key.id.as_str()),
        ("ann", "bob")
    );
    store
        .corrections()
        .forget_player(&key("bob"), Timestamp(0))
        .await
        .unwrap();
    let page = store.matches().page_match(ids[2]).await.unwrap().unwrap();
    let gone = page.seats.iter().find(|seat| seat.seat == 1).unwrap();
    assert_eq!(
        (&gone.shown.player.name, &gone.shown.player.handle),
        (&None, &None)
    );
}

on_each_database! {
    what_was_predicted_of_a_match_is_kept
    a_database_from_beginning_to_end
    what_goes_in_comes_out
    the_same_match_twice_is_one
    without_dates_the_course_of_the_game_tells_matches_apart
    many_matches_at_once_are_the_same_as_one_after_the_other
    commits_arrive_as_a_stream_from_here_and_from_elsewhere
    pages_of_any_size_give_all_matches_in_order
    a_record_that_cannot_be_is_refused_whole
    a_player_is_forgotten_while_a_game_runs
    forgetting_goes_on_after_an_end
}
