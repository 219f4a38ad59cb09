//! A line of one gigabyte is refused without being held in memory.

use tokio::io::AsyncWriteExt;

use crate::{alone, common::Daemon, resident};

#[tokio::test]
#[ignore = "sends 1 GiB: run it with `cargo test --test large -- --ignored`"]
async fn a_line_of_a_gigabyte_is_one_error_and_the_connection_goes_on() {
    let _turn = alone().await;
    let daemon = Daemon::start("server.line_seconds = 600").await;
    let mut client = daemon.client().await;
    let before = resident();
    let block = vec![b'x'; 1 << 20];
    for _ in 0..1_024 {
        client.stream.get_mut().write_all(&block).await.unwrap();
    }
    client.send("\nPING\n").await;
    assert_eq!(
        client.line().await,
        "ERROR too-long the line is longer than 1024 bytes"
    );
    assert_eq!(client.line().await, "PONG");
    let grown = resident().saturating_sub(before);
    assert!(grown < 64 << 20, "memory grew by {grown} bytes");
}
