mod round_trip;

use bytes::Bytes;
use proptest::prelude::*;

use super::*;
use evenkeel_model::in_game::Verdict;

fn parse(line: &[u8]) -> Result<Option<Request>, Code> {
    Request::parse(Bytes::copy_from_slice(line)).map_err(|refusal| refusal.code)
}

fn ident(text: &str) -> Ident {
    Ident::from_text(text)
}

#[test]
fn the_whole_rest_is_the_identifier_quoted_or_not() {
    for line in [
        "PLAYER Boring John",
        "player   Boring John\t",
        "Player \"Boring John\"",
    ] {
        assert_eq!(
            parse(line.as_bytes()),
            Ok(Some(Request::Player(ident("Boring John"))))
        );
    }
    let Ok(Some(Request::Bot(id))) = parse(b"BOT \"a \\\"b\\\" \\\\ c\"") else {
        panic!()
    };
    assert_eq!(id.text(), "a \"b\" \\ c");
    assert_eq!(
        id.raw(),
        b"\"a \\\"b\\\" \\\\ c\"",
        "the reply repeats what was sent"
    );
    let Ok(Some(Request::Bot(id))) = parse(b"BOT \"Ace\" of Spades") else {
        panic!()
    };
    assert_eq!(
        id.text(),
        "\"Ace\" of Spades",
        "a name may begin with a quote"
    );
}

#[test]
fn options_in_any_order() {
    let expected = Join {
        id: ident("a b"),
        name: Some(ident("N \"q\"")),
        party: Some(ident("")),
        team: Some(1),
        pin: Some(Some(0)),
        avoid: Some(vec![ident("x"), ident("y z")]),
        wish: Some(Some(1)),
    };
    let line = br#"JOIN "a b" avoid=x TEAM=1 party= name="N \"q\"" pin=0 wish=1 avoid="y z""#;
    assert_eq!(parse(line), Ok(Some(Request::Join(expected))));
    let balance = Request::Balance {
        top: Some(5),
        seed: Some(7),
    };
    assert_eq!(parse(b"BALANCE seed=7 top=5"), Ok(Some(balance)));
}

#[test]
fn a_server_may_ask_to_go_on_with_its_game() {
    let hello = |token: Option<&str>, resume| {
        Ok(Some(Request::Hello {
            server: ident("ctf 1"),
            token: token.map(Token::new),
            resume,
            bots: None,
            offers: None,
            streaks: None,
            hosts: None,
            source: None,
        }))
    };
    assert_eq!(parse(b"HELLO \"ctf 1\""), hello(None, false));
    assert_eq!(parse(b"HELLO \"ctf 1\" resume=yes"), hello(None, true));
    assert_eq!(parse(b"HELLO \"ctf 1\" a=b"), hello(Some("a=b"), false));
    assert_eq!(
        parse(b"HELLO \"ctf 1\" secret Resume=yes"),
        hello(Some("secret"), true)
    );
    let line = b"HELLO \"ctf 1\" source=\"/srv/q 3/games.log\"";
    let Ok(Some(Request::Hello { source, token, .. })) = parse(line) else {
        panic!("no HELLO")
    };
    assert_eq!((source, token), (Some(ident("/srv/q 3/games.log")), None));
    parse(b"HELLO a source=").unwrap_err();
    parse(b"HELLO a source=b source=b").unwrap_err();
    let quoted = parse(b"HELLO \"ctf 1\" \"resume=yes\" resume=no");
    assert_eq!(quoted, hello(Some("resume=yes"), false));
}

#[test]
fn decisions_in_a_running_game() {
    assert_eq!(
        parse(b"place \"a b\""),
        Ok(Some(Request::Place(ident("a b"))))
    );
    assert_eq!(parse(b"ADVANTAGE"), Ok(Some(Request::Advantage)));
    let rebalance = |seed| Ok(Some(Request::Rebalance { seed, ask: true }));
    assert_eq!(parse(b"REBALANCE"), rebalance(None));
    assert_eq!(parse(b"REBALANCE SEED=7"), rebalance(Some(7)));
    let protect = |seconds| {
        let id = ident("a");
        Ok(Some(Request::Protect { id, seconds }))
    };
    assert_eq!(parse(b"PROTECT a"), protect(None));
    assert_eq!(parse(b"PROTECT a 0"), protect(Some(0)));
}

