//! Every reply survives encoding and parsing.

use bytes::{Bytes, BytesMut};
use proptest::{collection::vec, option, prelude::*};

use super::super::*;
use crate::{Code, FramedLine, Framer, Request};

/// An identifier as a server receives it from a client that quotes where necessary.
fn ident() -> impl Strategy<Value = Ident> {
    let content = vec(
        prop_oneof![prop::sample::select(b" \".\\01*-".to_vec()), any::<u8>()],
        1..12,
    );
    content.prop_filter_map("blank", |content| {
        let mut line = BytesMut::new();
        Request::Death(Ident::new(&content, &content)).encode(&mut line);
        let line = line.freeze();
        match Request::parse(line.slice(..line.len() - 1)) {
            Ok(Some(Request::Death(id))) => Some(id),
            _ => None,
        }
    })
}

fn thousandths() -> impl Strategy<Value = f64> {
    (0u32..=100_000).prop_map(|n| f64::from(n) / 1e3)
}

fn millionths() -> impl Strategy<Value = f64> {
    (0u32..=1_000_000).prop_map(|n| f64::from(n) / 1e6)
}

fn text() -> impl Strategy<Value = String> {
    "[^\\p{C}]{0,30}"
}

fn step() -> impl Strategy<Value = Move> {
    (ident(), option::of(0u8..8), 0u8..8).prop_map(|(id, from, to)| Move { id, from, to })
}

fn balance() -> impl Strategy<Value = Reply> {
    let teams = (vec((ident(), 0u8..8), 0..10), vec(0u32..100, 0..8));
    (millionths(), option::of(millionths()), any::<u64>(), teams).prop_map(
        |(ratio, chance, seed, (humans, bots))| Reply::Balance {
            ratio,
            chance,
            seed,
            humans,
            bots,
        },
    )
}

fn error() -> impl Strategy<Value = Reply> {
    let code = prop::sample::select(vec![Code::TooLong, Code::Internal, Code::NotAllowed]);
    (code, text()).prop_map(|(code, text)| Reply::Error(Refusal { code, text }))
}

fn rank() -> impl Strategy<Value = Reply> {
    let name = "[^\\p{C} ]([^\\p{C}]{0,12}[^\\p{C} ])?".prop_filter("a dash", |name| name != "-");
    let division = option::of((name, (0u32..=1_000).prop_map(|n| f64::from(n) / 1e3)));
    (ident(), division, any::<u32>(), option::of(thousandths())).prop_map(
        |(id, division, games, weight)| Reply::Rank {
            id,
            division,
            games,
            weight,
        },
    )
}

fn hello() -> impl Strategy<Value = Reply> {
    let hello = (
        "[a-z]{1,8}/[0-9.]{1,5}",
        any::<u32>(),
        any::<Option<bool>>(),
    );
    hello.prop_map(|(program, protocol, resumed)| Reply::Hello {
        program,
        protocol,
        resumed,
    })
}

fn rebalance() -> impl Strategy<Value = Reply> {
    (millionths(), millionths(), vec(step(), 0..8)).prop_map(|(before, after, moves)| {
        Reply::Rebalance {
            before,
            after,
            moves,
        }
    })
}

