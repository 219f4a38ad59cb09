//! Whatever request is encoded, parsing gives it back, on one line.

use proptest::{collection::vec, option, prelude::*};

use super::super::*;
use evenkeel_model::{in_game::Verdict, record::LeaveReason, team_names::RoleName};

/// Any bytes that an identifier may have, hostile ones first.
fn content() -> impl Strategy<Value = Vec<u8>> {
    let byte = prop_oneof![
        3 => prop::sample::select(b" \"\\=\r\t;*-".to_vec()),
        2 => 0x80u8..=0xff,
        4 => b'a'..=b'f',
        1 => any::<u8>(),
    ];
    let not_blank = |bytes: &Vec<u8>| !bytes.trim_ascii().is_empty();
    let no_line_feed = |bytes: Vec<u8>| bytes.into_iter().filter(|&b| b != b'\n').collect();
    vec(byte, 1..20)
        .prop_map(no_line_feed)
        .prop_filter("blank", not_blank)
}

/// An identifier made by a program, or as a peer sent it, in quotes or bare.
fn ident() -> impl Strategy<Value = Ident> {
    let program = "[\"\\\\= \\PC]{0,12}[\\PC&&[^ ]]".prop_map(|text| Ident::from_text(&text));
    let quoted = content().prop_map(|content| {
        let mut raw = vec![b'"'];
        for &byte in &content {
            raw.extend(matches!(byte, b'"' | b'\\').then_some(b'\\'));
            raw.push(byte);
        }
        raw.push(b'"');
        Ident::new(&raw, &content)
    });
    let bare = content().prop_map(|content| Ident::new(&content, &content));
    prop_oneof![program, quoted, bare]
}

/// A player of KILL, which may be nobody.
fn ident_or_empty() -> impl Strategy<Value = Ident> {
    prop_oneof![9 => ident(), 1 => Just(Ident::from_text(""))]
}

/// Thousandths, in the range that a line may hold.
fn points() -> impl Strategy<Value = f64> {
    (-1_000_000_000i64..=1_000_000_000).prop_map(|n| n as f64 / 1_000.0)
}

fn join() -> impl Strategy<Value = Request> {
    let avoid = option::of(vec(ident(), 0..4));
    let options = (
        option::of(ident()),
        option::of(prop_oneof![ident(), Just(Ident::from_text(""))]),
        option::of(0u8..8),
        option::of(option::of(0u8..8)),
        avoid,
        option::of(option::of(0u8..8)),
    );
    (ident(), options).prop_map(|(id, (name, party, team, pin, avoid, wish))| {
        Request::Join(Join {
            id,
            name,
            party,
            team,
            pin,
            avoid,
            wish,
        })
    })
}

/// LEAVE without a reason.
fn leave(id: Ident) -> Request {
    let reason = LeaveReason::Left;
    Request::Leave { id, reason }
}

fn hello() -> impl Strategy<Value = Request> {
    let token = prop_oneof![
        ident().prop_map(|id| id.text().to_owned()),
        Just("resume=yes".to_owned())
    ];
    let hello = (
        ident().prop_filter("NUL", |id| !id.text().contains('\0')),
        option::of(token),
        any::<bool>(),
        any::<[Option<bool>; 3]>(),
        option::of(1i64..),
        option::of(ident()),
    );
    hello.prop_map(
        |(server, token, resume, [bots, offers, streaks], hosts, source)| Request::Hello {
            server,
            token: token.as_deref().map(Token::new),
            resume,
            bots,
            offers,
            streaks,
            hosts,
            source,
        },
    )
}

fn map() -> impl Strategy<Value = Request> {
    let range = option::of((0u32..=1_024, 0u32..=1_024).prop_map(|(a, b)| (a.min(b), a.max(b))));
    (ident(), range).prop_map(|(name, range)| Request::Map { name, range })
}

fn verdict() -> impl Strategy<Value = Verdict> {
    prop_oneof![
        2 => Just(Verdict::Scores),
        2 => Just(Verdict::Draw),
        1 => (0u8..8).prop_map(Verdict::Won),
    ]
}

