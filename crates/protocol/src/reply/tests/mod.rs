//! Replies and their encoded bytes.

mod round_trip;

use bytes::{Bytes, BytesMut};

use super::*;
use crate::Code;

fn bytes(reply: &Reply) -> Vec<u8> {
    let mut out = BytesMut::new();
    reply.encode(&mut out);
    out.to_vec()
}

#[test]
fn the_very_bytes_come_back() {
    let id = Ident::new(b"Ren\xe9", b"Ren\xe9");
    assert_eq!(
        bytes(&Reply::Player(id.clone(), Some(50.0))),
        b"PLAYER Ren\xe9 50.000\n"
    );
    assert_eq!(bytes(&Reply::Player(id.clone(), None)), b"PLAYER Ren\xe9\n");
    assert_eq!(bytes(&Reply::Bot(id, 12.3456)), b"BOT Ren\xe9 12.346\n");
}

#[test]
fn a_reply_of_several_lines_says_how_many() {
    let humans = vec![(Ident::from_text("a"), 1), (Ident::from_text("b"), 0)];
    let reply = Reply::Balance {
        ratio: 0.987_654_321,
        chance: None,
        seed: 7,
        humans,
        bots: vec![1, 1],
    };
    let text = String::from_utf8(bytes(&reply)).unwrap();
    assert_eq!(
        text,
        "BALANCE 4 0.987654 - 7\nTEAM 1 a\nTEAM 0 b\nBOTS 0 1\nBOTS 1 1\n"
    );
    assert_eq!(bytes(&Reply::Bots(6, vec![2, 3])), b"BOTS 6 2 3\n");
    assert_eq!(bytes(&Reply::MeanBot(50.0, 0)), b"MEANBOT 50.000 0\n");
}

#[test]
fn decisions_in_a_running_game() {
    let id = Ident::new(b"\"a b\"", b"a b");
    let text = |reply: &Reply| String::from_utf8(bytes(reply)).unwrap();
    assert_eq!(
        text(&Reply::Place(id.clone(), 1, 0.987_654_321)),
        "PLACE \"a b\" 1 0.987654\n"
    );
    assert_eq!(text(&Reply::Advantage(None)), "ADVANTAGE - 1.000\n");
    assert_eq!(
        text(&Reply::Advantage(Some((1, 1.1)))),
        "ADVANTAGE 1 1.100\n"
    );
    let moves = vec![
        Move {
            id: Ident::from_text("new"),
            from: None,
            to: 0,
        },
        Move {
            id,
            from: Some(1),
            to: 0,
        },
    ];
    let died = Reply::Move(moves[1].clone());
    let (before, after) = (0.5, 1.0);
    let reply = Reply::Rebalance {
        before,
        after,
        moves,
    };
    assert_eq!(
        text(&reply),
        "REBALANCE 2 0.500000 1.000000\nMOVE new - 0\nMOVE \"a b\" 1 0\n"
    );
    assert_eq!(text(&died), "MOVE \"a b\" 1 0\n");
}

#[test]
fn the_end_names_the_match_and_whether_it_counts() {
    let end = |unrated: Option<&str>| {
        let id = "00ff".to_owned();
        let unrated = unrated.map(str::to_owned);
        String::from_utf8(bytes(&Reply::End { id, unrated })).unwrap()
    };
    assert_eq!(end(None), "END 00ff recorded\n");
    assert_eq!(end(Some("too short")), "END 00ff unrated too short\n");
}

fn parse(text: &str) -> Result<Reply, String> {
    let lines: Vec<Bytes> = text
        .lines()
        .map(|line| Bytes::copy_from_slice(line.as_bytes()))
        .collect();
    Reply::parse(&lines).map_err(|error| error.to_string())
}

#[test]
fn the_two_forms_of_player() {
    let weight = |text: &str| match parse(text) {
        Ok(Reply::Player(id, weight)) => (id.text().to_owned(), weight),
        other => panic!("{text}: {other:?}"),
    };
    let known = |id: &str| (id.to_owned(), Some(62.5));
    let unknown = |id: &str| (id.to_owned(), None);
    assert_eq!(weight("PLAYER ann 62.500"), known("ann"));
    assert_eq!(weight("PLAYER ann"), unknown("ann"));
    assert_eq!(weight("PLAYER Boring John 62.500"), known("Boring John"));
    assert_eq!(weight("PLAYER Boring John"), unknown("Boring John"));
    assert_eq!(weight("PLAYER John 62.5"), unknown("John 62.5"));
    assert_eq!(weight("PLAYER 62.500"), unknown("62.500"));
    assert_eq!(weight("PLAYER \"John 62.500\""), unknown("John 62.500"));
    assert_eq!(weight("PLAYER \"John 1.000\" 62.500"), known("John 1.000"));
}

#[test]
fn what_is_no_reply_is_refused() {
    for line in [
        "",
        "HI",
        "pong",
        "* PONG",
        "PLAYER",
        "BOT a",
        "BOT a x",
        "MEANBOT 50.000",
        "HELLO",
        "HELLO x",
        "HELLO x protocol/1 old",
        "BALANCE",
        "BALANCE x",
        "BALANCE 0",
        "BALANCE 0 1.0 - x",
        "BALANCE 1 1.0 - 7",
        "BALANCE 1 1.0 - 7\nMOVE a 0 1",
        "BALANCE 1 1.0 - 7\nBOTS 1 0",
        "BALANCE 0 nan - 7",
        "BALANCE 1025 1.0 - 7",
        "BALANCE 99999999999999999999 1 - 7",
        "BOTS",
        "BOTS 1 x",
        "PLACE",
        "PLACE a",
        "PLACE a 0",
        "PLACE 0 1.0",
        "ADVANTAGE",
        "ADVANTAGE 0",
        "ADVANTAGE x 1.0",
        "REBALANCE 5",
        "REBALANCE 1 0.5 0.9\nTEAM 0 a",
        "MOVE 1",
        "MOVE a 0",
        "MOVE a x 0",
        "END",
        "END 1",
        "END 1 kept",
        "EXPLAIN",
        "EXPLAIN 1\nBECAUSE x",
        "PONG\nPONG",
    ] {
        assert!(parse(line).is_err(), "{line}");
    }
    let error = parse(&format!("\u{1b}[2J{}", "x".repeat(500))).unwrap_err();
    assert!(
        error.starts_with("an unknown reply: \\x1b[2Jx") && error.len() < 120,
        "{error}"
    );
}

#[test]
fn a_code_of_a_later_version_is_still_an_error() {
    let refusal = |text: &str| match parse(text) {
        Ok(Reply::Error(refusal)) => (refusal.code, refusal.text),
        other => panic!("{other:?}"),
    };
    let text = |text: &str| text.to_owned();
    assert_eq!(
        refusal("ERROR no-game send GAME first"),
        (Code::NoGame, text("send GAME first"))
    );
    assert_eq!(
        refusal("ERROR no-luck today"),
        (Code::Internal, text("no-luck today"))
    );
}
