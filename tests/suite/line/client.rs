//! Clients: the library's, and the Python example, which docs/how-to/own-client.md contains unchanged.

use std::{
    process::{Command, Output},
    time::Duration,
};

use evenkeel::{
    client::{Client, ClientError, ClientSettings},
    model::ident::Ident,
    protocol::{Code, Push, Received, Reply, Request, request::Join},
    session::{Mailbox, MailboxError},
};
use tokio::{io::AsyncWriteExt, net::TcpListener};

use crate::common::Daemon;

const CLIENT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/integrations/python/client.py");

/// Runs the Python client with these arguments; `None` without python3.
async fn run(arguments: &[&str]) -> Option<Output> {
    let mut command = Command::new("python3");
    command.arg(CLIENT).args(arguments);
    // The daemon runs on this thread.
    let output = tokio::task::spawn_blocking(move || command.output());
    match output.await.unwrap() {
        Ok(output) => Some(output),
        Err(error) => {
            eprintln!("skipped: python3 cannot be run here ({error})");
            None
        }
    }
}

#[test]
fn the_documentation_shows_the_client() {
    let page = include_str!("../../../docs/how-to/own-client.md");
    let client = include_str!("../../../integrations/python/client.py");
    let (_, from) = page.split_once("```python\n").unwrap();
    let (shown, _) = from.split_once("```").unwrap();
    assert_eq!(shown, client);
    assert_eq!(client.lines().count(), 40);
}

#[tokio::test]
async fn client_plays_a_game() {
    let daemon = Daemon::start("").await;
    let Some(output) = run(&[&daemon.address.to_string()]).await else {
        return;
    };
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{errors}");
    let output = String::from_utf8(output.stdout).unwrap();
    let lines: Vec<&str> = output.lines().collect();
    let [teams, refused, end] = lines[..] else {
        panic!("{output}");
    };
    assert!(teams.starts_with("1.000000 ["), "{teams}");
    for player in ["ann", "bob", "cid", "Boring \"John\""] {
        assert!(teams.contains(player), "{player} in {teams}");
    }
    assert_eq!(refused, "SCORE: unknown-player not in the roster");
    assert_eq!(end, "END 1 unrated too-short");
}

#[tokio::test]
async fn client_is_told_why_it_may_not() {
    let daemon =
        Daemon::start("[[clients]]\nname = 'mine'\ntoken = 'sesame'\nrights = ['ask', 'report']\n")
            .await;
    let address = daemon.address.to_string();
    let (Some(refused), Some(allowed)) = (
        run(&[&address, "mine", "guess"]).await,
        run(&[&address, "mine", "sesame"]).await,
    ) else {
        return;
    };
    let errors = String::from_utf8_lossy(&refused.stderr);
    assert!(!refused.status.success());
    assert!(
        errors.contains("HELLO: not-allowed unknown server or wrong token"),
        "{errors}"
    );
    let errors = String::from_utf8_lossy(&allowed.stderr);
    assert!(allowed.status.success(), "{errors}");
}

fn ident(text: &str) -> Ident {
    Ident::from_text(text)
}

#[tokio::test]
async fn the_library_asks_and_is_answered() {
    let daemon = Daemon::start("").await;
    let mut client = Client::connect(daemon.address).await.unwrap();
    client.hello("ctf 1", None).await.unwrap();
    assert_eq!(client.ask(&Request::Ping).await.unwrap(), Some(Reply::Pong));
    let refused = client.ask(&Request::Bots).await.unwrap_err();
    assert_eq!(refused.to_string(), "refused: no-game send GAME first");
    let silent = client.ask(&Request::Game(ident("ctf"))).await.unwrap();
    assert_eq!(silent, None);
    for name in ["ann", "Boring \"John\""] {
        let join = Request::Join(Join::new(ident(name)));
        assert_eq!(client.ask(&join).await.unwrap(), None);
    }
    // A command can have a reply or not.
    assert_eq!(
        client.ask(&Request::Death(ident("ann"))).await.unwrap(),
        None
    );
    let unknown = client.ask(&Request::Death(ident("bob"))).await;
    assert!(
        matches!(unknown, Err(ClientError::Refused(refusal)) if refusal.code == Code::UnknownPlayer)
    );
    let (top, seed) = (None, Some(7));
    let balance = client.ask(&Request::Balance { top, seed }).await.unwrap();
    let Some(Reply::Balance { humans, .. }) = balance else {
        panic!("{balance:?}")
    };
    assert_eq!(humans[1].0, ident("Boring \"John\""));
    drop(client);
    let mut again = Client::connect(daemon.address).await.unwrap();
    assert!(again.resume("ctf 1", None).await.unwrap());
}

