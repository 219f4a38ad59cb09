//! The running game over TCP: late arrivals, advantage, moves, auto-balance, and results.

#![allow(clippy::unwrap_used, clippy::expect_used)] // a test may fail by unwrapping

mod common;

use common::Daemon;

/// Two against two, on their teams.
const FOUR: &str =
    "GAME ctf\nMINPLAYERS 0\nJOIN a team=0\nJOIN b team=0\nJOIN c team=1\nJOIN d team=1\n";

#[tokio::test]
async fn a_game_from_start_to_end() {
    let daemon = Daemon::start("").await;
    let said = daemon
        .client()
        .await
        .talk(&format!(
            "{FOUR}START\nSCORE 0 1 a\nKILL a c\nPOINTS a 7\nCLOCK 60\nEND\nEND draw\n"
        ))
        .await;
    assert_eq!(said, "END 1 recorded\nEND 1 recorded\n");
}
