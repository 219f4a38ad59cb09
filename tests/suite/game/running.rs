//! The running game over TCP: late arrivals, advantage, moves and auto-balance; a clock that the
//! test moves measures each delay.

use std::sync::Arc;

use crate::common::{Client, Daemon, game};
use evenkeel::{model::Kind::Human, session::HandClock};

/// A daemon with strong and weak humans of ctf, rated by the system whose weights can be computed
/// by hand, and a client of it.
async fn session(toml: &str) -> (Daemon, Arc<HandClock>, Client) {
    let toml = format!("rating.system = 'presence'\n{toml}");
    let (daemon, clock) = Daemon::start_by_hand(&toml).await;
    for (minute, strong, weak) in [(0, "s1", "w1"), (20, "s2", "w2"), (40, "s3", "w3")] {
        // F = 6, A = 0: 100 · (6 + 2) / (6 + 4) = 80; for the others 20.
        let record = game(minute, &[(Human, strong)], &[(Human, weak)], [6.0, 0.0]);
        daemon
            .service
            .store()
            .matches()
            .record(&record)
            .await
            .unwrap();
    }
    daemon.service.learning().refresh().await.unwrap();
    let client = daemon.client().await;
    (daemon, clock, client)
}

#[tokio::test]
async fn place_gives_the_side_that_evens_the_teams() {
    let (_daemon, _clock, mut client) = session("").await;
    client.ask("HELLO s bots=yes\n").await;
    client
        .tell("GAME ctf\nMINPLAYERS 0\nJOIN s1 team=0\nJOIN w1 team=1\nJOIN s2\n")
        .await;
    // 80 and a bot against 20 + 80, instead of 160 against 20 and a bot.
    assert_eq!(client.ask("PLACE s2\n").await, "PLACE s2 1 0.769231");
    assert_eq!(
        client.ask("PLACE s2\n").await,
        "PLACE s2 1 0.769231",
        "who is placed stays"
    );
    assert_eq!(
        client.ask("PLACE nobody\n").await,
        "ERROR unknown-player not in the roster"
    );
    assert_eq!(
        client.reasons("EXPLAIN\n").await[0],
        "s2 to team 1 (on it already): chance of the weaker team 0.395497, ratio 0.769231"
    );
}

#[tokio::test]
async fn place_counts_the_bots_that_come_and_go() {
    let (daemon, _clock, mut client) = session("").await;
    let record = game(
        60,
        &[(evenkeel::model::Kind::Bot, "Strong")],
        &[(evenkeel::model::Kind::Bot, "Weak")],
        [6.0, 0.0],
    );
    daemon
        .service
        .store()
        .matches()
        .record(&record)
        .await
        .unwrap();
    daemon.service.learning().refresh().await.unwrap();
    client
        .tell("GAME ctf\nMINPLAYERS 4\nJOIN s1 team=0\nJOIN w1 team=1\nBOTJOIN Weak 0\nBOTJOIN Strong 1\nJOIN s2\n")
        .await;
    // On team 0, Weak leaves: 160 : 100. On team 1, Strong leaves: 100 : 100.
    assert_eq!(client.ask("PLACE s2\n").await, "PLACE s2 1 1.000000");
}

#[tokio::test]
async fn who_comes_back_in_time_gets_their_team() {
    for (away, team) in [(300_000, "0"), (300_001, "1")] {
        let (_daemon, clock, mut client) =
            session("lobby.bots = false\nplace.rejoin_budget = 0.5\nplace.max_difference = 2")
                .await;
        client
            .tell("GAME ctf\nMINPLAYERS 0\nJOIN a team=0\nJOIN b team=0\nJOIN c team=1\nJOIN w1 team=1\nLEAVE a\n")
            .await;
        clock.pass(away);
        let reply = client
            .ask("JOIN s1 team=0\nLEAVE c\nJOIN a\nPLACE a\n")
            .await;
        assert_eq!(reply.split(' ').nth(2), Some(team), "{away}: {reply}");
    }
}