#[tokio::test]
async fn pipelined_requests_are_answered_in_order() {
    let daemon = Daemon::start("").await;
    let mut client = Client::connect(daemon.address).await.unwrap();
    let player = |n: usize| Request::Player(ident(&format!("p {n}")));
    let mut requests = vec![Request::Game(ident("ctf")), Request::Ping];
    requests.extend((0..1_000).map(player));
    requests.push(Request::Death(ident("nobody")));
    client.send(&requests).await.unwrap();
    // A request in between gets its own reply, and the other replies are kept.
    let mean = client.ask(&Request::MeanBot).await.unwrap();
    assert_eq!(mean, Some(Reply::MeanBot(50.0, 0)));
    let pong = client.receive().await.unwrap();
    assert_eq!(pong, Received::Reply(Reply::Pong));
    for n in 0..1_000 {
        let expected = Reply::Player(ident(&format!("p {n}")), None);
        assert_eq!(client.receive().await.unwrap(), Received::Reply(expected));
    }
    let last = client.receive().await.unwrap();
    assert!(matches!(last, Received::Reply(Reply::Error(_))), "{last:?}");
}

#[tokio::test]
async fn pushes_come_between_replies() {
    let daemon = Daemon::start("").await;
    let mut client = Client::connect(daemon.address).await.unwrap();
    client.hello("ctf", None).await.unwrap();
    let mailbox = daemon.service.sessions().mailbox("ctf").unwrap();
    mailbox.push("MATCHED 7\r\nPONG".to_owned()).unwrap();
    let push = |text: &'static str| Received::Push(Push::new(text));
    assert_eq!(client.receive().await.unwrap(), push("MATCHED 7??PONG"));
    // Pushes never split a reply of several lines.
    client.ask(&Request::Game(ident("ctf"))).await.unwrap();
    for n in 0..20 {
        let join = Request::Join(Join::new(ident(&format!("p{n}"))));
        client.ask(&join).await.unwrap();
    }
    let pushing = tokio::spawn(async move {
        let mut sent = 0;
        while sent < 200 {
            match mailbox.push("GO".to_owned()) {
                Ok(()) => sent += 1,
                Err(error) => assert_eq!(error, MailboxError::Full),
            }
            tokio::task::yield_now().await;
        }
    });
    let (top, seed) = (None, Some(1));
    let balance = vec![Request::Balance { top, seed }; 20];
    client.send(&balance).await.unwrap();
    let (mut pushes, mut replies) = (0, 0);
    while pushes < 200 || replies < 20 {
        match client.receive().await.unwrap() {
            Received::Push(_) => pushes += 1,
            Received::Reply(Reply::Balance { humans, .. }) => {
                assert_eq!(humans.len(), 20);
                replies += 1;
            }
            other => panic!("{other:?}"),
        }
    }
    pushing.await.unwrap();
    drop(client);
}

#[tokio::test]
async fn a_peer_that_does_not_read_loses_pushes_and_costs_no_memory() {
    let (mailbox, mut pushes) = Mailbox::new();
    let taken = (0..2_000).filter(|n| mailbox.push(n.to_string()).is_ok());
    assert_eq!(taken.count(), 1_024);
    assert_eq!(pushes.receive().await.as_deref(), Some("0"));
    assert_eq!(mailbox.push("more".to_owned()), Ok(()));
    assert!(pushes.try_receive().is_some());
    assert_eq!(
        mailbox.push_all(vec!["x".to_owned(); 2]),
        Err(MailboxError::Full),
        "lines that belong together are queued together"
    );
    assert!(pushes.try_receive().is_some());
    assert_eq!(mailbox.push_all(vec!["x".to_owned(); 2]), Ok(()));
    drop(pushes);
    assert_eq!(mailbox.push("x".to_owned()), Err(MailboxError::Closed));
}

/// A server that answers every connection with these bytes.
async fn answering(bytes: &'static [u8]) -> std::net::SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        let mut open = Vec::new();
        while let Ok((mut stream, _)) = listener.accept().await {
            stream.write_all(bytes).await.unwrap();
            open.push(stream);
        }
    });
    address
}

#[tokio::test]
async fn a_server_that_does_not_keep_to_the_protocol_is_borne() {
    let ask = async |bytes| {
        let settings = ClientSettings {
            reply_timeout: Duration::from_millis(50),
            max_line_bytes: 100,
            ..ClientSettings::default()
        };
        let mut client = Client::connect_with(answering(bytes).await, settings)
            .await
            .unwrap();
        let error = client.ask(&Request::Bots).await.unwrap_err();
        // From then on, the client cannot match replies to requests.
        let later = client.ask(&Request::Bots).await.unwrap_err();
        assert!(matches!(later, ClientError::OutOfStep), "{later}");
        error.to_string()
    };
    assert_eq!(ask(b"").await, "no reply within 50ms");
    assert_eq!(ask(b"BOTS 1 ").await, "no reply within 50ms");
    assert_eq!(ask(b"WHAT\n").await, "an unknown reply: WHAT");
    assert_eq!(
        ask(&[b'x'; 5_000]).await,
        "no reply within 50ms",
        "and no memory"
    );
    let long = ask(b"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\n").await;
    assert_eq!(long, "the server sent a line of more than 100 bytes");
}