#[test]
fn reports_of_what_happened_are_parsed() {
    let score = |points, by: Option<&str>| {
        let by = by.map(ident);
        Ok(Some(Request::Score {
            team: 1,
            points,
            by,
        }))
    };
    assert_eq!(parse(b"START"), Ok(Some(Request::Start)));
    assert_eq!(parse(b"SCORE 1"), score(1.0, None));
    assert_eq!(parse(b"SCORE 1 -2.5"), score(-2.5, None));
    assert_eq!(parse(b"SCORE 1 5 \"a b\""), score(5.0, Some("a b")));
    let total = Request::Total {
        team: 1,
        points: -2.5,
    };
    assert_eq!(parse(b"SCORE 1 Total=-2.5"), Ok(Some(total)));
    for wrong in [
        &b"SCORE 1 total="[..],
        b"SCORE 1 total=x",
        b"SCORE 1 total=1 a",
    ] {
        assert!(parse(wrong).is_err(), "{wrong:?}");
    }
    let points = |points| {
        let id = ident("a");
        Ok(Some(Request::Points { id, points }))
    };
    assert_eq!(parse(b"POINTS a 12.125"), points(12.125));
    assert_eq!(parse(b"POINTS a -3"), points(-3.0));
    let kill = Request::Kill {
        killer: ident("a"),
        victim: ident("b"),
    };
    assert_eq!(parse(b"KILL a b"), Ok(Some(kill)));
    let world = Request::Kill {
        killer: Ident::new(b"\"\"", b""),
        victim: ident("b"),
    };
    assert_eq!(parse(b"KILL \"\" b"), Ok(Some(world)));
    assert_eq!(parse(b"DEATH a"), Ok(Some(Request::Death(ident("a")))));
    assert_eq!(parse(b"CLOCK 180"), Ok(Some(Request::Clock(180))));
    for (line, verdict) in [
        ("END", Verdict::Scores),
        ("END 1", Verdict::Won(1)),
        ("end Draw", Verdict::Draw),
    ] {
        assert_eq!(parse(line.as_bytes()), Ok(Some(Request::End(verdict))));
    }
}

#[test]
fn blank_lines_are_nothing() {
    assert_eq!(parse(b""), Ok(None));
    assert_eq!(parse(b" \t "), Ok(None));
}

#[test]
fn what_is_wrong_is_refused() {
    let bad = [
        "GAME",
        "MUTATOR  ",
        "PLAYER",
        "PLAYER \"\"",
        "BOT \" \"",
        "MEANBOT x",
        "HELLO",
        "HELLO a b c",
        "HELLO a\0b",
        "HELLO a resume=maybe",
        "HELLO a b resume=yes resume=no",
        "HELLO a resume=yes b",
        "PING x",
        "QUIT now",
        "MAP",
        "MAP m 4",
        "MAP m 8 4",
        "MAP m 4 x",
        "MAP m -1 4",
        "MAP m 4 8 9",
        "TEAMS",
        "TEAMS 1",
        "TEAMS 9",
        "TEAMS two",
        "TEAMS 2 2",
        "MINPLAYERS",
        "MINPLAYERS -1",
        "MINPLAYERS 99999",
        "JOIN",
        "JOIN a b",
        "JOIN a team=8",
        "JOIN a team=x",
        "JOIN a team=",
        "JOIN a colour=red",
        "JOIN a =1",
        "JOIN a team=1 team=1",
        "JOIN \"a",
        "JOIN \"a\"b",
        "JOIN a name=\"x",
        "LEAVE",
        "LEAVE a b",
        "MOVE a",
        "MOVE a 8",
        "MOVE a 1 2",
        "BOTJOIN b",
        "BOTLEAVE",
        "BALANCE top=0",
        "BALANCE top=4097",
        "BALANCE seed=-1",
        "BALANCE 5",
        "BALANCE seed=18446744073709551616",
        "BALANCE seed=+1",
        "BOTS 1",
        "PLACE",
        "PLACE a b",
        "ADVANTAGE 1",
        "REBALANCE 1",
        "REBALANCE top=2",
        "REBALANCE seed=1 seed=1",
        "PROTECT",
        "PROTECT a -1",
        "PROTECT a 604801",
        "PROTECT a 5 6",
        "START now",
        "SCORE",
        "SCORE 8",
        "SCORE x",
        "SCORE 0 1e3",
        "SCORE 0 ann",
        "SCORE 0 1000001",
        "SCORE 0 1 a b",
        "POINTS a",
        "POINTS a b",
        "POINTS a .",
        "POINTS a 1.",
        "POINTS a +1",
        "POINTS a nan",
        "POINTS a 1.2345",
        "KILL a",
        "KILL a b c",
        "DEATH",
        "DEATH a b",
        "CLOCK",
        "CLOCK 1.5",
        "END 8",
        "END drawn",
        "END 0 draw",
    ];
    for line in bad {
        assert_eq!(parse(line.as_bytes()), Err(Code::BadArgument), "{line}");
    }
    for line in ["HELP", "\"PING\"", "\u{0}", "ENDED", "é"] {
        assert_eq!(parse(line.as_bytes()), Err(Code::UnknownCommand), "{line}");
    }
}

proptest! {
    #[test]
    fn no_bytes_panic_and_no_refusal_breaks_a_line(line in proptest::collection::vec(any::<u8>(), 0..80)) {
        if let Err(refusal) = Request::parse(line.into()) {
            prop_assert!(!refusal.text.contains(['\n', '\r']));
        }
    }

    #[test]
    fn every_verb_with_any_arguments(
        verb in proptest::sample::select(Verb::ALL),
        rest in "[ \\PC\"\\\\=]{0,40}",
    ) {
        let line = format!("{} {rest}", verb.as_str());
        prop_assert!(parse(line.as_bytes()) != Err(Code::UnknownCommand));
    }
}
