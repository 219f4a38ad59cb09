//! The ingest room from outside: real logs with expectations checked by hand, and properties that
//! hold for any bytes; and what sidecars make of the same logs.

#![allow(clippy::unwrap_used, clippy::expect_used)] // a test may fail by unwrapping

mod cases;
mod corpus;
mod cs2;
mod followed;
mod golden;
mod properties;
mod source;
mod teeworlds;
mod ut99;
mod waiting;
mod xonotic;

use evenkeel::ingest::{Context, Format, LogItem, Reader, by_name};
use evenkeel::model::MatchRecord;

/// All items in a log of a format, read in chunks of this size, and the time that passed on its
/// clock.
fn read_in(format: &Format, log: &[u8], chunk: usize) -> (Vec<LogItem>, u64) {
    let context = Context {
        server: "here".to_owned(),
        verbose: true,
        written: None,
    };
    let mut items = Vec::new();
    let mut reader = Reader::new(format, &context);
    for chunk in log.chunks(chunk) {
        reader.feed(chunk, &mut items);
    }
    let elapsed = reader.finish(&mut items);
    (items, elapsed)
}

fn read(format: &str, log: &[u8]) -> Vec<LogItem> {
    read_in(by_name(format).unwrap(), log, 64 * 1024).0
}

fn games(items: Vec<LogItem>) -> Vec<MatchRecord> {
    let games = items.into_iter().filter_map(|item| match item {
        LogItem::Match(game) => Some(*game),
        _ => None,
    });
    games.collect()
}

/// Two whole logs of an OpenArena server that come with the crate.
const FIXTURES: [&[u8]; 2] = [
    include_bytes!("../fixtures/openarena/ctf-014.log"),
    include_bytes!("../fixtures/openarena/ctf-017.log"),
];