strategy_of_every_variant!(reply -> Reply {
    1: Reply::Player(..) => (ident(), option::of(thousandths()))
        .prop_map(|(id, weight)| Reply::Player(id, weight)),
    1: Reply::Bot(..) => (ident(), thousandths()).prop_map(|(id, weight)| Reply::Bot(id, weight)),
    1: Reply::Rank { .. } => rank(),
    1: Reply::MeanBot(..) => (thousandths(), 0usize..1_000)
        .prop_map(|(weight, count)| Reply::MeanBot(weight, count)),
    1: Reply::Hello { .. } => hello(),
    1: Reply::Pong => Just(Reply::Pong),
    1: Reply::Balance { .. } => balance(),
    1: Reply::Bots(..) => (0u32..100, vec(0u32..100, 0..8))
        .prop_map(|(least, bots)| Reply::Bots(least, bots)),
    1: Reply::Place(..) => (ident(), 0u8..8, millionths())
        .prop_map(|(id, team, ratio)| Reply::Place(id, team, ratio)),
    1: Reply::Advantage(_) => option::of((0u8..8, thousandths())).prop_map(Reply::Advantage),
    1: Reply::Rebalance { .. } => rebalance(),
    1: Reply::Move(_) => step().prop_map(Reply::Move),
    1: Reply::Switch(..) => (ident(), prop::sample::select(&SwitchAnswer::ALL[..]))
        .prop_map(|(id, answer)| Reply::Switch(id, answer)),
    1: Reply::End { .. } => ("[0-9]{1,9}", option::of(text()))
        .prop_map(|(id, unrated)| Reply::End { id, unrated }),
    1: Reply::Explain(_) => vec(text(), 0..9).prop_map(Reply::Explain),
    1: Reply::Queues(_) => vec(queue(), 0..4).prop_map(Reply::Queues),
    5: Reply::Ticket(_) => ticket().prop_map(Reply::Ticket),
    1: Reply::Backfill { .. } => (1i64.., any::<u32>())
        .prop_map(|(id, seats)| Reply::Backfill { id, seats }),
    1: Reply::Error(_) => error(),
});

fn queue() -> impl Strategy<Value = QueueLine> {
    let line = (
        "[a-z0-9_-]{1,64}",
        0usize..100_000,
        0usize..1_000_000,
        any::<Option<u32>>(),
    );
    line.prop_map(|(name, tickets, players, wait)| QueueLine {
        name,
        tickets,
        players,
        wait,
    })
}

fn id() -> impl Strategy<Value = String> {
    "[!#-\\[\\]-~]{1,64}"
}

fn plain() -> impl Strategy<Value = String> {
    "[a-z0-9.:-]{1,32}"
}

fn player() -> impl Strategy<Value = String> {
    "[^\\p{C}]{0,12}[^\\p{C} ]".prop_filter("blank", |text| !text.trim().is_empty())
}

strategy_of_every_variant!(ticket -> TicketReply {
    1: TicketReply::Queued { .. } => (id(), any::<u32>(), any::<Option<u32>>())
        .prop_map(|(ticket, waited, eta)| TicketReply::Queued { ticket, waited, eta }),
    1: TicketReply::Proposed { .. } => (1i64.., id(), any::<u32>())
        .prop_map(|(id, ticket, seconds)| TicketReply::Proposed { id, ticket, seconds }),
    1: TicketReply::Matched { .. } => (1i64.., id())
        .prop_map(|(id, ticket)| TicketReply::Matched { id, ticket }),
    2: TicketReply::Go { .. } => (1i64.., plain(), vec((plain(), player()), 1..5))
        .prop_map(|(id, address, seats)| TicketReply::Go { id, address, seats }),
    1: TicketReply::Cancelled(_) => id().prop_map(TicketReply::Cancelled),
    1: TicketReply::Expired(_) => id().prop_map(TicketReply::Expired),
});

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn every_reply_survives(replies in vec(reply(), 1..4)) {
        let mut bytes = BytesMut::new();
        replies.iter().for_each(|reply| reply.encode(&mut bytes));
        let sent = Bytes::copy_from_slice(&bytes);
        let (mut framer, mut reader) = (Framer::new(1_024), ReplyReader::default());
        let (mut again, mut received) = (BytesMut::new(), Vec::new());
        while let Some(FramedLine::Text(line)) = framer.next_line(&mut bytes) {
            match reader.line(line) {
                Ok(Some(Received::Reply(reply))) => {
                    reply.encode(&mut again);
                    received.push(reply);
                }
                Ok(None) => {}
                other => return Err(TestCaseError::fail(format!("{other:?}"))),
            }
        }
        prop_assert_eq!(received, replies);
        prop_assert_eq!(again, sent, "to the byte");
    }
}
