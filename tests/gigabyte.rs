//! A line of a gigabyte. In a process of its own, whose memory is nobody else's.

#![allow(clippy::unwrap_used, clippy::expect_used)] // a test may fail by unwrapping

mod common;

use common::Daemon;
use tokio::io::AsyncWriteExt;

#[tokio::test]
async fn a_line_of_a_gigabyte_is_one_error_and_the_connection_goes_on() {
    let daemon = Daemon::start("server.line_seconds = 600").await;
    let mut client = daemon.client().await;
    let before = memory_kib();
    let block = vec![b'x'; 1 << 20];
    for _ in 0..1_024 {
        client.stream.get_mut().write_all(&block).await.unwrap();
    }
    client.send("\nPING\n").await;
    assert_eq!(
        client.line().await,
        "ERROR too-long a line may hold 1024 bytes"
    );
    assert_eq!(client.line().await, "PONG");
    let grown = memory_kib().saturating_sub(before);
    assert!(grown < 64 * 1_024, "memory grew by {grown} KiB");
}

/// Resident memory of this process.
fn memory_kib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    line.and_then(|rest| rest.split_whitespace().next()?.parse().ok())
        .unwrap_or(0)
}
