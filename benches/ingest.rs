//! Logs to match records, for every format that has a log.
//!
//! `cargo bench --bench ingest`. Counting the lines of the same bytes is measured beside each, as a
//! reference for ratios. Logs that are not part of the crate are expected in `../shared/data`;
//! missing ones are reported and not measured.

#![allow(clippy::unwrap_used, missing_docs)] // criterion's macros document nothing

use std::{hint::black_box, path::Path};

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use evenkeel::ingest::{Context, HEAD, LogItem, Reader, detect};

/// The least number of bytes; shorter logs are repeated.
const SIZE: usize = 8 << 20;

/// A format, the name of the run, and the path of its logs.
const LOGS: [(&str, &str, &str); 9] = [
    ("idtech3", "OpenArena", "tests/fixtures/openarena"),
    (
        "idtech3",
        "Quake III",
        "../shared/data/logs/quake3/quake3-mixed.log",
    ),
    (
        "idtech3",
        "Urban Terror",
        "../shared/data/logs/quake3/urbanterror-tdm.log",
    ),
    ("xonotic", "Nexuiz", "tests/fixtures/nexuiz"),
    (
        "source",
        "TF2",
        "../shared/data/logs/source/tf2-full_badlands_2halves.log",
    ),
    (
        "source",
        "TFC",
        "../shared/data/logs/source/tfc-match1-half1.log",
    ),
    ("ut2004", "OLStats", "../shared/data/logs/ut2004"),
    ("ut99", "ngLog", "../shared/data/logs/ut99"),
    ("jsonl", "histories", "../shared/data/matches/tagpro.jsonl"),
];

/// All logs of a file or folder, concatenated repeatedly.
fn bytes(path: &str) -> Option<Vec<u8>> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
    let mut files = match path.read_dir() {
        Ok(entries) => entries.map(|entry| entry.unwrap().path()).collect(),
        Err(_) => vec![path],
    };
    files.sort();
    let mut once = Vec::new();
    for file in files {
        once.extend(std::fs::read(file).ok()?);
        if !once.ends_with(b"\n") {
            once.push(b'\n');
        }
    }
    Some(once.repeat(SIZE.div_ceil(once.len().max(1))))
}

/// Reads a log as the program does. Returns the number of games in it.
fn read(log: &[u8]) -> usize {
    let format = detect(&log[..HEAD.min(log.len())]).unwrap();
    let mut reader = Reader::new(format, &Context::default());
    let (mut items, mut games) = (Vec::new(), 0);
    for chunk in log.chunks(HEAD) {
        reader.feed(chunk, &mut items);
        games += items
            .iter()
            .filter(|item| matches!(item, LogItem::Match(_)))
            .count();
        items.clear();
    }
    reader.finish(&mut items);
    games + items.len()
}

fn bench(c: &mut Criterion) {
    let mut group = c.benchmark_group("ingest");
    group.sample_size(20);
    for (format, name, path) in LOGS {
        let Some(log) = bytes(path) else {
            println!("not measured: there is no {path}");
            continue;
        };
        assert_eq!(detect(&log[..HEAD]).unwrap().name, format);
        assert!(read(&log) > 0);
        group.throughput(Throughput::Bytes(log.len() as u64));
        group.bench_function(format!("{format}, {name}"), |b| {
            b.iter(|| read(black_box(&log)))
        });
        group.bench_function(format!("{format}, {name}/line ends only"), |b| {
            b.iter(|| memchr::memchr_iter(b'\n', black_box(&log)).count());
        });
    }
    group.finish();
}

criterion_group!(benches, bench);
criterion_main!(benches);
