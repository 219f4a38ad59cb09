//! Reading a log takes the same memory, whatever its length.

use std::{fs::File, io::Write};

use evenkeel::{
    ingest::{Context, HEAD, LogItem, Reader, by_name},
    logs::{Ingest, IngestEvent},
};
use tempfile::TempDir;

use crate::{alone, common, peak};

const LOG: &[u8] = include_bytes!("../fixtures/openarena/ctf-014.log");
const MIB: usize = 1 << 20;
/// The most memory that a long log may need in addition to a short one's.
const MOST: usize = 24 * MIB;

#[tokio::test]
#[ignore = "reads 576 MiB of log: run it with `cargo test --test large -- --ignored`"]
async fn a_log_of_any_length_takes_the_same_memory() {
    let _turn = alone().await;
    let warm = read(4 * MIB);
    let before = peak();
    let games = read(512 * MIB);
    let grown = peak().saturating_sub(before);
    assert!(
        games > 100 * warm && grown < MOST,
        "{games} games, {grown} bytes"
    );

    // In a log without dates, the time of a game is counted back from the end of the log.
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("games.log");
    let text = std::str::from_utf8(LOG)
        .unwrap()
        .replace("g_timestamp", "x");
    let mut file = File::create(&path).unwrap();
    for _ in 0..64 * MIB / text.len() {
        file.write_all(text.as_bytes()).unwrap();
    }
    let (service, _database) = common::service(&common::config("")).await;
    let mut ingest = Ingest::new(service.store());
    let before = peak();
    ingest
        .file(&path, &mut |_: IngestEvent<'_>| {})
        .await
        .unwrap();
    let grown = peak().saturating_sub(before);
    let counts = ingest.counts;
    assert_eq!((counts.recorded.len(), counts.malformed), (1, 0));
    assert!(
        counts.duplicates > 1_000 && grown < MOST,
        "{counts:?}, {grown} bytes"
    );
}

/// Reads about `length` bytes of log and returns the number of games in them.
fn read(length: usize) -> usize {
    let mut reader = Reader::new(by_name("idtech3").unwrap(), &Context::default());
    let (mut items, mut games) = (Vec::new(), 0);
    for _ in 0..length / LOG.len() {
        for chunk in LOG.chunks(HEAD) {
            reader.feed(chunk, &mut items);
            games += items
                .drain(..)
                .filter(|item| matches!(item, LogItem::Match(_)))
                .count();
        }
    }
    reader.finish(&mut items);
    games
}
