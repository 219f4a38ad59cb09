//! The archive of old matches: nothing is lost, nothing counts twice, and what is damaged is named.

use std::io::Write;

use evenkeel::{
    domain::{
        Fingerprint,
        Kind::{self, Bot, Human},
        MatchRecord, PlayerKey, Timestamp,
    },
    server::Service,
    store::{
        self, Cursor, DatabaseUrl, HalfRecorded, LogMatches, Recorded, Store, StoreError, Stored,
        WeightRow,
    },
};
use flate2::{Compression, read::GzDecoder, write::GzEncoder};
use sha2::{Digest, Sha256};
use sqlx::{Connection, PgConnection, SqliteConnection};
use tempfile::TempDir;

use super::story::full;
use crate::common::{
    self,
    backends::{Backend, Postgres, Sqlite, on_each_database},
    game,
    hostile::ingest_season,
};

/// After the end of every match here.
const LATE: Timestamp = Timestamp(4_000_000_000_000);

fn key(id: &str) -> PlayerKey {
    let (kind, id) = (Human, id.to_owned());
    PlayerKey { kind, id }
}

async fn service(open: &impl Backend, name: &str) -> Service {
    let store = open.database(name).await;
    Service::open(store, common::config("rating.min_seconds = 0").service()).unwrap()
}

fn duel(minute: i64, one: &str, other: &str) -> MatchRecord {
    game(minute, &[(Human, one)], &[(Human, other)], [2.0, 1.0])
}

async fn all(store: &Store, limit: u32) -> Vec<Stored> {
    let (mut matches, mut cursor) = (Vec::new(), Cursor::START);
    loop {
        let (page, next) = store.matches(cursor, limit).await.unwrap();
        if page.is_empty() {
            return matches;
        }
        matches.extend(page);
        cursor = next;
    }
}

async fn weights(store: &Store) -> Vec<(WeightRow, [u64; 2])> {
    let mut rows = Vec::new();
    for ruleset in store.rulesets().await.unwrap() {
        for kind in [Human, Bot] {
            for row in store.weights(&ruleset, kind).await.unwrap() {
                let bits = [row.weight, row.deviation].map(f64::to_bits);
                rows.push((row, bits));
            }
        }
    }
    rows
}

/// Archives everything, in chunks of a few matches.
async fn archive(store: &Store, ends: impl IntoIterator<Item = Timestamp>) -> u64 {
    let mut moved = 0;
    for end in ends {
        moved += store.archive_matches(end, 1, None).await.unwrap();
    }
    moved
}

