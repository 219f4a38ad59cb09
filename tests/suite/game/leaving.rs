//! Leaving early doesn't pay, and staying doesn't cost: what LEAVE makes of a match, and of weights.

use std::sync::Arc;

use evenkeel::{model::record::LeaveReason, session::HandClock};

use crate::common::{Client, Daemon, draw::Draw};

const MINUTE: u64 = 60_000;

/// Why each participant of the last match left, by id.
async fn left(daemon: &Daemon) -> Vec<(String, Option<LeaveReason>)> {
    let last = daemon.service.learning().matches().await.unwrap().pop();
    let last = last.unwrap();
    let mut left: Vec<_> = last
        .participants
        .into_iter()
        .map(|p| (p.key.id, p.left))
        .collect();
    left.sort_by(|a, b| a.0.cmp(&b.0));
    left
}

#[tokio::test]
async fn a_match_knows_who_left_and_why() {
    let (daemon, clock) = Daemon::start_by_hand("").await;
    let mut client = daemon.client().await;
    let joins: String = "abcdefghij"
        .chars()
        .enumerate()
        .map(|(n, id)| format!("JOIN {id} team={}\n", n % 2))
        .collect();
    client
        .tell(&format!("GAME ctf\n{joins}LEAVE i\nSTART\n"))
        .await;
    clock.pass(MINUTE);
    client
        .tell(
            "SCORE 0\nLEAVE a\nLEAVE b reason=quit\nLEAVE c reason=KICKED\nLEAVE d reason=timeout\n\
             LEAVE e reason=moved\nLEAVE f reason=bored\nLEAVE g\nJOIN g team=0\nLEAVE j\nJOIN j\n",
        )
        .await;
    clock.pass(MINUTE);
    assert!(client.ask("END\n").await.ends_with(" recorded"));
    client.tell("LEAVE h\n").await;
    let expected = [
        ("a", Some(LeaveReason::Left)),
        ("b", Some(LeaveReason::Left)),
        ("c", Some(LeaveReason::Kicked)),
        ("d", Some(LeaveReason::Timeout)),
        ("e", Some(LeaveReason::Moved)),
        ("f", Some(LeaveReason::Other)),
        ("g", None),
        ("h", None),
        ("j", Some(LeaveReason::Left)), // watches the rest
    ];
    let expected = expected.map(|(id, left)| (id.to_owned(), left));
    assert_eq!(left(&daemon).await, expected);
}

#[tokio::test]
async fn reasons_are_words() {
    let (daemon, _clock) = Daemon::start_by_hand("").await;
    let mut client = daemon.client().await;
    client.tell("GAME ctf\nJOIN a\n").await;
    for bad in [
        "LEAVE a reason=",
        "LEAVE a reason=\"two words\"",
        "LEAVE a reason=left reason=left",
        "LEAVE a why=left",
        "LEAVE a left",
        &format!("LEAVE a reason={}", "x".repeat(33)),
    ] {
        let answer = client.ask(&format!("{bad}\n")).await;
        assert!(answer.starts_with("ERROR bad-argument "), "{bad}: {answer}");
    }
    client.tell("LEAVE a reason=x\n").await;
    let gone = client.ask("LEAVE a\n").await;
    assert!(gone.starts_with("ERROR unknown-player "), "{gone}");
}

const PLAYERS: [&str; 8] = ["q", "r", "b", "c", "d", "e", "f", "g"];

/// Plays 240 games of four against four equals in which a coin decides every minute's goal. `q` and `r`
/// leave as soon as their team is `lead` ahead, or that far behind where it is negative.
async fn season(client: &mut Client, clock: &Arc<HandClock>, seed: u64, lead: i32, reason: &str) {
    let mut coins = Draw(seed);
    for _ in 0..240 {
        let mut players = PLAYERS;
        for last in (1..players.len()).rev() {
            players.swap(last, coins.below(last + 1));
        }
        let joins: String = players
            .iter()
            .enumerate()
            .map(|(n, id)| format!("JOIN {id} team={}\n", n / 4))
            .collect();
        client.tell(&format!("GAME ctf\n{joins}START\n")).await;
        let mut ahead = 0_i32;
        let mut gone = Vec::new();
        for _ in 0..10 {
            clock.pass(MINUTE);
            let team = coins.below(2);
            ahead += if team == 0 { 1 } else { -1 };
            let mut lines = format!("SCORE {team}\n");
            for (n, id) in players.iter().enumerate() {
                let own = if n < 4 { ahead } else { -ahead };
                let enough = if lead > 0 { own >= lead } else { own <= lead };
                if ["q", "r"].contains(id) && enough && !gone.contains(id) {
                    gone.push(*id);
                    lines.push_str(&format!("LEAVE {id}{reason}\n"));
                }
            }
            client.tell(&lines).await;
        }
        clock.pass(MINUTE);
        assert!(client.ask("END\n").await.ends_with(" recorded"));
    }
}

/// The mean weights of the two who leave early and of the six who stay.
async fn weights(daemon: &Daemon, client: &mut Client) -> (f64, f64) {
    daemon.service.learning().refresh().await.unwrap();
    let mut weights = Vec::new();
    for id in PLAYERS {
        let answer = client.ask(&format!("PLAYER {id}\n")).await;
        let weight = answer.split(' ').nth(2).and_then(|word| word.parse().ok());
        weights.push(weight.unwrap_or_else(|| panic!("{answer}")));
    }
    let mean = |of: &[f64]| of.iter().sum::<f64>() / of.len() as f64;
    (mean(&weights[..2]), mean(&weights[2..]))
}

/// Means over seasons of the quitters' weight, and of that of those who stay.
async fn over_seasons(seasons: u64, lead: i32, reason: &str) -> (f64, f64) {
    let mut sums = (0.0, 0.0);
    for seed in 0..seasons {
        let (daemon, clock) = Daemon::start_by_hand("store.keep_decisions = 0").await;
        let mut client = daemon.client().await;
        season(&mut client, &clock, seed, lead, reason).await;
        let (quitters, stayers) = weights(&daemon, &mut client).await;
        sums.0 += quitters / seasons as f64;
        sums.1 += stayers / seasons as f64;
    }
    println!("lead {lead}{reason}: {:.2} against {:.2}", sums.0, sums.1);
    sums
}

/// Over the wire; the tests of the fold play more seasons, and more ways to leave.
#[tokio::test]
async fn leaving_when_behind_does_not_pay() {
    let (quitters, stayers) = over_seasons(8, -2, "").await;
    assert!((quitters - stayers).abs() < 4.0, "{quitters} {stayers}");
    let mean = (2.0 * quitters + 6.0 * stayers) / 8.0;
    assert!((mean - 50.0).abs() < 2.0, "weights drift to {mean}");
}

#[tokio::test]
async fn nobody_is_charged_who_was_sent_away() {
    let mut plain = Vec::new();
    for reason in [" reason=moved", " reason=kicked", " reason=timeout"] {
        plain.push(over_seasons(1, -2, reason).await);
    }
    assert!(plain.iter().all(|same| *same == plain[0]), "{plain:?}");
    // What they would have been charged: their part in defeats is smaller than in victories.
    let (quitters, stayers) = plain[0];
    assert!(quitters > stayers + 2.0, "{quitters} {stayers}");
}