strategy_of_every_variant!(request -> Request {
    2: Request::Game(_) => ident().prop_map(Request::Game),
    2: Request::Mutator(_) => ident().prop_map(Request::Mutator),
    2: Request::Player(_) => ident().prop_map(Request::Player),
    2: Request::Bot(_) => ident().prop_map(Request::Bot),
    2: Request::Rank(_) => ident().prop_map(Request::Rank),
    1: Request::MeanBot => Just(Request::MeanBot),
    8: Request::Hello { .. } => hello(),
    1: Request::Ping => Just(Request::Ping),
    1: Request::Quit => Just(Request::Quit),
    4: Request::Map { .. } => map(),
    2: Request::Teams(_) => (2u8..=8).prop_map(Request::Teams),
    2: Request::MinPlayers(_) => (0u32..=1_024).prop_map(Request::MinPlayers),
    16: Request::Join(_) => join(),
    2: Request::Leave { .. } => (ident(), prop::sample::select(&LeaveReason::ALL[..]))
        .prop_map(|(id, reason)| Request::Leave { id, reason }),
    2: Request::Move { .. } => (ident(), 0u8..8).prop_map(|(id, team)| Request::Move { id, team }),
    2: Request::BotJoin { .. } => (ident(), 0u8..8)
        .prop_map(|(name, team)| Request::BotJoin { name, team }),
    2: Request::BotLeave(_) => ident().prop_map(Request::BotLeave),
    4: Request::Balance { .. } => (option::of(1usize..=4_096), option::of(any::<u64>()))
        .prop_map(|(top, seed)| Request::Balance { top, seed }),
    1: Request::Bots => Just(Request::Bots),
    2: Request::Place(_) => ident().prop_map(Request::Place),
    1: Request::Advantage => Just(Request::Advantage),
    2: Request::Rebalance { .. } => (option::of(any::<u64>()), any::<bool>())
        .prop_map(|(seed, ask)| Request::Rebalance { seed, ask }),
    2: Request::Switch(_) => ident().prop_map(Request::Switch),
    1: Request::Explain => Just(Request::Explain),
    4: Request::Protect { .. } => (ident(), option::of(0u32..=604_800))
        .prop_map(|(id, seconds)| Request::Protect { id, seconds }),
    4: Request::Role { .. } => (ident(), option::of("[a-z0-9_-]{1,32}")).prop_map(|(id, role)| {
        let role = role.map(|role| RoleName::read(&role).unwrap());
        Request::Role { id, role }
    }),
    1: Request::Start => Just(Request::Start),
    4: Request::Score { .. } => (0u8..8, points(), option::of(ident()))
        .prop_map(|(team, points, by)| Request::Score { team, points, by }),
    4: Request::Total { .. } => (0u8..8, points())
        .prop_map(|(team, points)| Request::Total { team, points }),
    4: Request::Points { .. } => (ident(), points())
        .prop_map(|(id, points)| Request::Points { id, points }),
    4: Request::Behaviour { .. } => (ident(), points())
        .prop_map(|(id, points)| Request::Behaviour { id, points }),
    4: Request::Kill { .. } => (ident_or_empty(), ident_or_empty())
        .prop_map(|(killer, victim)| Request::Kill { killer, victim }),
    2: Request::Death(_) => ident().prop_map(Request::Death),
    2: Request::Clock(_) => (0u32..=604_800).prop_map(Request::Clock),
    4: Request::End(_) => verdict().prop_map(Request::End),
    16: Request::Queue(_) => queue().prop_map(Request::Queue),
    8: Request::Host(_) => host().prop_map(Request::Host),
});

/// A word without a comma or `=`, which needs no quotes.
fn plain() -> impl Strategy<Value = String> {
    "[!#-+.-<>-\\[\\]-~-]{1,32}"
}

fn instance() -> impl Strategy<Value = HostRequest> {
    let list = || prop::collection::btree_set(plain(), 0..4);
    let named = || option::of(plain());
    let instance = (plain(), named(), 1u32..=256, list(), list(), named());
    instance.prop_map(
        |(address, region, slots, modes, maps, partition)| HostRequest::Instance {
            address,
            region,
            slots,
            modes,
            maps,
            partition,
        },
    )
}