async fn an_archived_match_is_as_before(open: impl Backend) {
    let service = service(&open, "one").await;
    let store = &**service.store();
    let records = [full(), duel(50, "ann", "bob"), duel(100, "bob", "cid")];
    let mut ids = Vec::new();
    for record in &records {
        ids.push(store.record(record).await.unwrap().id());
    }
    service.learning().refresh().await.unwrap();
    let (before, weights_before) = (all(store, 2).await, weights(store).await);
    // None is made of fewer than 3, and what is later stays.
    let none = store
        .archive_matches(records[2].end, 3, None)
        .await
        .unwrap();
    assert_eq!((none, store.chunks().await.unwrap().len()), (0, 0));
    assert_eq!(archive(store, [records[2].end]).await, 2);
    assert_eq!(archive(store, [records[2].end]).await, 0, "once only");
    assert_eq!(all(store, 2).await, before);
    assert_eq!(archive(store, [LATE]).await, 1);
    for limit in [1, 2, 100] {
        assert_eq!(all(store, limit).await, before);
    }
    let chunks = store.chunks().await.unwrap();
    let counts: Vec<_> = chunks
        .iter()
        .map(|chunk| (chunk.chunk, chunk.matches))
        .collect();
    assert_eq!(counts, [(1, 2), (2, 1)]);
    assert_eq!(chunks[0].first_end, records[0].end);
    assert_eq!(chunks[1].last_end, records[2].end);
    assert_eq!(store.chunk_faults().await.unwrap(), [""; 0]);
    service.learning().rebuild(|_| ()).await.unwrap();
    assert_eq!(weights(store).await, weights_before);
    // What is read again or reported again is known, with its id.
    for (record, id) in records.iter().zip(&ids) {
        assert_eq!(
            store.record(record).await.unwrap(),
            Recorded::Duplicate(*id)
        );
        let found = store.match_with_id(*id).await.unwrap().unwrap();
        assert_eq!((&found.record, found.id), (record, *id));
    }
    let names = store.names(&key("bob")).await.unwrap();
    assert_eq!((names[0].matches, names[0].first), (2, records[1].start));
    assert_eq!(
        store.matches_of(&key("bob"), records[2].end).await.unwrap(),
        [ids[2]]
    );
    // The page shows the players, and lists know how many there were.
    let page = store.page_match(ids[0]).await.unwrap().unwrap();
    assert!(page.is_archived);
    assert_eq!((page.line.humans, page.line.bots), (2, 1));
    assert_eq!(
        (page.seats.len(), page.events.len()),
        (3, records[0].events.len())
    );
    let bot = page
        .seats
        .iter()
        .find(|seat| seat.key.kind == Kind::Bot)
        .unwrap();
    assert_eq!((bot.kills, bot.deaths, bot.points), (7, 4, Some(-3.5)));
    assert_eq!(bot.name.as_deref(), Some("Sarge"));
    service.close().await;
}

async fn a_late_match_finds_its_place(open: impl Backend) {
    let [archived, plain] = [service(&open, "one").await, service(&open, "two").await];
    let minutes = [10, 400, 800, 200, 600, 0, 1_000];
    for (at, minute) in minutes.into_iter().enumerate() {
        for service in [&archived, &plain] {
            let record = duel(minute, ["ann", "bob", "cid"][at % 3], "dan");
            service.store().record(&record).await.unwrap();
            service.learning().refresh().await.unwrap();
        }
        if at % 2 == 0 {
            archive(archived.store(), [LATE]).await;
        }
    }
    assert!(archived.store().chunks().await.unwrap().len() > 2);
    let [one, two] = [&archived, &plain].map(|service| &**service.store());
    assert_eq!(all(one, 3).await, all(two, 3).await);
    assert_eq!(weights(one).await, weights(two).await);
    archived.learning().rebuild(|_| ()).await.unwrap();
    assert_eq!(weights(one).await, weights(two).await);
    // Void and merged matches count in the archive as in the tables.
    for service in [&archived, &plain] {
        let store = service.store();
        let of_cid = store.matches_of(&key("cid"), Timestamp(0)).await.unwrap();
        assert_eq!(store.set_void(&of_cid[..1], true).await.unwrap(), 1);
        store.merge_player(&key("ann"), &key("bob")).await.unwrap();
        store.pin_weight(&key("dan"), Some(70.0)).await.unwrap();
        service.learning().refresh().await.unwrap();
    }
    assert_eq!(weights(one).await, weights(two).await);
    let found = one.matches_of(&key("bob"), Timestamp(0)).await.unwrap();
    assert_eq!(
        found,
        two.matches_of(&key("bob"), Timestamp(0)).await.unwrap()
    );
    assert_eq!(found.len(), 5);
    archived.close().await;
    plain.close().await;
}