#[tokio::test]
async fn advantage_follows_the_players_at_once_and_the_score_no_faster_than_allowed() {
    let (_daemon, clock, mut client) = session("rating.sides = false").await;
    client.tell("GAME ctf\nMINPLAYERS 0\n").await;
    assert_eq!(client.ask("ADVANTAGE\n").await, "ADVANTAGE - 1.000");
    client.tell("JOIN s1 team=0\nJOIN w1 team=1\nSTART\n").await;
    // 80 : 20 is surely a factor beyond 1.5, and is capped.
    assert_eq!(client.ask("ADVANTAGE\n").await, "ADVANTAGE 1 1.500");
    client
        .tell("LEAVE s1\nLEAVE w1\nJOIN w2 team=0\nJOIN s2 team=1\n")
        .await;
    assert_eq!(client.ask("ADVANTAGE\n").await, "ADVANTAGE 0 1.500");
    assert!(client.reasons("EXPLAIN\n").await[0].starts_with("help now: "));
    // Equals, of whom one team is ahead by nine from now on.
    client
        .tell("LEAVE w2\nLEAVE s2\nJOIN a team=0\nJOIN b team=1\n")
        .await;
    clock.pass(600_000);
    assert_eq!(client.ask("ADVANTAGE\n").await, "ADVANTAGE - 1.000");
    client.tell("SCORE 0 9\n").await;
    assert_eq!(client.ask("ADVANTAGE\n").await, "ADVANTAGE - 1.000");
    let mut before = 1.0;
    for _ in 0..3 {
        clock.pass(60_000);
        let said = client.ask("ADVANTAGE\n").await;
        let factor = said.strip_prefix("ADVANTAGE 1 ").unwrap();
        let factor: f64 = factor.parse().unwrap();
        assert!(
            factor > before && factor / before < 1.0505,
            "{before} {said}"
        );
        before = factor;
    }
}

#[tokio::test]
async fn rebalance_advises_the_fewest_moves_and_leaves_the_roster_alone() {
    let (_daemon, _clock, mut client) = session("").await;
    client.ask("HELLO s bots=yes\n").await;
    client
        .tell("GAME ctf\nMINPLAYERS 0\nJOIN s1 team=0\nJOIN s2 team=0\nJOIN w1 team=1\nJOIN w2 team=1\nJOIN late\n")
        .await;
    for _ in 0..2 {
        assert_eq!(
            client.ask("REBALANCE seed=1\n").await,
            "REBALANCE 3 0.250000 1.000000"
        );
        assert_eq!(client.line().await, "MOVE late - 0");
        let moves = [client.line().await, client.line().await];
        let out = moves.iter().find(|line| line.ends_with(" 0 1")).unwrap();
        let back = moves.iter().find(|line| line.ends_with(" 1 0")).unwrap();
        assert!(
            out.starts_with("MOVE s") && back.starts_with("MOVE w"),
            "{moves:?}"
        );
    }
    assert!(!client.reasons("EXPLAIN\n").await.is_empty());
}

#[tokio::test]
async fn who_is_protected_is_not_moved() {
    let (_daemon, clock, mut client) = session("").await;
    client
        .tell("GAME ctf\nMINPLAYERS 0\nJOIN s1 team=0\nJOIN s2 team=0\nJOIN w1 team=1\nJOIN w2 team=1\nPROTECT s1 30\nPROTECT s2\nPROTECT w1\n")
        .await;
    assert_eq!(
        client.ask("REBALANCE\n").await,
        "REBALANCE 0 0.250000 0.250000"
    );
    clock.pass(29_999);
    assert_eq!(
        client.ask("REBALANCE\n").await,
        "REBALANCE 0 0.250000 0.250000"
    );
    clock.pass(1);
    assert_eq!(
        client.ask("REBALANCE\n").await,
        "REBALANCE 2 0.250000 1.000000"
    );
    let moves = [client.line().await, client.line().await];
    assert!(moves.contains(&"MOVE s1 0 1".to_owned()) && moves.contains(&"MOVE w2 1 0".to_owned()));
    client.tell("PROTECT s1\nPROTECT s2 0\n").await;
    assert_eq!(
        client.ask("REBALANCE\n").await,
        "REBALANCE 2 0.250000 1.000000"
    );
    let moves = [client.line().await, client.line().await];
    assert!(moves.contains(&"MOVE s2 0 1".to_owned()), "{moves:?}");
}

