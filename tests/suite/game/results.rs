//! Results over TCP: what END records, a repeated END, and games whose connection is lost.

use crate::common::{
    Client, Daemon,
    backends::{chose_postgres, rows},
    until,
};
use evenkeel::model::{
    Kind, MatchRecord, Outcome, PlayerKey, Timestamp,
    record::{Presence, Span},
};

const VERSION: &str = env!("CARGO_PKG_VERSION");

async fn matches(daemon: &Daemon) -> Vec<MatchRecord> {
    daemon.service.sessions().write_backlog().await.unwrap();
    daemon.service.learning().matches().await.unwrap()
}

/// Closes a connection, and returns once the daemon has closed it, too.
async fn hang_up(client: Client) {
    let mut stream = client.stream.into_inner();
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    stream.shutdown().await.unwrap();
    stream.read_to_end(&mut Vec::new()).await.unwrap();
}

#[tokio::test]
async fn a_role_is_stored_with_the_match() {
    let (daemon, clock) = Daemon::start_by_hand("").await;
    let mut client = hello(&daemon).await;
    assert!(
        client
            .ask("ROLE a commander\n")
            .await
            .starts_with("ERROR no-game")
    );
    client
        .tell(&format!(
            "GAME ctf\nMAP field\n{TWO}ROLE a Commander\nSTART\n"
        ))
        .await;
    assert!(
        client
            .ask("ROLE x commander\n")
            .await
            .starts_with("ERROR unknown-player")
    );
    for bad in ["ROLE\n", "ROLE a two words\n", "ROLE a \"two words\"\n"] {
        assert!(
            client.ask(bad).await.starts_with("ERROR bad-argument"),
            "{bad}"
        );
    }
    clock.pass(50_000);
    client.tell("ROLE a\nROLE b commander\n").await;
    clock.pass(50_000);
    assert_eq!(client.ask("END 0\n").await, "END 1 recorded");
    let records = matches(&daemon).await;
    // The first half of the game counts twice as much as the second.
    for (participant, share) in records[0].participants.iter().zip([2.0 / 3.0, 1.0 / 3.0]) {
        let [role] = &participant.roles[..] else {
            panic!("one role: {participant:?}")
        };
        assert_eq!(role.name, "commander");
        assert!((role.share - share).abs() < 1e-4, "{role:?}");
    }
}

const TWO: &str = "MINPLAYERS 0\nJOIN a name=Ann team=0\nJOIN b team=1\n";

async fn hello(daemon: &Daemon) -> Client {
    let mut client = daemon.client().await;
    let reply = client.ask("HELLO s\n").await;
    assert_eq!(reply, format!("HELLO evenkeel/{VERSION} protocol/1"));
    client
}

/// Opens a connection that requests the parked game of the last one. Returns whether it resumed it.
async fn resume(daemon: &Daemon) -> (Client, bool) {
    let mut client = daemon.client().await;
    let reply = client.ask("HELLO s resume=yes\n").await;
    let resumed = reply == format!("HELLO evenkeel/{VERSION} protocol/1 resumed");
    assert!(
        resumed || reply == format!("HELLO evenkeel/{VERSION} protocol/1 new"),
        "{reply}"
    );
    (client, resumed)
}

