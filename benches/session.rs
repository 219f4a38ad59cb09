//! A session over loopback, pipelined and not, compared with an echo of the same lines by the same
//! runtime.
//!
//! `cargo bench --bench session`. Weights come from memory, so PLAYER should take little longer
//! than the echo.

#![allow(clippy::unwrap_used, missing_docs)] // criterion's macros document nothing

use std::{net::SocketAddr, path::Path, sync::Arc, time::Duration};

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use evenkeel::{
    config::Config,
    daemon,
    server::{Gate, Service},
    store,
};
use tokio::{
    io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader},
    net::{TcpListener, TcpStream},
    runtime::Runtime,
};

/// Number of questions per round.
const QUESTIONS: usize = 100;

type Peer = BufReader<TcpStream>;

async fn daemon(folder: &Path) -> Peer {
    let config = Config::load("", []).unwrap();
    let path = folder.join("bench.db");
    let store = store::open(&path, true, Duration::ZERO).await.unwrap();
    let service = Arc::new(Service::open(store, config.service()).unwrap());
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let forever = std::future::pending();
    tokio::spawn(daemon::run(
        listener,
        service,
        config.server.limits,
        Arc::new(Gate::new(config.access().unwrap())),
        forever,
    ));
    let mut peer = connect(address).await;
    peer.get_mut().write_all(b"GAME ctf\n").await.unwrap();
    peer
}

/// A connection of raw lines, which an echo can answer, too.
async fn connect(address: SocketAddr) -> Peer {
    let stream = TcpStream::connect(address).await.unwrap();
    stream.set_nodelay(true).unwrap();
    BufReader::new(stream)
}

async fn echo() -> Peer {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        stream.set_nodelay(true).unwrap();
        let mut buffer = vec![0; 8_192];
        while let Ok(read @ 1..) = stream.read(&mut buffer).await {
            stream.write_all(&buffer[..read]).await.unwrap();
        }
    });
    connect(address).await
}

/// Sends each question after the previous answer.
async fn one_by_one(peer: &mut Peer, questions: &[String]) {
    let mut line = String::new();
    for question in questions {
        peer.get_mut().write_all(question.as_bytes()).await.unwrap();
        line.clear();
        peer.read_line(&mut line).await.unwrap();
    }
}

/// Sends a line without a reply and then a question, each in a packet of its own, from a client with Nagle's algorithm:
/// its system sends the question once the line before is acknowledged.
async fn after_a_report(peer: &mut Peer) {
    peer.get_mut().set_nodelay(false).unwrap();
    for line in ["JOIN ann\n", "PING\n"] {
        peer.get_mut().write_all(line.as_bytes()).await.unwrap();
    }
    let mut line = String::new();
    peer.read_line(&mut line).await.unwrap();
    assert_eq!(line, "PONG\n");
}

/// Sends all questions, then reads all answers.
async fn pipelined(peer: &mut Peer, questions: &str) {
    peer.get_mut()
        .write_all(questions.as_bytes())
        .await
        .unwrap();
    let mut line = String::new();
    for _ in 0..QUESTIONS {
        line.clear();
        peer.read_line(&mut line).await.unwrap();
    }
}

fn bench(c: &mut Criterion) {
    let runtime = Runtime::new().unwrap();
    let folder = tempfile::TempDir::new().unwrap();
    let question = |n| format!("PLAYER player{n:03}\n");
    let questions: Vec<String> = (0..QUESTIONS).map(question).collect();
    let all = questions.concat();
    let mut group = c.benchmark_group("session");
    group.throughput(Throughput::Elements(QUESTIONS as u64));
    for name in ["daemon", "echo"] {
        let mut peer = runtime.block_on(async {
            if name == "daemon" {
                daemon(folder.path()).await
            } else {
                echo().await
            }
        });
        group.bench_function(format!("{name}/one by one"), |b| {
            b.iter(|| runtime.block_on(one_by_one(&mut peer, &questions)));
        });
        group.bench_function(format!("{name}/pipelined"), |b| {
            b.iter(|| runtime.block_on(pipelined(&mut peer, &all)));
        });
        if name == "daemon" {
            group.bench_function("daemon/after a report, Nagle", |b| {
                b.iter(|| runtime.block_on(after_a_report(&mut peer)));
            });
        }
    }
    group.finish();
}

criterion_group!(benches, bench);
criterion_main!(benches);
