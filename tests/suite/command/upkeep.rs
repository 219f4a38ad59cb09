//! What the daemon deletes by itself.

use evenkeel::{
    model::Timestamp,
    store::{self, DecisionRow},
};
use tempfile::TempDir;

use crate::common::{
    BUSY,
    process::{Process, run},
    until,
};

#[tokio::test]
async fn the_daemon_deletes_old_decisions() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("evenkeel.db");
    let store = store::open(&path, true, BUSY).await.unwrap();
    let decided = |number: i64| {
        // One of ten is new.
        let made_at = if number % 10 == 9 {
            4_000_000_000_000
        } else {
            number
        };
        DecisionRow {
            made_at: Timestamp(made_at),
            server: String::new(),
            ruleset: "ctf".to_owned(),
            game: number,
            kind: "balance".to_owned(),
            seed: 1,
            chance: None,
            decision: "{}".to_owned(),
        }
    };
    let decisions: Vec<DecisionRow> = (0..5_000).map(decided).collect();
    store.decisions().write_decisions(&decisions).await.unwrap();
    store.close().await;
    let days = [("EVENKEEL_STORE_KEEP_DECISION_DAYS", "30")];
    let mut daemon = Process::start_with(folder.path(), &days);
    let game = "GAME ctf\nMAP m\nJOIN ann team=0\nJOIN bob team=1\nSTART\nSCORE 0\nEND\n";
    let said = daemon.ask(game);
    assert!(said.contains("END 1"), "{said}");
    let mut log: Vec<String> = Vec::new();
    until(async || {
        log.extend(daemon.log.try_iter());
        log.iter()
            .any(|logged| logged.contains("old decisions are deleted decisions=4500"))
    })
    .await;
    daemon.stop();
    let (code, printed, error) = run(folder.path(), &["check"]);
    assert_eq!(code, 0, "{printed}{error}");
}