#[tokio::test]
async fn a_match_is_what_was_told_from_start_to_end() {
    let (daemon, clock) = Daemon::start_by_hand("").await;
    let mut client = hello(&daemon).await;
    clock.pass(5_000);
    client
        .tell(&format!("GAME ctf\nMUTATOR zz\nMUTATOR aa\nMAP field\n{TWO}JOIN p1 party=x\nJOIN p2 party=x\nBOTJOIN Grunt 1\nSCORE 1\nKILL a b\nPOINTS a 99\n"))
        .await;
    clock.pass(60_000);
    client.tell("MOVE p1 0\nMOVE p2 0\nSTART\n").await;
    clock.pass(10_000);
    client
        .tell("KILL a b\nKILL a b\nDEATH b\nSCORE 0 2 a\n")
        .await;
    clock.pass(10_000);
    client.tell("MOVE p2 1\nPOINTS a 7.5\nLEAVE b\n").await;
    clock.pass(10_000);
    client.tell("SCORE 1\nSCORE 0 -1\n").await;
    clock.pass(30_000);
    assert_eq!(client.ask("END 0\n").await, "END 1 recorded");
    client
        .tell("SCORE 1\nKILL b a\nPOINTS a 99\nDEATH a\n")
        .await;

    let [record] = &matches(&daemon).await[..] else {
        panic!("one match")
    };
    let start = Timestamp(1_000_000_065_000);
    assert_eq!(
        (record.server.as_str(), record.map.as_str()),
        ("s", "field")
    );
    assert_eq!(
        (record.start, record.end),
        (start, start.plus_millis(60_000))
    );
    assert_eq!(
        (record.game_type.as_str(), &record.mutators[..]),
        ("ctf", &["aa".to_owned(), "zz".to_owned()][..])
    );
    assert_eq!(
        (record.outcome, &record.scores[..]),
        (Outcome::Won(0), &[1.0, 1.0][..])
    );
    let points: Vec<f64> = record.events.iter().map(|event| event.points).collect();
    assert_eq!(points, [2.0, 1.0, -1.0]);
    let of = |id: &str| record.participants.iter().find(|p| p.key.id == id).unwrap();
    assert_eq!(record.participants.len(), 5);
    assert_eq!(
        (
            of("a").name.as_str(),
            of("a").points,
            of("a").kills,
            of("a").deaths
        ),
        ("Ann", Some(7.5), 2, 0)
    );
    assert_eq!(of("b").deaths, 2, "told by KILL twice, and by DEATH once");
    assert_eq!(
        (of("p1").party, of("p2").party, of("a").party),
        (Some(0), Some(0), None)
    );
    let stays = |id: &str| -> Vec<(u8, u64)> {
        let stay = |p: &Presence| (p.team, p.span.millis() / 9_000);
        of(id).presence.iter().map(stay).collect()
    };
    assert_eq!(stays("a"), [(0, 6)]);
    assert_eq!(stays("b"), [(1, 2)]);
    assert_eq!(stays("p2"), [(0, 2), (1, 4)]);
    assert_eq!(
        of("Grunt").presence[0].span,
        Span {
            from: 0,
            to: 60_000
        }
    );
}

/// Ann waits alone for 12 minutes, all play for 8, and the winners wait for 5 when the others have left.
#[tokio::test]
async fn waiting_for_opponents_is_no_play() {
    let (daemon, clock) = Daemon::start_by_hand("").await;
    let mut client = hello(&daemon).await;
    client
        .tell("GAME ctf\nMAP field\nMINPLAYERS 0\nJOIN a team=0\nSTART\n")
        .await;
    clock.pass(720_000);
    client
        .tell("JOIN b team=0\nJOIN c team=1\nJOIN d team=1\n")
        .await;
    clock.pass(240_000);
    client.tell("SCORE 0 4 a\n").await;
    clock.pass(240_000);
    client.tell("LEAVE c\nLEAVE d\n").await;
    clock.pass(300_000);
    assert_eq!(client.ask("END\n").await, "END 1 recorded");
    let [record] = &matches(&daemon).await[..] else {
        panic!("one match")
    };
    let start = Timestamp(1_000_000_720_000);
    assert!((0..10).contains(&(record.start.0 - start.0)), "{record:?}");
    assert!(record.millis().abs_diff(480_000) < 10, "{record:?}");
    assert_eq!(
        (&record.scores[..], record.outcome),
        (&[4.0, 0.0][..], Outcome::Won(0))
    );
    for one in &record.participants {
        let stayed: u64 = one.presence.iter().map(|stay| stay.span.millis()).sum();
        assert!(stayed.abs_diff(record.millis()) < 10, "{one:?}");
    }
    let page = daemon
        .service
        .store()
        .matches()
        .page_match(1)
        .await
        .unwrap()
        .unwrap();
    assert!(
        page.changes
            .iter()
            .all(|change| change.at <= record.millis()),
        "{:?}",
        page.changes
    );
    // Who waited stands where their team mate does.
    daemon.service.learning().refresh().await.unwrap();
    let [a, b] = [
        client.ask("PLAYER a\n").await,
        client.ask("PLAYER b\n").await,
    ];
    assert_eq!(a.replace("PLAYER a", "PLAYER b"), b);
    assert_ne!(b, "PLAYER b");
    // Of a game in which nobody ever had an opponent, the reply says so.
    client.tell("GAME ctf\nJOIN a team=0\nSTART\n").await;
    clock.pass(300_000);
    client.tell("LEAVE a\nJOIN b team=1\n").await;
    clock.pass(300_000);
    assert_eq!(client.ask("END 0\n").await, "END 2 unrated team-empty");
}