/// The match of a log that is read again in another form, and the second half of a match, replace archived matches.
async fn a_match_that_is_replaced_leaves_its_chunk(open: impl Backend) {
    let store = open.database("one").await;
    let kept = store.record(&duel(0, "zoe", "yan")).await.unwrap().id();
    let log = Fingerprint([7; 16]);
    let first = duel(50, "ann", "bob");
    let logged = |record: &MatchRecord| LogMatches {
        fingerprint: log,
        matches: vec![(record.clone(), Fingerprint::of(record))],
        halves: None,
    };
    let old = store.record(&first).await.unwrap().id();
    store.link_log(log, &[old], &[]).await.unwrap();
    assert_eq!(archive(&store, [LATE]).await, 2);
    assert_eq!(store.replace_log(&logged(&first)).await.unwrap().same, 1);
    let mut other = first.clone();
    other.participants[0].kills = 9;
    let replaced = store.replace_log(&logged(&other)).await.unwrap();
    assert_eq!((replaced.removed, replaced.added), (1, 1));
    assert_eq!(store.match_with_id(old).await.unwrap(), None);
    assert_eq!(
        store.match_with_id(kept).await.unwrap().unwrap().record,
        duel(0, "zoe", "yan")
    );
    let chunks = store.chunks().await.unwrap();
    assert_eq!((chunks.len(), chunks[0].matches), (1, 1));
    assert_eq!(store.chunk_faults().await.unwrap(), [""; 0]);
    assert!(!text(&store.chunk_file(1).await.unwrap().unwrap()).contains("ann"));
    let records: Vec<MatchRecord> = all(&store, 9)
        .await
        .into_iter()
        .map(|one| one.record)
        .collect();
    assert_eq!(records, [duel(0, "zoe", "yan"), other]);
    let mut half = duel(500, "ann", "bob");
    half.start = half.end.plus_millis(-300_000);
    half.end = half.start.plus_millis(600_000);
    let early = duel(500, "ann", "bob");
    let mut early = early;
    early.end = half.start.plus_millis(-1_000);
    let millis = early.millis();
    for participant in &mut early.participants {
        participant.presence[0].span.to = millis;
    }
    early.events.retain(|event| event.at <= 200_000);
    assert_eq!(early.check(), Ok(()));
    let join = |one: &MatchRecord, _: &MatchRecord| {
        let mut joined = one.clone();
        joined.map = "both".into();
        Some(joined)
    };
    let alone = store
        .record_half(&early, Fingerprint::of(&early), 60_000, join)
        .await
        .unwrap();
    assert_eq!(archive(&store, [LATE]).await, 2);
    let joined = store
        .record_half(&half, Fingerprint::of(&half), 60_000, join)
        .await
        .unwrap();
    let HalfRecorded::Joined { id, instead_of } = joined else {
        panic!("{joined:?}")
    };
    assert_eq!(instead_of, alone.id());
    assert_eq!(
        store.match_with_id(id).await.unwrap().unwrap().record.map,
        "both"
    );
    assert_eq!(store.chunk_faults().await.unwrap(), [""; 0]);
    assert!(matches!(
        store
            .record_half(&early, Fingerprint::of(&early), 60_000, join)
            .await
            .unwrap(),
        HalfRecorded::Alone(Recorded::Duplicate(_))
    ));
    store.close().await;
}

/// The lines of a chunk's file.
fn text(gzip: &[u8]) -> String {
    std::io::read_to_string(GzDecoder::new(gzip)).unwrap()
}

fn gzip(text: &[u8]) -> Vec<u8> {
    let mut gzip = GzEncoder::new(Vec::new(), Compression::fast());
    gzip.write_all(text).unwrap();
    gzip.finish().unwrap()
}

/// Writes a chunk past the store. With `None`, the stated hash stays.
async fn damage(place: &DatabaseUrl, chunk: i64, content: &[u8], hash: Option<&[u8]>, length: i64) {
    let update = "UPDATE archive_chunks SET content = $1, length = $2, sha256 = coalesce($3, sha256) WHERE chunk = $4";
    match place {
        DatabaseUrl::File(path) => {
            let url = format!("sqlite:{}", path.display());
            let mut database = SqliteConnection::connect(&url).await.unwrap();
            let query = sqlx::query(update).bind(content).bind(length);
            query
                .bind(hash)
                .bind(chunk)
                .execute(&mut database)
                .await
                .unwrap();
            database.close().await.unwrap();
        }
        DatabaseUrl::Server(..) => {
            let server = common::postgres::Server::shared().unwrap();
            let name = place.to_string();
            let name = name
                .rsplit('/')
                .next()
                .unwrap()
                .split('?')
                .next()
                .unwrap()
                .to_owned();
            let mut database: PgConnection = server.connect(&name).await;
            let query = sqlx::query(update).bind(content).bind(length);
            query
                .bind(hash)
                .bind(chunk)
                .execute(&mut database)
                .await
                .unwrap();
        }
    }
}

