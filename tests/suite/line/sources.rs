//! Two connections that report the same game server.

use crate::common::{Client, Daemon};

const SOURCE: &str = "source=127.0.0.1:27960";

/// The refusal of this HELLO, after which the daemon closes the connection.
async fn refused(daemon: &Daemon, words: &str) -> String {
    let mut client = daemon.client().await;
    let reply = client.ask(&format!("HELLO {words}\n")).await;
    assert_eq!(client.line().await, "", "it closes the connection");
    reply
}

/// Whether the daemon has closed the connection.
async fn is_closed(client: &mut Client) -> bool {
    client.line().await.is_empty()
}

#[tokio::test]
async fn a_second_one_is_refused_by_a_line_that_names_the_first() {
    let daemon = Daemon::start("").await;
    let mut first = daemon.named(&format!("\"ctf 1\" {SOURCE}")).await;
    for words in [
        format!("two {SOURCE}"),
        format!("\"ctf 1\" {SOURCE}"),
        format!("two resume=yes {SOURCE}"),
        "two source=[::1]:27960".to_owned(),
    ] {
        let reply = refused(&daemon, &words).await;
        assert!(
            reply.starts_with("ERROR not-allowed \"ctf 1\" at 127.0.0.1 reports"),
            "{reply}"
        );
    }
    daemon.named("two source=127.0.0.1:27961").await;
    daemon.named("two").await;
    daemon.named("two source=/srv/games.log").await;
    first.tell("").await;
    first.talk("").await;
    daemon.named(&format!("two {SOURCE}")).await;
}

#[tokio::test]
async fn two_machines_behind_one_address_are_two_and_two_sidecars_on_one_are_refused() {
    let daemon = Daemon::start("").await;
    let marked = |mark: u8| format!("{SOURCE}@00000000000000{mark:02x}");
    let _one = daemon.named(&format!("one {}", marked(1))).await;
    let _two = daemon.named(&format!("two {}", marked(2))).await;
    for words in [format!("copy {}", marked(1)), format!("copy {SOURCE}")] {
        let reply = refused(&daemon, &words).await;
        let expected = "ERROR not-allowed \"one\" at 127.0.0.1 reports the game server 127.0.0.1:27960 already";
        assert!(reply.starts_with(expected), "{reply}");
    }
    let reply = refused(&daemon, &format!("copy {}", marked(2))).await;
    assert!(reply.contains("\"two\""), "{reply}");
    let again = format!("HELLO one resume=yes {}\n", marked(1));
    let reply = daemon.client().await.ask(&again).await;
    assert!(reply.ends_with(" new"), "{reply}");
}

/// The example of the page.
#[tokio::test]
async fn the_page_says_what_the_daemon_answers() {
    let page = include_str!("../../../docs/reference/protocol.md");
    let (_, section) = page
        .split_once("## One game server, one connection")
        .unwrap();
    let example = section.split("```").nth(1).unwrap();
    let daemon = Daemon::start("").await;
    let mut clients = std::collections::BTreeMap::new();
    let mut lines = 0;
    for line in example.lines().skip(1) {
        let (who, text) = (&line[..1], &line[3..]);
        if !clients.contains_key(who) {
            clients.insert(who, daemon.client().await);
        }
        let client = clients.get_mut(who).unwrap();
        match &line[1..2] {
            ">" => client.send(&format!("{text}\n")).await,
            _ => assert_eq!(client.line().await, text),
        }
        lines += 1;
    }
    assert_eq!(lines, 6);
}

#[tokio::test]
async fn one_that_resumes_replaces_its_own_dead_connection() {
    let daemon = Daemon::start("").await;
    let mut first = daemon.named(&format!("s {SOURCE}")).await;
    first.tell("GAME ctf\nJOIN a\n").await;
    let mut again = daemon.client().await;
    let reply = again.ask(&format!("HELLO s resume=yes {SOURCE}\n")).await;
    assert!(reply.ends_with(" resumed"), "{reply}");
    assert!(is_closed(&mut first).await);
    again.tell("LEAVE a\n").await;
    assert!(
        refused(&daemon, &format!("s {SOURCE}"))
            .await
            .contains("\"s\"")
    );
}

#[tokio::test]
async fn one_that_is_silent_is_dead() {
    let (daemon, clock) = Daemon::start_by_hand("coordinator.heartbeat_seconds = 20").await;
    let mut first = daemon.named(&format!("one {SOURCE}")).await;
    clock.pass(15_000);
    first.tell("").await;
    clock.pass(19_999);
    refused(&daemon, &format!("two {SOURCE}")).await;
    clock.pass(1);
    daemon.named(&format!("two {SOURCE}")).await;
    assert!(is_closed(&mut first).await);
}

#[tokio::test]
async fn connections_that_host_a_match_do_not_count() {
    let daemon = Daemon::start("").await;
    daemon.named(&format!("one {SOURCE}")).await;
    let mut host = daemon.client().await;
    let reply = host.ask(&format!("HELLO one match=7 {SOURCE}\n")).await;
    assert!(!reply.contains("reports"), "{reply}");
}
