//! Lines to requests: framing and parsing of a realistic session, and of an attacker's lines.
//!
//! `cargo bench --bench protocol`. Searching the same bytes for line ends is measured beside it, as
//! a reference for ratios.

#![allow(clippy::unwrap_used, missing_docs)] // criterion's macros document nothing

use std::hint::black_box;

use bytes::BytesMut;
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use evenkeel::protocol::{FramedLine, Framer, Request};

fn session() -> Vec<u8> {
    let mut lines = String::from(
        "GAME XGame.xCTFGame\nMUTATOR XGame.MutInstaGib\nMEANBOT\nMAP CTF-Face3 6 12\n",
    );
    for n in 0..16 {
        let id = format!("b59886cde972e885d41296656150dd{n:02}");
        lines.push_str(&format!(
            "PLAYER {id}\nJOIN {id} name=\"Boring John {n}\" team=1\n"
        ));
        lines.push_str(&format!("BOT Gargoyle {n}\n"));
    }
    lines.push_str("BALANCE top=20 seed=7\nBOTS\n");
    lines.into_bytes()
}

fn parse_all(bytes: &[u8]) -> usize {
    let mut buffer = BytesMut::from(bytes);
    let mut framer = Framer::new(1_024);
    let mut good = 0;
    while let Some(line) = framer.next_line(&mut buffer) {
        if let FramedLine::Text(line) = line {
            good += usize::from(black_box(Request::parse(line)).is_ok());
        }
    }
    good
}

fn bench(c: &mut Criterion) {
    let session = session();
    let hostile = b"JOIN \"a\\\"b x=\"y\n".repeat(64);
    let mut group = c.benchmark_group("protocol");
    for (name, bytes) in [("session", &session), ("refused", &hostile)] {
        group.throughput(Throughput::Bytes(bytes.len() as u64));
        group.bench_function(format!("{name}/parse"), |b| {
            b.iter(|| parse_all(black_box(bytes)));
        });
        group.bench_function(format!("{name}/line ends only"), |b| {
            b.iter(|| {
                black_box(bytes)
                    .iter()
                    .filter(|&&byte| byte == b'\n')
                    .count()
            });
        });
    }
    group.finish();
}

criterion_group!(benches, bench);
criterion_main!(benches);
