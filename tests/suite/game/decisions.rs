//! Decisions are stored with their inputs, give the same answer when they are replayed, and are
//! compared with the results of the games.

use crate::common::{
    Daemon,
    backends::{chose_postgres, rows},
};
use evenkeel::lobby::{Decision, decision::in_this_form};
use serde_json::Value;
use std::path::PathBuf;

fn database(daemon: &Daemon) -> PathBuf {
    daemon.folder.path().join("test.db")
}

/// Six players; the stronger three on one team, then one more arrives.
const GAME: &str = "GAME ctf\nMINPLAYERS 0\nJOIN a\nJOIN b\nJOIN c\nJOIN d\nJOIN e\nJOIN f\nBALANCE seed=5\nJOIN g\n\
                    PLACE g\nSTART\nSCORE 0\nADVANTAGE\nMOVE a 0\nMOVE b 0\nMOVE c 0\nMOVE d 0\nREBALANCE seed=18446744073709551615\n";

#[tokio::test]
async fn every_decision_comes_out_the_same_again() {
    let daemon = Daemon::start("").await;
    daemon
        .client()
        .await
        .talk(&format!("HELLO s\n{GAME}END\nBALANCE\n"))
        .await;
    daemon.service.sessions().write_backlog().await.unwrap();
    let query = "SELECT id, kind, seed, match_id FROM decisions ORDER BY id";
    let rows: Vec<(i64, String, String, Option<i64>)> = rows(&database(&daemon), query).await;
    let kinds: Vec<&str> = rows.iter().map(|row| row.1.as_str()).collect();
    assert_eq!(
        kinds,
        ["balance", "place", "advantage", "rebalance", "balance"]
    );
    assert_eq!(
        (rows[0].2.as_str(), rows[3].2.as_str()),
        ("5", "18446744073709551615")
    );
    let matches: Vec<Option<i64>> = rows.iter().map(|row| row.3).collect();
    assert_eq!(
        matches,
        [Some(1), Some(1), Some(1), Some(1), None],
        "the last is of the next game"
    );
    for (id, kind, ..) in &rows {
        let replayed = daemon
            .service
            .sessions()
            .replay(*id)
            .await
            .unwrap()
            .unwrap();
        assert!(replayed.same && !replayed.cut_short, "{kind}");
        assert_eq!((&replayed.kind, replayed.server.as_str()), (kind, "s"));
        assert!(!replayed.why.is_empty(), "{kind}");
    }
    assert!(
        daemon
            .service
            .sessions()
            .replay(99)
            .await
            .unwrap()
            .is_none()
    );
}

/// What was decided before an upgrade from 0.2 comes out the same.
#[test]
fn the_decisions_that_the_last_0_2_exports_come_out_the_same_again() {
    let export = include_str!("../../fixtures/operator/0.2.jsonl");
    let mut stored = Vec::new();
    for line in export.lines() {
        let line: Value = serde_json::from_str(line).unwrap();
        let decisions = line["decisions"].as_array().cloned().unwrap_or_default();
        let texts = decisions
            .iter()
            .map(|one| one["decision"].as_str().unwrap().to_owned());
        stored.extend(texts);
    }
    assert_eq!(stored.len(), 4);
    for old in stored {
        let json = in_this_form(&old).unwrap();
        assert_eq!(in_this_form(&json), None);
        let decision: Decision = serde_json::from_str(&json).unwrap();
        let again = decision.clone().again(&mut || false);
        assert_eq!(again.as_ref(), Some(&decision), "{json}");
        // The question and the answer are those that were there.
        let [old, new]: [Value; 2] = [&old, &json].map(|one| serde_json::from_str(one).unwrap());
        for part in [
            "/answer",
            "/seed",
            "/question/settings",
            "/question/problem/parties",
        ] {
            assert_eq!(new.pointer(part), old.pointer(part), "{part}");
        }
        let humans = old["question"]["problem"]["humans"].as_array().unwrap();
        let view = &new["question"]["problem"]["view"];
        for (at, human) in humans.iter().enumerate() {
            let same = [
                ("key", "id"),
                ("weight", "weight"),
                ("current", "team"),
                ("pin", "pin"),
            ];
            assert!(
                same.iter()
                    .all(|(old, new)| view["humans"][at][new] == human[old])
            );
        }
    }
}

#[tokio::test]
async fn what_was_changed_by_hand_is_noticed() {
    if chose_postgres() {
        return; // the statement that changes it is SQLite's
    }
    let daemon = Daemon::start("").await;
    daemon.client().await.talk(GAME).await;
    daemon.service.sessions().write_backlog().await.unwrap();
    let url = format!("sqlite://{}", database(&daemon).display());
    let pool = sqlx::SqlitePool::connect(&url).await.unwrap();
    let spoil = |id: i64, path: &'static str, value: i64| {
        let pool = pool.clone();
        async move {
            let sql = "UPDATE decisions SET decision = json_set(decision, ?, ?) WHERE id = ?";
            let query = sqlx::query(sql).bind(path).bind(value).bind(id);
            assert_eq!(query.execute(&pool).await.unwrap().rows_affected(), 1);
        }
    };
    spoil(1, "$.answer.team_of[0]", 7).await;
    assert!(
        !daemon
            .service
            .sessions()
            .replay(1)
            .await
            .unwrap()
            .unwrap()
            .same
    );
    for (id, path, value) in [
        (1, "$.question.problem.view.humans[0].pin", 9),
        (1, "$.question.problem", 3),
        (2, "$.question.who", 900),
        (3, "$.question.teams", 0),
        (4, "$.question.view.humans[0].team", 200),
    ] {
        spoil(id, path, value).await;
        let replayed = daemon.service.sessions().replay(id).await;
        assert!(replayed.is_err(), "{path}: {replayed:?}");
    }
}

