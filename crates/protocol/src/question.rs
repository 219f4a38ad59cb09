//! PLAYER and BOT in their usual form, read and answered without an allocation. [`Request::parse`] and
//! [`Reply::encode`] read and write the same bytes for them; every other line is left to these. The time that such a
//! question takes is the only reason for this second reader.
//!
//! [`Request::parse`]: super::Request::parse
//! [`Reply::encode`]: super::Reply::encode

use bytes::{BufMut, BytesMut};

use super::{
    request::{Demand, WEIGHT_DEMAND},
    words::put_thousandths,
};
use evenkeel_model::Kind;

/// A question about one player's weight, as it lies in the input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WeightQuestion<'a> {
    /// Whether it is PLAYER or BOT.
    pub kind: Kind,
    /// The player: the rest of the line, without quotes.
    pub id: &'a str,
}

impl<'a> WeightQuestion<'a> {
    /// What a client needs for these questions.
    pub const DEMAND: Demand = WEIGHT_DEMAND;

    /// Reads a line; `None` if it is another request, or a question whose player is in quotes or not in UTF-8.
    pub fn read(line: &'a [u8]) -> Option<Self> {
        let line = line.trim_ascii();
        let end = line.iter().position(u8::is_ascii_whitespace)?;
        let (verb, rest) = line.split_at(end);
        let kind = match verb.len() {
            6 if verb.eq_ignore_ascii_case(b"PLAYER") => Kind::Human,
            3 if verb.eq_ignore_ascii_case(b"BOT") => Kind::Bot,
            _ => return None,
        };
        let rest = rest.trim_ascii_start();
        if rest.first() == Some(&b'"') {
            return None;
        }
        let id = std::str::from_utf8(rest).ok()?;
        Some(Self { kind, id })
    }

    /// Appends the reply; a weight of `None` is that of an unknown player.
    pub fn answer(&self, weight: Option<f64>, out: &mut BytesMut) {
        let verb: &[u8] = match self.kind {
            Kind::Human => b"PLAYER ",
            Kind::Bot => b"BOT ",
        };
        out.reserve(verb.len() + self.id.len() + 16);
        out.put_slice(verb);
        out.put_slice(self.id.as_bytes());
        if let Some(weight) = weight {
            out.put_u8(b' ');
            put_thousandths(out, weight);
        }
        out.put_u8(b'\n');
    }
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use proptest::prelude::*;

    use super::*;
    use crate::{Reply, Request};
    use evenkeel_model::ident::Ident;

    /// The request that the question stands for.
    fn request(question: &WeightQuestion<'_>) -> Request {
        let id = Ident::new(question.id.as_bytes(), question.id.as_bytes());
        match question.kind {
            Kind::Human => Request::Player(id),
            Kind::Bot => Request::Bot(id),
        }
    }

    /// A question must be what the grammar reads, and its answer what the grammar writes.
    fn check(line: &[u8], weight: Option<f64>) -> Result<(), TestCaseError> {
        let parsed = Request::parse(Bytes::copy_from_slice(line));
        let Some(question) = WeightQuestion::read(line) else {
            return Ok(());
        };
        prop_assert_eq!(parsed.clone(), Ok(Some(request(&question))));
        let Ok(Some(Request::Player(id) | Request::Bot(id))) = parsed else {
            return Err(TestCaseError::fail("no question"));
        };
        prop_assert_eq!(id.raw(), question.id.as_bytes());
        let reply = match (question.kind, weight) {
            (Kind::Human, weight) => Reply::Player(id, weight),
            (Kind::Bot, weight) => Reply::Bot(id, weight.unwrap_or(50.0)),
        };
        let weight = weight.or((question.kind == Kind::Bot).then_some(50.0));
        let (mut short, mut long) = (BytesMut::new(), BytesMut::new());
        question.answer(weight, &mut short);
        reply.encode(&mut long);
        prop_assert_eq!(short, long);
        Ok(())
    }

    proptest! {
        #[test]
        fn what_is_read_here_is_what_the_grammar_reads(
            verb in prop_oneof![
                Just(&b"PLAYER"[..]), Just(&b"bot"[..]), Just(&b"Player"[..]), Just(&b"PLAYERS"[..]),
                Just(&b" BOT"[..]), Just(&b"PING"[..]), Just(&b""[..]),
            ],
            blanks in prop_oneof![Just(&b" "[..]), Just(&b""[..]), Just(&b" \t "[..]), Just(&b"\x0c"[..])],
            rest in proptest::collection::vec(
                prop_oneof![Just(b' '), Just(b'"'), Just(b'\\'), Just(b'\t'), Just(0), Just(0xe9), b'a'..=b'z', any::<u8>()],
                0..12,
            ),
            weight in proptest::option::of(0.0f64..=100.0),
        ) {
            let line = [verb, blanks, &rest].concat();
            if !line.contains(&b'\n') {
                check(&line, weight)?;
            }
        }

        #[test]
        fn names_in_utf8_are_read_here(name in "[a-zé€]{1,8}( [a-zé€\"]{1,8}){0,2}") {
            for verb in ["PLAYER", "BOT"] {
                let line = format!("{verb} {name}");
                let question = WeightQuestion::read(line.as_bytes());
                prop_assert_eq!(question.map(|question| question.id), Some(name.as_str()));
                check(line.as_bytes(), Some(50.0))?;
            }
        }
    }

    #[test]
    fn the_right_that_questions_need_is_that_of_the_requests() {
        let id = Ident::from_text("a");
        for request in [Request::Player(id.clone()), Request::Bot(id)] {
            assert_eq!(request.demand(), WeightQuestion::DEMAND);
        }
    }
}
