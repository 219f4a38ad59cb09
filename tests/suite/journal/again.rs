//! A GAME that comes again, with a daemon that is killed before or after it.

use tempfile::TempDir;

use super::{resume, tell};
use crate::common::{
    backends::rows,
    process::{Process, ask, line},
    until,
};

#[tokio::test(flavor = "multi_thread")]
async fn the_decision_of_a_warm_up_stands_over_a_restart_of_the_daemon() {
    const GAME: &str =
        "GAME ctf\nMAP m\nJOIN a team=0\nJOIN b team=1\nJOIN c team=0\nJOIN d team=1\n";
    for killed_after_game in [false, true] {
        let folder = TempDir::new().unwrap();
        let database = folder.path().join("evenkeel.db");
        let decided = async || -> Vec<(Option<i64>,)> {
            rows(&database, "SELECT match_id FROM decisions ORDER BY id").await
        };
        let mut daemon = Process::start(folder.path());
        let (mut stream, _) = resume(&daemon);
        tell(&mut stream, &format!("{GAME}MINPLAYERS 0\n"));
        assert!(ask(&mut stream, "BALANCE seed=1\n").starts_with("BALANCE 6 "));
        let teams: Vec<String> = (0..6).map(|_| line(&mut stream)).collect();
        let explain = |stream: &mut _| {
            let head = ask(stream, "EXPLAIN\n");
            let count: usize = head.rsplit(' ').next().unwrap().parse().unwrap();
            (0..count).map(|_| line(stream)).collect::<Vec<String>>()
        };
        let why = explain(&mut stream);
        until(async || decided().await.len() == 1).await;
        if killed_after_game {
            tell(&mut stream, GAME);
        }
        daemon.kill();

        let daemon = Process::start(folder.path());
        let (mut stream, resumed) = resume(&daemon);
        assert!(resumed);
        if !killed_after_game {
            tell(&mut stream, GAME);
        }
        for placed in teams.iter().filter_map(|line| line.strip_prefix("TEAM ")) {
            let (team, id) = placed.split_once(' ').unwrap();
            tell(&mut stream, &format!("MOVE {id} {team}\n"));
        }
        tell(&mut stream, "START\nSCORE 0\n");
        assert_eq!(explain(&mut stream), why, "the reasons stand, too");
        assert!(ask(&mut stream, "END\n").starts_with("END 1 "));
        assert_eq!(decided().await, [(Some(1),)], "{killed_after_game}");
        let picked = "SELECT count(*) FROM match_chances WHERE cause = 'picked'";
        let picked: Vec<(i64,)> = rows(&database, picked).await;
        assert_eq!(picked, [(1,)]);
    }
}