#[tokio::test]
async fn the_scores_decide_unless_somebody_says() {
    for (end, outcome) in [
        ("END", Outcome::Won(1)),
        ("END 0", Outcome::Won(0)),
        ("END draw", Outcome::Draw),
        ("end DRAW", Outcome::Draw),
    ] {
        let (daemon, clock) = Daemon::start_by_hand("").await;
        let mut client = daemon.client().await;
        client
            .tell(&format!("GAME ctf\n{TWO}START\nSCORE 1\n"))
            .await;
        clock.pass(60_000);
        assert_eq!(client.ask(&format!("{end}\n")).await, "END 1 recorded");
        assert_eq!(matches(&daemon).await[0].outcome, outcome, "{end}");
    }
}

#[tokio::test]
async fn the_reason_is_told_where_a_match_is_not_rated() {
    for (toml, script, reason) in [
        (
            "rating.min_seconds = 61",
            "JOIN a team=0\nJOIN b team=1\nSTART\n",
            "too-short",
        ),
        (
            "rating.min_humans = 2",
            "JOIN a team=0\nJOIN b team=1\nSTART\n",
            "too-few-humans",
        ),
        ("", "JOIN a team=0\nSTART\n", "team-empty"),
        ("", "START\n", "no-play-time"),
    ] {
        let (daemon, clock) = Daemon::start_by_hand(toml).await;
        let mut client = daemon.client().await;
        client.tell(&format!("GAME ctf\n{script}")).await;
        clock.pass(60_000);
        let reply = client.ask("END\n").await;
        assert_eq!(reply, format!("END 1 unrated {reason}"));
        daemon.service.learning().refresh().await.unwrap();
        let stored = daemon
            .service
            .store()
            .learned()
            .rulings(&[1])
            .await
            .unwrap();
        assert_eq!(stored, [Some(reason.to_owned())], "the fold says the same");
    }
}

#[tokio::test]
async fn an_end_without_a_start_changes_nothing() {
    let (daemon, _clock) = Daemon::start_by_hand("").await;
    let mut client = daemon.client().await;
    let reply = client.ask(&format!("GAME ctf\n{TWO}END\n")).await;
    assert_eq!(reply, "ERROR not-allowed send START first");
    assert!(matches(&daemon).await.is_empty());
}

#[tokio::test]
async fn weights_follow_the_end_of_a_game() {
    let (daemon, clock) = Daemon::start_by_hand("rating.system = 'presence'").await;
    let mut client = daemon.client().await;
    client
        .tell(&format!("GAME ctf\n{TWO}START\nSCORE 0\n"))
        .await;
    assert_eq!(client.ask("PLAYER a\n").await, "PLAYER a");
    clock.pass(60_000);
    assert_eq!(client.ask("END\n").await, "END 1 recorded");
    until(async || client.ask("PLAYER a\n").await == "PLAYER a 60.000").await;
}

#[tokio::test]
async fn two_games_within_a_second_are_two() {
    let (daemon, clock) = Daemon::start_by_hand("rating.min_seconds = 0").await;
    let mut client = daemon.client().await;
    client.tell(&format!("GAME ctf\n{TWO}")).await;
    for id in 1..=3 {
        client.tell("START\nSCORE 0\n").await;
        clock.pass(10);
        assert_eq!(client.ask("END\n").await, format!("END {id} recorded"));
        assert_eq!(
            client.ask("END draw\n").await,
            format!("END {id} recorded"),
            "reply again"
        );
    }
    assert_eq!(matches(&daemon).await.len(), 3);
}