#[tokio::test]
async fn who_was_moved_is_left_alone_for_a_while() {
    let (_daemon, clock, mut client) = session("").await;
    client
        .tell("GAME ctf\nMINPLAYERS 0\nJOIN s1 team=0\nJOIN s2 team=0 pin=0\nJOIN w1 team=1\nJOIN w2 team=1 pin=1\n")
        .await;
    assert_eq!(
        client.ask("REBALANCE\n").await,
        "REBALANCE 2 0.250000 1.000000"
    );
    client.line().await;
    client.line().await;
    client.tell("MOVE s1 1\nMOVE w1 0\n").await;
    // Others join, and the same two would be the ones to move again.
    client
        .tell("JOIN w1 team=1\nJOIN s1 team=0\nMOVE s1 0\n")
        .await;
    clock.pass(299_999);
    assert_eq!(
        client.ask("REBALANCE\n").await,
        "REBALANCE 0 0.250000 0.250000"
    );
    clock.pass(1);
    assert_eq!(
        client.ask("REBALANCE\n").await,
        "REBALANCE 2 0.250000 1.000000"
    );
}

/// Three against one, from now on.
const LOPSIDED: &str =
    "GAME ctf\nMINPLAYERS 0\nJOIN a team=0\nJOIN b team=0\nJOIN c team=1\nSTART\nJOIN d team=0\n";

#[tokio::test]
async fn who_dies_twenty_seconds_after_the_teams_became_uneven_is_moved() {
    let (_daemon, clock, mut client) = session("").await;
    client.tell(LOPSIDED).await;
    client.tell("POINTS a 9\nPOINTS b 5\nDEATH d\n").await;
    clock.pass(19_999);
    client.tell("DEATH b\nDEATH d\n").await;
    assert_eq!(
        client.reasons("EXPLAIN\n").await[0],
        "d stays: the teams have not been unbalanced for long enough"
    );
    clock.pass(1);
    client.tell("DEATH a\nDEATH c\n").await;
    assert_eq!(client.ask("DEATH b\n").await, "MOVE b 0 1");
    client.tell("DEATH d\nDEATH a\n").await;
}

#[tokio::test]
async fn auto_balance_rests_at_the_end_in_tournaments_and_when_off() {
    for (toml, lines) in [
        ("auto_balance.rules = 'off'", ""),
        ("auto_balance.tournament = ['*ctf*']", ""),
        ("", "CLOCK 199\n"),
    ] {
        let (_daemon, clock, mut client) = session(toml).await;
        client.tell(LOPSIDED).await;
        client.tell(lines).await;
        clock.pass(20_000);
        client.tell("DEATH d\nDEATH b\nDEATH a\n").await;
    }
    let (_daemon, clock, mut client) = session("").await;
    client.tell(LOPSIDED).await;
    client.tell("CLOCK 200\nPOINTS a 1\n").await;
    clock.pass(20_000);
    assert_eq!(
        client.ask("DEATH d\n").await,
        "MOVE d 0 1",
        "three minutes are left"
    );
}

#[tokio::test]
async fn the_players_proposal_moves_whoever_brings_the_teams_closest() {
    let toml = "auto_balance.rules = 'players_proposal'";
    let (_daemon, _clock, mut client) = session(toml).await;
    client
        .tell("GAME ctf\nMINPLAYERS 0\nJOIN s1 team=0\nJOIN s2 team=0\nJOIN x team=0\nJOIN w1 team=1\nJOIN w2 team=1\nJOIN w3 team=1\nSTART\n")
        .await;
    // 210 against 60: moving s1 or s2 makes it 130 to 140, moving x only 160 to 110.
    client.tell("DEATH x\nDEATH w1\n").await;
    assert_eq!(client.ask("DEATH s1\n").await, "MOVE s1 0 1");
    client.tell("DEATH s2\nDEATH x\n").await;
}