async fn a_damaged_chunk_is_named(open: impl Backend) {
    let place = open.place("one").await;
    let store = open.database("one").await;
    for minute in [0, 50] {
        store.record(&duel(minute, "ann", "bob")).await.unwrap();
        archive(&store, [LATE]).await;
    }
    let good = store.chunk_file(2).await.unwrap().unwrap();
    let lines = text(&good);
    let other = text(&store.chunk_file(1).await.unwrap().unwrap());
    let bomb = gzip(&vec![b'\n'; 80 << 20]);
    let hash = |content: &[u8]| Sha256::digest(content).to_vec();
    let length = lines.len() as i64;
    let too_many = "\n".repeat(1_001).into_bytes();
    let cases: Vec<(&str, Vec<u8>, bool, i64)> = vec![
        ("hash", good[..good.len() - 1].to_vec(), false, length),
        ("hash", gzip(other.as_bytes()), false, other.len() as i64),
        ("incomplete", good[..good.len() - 9].to_vec(), true, length),
        ("gzip", b"this is not compressed".to_vec(), true, 7),
        ("impossible length", bomb.clone(), true, 80 << 20),
        ("impossible length", good.clone(), true, -1),
        ("length that is stated", bomb, true, 64 << 20),
        ("length that is stated", good.clone(), true, length + 1),
        (
            "another match",
            gzip(other.as_bytes()),
            true,
            other.len() as i64,
        ),
        (
            "unfinished",
            gzip(lines.trim_end().as_bytes()),
            true,
            length - 1,
        ),
        ("too many lines", gzip(&too_many), true, 1_001),
        ("has no match", gzip(b"\n"), true, 1),
        ("has no match", gzip(b""), true, 0),
        ("expected value", gzip(b"\xff\xfe\n"), true, 3),
        (
            "version",
            gzip(b"{\"evenkeel\":9,\"start\":0,\"end\":9,\"game\":\"g\"}\n"),
            true,
            44,
        ),
    ];
    for (what, content, is_hashed, length) in cases {
        let hash = is_hashed.then(|| hash(&content));
        damage(&place, 2, &content, hash.as_deref(), length).await;
        let error = store.matches(Cursor::START, 10).await.unwrap_err();
        assert!(
            matches!(error, StoreError::BadChunk { chunk: 2, .. }),
            "{what}: {error}"
        );
        let error = error.to_string();
        assert!(error.contains(what), "{what}: {error}");
        assert!(
            error.starts_with("chunk 2 ") && error.contains("backup"),
            "{error}"
        );
        assert!(store.page_match(2).await.is_err(), "{what}");
        assert!(
            store.page_match(1).await.unwrap().is_some(),
            "the other one is whole"
        );
    }
    let short = &good[..good.len() - 1];
    damage(&place, 2, short, None, length).await;
    // To forget a player is done in the tables at once, and in the chunks when they are whole again.
    let error = store.forget_player(&key("ann")).await.unwrap_err();
    assert!(
        matches!(error, StoreError::BadChunk { chunk: 2, .. }),
        "{error}"
    );
    damage(&place, 2, &good, Some(&hash(&good)), length).await;
    let who: Vec<String> = all(&store, 9)
        .await
        .iter()
        .map(|one| one.record.participants[0].key.id.clone())
        .collect();
    assert_eq!(
        who,
        ["forgotten-1", "forgotten-1"],
        "also where the chunk still has the name"
    );
    assert_eq!(store.names(&key("ann")).await.unwrap(), []);
    assert_eq!(
        store.finish_forgetting().await.unwrap(),
        1,
        "the first one was done"
    );
    assert_eq!(store.finish_forgetting().await.unwrap(), 0);
    for chunk in [1, 2] {
        assert!(!text(&store.chunk_file(chunk).await.unwrap().unwrap()).contains("ann"));
    }
    assert_eq!(store.chunk_faults().await.unwrap(), [""; 0]);
    assert!(matches!(
        store.record(&duel(50, "ann", "bob")).await.unwrap(),
        Recorded::Duplicate(2)
    ));
    store.close().await;
}

