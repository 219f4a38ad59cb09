//! Offers over sockets: the documented session, pushes that come by themselves, and connections that end.

use crate::common::{Client, Daemon};

const PAGE: &str = include_str!("../../../docs/reference/protocol.md");
const FOUR: &str = "GAME ctf\nMAP field\nJOIN a team=0\nJOIN b team=0\nJOIN c team=0\nJOIN \"d d\" team=1\nSTART\n";

async fn asking(daemon: &Daemon, words: &str) -> Client {
    let mut client = daemon.client().await;
    client.hello(&format!("s bots=no {words}")).await;
    client
}

/// The name of the one who is to go, by the line of the offer.
fn named(line: &str) -> String {
    let words: Vec<&str> = line.split(' ').collect();
    assert_eq!(
        (words[0], words[1], words[3], words[4]),
        ("*", "OFFER", "0", "1"),
        "{line}"
    );
    words[2].to_owned()
}

#[tokio::test]
async fn the_documented_session_is_true() {
    let (_, section) = PAGE.split_once("## A session with an offer").unwrap();
    let block = |fence: &str| {
        let (_, rest) = section.split_once(fence).unwrap();
        rest.split_once("```").unwrap().0
    };
    let (daemon, clock) = Daemon::start_by_hand(block("```toml")).await;
    let mut client = daemon.client().await;
    for line in block("```text").lines().filter(|line| !line.is_empty()) {
        if line == "> SWITCH \"Boring John\"" {
            clock.pass(10_000);
        }
        match (line.strip_prefix("> "), line.strip_prefix("< ")) {
            (Some(sent), _) => client.send(&format!("{sent}\n")).await,
            (_, Some(shown)) => assert_eq!(client.line().await, shown),
            _ => panic!("{line}"),
        }
    }
}

#[tokio::test]
async fn the_move_comes_by_itself_when_the_time_is_over() {
    let daemon = Daemon::start("rebalance.ask_seconds = 1").await;
    let mut client = asking(&daemon, "offers=yes").await;
    client.tell(FOUR).await;
    let offer = client.ask("REBALANCE\n").await;
    assert!(client.line().await.starts_with("REBALANCE 0 "));
    let name = named(&offer);
    assert_eq!(
        client.line().await,
        format!("* MOVE {name} 0 1"),
        "without a request"
    );
}

#[tokio::test]
async fn an_offer_goes_on_with_the_game_and_is_silent_for_who_does_not_ask() {
    let (daemon, clock) = Daemon::start_by_hand("rebalance.ask_seconds = 60").await;
    let mut client = asking(&daemon, "offers=yes").await;
    client.tell(FOUR).await;
    let name = named(&client.ask("REBALANCE\n").await);
    drop(client);
    clock.pass(10_000);
    let mut client = daemon.client().await;
    let hello = client.ask("HELLO s bots=no offers=yes resume=yes\n").await;
    assert!(hello.ends_with(" resumed"), "{hello}");
    assert_eq!(client.line().await, format!("* OFFER {name} 0 1 50"));
    drop(client);
    // The next connection does not ask: it sees nothing, and the offer is gone.
    let mut client = daemon.client().await;
    let hello = client.ask("HELLO s resume=yes\n").await;
    assert!(hello.ends_with(" resumed"), "{hello}");
    clock.pass(60_000);
    client.tell("").await;
    assert_eq!(client.ask("SWITCH a\n").await, "SWITCH a no-offer");
}

#[tokio::test]
async fn hello_takes_the_wish_back() {
    let (daemon, _clock) = Daemon::start_by_hand("rebalance.ask_seconds = 60").await;
    let mut client = asking(&daemon, "offers=yes").await;
    client.tell(FOUR).await;
    let name = named(&client.ask("REBALANCE\n").await);
    client.line().await;
    client.hello("s offers=no").await;
    assert_eq!(client.line().await, format!("* WITHDRAWN {name} over"));
    let lines = client.ask("REBALANCE\n").await;
    assert!(lines.starts_with("REBALANCE 1 "), "{lines}");
}

#[tokio::test]
async fn wrong_lines_are_refused() {
    let daemon = Daemon::start("").await;
    let mut client = daemon.client().await;
    for (line, answer) in [
        (
            "HELLO s offers=perhaps",
            "ERROR bad-argument offers must be yes or no",
        ),
        (
            "REBALANCE ask=perhaps",
            "ERROR bad-argument ask must be yes or no",
        ),
        ("SWITCH", "ERROR bad-argument the player is missing"),
        ("SWITCH a b", "ERROR bad-argument"),
        ("SWITCH a", "ERROR no-game send GAME first"),
    ] {
        let got = client.ask(&format!("{line}\n")).await;
        assert!(got.starts_with(answer), "{line}: {got}");
    }
}