#[tokio::test]
async fn bots_can_be_off_and_balance_says_so() {
    let (_daemon, _clock, client) = session("lobby.bots = false").await;
    let reply = client
        .talk("GAME ctf\nJOIN a\nJOIN b\nJOIN c\nBALANCE seed=1\nBOTS\n")
        .await;
    assert!(
        reply.ends_with("BOTS 0 0\nBOTS 1 0\nBOTS 0 0 0\n"),
        "{reply}"
    );
    let (_daemon, _clock, client) = session("lobby.min_humans = 2").await;
    let reply = client
        .talk("GAME ctf\nMINPLAYERS 6\nJOIN a team=0\nBOTS\nJOIN b team=0\nBOTS\nEXPLAIN\n")
        .await;
    assert!(
        reply.starts_with("BOTS 0 0 0\nBOTS 6 1 3\nEXPLAIN 1\nWHY 6 players: 6 are wanted"),
        "{reply}"
    );
}

#[tokio::test]
async fn without_teams_there_is_nothing_to_balance() {
    let (_daemon, _clock, client) = session("").await;
    let reply = client
        .talk("GAME dm\nJOIN a\nPLACE a\nADVANTAGE\nREBALANCE\nSCORE 0\nSTART\nDEATH a\nKILL a a\nPROTECT a\n")
        .await;
    assert_eq!(
        reply,
        "ERROR not-allowed this game type has no teams\n".repeat(4)
    );
}

#[tokio::test]
async fn what_is_told_of_nobody_is_refused() {
    let (_daemon, _clock, client) = session("").await;
    let reply = client
        .talk("GAME ctf\nJOIN a team=0\nPROTECT x\nSCORE 2\nSCORE 0 1 x\nPOINTS x 1\nKILL a x\nKILL x a\nDEATH x\nEND\nEND 5\n")
        .await;
    let codes: Vec<&str> = reply
        .lines()
        .map(|line| line.split(' ').nth(1).unwrap())
        .collect();
    let unknown = "unknown-player";
    assert_eq!(
        codes,
        [
            unknown,
            "bad-argument",
            unknown,
            unknown,
            unknown,
            unknown,
            unknown,
            "not-allowed",
            "bad-argument"
        ]
    );
}

#[tokio::test]
async fn every_line_needs_a_game() {
    let (_daemon, _clock, client) = session("").await;
    let lines = [
        "PLACE a",
        "ADVANTAGE",
        "REBALANCE",
        "PROTECT a",
        "START",
        "SCORE 0",
        "POINTS a 1",
        "KILL a b",
        "DEATH a",
        "CLOCK 60",
        "END",
    ];
    let reply = client.talk(&format!("{}\n", lines.join("\n"))).await;
    assert_eq!(reply, "ERROR no-game send GAME first\n".repeat(lines.len()));
}

#[tokio::test]
async fn who_games_the_balance_is_seen() {
    let (_daemon, _clock, mut client) = session("").await;
    client
        .tell("GAME ctf\nMINPLAYERS 0\nJOIN s1 team=0\nJOIN s2 team=0\nJOIN w1 team=1\nJOIN a team=1\n")
        .await;
    client.tell("LEAVE a\nJOIN a team=1\nMOVE w1 0\n").await;
    let reply = client.ask("REBALANCE\n").await;
    let moves = reply.split(' ').nth(1).unwrap().parse().unwrap();
    for _ in 0..moves {
        client.line().await;
    }
    let why = client.reasons("EXPLAIN\n").await;
    let of = |who: &str| {
        why.iter()
            .find(|line| line.starts_with(&format!("{who} returned")))
    };
    let counts = "changed to the stronger team";
    assert_eq!(
        of("a").unwrap(),
        &format!("a returned 1 time, {counts} 0 times, 0 of them before a request to balance")
    );
    assert_eq!(
        of("w1").unwrap(),
        &format!("w1 returned 0 times, {counts} 1 time, 1 of them before a request to balance")
    );
    assert!(of("s1").is_none(), "{why:?}");
}
