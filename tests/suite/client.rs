//! The example client: what docs/connect.md shows is the file, and the file plays a game.

use std::process::{Command, Output};

use crate::common::Daemon;

const CLIENT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/integrations/python/client.py");

/// Runs the client with these arguments; `None` where there is no python3.
async fn run(arguments: &[&str]) -> Option<Output> {
    let mut command = Command::new("python3");
    command.arg(CLIENT).args(arguments);
    // The daemon runs on this thread.
    let output = tokio::task::spawn_blocking(move || command.output());
    match output.await.unwrap() {
        Ok(output) => Some(output),
        Err(error) => {
            eprintln!("skipped: python3 cannot be run here ({error})");
            None
        }
    }
}

#[test]
fn the_documentation_shows_the_client() {
    let page = include_str!("../../docs/connect.md");
    let client = include_str!("../../integrations/python/client.py");
    let (_, from) = page.split_once("```python\n").unwrap();
    let (shown, _) = from.split_once("```").unwrap();
    assert_eq!(shown, client);
    assert_eq!(client.lines().count(), 40);
}

#[tokio::test]
async fn client_plays_a_game() {
    let daemon = Daemon::start("").await;
    let Some(output) = run(&[&daemon.address.to_string()]).await else {
        return;
    };
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{errors}");
    let said = String::from_utf8(output.stdout).unwrap();
    let lines: Vec<&str> = said.lines().collect();
    let [teams, refused, end] = lines[..] else {
        panic!("{said}");
    };
    assert!(teams.starts_with("1.000000 ["), "{teams}");
    for player in ["ann", "bob", "cid", "Boring \"John\""] {
        assert!(teams.contains(player), "{player} in {teams}");
    }
    assert_eq!(refused, "SCORE: unknown-player not in the roster");
    assert_eq!(end, "END 1 unrated too-short");
}

#[tokio::test]
async fn client_is_told_why_it_may_not() {
    let daemon = Daemon::start("[server.clients]\n\"my-server\" = \"sesame\"\n").await;
    let address = daemon.address.to_string();
    let (Some(refused), Some(allowed)) = (
        run(&[&address, "guess"]).await,
        run(&[&address, "sesame"]).await,
    ) else {
        return;
    };
    let errors = String::from_utf8_lossy(&refused.stderr);
    assert!(!refused.status.success());
    assert!(
        errors.contains("HELLO: not-allowed unknown server or wrong token"),
        "{errors}"
    );
    let errors = String::from_utf8_lossy(&allowed.stderr);
    assert!(allowed.status.success(), "{errors}");
}