#[tokio::test]
async fn an_end_repeated_by_the_next_connection_is_the_same() {
    let (daemon, clock) = Daemon::start_by_hand("").await;
    let mut client = hello(&daemon).await;
    client
        .tell(&format!("GAME ctf\n{TWO}START\nSCORE 0\n"))
        .await;
    clock.pass(60_000);
    client.send("END\n").await;
    hang_up(client).await;
    clock.pass(119_000);
    let mut client = hello(&daemon).await;
    assert_eq!(client.ask("END\n").await, "END 1 recorded");
    hang_up(client).await;
    let (mut client, resumed) = resume(&daemon).await;
    assert!(resumed);
    assert_eq!(client.ask("END 1\n").await, "END 1 recorded");
    assert_eq!(matches(&daemon).await.len(), 1);
    // Another server does not get the game.
    let mut other = daemon.client().await;
    other.ask("HELLO t\n").await;
    assert_eq!(other.ask("END\n").await, "ERROR no-game send GAME first");
}

#[tokio::test]
async fn a_game_goes_on_after_its_connection_broke() {
    for explicitly in [false, true] {
        let (daemon, clock) = Daemon::start_by_hand("").await;
        let mut client = hello(&daemon).await;
        client
            .tell(&format!("GAME ctf\n{TWO}START\nSCORE 0\n"))
            .await;
        clock.pass(60_000);
        hang_up(client).await;
        clock.pass(120_000);
        let mut client = if explicitly {
            let (client, resumed) = resume(&daemon).await;
            assert!(resumed);
            client
        } else {
            hello(&daemon).await
        };
        client.tell("SCORE 1\nSCORE 1\nJOIN c team=0\n").await;
        clock.pass(60_000);
        assert_eq!(client.ask("END\n").await, "END 1 recorded");
        let [record] = &matches(&daemon).await[..] else {
            panic!("one match")
        };
        assert_eq!(
            (record.millis(), record.outcome),
            (240_000, Outcome::Won(1))
        );
        assert_eq!(record.participants.len(), 3);
    }
}

#[tokio::test]
async fn a_game_that_nobody_goes_on_with_is_kept_as_abandoned() {
    let (daemon, clock) = Daemon::start_by_hand("").await;
    let mut client = hello(&daemon).await;
    client
        .tell(&format!("GAME ctf\n{TWO}START\nSCORE 0\n"))
        .await;
    clock.pass(60_000);
    hang_up(client).await;
    clock.pass(120_001);
    let (mut client, resumed) = resume(&daemon).await;
    assert!(!resumed);
    assert_eq!(
        client.ask("SCORE 0\n").await,
        "ERROR no-game send GAME first"
    );
    until(async || matches(&daemon).await.len() == 1).await;
    let record = &matches(&daemon).await[0];
    assert_eq!(
        (record.outcome, record.scores[0]),
        (Outcome::Abandoned, 1.0)
    );
    daemon.service.learning().refresh().await.unwrap();
    assert_eq!(
        daemon
            .service
            .store()
            .learned()
            .rulings(&[1])
            .await
            .unwrap(),
        [Some("abandoned".to_owned())]
    );
    assert_eq!(client.ask("END\n").await, "ERROR no-game send GAME first");
}

#[tokio::test]
async fn the_next_game_gives_up_the_one_before() {
    let (daemon, clock) = Daemon::start_by_hand("").await;
    let mut client = hello(&daemon).await;
    client.tell(&format!("GAME ctf\n{TWO}START\n")).await;
    clock.pass(60_000);
    client.tell(&format!("GAME ctf\n{TWO}START\n")).await;
    clock.pass(60_000);
    hang_up(client).await;
    let mut client = hello(&daemon).await;
    client.tell("TEAMS 2\nMUTATOR x\nGAME ctf\n").await;
    let outcomes: Vec<Outcome> = matches(&daemon).await.iter().map(|m| m.outcome).collect();
    assert_eq!(outcomes, [Outcome::Abandoned, Outcome::Abandoned]);
    // A warm-up is not recorded, nor is a game without players.
    client
        .tell(&format!("{TWO}GAME ctf\nSTART\nGAME ctf\n"))
        .await;
    assert_eq!(matches(&daemon).await.len(), 2);
}

