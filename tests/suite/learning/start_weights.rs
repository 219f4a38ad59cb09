//! The weights at which an operator lets players start.

use std::process::Output;

use evenkeel::model::{Kind::Human, PlayerKey, Timestamp, weight::StartWeight};
use tempfile::TempDir;

use crate::common::{Daemon, game, player, process::evenkeel};

fn key(id: &str) -> PlayerKey {
    player(Human, id, 0, 1).key
}

/// The weight in the answer to PLAYER.
async fn weight(daemon: &Daemon, game_type: &str, id: &str) -> Option<f64> {
    let asked = format!("GAME {game_type}\nPLAYER {id}\n");
    let reply = daemon.client().await.talk(&asked).await;
    let rest = reply
        .trim_end()
        .strip_prefix(&format!("PLAYER {id}"))
        .unwrap()
        .trim();
    (!rest.is_empty()).then(|| rest.parse().unwrap())
}

async fn set(daemon: &Daemon, id: &str, start: Option<(f64, bool)>) {
    let start = start.map(|(weight, uncertain)| StartWeight { weight, uncertain });
    daemon
        .service
        .store()
        .corrections()
        .set_start_weights(&[(key(id), start)])
        .await
        .unwrap();
    daemon.service.learning().refresh().await.unwrap();
}

#[tokio::test]
async fn a_start_weight_shows_at_once_and_games_pull_it_away() {
    let daemon = Daemon::start("").await;
    set(&daemon, "ann", Some((57.0, false))).await;
    assert_eq!(
        weight(&daemon, "ctf", "ann").await,
        Some(57.0),
        "before any match"
    );
    assert_eq!(weight(&daemon, "ctf", "bob").await, None);
    let mut before = 57.0;
    for minute in 0..30 {
        let stranger = format!("stranger {minute}");
        let lost = game(
            20 * minute,
            &[(Human, "ann")],
            &[(Human, &stranger)],
            [0.0, 3.0],
        );
        daemon
            .service
            .store()
            .matches()
            .record(&lost)
            .await
            .unwrap();
        daemon.service.learning().refresh().await.unwrap();
        let now = weight(&daemon, "ctf", "ann").await.unwrap();
        assert!(
            now < before && (minute > 0 || now > 53.0),
            "{minute}: {now}"
        );
        before = now;
    }
    assert!(before < 50.0, "thirty strangers have won: {before}");
    // Uncertain, the same matches say more. Released, the player started as any other.
    set(&daemon, "ann", Some((57.0, true))).await;
    let uncertain = weight(&daemon, "ctf", "ann").await.unwrap();
    set(&daemon, "ann", None).await;
    let newcomer = weight(&daemon, "ctf", "ann").await.unwrap();
    assert!(
        newcomer < uncertain && uncertain < before,
        "{newcomer} {uncertain} {before}"
    );
}

#[tokio::test]
async fn balance_counts_a_start_weight_before_any_match() {
    let daemon = Daemon::start("").await;
    for (id, start) in [("ann", 90.0), ("bob", 85.0), ("cid", 40.0), ("dan", 30.0)] {
        set(&daemon, id, Some((start, true))).await;
    }
    let joins = "GAME ctf\nJOIN ann\nJOIN bob\nJOIN cid\nJOIN dan\nBALANCE top=1\n";
    let reply = daemon.client().await.talk(joins).await;
    let team = |id: &str| {
        reply
            .lines()
            .find(|line| line.ends_with(id))
            .unwrap()
            .to_owned()
    };
    assert_eq!(team("ann")[..6], team("dan")[..6], "{reply}");
    assert_ne!(team("ann")[..6], team("bob")[..6], "{reply}");
}

#[tokio::test]
async fn a_start_holds_for_every_ruleset_until_it_has_matches() {
    let daemon = Daemon::start("").await;
    for minute in 0..5 {
        let won = game(
            20 * minute,
            &[(Human, "ann")],
            &[(Human, "bob")],
            [3.0, 0.0],
        );
        daemon.service.store().matches().record(&won).await.unwrap();
    }
    set(&daemon, "ann", Some((70.0, false))).await;
    let played = weight(&daemon, "ctf", "ann").await.unwrap();
    let elsewhere = weight(&daemon, "xonotic.tdm", "ann").await.unwrap();
    assert!(
        played > 70.0 && elsewhere > 70.0 && elsewhere < played,
        "{played} {elsewhere}"
    );
    assert_eq!(weight(&daemon, "xonotic.tdm", "bob").await, None);
}

#[tokio::test]
async fn a_merged_identity_starts_the_one_it_counts_as_and_forgetting_ends_it() {
    let daemon = Daemon::start("").await;
    let store = daemon.service.store();
    store
        .corrections()
        .merge_player(&key("old"), &key("ann"))
        .await
        .unwrap();
    set(&daemon, "old", Some((80.0, false))).await;
    assert_eq!(weight(&daemon, "ctf", "ann").await, Some(80.0));
    set(&daemon, "ann", Some((60.0, false))).await;
    assert_eq!(
        weight(&daemon, "ctf", "ann").await,
        Some(60.0),
        "its own comes first"
    );
    store
        .corrections()
        .forget_player(&key("ann"), Timestamp(0))
        .await
        .unwrap();
    daemon.service.learning().refresh().await.unwrap();
    assert_eq!(store.corrections().overrides().await.unwrap().starts, []);
    assert_eq!(weight(&daemon, "ctf", "ann").await, None);
}

#[test]
fn an_operator_sets_start_weights() {
    let folder = TempDir::new().unwrap();
    let run = |args: &[&str]| -> Output {
        evenkeel(folder.path())
            .arg("player")
            .args(args)
            .output()
            .unwrap()
    };
    let out = |args: &[&str]| {
        let output = run(args);
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).unwrap()
    };
    let set = out(&["start-weight", "ann", "70", "--uncertain"]);
    assert_eq!(set, "ann starts at 70, and matches change it\n");
    assert!(out(&["show", "ann"]).contains("starts at weight 70, uncertain"));
    std::fs::write(
        folder.path().join("list.csv"),
        "id,weight\nann,off\nbob,55.5\n",
    )
    .unwrap();
    assert_eq!(
        out(&["start-weights", "list.csv"]),
        "read 2 start weights\n"
    );
    assert!(out(&["show", "bob"]).contains("starts at weight 55.5\n"));
    assert_eq!(run(&["show", "ann"]).status.code(), Some(4));
    let json: serde_json::Value = serde_json::from_str(&out(&["show", "bob", "--json"])).unwrap();
    assert_eq!(json["start_weight"]["weight"], 55.5);
    // A list with a fault changes nothing.
    std::fs::write(
        folder.path().join("list.csv"),
        "id,weight\nbob,off\ncid,200\n",
    )
    .unwrap();
    let refused = run(&["start-weights", "list.csv"]);
    assert_eq!(refused.status.code(), Some(4));
    assert!(
        String::from_utf8_lossy(&refused.stderr).contains("line 3: "),
        "{refused:?}"
    );
    assert!(out(&["show", "bob"]).contains("starts at weight 55.5"));
    assert_eq!(
        out(&["start-weight", "bob", "off"]),
        "bob starts at 50 again\n"
    );
    assert_eq!(run(&["start-weight", "bob", "101"]).status.code(), Some(2));
    assert_eq!(run(&["start-weight", "0", "50"]).status.code(), Some(4));
}