/// The matches of the bundled season give the same bits, wherever they are.
async fn the_season_gives_the_same_weights(open: impl Backend) {
    let folder = TempDir::new().unwrap();
    ingest_season(folder.path());
    let source = store::open(&folder.path().join("evenkeel.db"), false, common::BUSY)
        .await
        .unwrap();
    let season = all(&source, 100).await;
    source.close().await;
    assert!(season.len() > 50);
    let service = service(&open, "league").await;
    let store = &**service.store();
    let records: Vec<_> = season
        .iter()
        .map(|one| (one.record.clone(), one.fingerprint))
        .collect();
    store.record_all(&records).await.unwrap();
    service.learning().refresh().await.unwrap();
    let before = (all(store, 512).await, weights(store).await);
    // In four chunks, two of which overlap in time.
    let ends = [10, 20, 40].map(|at| season[at].record.end);
    for end in ends.into_iter().chain([LATE]) {
        archive(store, [end]).await;
        service.learning().rebuild(|_| ()).await.unwrap();
        assert_eq!((all(store, 512).await, weights(store).await), before);
    }
    assert_eq!(store.chunks().await.unwrap().len(), 4);
    service.close().await;
}

/// Archiving and forgetting at the same time as others do, again and again.
async fn two_archive_at_once(open: impl Backend) {
    let store = open.database("one").await;
    let other = open.database("one").await;
    for minute in 0..60 {
        store
            .record(&duel(
                20 * minute,
                ["ann", "bob"][minute as usize % 2],
                "cid",
            ))
            .await
            .unwrap();
    }
    let mut tasks = Vec::new();
    for (at, store) in [store.clone(), other.clone(), store.clone()]
        .into_iter()
        .enumerate()
    {
        tasks.push(tokio::spawn(async move {
            for step in 1..=10_i64 {
                let before = Timestamp((20 * 6 * step + 15) * 60_000);
                match (at, step) {
                    (2, 5) => {
                        // A locked SQLite file is not waited for here.
                        while store.forget_player(&key("ann")).await.is_err() {
                            tokio::task::yield_now().await;
                        }
                    }
                    _ => drop(store.archive_matches(before, 1, None).await),
                }
            }
        }));
    }
    for task in tasks {
        task.await.unwrap();
    }
    while store.archive_matches(LATE, 1, None).await.unwrap() > 0 {}
    store.finish_forgetting().await.unwrap();
    let ids: Vec<String> = all(&store, 9)
        .await
        .iter()
        .map(|one| one.record.participants[0].key.id.clone())
        .collect();
    assert_eq!(ids.len(), 60);
    assert!(
        ids.iter()
            .all(|id| id == "bob" || id.starts_with("forgotten-")),
        "{ids:?}"
    );
    let archived: i64 = store
        .chunks()
        .await
        .unwrap()
        .iter()
        .map(|chunk| chunk.matches)
        .sum();
    assert_eq!(archived, 60);
    assert_eq!(store.chunk_faults().await.unwrap(), [""; 0]);
    store.close().await;
    other.close().await;
}

on_each_database! {
    an_archived_match_is_as_before
    a_late_match_finds_its_place
    a_match_that_is_replaced_leaves_its_chunk
    a_damaged_chunk_is_named
    the_season_gives_the_same_weights
    two_archive_at_once
}