#[tokio::test]
async fn a_server_without_a_name_is_not_waited_for() {
    let (daemon, clock) = Daemon::start_by_hand("").await;
    let mut client = daemon.client().await;
    client.tell(&format!("GAME ctf\n{TWO}START\n")).await;
    clock.pass(60_000);
    hang_up(client).await;
    until(async || matches(&daemon).await.len() == 1).await;
}

#[tokio::test]
async fn a_dead_connection_gives_its_game_to_the_next_one() {
    let (daemon, clock) = Daemon::start_by_hand("").await;
    let mut dead = hello(&daemon).await;
    dead.tell(&format!("GAME ctf\n{TWO}START\nSCORE 0\n")).await;
    clock.pass(60_000);
    // The daemon has not noticed that the connection is dead.
    let (mut client, resumed) = resume(&daemon).await;
    assert!(resumed);
    assert_eq!(dead.line().await, "", "it is closed");
    assert_eq!(client.ask("END\n").await, "END 1 recorded");
    assert_eq!(matches(&daemon).await.len(), 1);
}

#[tokio::test]
async fn who_is_not_going_on_takes_no_game_from_who_is_there() {
    let (daemon, _clock) = Daemon::start_by_hand("").await;
    let mut first = hello(&daemon).await;
    first.tell(&format!("GAME ctf\n{TWO}START\n")).await;
    let mut second = hello(&daemon).await;
    assert_eq!(
        second.ask("SCORE 0\n").await,
        "ERROR no-game send GAME first"
    );
    first.tell("SCORE 0\n").await;
}

#[tokio::test]
async fn a_daemon_that_stops_keeps_what_was_running() {
    let (mut daemon, clock) = Daemon::start_by_hand("").await;
    let mut running = hello(&daemon).await;
    running.tell(&format!("GAME ctf\n{TWO}START\n")).await;
    let mut waiting = daemon.client().await;
    waiting.ask("HELLO t\n").await;
    waiting
        .tell(&format!("GAME ctf\nMAP other\n{TWO}START\n"))
        .await;
    clock.pass(60_000);
    hang_up(waiting).await;
    daemon.stop();
    assert_eq!(running.line().await, "");
    (&mut daemon.task).await.unwrap();
    let stored = daemon.service.learning().matches().await.unwrap();
    assert_eq!(stored.len(), 2);
    assert!(
        stored
            .iter()
            .all(|record| record.outcome == Outcome::Abandoned)
    );
}

#[tokio::test]
async fn only_so_many_games_wait() {
    let (daemon, clock) = Daemon::start_by_hand("").await;
    for n in 0..260 {
        let mut client = daemon.client().await;
        client.ask(&format!("HELLO server{n}\n")).await;
        client.tell(&format!("GAME ctf\n{TWO}START\n")).await;
        clock.pass(10);
        hang_up(client).await;
    }
    let given_up: Vec<String> = matches(&daemon)
        .await
        .into_iter()
        .map(|m| m.server)
        .collect();
    assert_eq!(given_up, ["server0", "server1", "server2", "server3"]);
    for (server, word) in [("server3", " new"), ("server4", " resumed")] {
        let mut client = daemon.client().await;
        let reply = client.ask(&format!("HELLO {server} resume=yes\n")).await;
        assert!(reply.ends_with(word), "{server}: {reply}");
    }
}

#[tokio::test]
async fn an_end_that_cannot_be_written_is_kept_and_gets_its_id_later() {
    if chose_postgres() {
        return; // the lock is SQLite's; `postgres_wire` has the same for PostgreSQL
    }
    let daemon = Daemon::start("rating.min_seconds = 0").await;
    let mut client = daemon.client().await;
    client
        .tell(&format!("GAME ctf\n{TWO}START\nSCORE 0\n"))
        .await;
    let options =
        sqlx::sqlite::SqliteConnectOptions::new().filename(daemon.folder.path().join("test.db"));
    let mut other = sqlx::ConnectOptions::connect(&options).await.unwrap();
    let lock = sqlx::query("BEGIN IMMEDIATE");
    lock.execute(&mut other).await.unwrap();
    assert_eq!(client.ask("END\n").await, "ERROR internal kept");
    assert_eq!(client.ask("END 1\n").await, "ERROR internal kept");
    // The game is over, so that this does not count.
    client.tell("SCORE 1 5\n").await;
    // Another game begins in the meantime, and is kept, too.
    client.tell("START\nSCORE 1\n").await;
    assert_eq!(client.ask("END\n").await, "ERROR internal kept");
    let free = sqlx::query("ROLLBACK");
    free.execute(&mut other).await.unwrap();
    assert_eq!(client.ask("END\n").await, "END 2 recorded");
    assert_eq!(client.ask("END 0\n").await, "END 2 recorded");
    let records = matches(&daemon).await;
    let outcomes: Vec<_> = records.iter().map(|record| record.outcome).collect();
    assert_eq!(outcomes, [Outcome::Won(0), Outcome::Won(1)]);
    assert_eq!(records[0].scores, [1.0, 0.0]);
}