#[tokio::test]
async fn only_so_many_are_kept() {
    let daemon = Daemon::start("").await;
    daemon.client().await.talk(GAME).await;
    daemon.service.sessions().write_backlog().await.unwrap();
    let store = daemon.service.store();
    assert_eq!(store.decisions().trim_decisions(3, 9).await.unwrap(), 1);
    let query = "SELECT id FROM decisions ORDER BY id";
    let ids: Vec<(i64,)> = rows(&database(&daemon), query).await;
    assert_eq!(ids, [(2,), (3,), (4,)]);

    let daemon = Daemon::start("store.keep_decisions = 0").await;
    daemon.client().await.talk(GAME).await;
    daemon.service.sessions().write_backlog().await.unwrap();
    assert!(daemon.service.sessions().replay(1).await.unwrap().is_none());
}

#[tokio::test]
async fn predictions_are_held_against_what_happened() {
    let daemon = Daemon::start("rating.min_seconds = 0\nstore.keep_decisions = 1").await;
    let mut client = daemon.client().await;
    let mut chances = Vec::new();
    for game in 0..4 {
        let script = "GAME ctf\nMINPLAYERS 0\nJOIN a pin=0\nJOIN b pin=1\nBALANCE\n";
        client.send(script).await;
        let head = client.line().await;
        let chance = head.split(' ').nth(3).unwrap().to_owned();
        for _ in 0..4 {
            client.line().await;
        }
        // The game must take some time, because a match of 0 ms is not rated.
        client.send("START\nSCORE 0\nSCORE 0\nEND\n").await;
        assert_eq!(client.line().await, format!("END {} recorded", game + 1));
        chances.extend(chance.parse::<f64>());
        daemon.service.learning().refresh().await.unwrap();
    }
    daemon.service.sessions().write_backlog().await.unwrap();
    assert_eq!(chances.len(), 3, "nobody was known before the first game");
    let sql = "SELECT count(*), count(chance_as_picked), CAST(avg(chance_as_picked) AS DOUBLE PRECISION),
                   CAST(avg(CASE winner WHEN 0 THEN 1 ELSE 0 END) AS DOUBLE PRECISION) FROM match_report";
    let row: (i64, i64, f64, f64) = rows(&database(&daemon), sql).await[0];
    let mean = chances.iter().sum::<f64>() / 3.0;
    assert_eq!((row.0, row.1, row.3), (4, 3, 1.0));
    assert!((row.2 - mean).abs() < 6e-4, "{row:?}, {mean}");
}

#[tokio::test]
async fn a_draw_is_no_win_of_either_team() {
    let daemon = Daemon::start("rating.min_seconds = 0").await;
    let mut client = daemon.client().await;
    for scores in ["SCORE 0\n", "SCORE 0\nSCORE 1\n", "SCORE 1\n"] {
        let teams = "GAME ctf\nMINPLAYERS 0\nJOIN a team=0\nJOIN b team=1\n";
        client.send(&format!("{teams}START\n{scores}END\n")).await;
        assert!(client.line().await.ends_with(" recorded"));
    }
    daemon.service.learning().refresh().await.unwrap();
    let sql = "SELECT outcome, winner FROM match_report ORDER BY match_id";
    let found: Vec<(String, Option<i64>)> = rows(&database(&daemon), sql).await;
    let won = |team| ("won".to_owned(), Some(team));
    assert_eq!(found, [won(0), ("draw".to_owned(), None), won(1)]);
}

#[tokio::test]
async fn forgetting_somebody_forgets_what_was_decided_about_them() {
    use evenkeel::model::{Kind, PlayerKey, Timestamp};
    let daemon = Daemon::start("").await;
    let script = "GAME ctf\nJOIN \"Boring \\\"J\\\"\"\nPLACE \"Boring \\\"J\\\"\"\nGAME ctf\nJOIN b\nPLACE b\n";
    daemon.client().await.talk(script).await;
    daemon.service.sessions().write_backlog().await.unwrap();
    let who = PlayerKey {
        kind: Kind::Human,
        id: "Boring \"J\"".into(),
    };
    assert!(daemon.service.sessions().replay(1).await.unwrap().is_some());
    daemon
        .service
        .store()
        .corrections()
        .forget_player(&who, Timestamp(0))
        .await
        .unwrap();
    assert!(daemon.service.sessions().replay(1).await.unwrap().is_none());
    assert!(daemon.service.sessions().replay(2).await.unwrap().is_some());
}