strategy_of_every_variant!(host -> HostRequest {
    4: HostRequest::Instance { .. } => instance(),
    1: HostRequest::Load(_) => (0u32..=1_000).prop_map(|n| HostRequest::Load(f64::from(n) / 1e3)),
    2: HostRequest::Ready { .. } => (1i64.., option::of(plain()))
        .prop_map(|(id, address)| HostRequest::Ready { id, address }),
    2: HostRequest::Backfill { .. } => (1i64.., 0u8..8, 0u32..64)
        .prop_map(|(id, team, seats)| HostRequest::Backfill { id, team, seats }),
    2: HostRequest::Refuse { .. } => (1i64.., ident())
        .prop_map(|(id, reason)| HostRequest::Refuse { id, reason }),
});

fn ticket() -> impl Strategy<Value = String> {
    "[!#-\\[\\]-~]{1,64}"
}

fn seat() -> impl Strategy<Value = QueueRequest> {
    let value = prop_oneof![ident(), Just(Ident::from_text(""))];
    let stated = vec(("[a-z@][a-z0-9_.-]{0,8}", value), 0..6);
    (ident(), stated).prop_map(|(player, stated)| QueueRequest::Seat { player, stated })
}

strategy_of_every_variant!(queue -> QueueRequest {
    1: QueueRequest::Queues => Just(QueueRequest::Queues),
    2: QueueRequest::Enqueue { .. } => (ident(), ticket())
        .prop_map(|(queue, ticket)| QueueRequest::Enqueue { queue, ticket }),
    8: QueueRequest::Seat { .. } => seat(),
    1: QueueRequest::Submit => Just(QueueRequest::Submit),
    2: QueueRequest::Cancel(_) => ticket().prop_map(QueueRequest::Cancel),
    2: QueueRequest::Ticket(_) => ticket().prop_map(QueueRequest::Ticket),
    2: QueueRequest::Accept { .. } => (1i64.., ident())
        .prop_map(|(id, player)| QueueRequest::Accept { id, player }),
    2: QueueRequest::Decline { .. } => (1i64.., ident())
        .prop_map(|(id, player)| QueueRequest::Decline { id, player }),
    1: QueueRequest::Listen => Just(QueueRequest::Listen),
    2: QueueRequest::Explain(_) => ticket().prop_map(QueueRequest::Explain),
});

fn line(request: &Request) -> Bytes {
    let mut out = BytesMut::new();
    request.encode(&mut out);
    out.freeze()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn every_request_survives(request in request()) {
        let line = line(&request);
        prop_assert_eq!(line.iter().filter(|&&b| b == b'\n').count(), 1);
        prop_assert!(line.ends_with(b"\n") && !line.ends_with(b"\r\n"));
        let parsed = Request::parse(line.slice(..line.len() - 1));
        prop_assert_eq!(parsed, Ok(Some(request)));
    }

    #[test]
    fn what_was_parsed_keeps_its_bytes(id in ident()) {
        let first = line(&Request::Death(id));
        let Ok(Some(again)) = Request::parse(first.slice(..first.len() - 1)) else {
            return Err(TestCaseError::fail("not a request"));
        };
        prop_assert_eq!(line(&again), first);
    }
}

#[test]
fn bytes_of_a_peer_are_repeated() {
    let text = |request: Request| line(&request).to_vec();
    let latin = Ident::new(b"Ren\xe9", b"Ren\xe9");
    assert_eq!(text(leave(latin)), b"LEAVE Ren\xe9\n");
    let bare = Ident::new(b"Boring John", b"Boring John");
    assert_eq!(text(Request::Player(bare)), b"PLAYER \"Boring John\"\n");
    let quoted = Ident::new(b"\"a\"", b"a");
    assert_eq!(text(leave(quoted)), b"LEAVE \"a\"\n");
    let hostile = Ident::from_text("a\nQUIT");
    assert_eq!(text(leave(hostile)), b"LEAVE \"a?QUIT\"\n");
}

#[test]
fn a_token_is_neither_shown_nor_taken_for_an_option() {
    let hello = Request::Hello {
        server: Ident::from_text("ctf 1"),
        token: Some(Token::new("resume=yes")),
        resume: false,
        bots: None,
        offers: None,
        streaks: None,
        hosts: None,
        source: None,
    };
    assert_eq!(line(&hello), "HELLO \"ctf 1\" \"resume=yes\"\n");
    assert!(!format!("{hello:?}").contains("yes"));
}