#[tokio::test]
async fn an_end_is_refused_once_too_many_matches_wait() {
    if chose_postgres() {
        return; // the lock is SQLite's; `postgres_wire` has the same for PostgreSQL
    }
    let daemon = Daemon::start("rating.min_seconds = 0").await;
    let mut client = daemon.client().await;
    let options =
        sqlx::sqlite::SqliteConnectOptions::new().filename(daemon.folder.path().join("test.db"));
    let mut other = sqlx::ConnectOptions::connect(&options).await.unwrap();
    let lock = sqlx::query("BEGIN IMMEDIATE");
    lock.execute(&mut other).await.unwrap();
    let game = |n| format!("GAME ctf\nMAP m{n}\n{TWO}START\nSCORE 0\n");
    for n in 0..256 {
        client.tell(&game(n)).await;
        assert_eq!(client.ask("END\n").await, "ERROR internal kept");
    }
    client.tell(&game(256)).await;
    let refused = "ERROR internal see the daemon's log";
    assert_eq!(client.ask("END\n").await, refused);
    let free = sqlx::query("ROLLBACK");
    free.execute(&mut other).await.unwrap();
    // Its game goes on.
    client.tell("SCORE 1 5\n").await;
    assert!(client.ask("END\n").await.ends_with(" recorded"));
    until(async || matches(&daemon).await.len() == 257).await;
    let last = matches(&daemon).await.pop().unwrap();
    assert_eq!(last.scores, [1.0, 5.0]);
}

/// What the stored ruling on the last match states: why it is not rated, empty if it is.
async fn ruling_of_last(daemon: &Daemon) -> String {
    daemon.service.learning().refresh().await.unwrap();
    let query = "SELECT coalesce(unrated, '') FROM player_history ORDER BY match_id DESC LIMIT 1";
    let path = daemon.folder.path().join("test.db");
    let rulings: Vec<(String,)> = rows(&path, query).await;
    rulings[0].0.clone()
}

#[tokio::test]
async fn end_states_what_the_fold_rules() {
    let (daemon, clock) = Daemon::start_by_hand("").await;
    let key = |id: &str| PlayerKey {
        kind: Kind::Human,
        id: id.to_owned(),
    };
    let store = daemon.service.store();
    store
        .corrections()
        .merge_player(&key("ann2"), &key("ann"))
        .await
        .unwrap();
    daemon.service.learning().refresh().await.unwrap();
    let mut client = daemon.client().await;
    for (lines, expected) in [
        ("JOIN ann team=0\nJOIN bob team=1\nSTART\n", ""),
        ("JOIN ann team=0\nJOIN ann2 team=1\nSTART\n", "team-empty"),
        (
            "JOIN ann team=0\nJOIN bob team=1\nJOIN ann2 team=1\nSTART\n",
            "",
        ),
        ("JOIN ann team=0\nSTART\n", "team-empty"),
    ] {
        clock.pass(60_000);
        client.tell(&format!("GAME ctf\n{lines}")).await;
        clock.pass(300_000);
        client.tell("SCORE 0\n").await;
        clock.pass(300_000);
        let end = client.ask("END\n").await;
        let stated = end.split(' ').nth(3).unwrap_or("");
        assert_eq!(stated, expected, "{lines}");
        assert_eq!(ruling_of_last(&daemon).await, expected, "{lines}");
    }
}
