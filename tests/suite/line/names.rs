//! Whether a name was stated, as the record of a match says it, and as others see the players of a running game.

use std::collections::{BTreeMap, BTreeSet};

use crate::common::Daemon;

const CLIENTS: &str = "[[clients]]\nname = 'secret'\ntoken = 'a'\nrights = ['ask', 'report']\n\
     [[clients]]\nname = 'names'\ntoken = 'b'\nrights = ['ask', 'report']\nids = 'names'\n";
/// A guid, and accounts in other forms.
const ACCOUNTS: [&str; 4] = [
    "0123456789abcdef0123456789abcdef",
    "123456789012345",
    "d-80351110224678912",
    "STEAM_1:1:1234",
];

/// The names in the record of a game, by the identities of the humans.
async fn recorded(toml: &str, hello: &str) -> BTreeMap<String, String> {
    let (daemon, clock) = Daemon::start_by_hand(toml).await;
    let mut client = daemon.named(hello).await;
    client
        .tell("GAME ctf\nJOIN ann team=0\nJOIN bob name=Bob team=1\n")
        .await;
    // What a second JOIN does not contain stays as it is.
    client.tell("JOIN bob team=1\nBOTJOIN Sarge 0\n").await;
    for account in ACCOUNTS {
        client.tell(&format!("JOIN {account} team=0\n")).await;
    }
    client.tell("START\n").await;
    clock.pass(600_000);
    assert_eq!(client.ask("END 0\n").await, "END 1 recorded");
    daemon.service.sessions().write_backlog().await.unwrap();
    let records = daemon.service.learning().matches().await.unwrap();
    let participants = records[0].participants.iter();
    participants
        .map(|one| (one.key.id.clone(), one.name.clone()))
        .collect()
}

#[tokio::test]
async fn the_record_says_whether_a_name_was_stated() {
    for (toml, hello, ann) in [
        ("", "here", "ann"),
        (CLIENTS, "names b", "ann"),
        (CLIENTS, "secret a", ""),
    ] {
        let names = recorded(toml, hello).await;
        assert_eq!(names["ann"], ann, "{hello}");
        assert_eq!(names["bob"], "Bob", "{hello}");
        assert_eq!(names["Sarge"], "Sarge", "{hello}");
        let of_accounts = names.iter().filter(|(id, _)| id.len() >= 10);
        let of_accounts: Vec<&str> = of_accounts.map(|(_, name)| name.as_str()).collect();
        assert_eq!(of_accounts, [""; ACCOUNTS.len()], "{hello}");
    }
}

#[tokio::test]
async fn who_comes_without_a_name_keeps_the_former_one() {
    let (daemon, clock) = Daemon::start_by_hand("").await;
    let mut client = daemon.named("here").await;
    for join in ["JOIN ann name=Ann team=0", "JOIN ann team=0"] {
        client
            .tell(&format!("GAME ctf\n{join}\nJOIN bob team=1\nSTART\n"))
            .await;
        clock.pass(600_000);
        assert!(client.ask("END 0\n").await.starts_with("END "));
        client.tell("LEAVE ann\nLEAVE bob\n").await;
    }
    daemon.service.sessions().write_backlog().await.unwrap();
    daemon.service.learning().refresh().await.unwrap();
    let both = BTreeSet::from(["ann".to_owned(), "bob".to_owned()]);
    let rows = daemon.service.learning().named("ctf", &both).await.unwrap();
    let names: BTreeSet<&str> = rows.iter().map(|row| row.player.plain()).collect();
    assert_eq!(names, BTreeSet::from(["Ann", "bob"]));
}
