//! What a client can send: one row in the table of `verbs` per request.

mod arguments;
#[cfg(test)]
mod tests;
mod verbs;

use std::fmt;

use bytes::{BufMut, Bytes, BytesMut};
use evenkeel_model::{
    Kind,
    access::{Rights, Secret},
    ident::Ident,
};

use super::{
    Code, Refusal,
    words::{WordWriter, Words, put_thousandths},
};

pub use verbs::{HostRequest, QueueRequest, Request, Verb};

/// What a client needs to ask for a weight.
pub(super) const WEIGHT_DEMAND: Demand = Demand {
    rights: verbs::ASK,
    charge: Charge::Line,
};

/// The arguments of JOIN. An absent option leaves the player's earlier value as it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Join {
    /// The identity of the human.
    pub id: Ident,
    /// The name to show for them.
    pub name: Option<Ident>,
    /// The party they belong to; an empty one ends it.
    pub party: Option<Ident>,
    /// The team they are on.
    pub team: Option<u8>,
    /// The team they must be put on; `Some(None)` (`pin=`) ends that.
    pub pin: Option<Option<u8>>,
    /// The players they should not be teamed with, in place of those named before. An empty list
    /// (`avoid=`) ends it.
    pub avoid: Option<Vec<Ident>>,
    /// The team on which they would like to be; `Some(None)` (`wish=`) takes that back.
    pub wish: Option<Option<u8>>,
}

impl Join {
    /// JOIN of this human without options.
    pub fn new(id: Ident) -> Self {
        Self {
            id,
            name: None,
            party: None,
            team: None,
            pin: None,
            avoid: None,
            wish: None,
        }
    }
}

/// The token of HELLO, in the bytes that are sent. `Debug` does not show it.
#[derive(Clone, PartialEq, Eq)]
pub struct Token(Box<str>);

impl Token {
    /// The token of this text.
    pub fn new(text: &str) -> Self {
        Self(text.into())
    }

    /// The digest to compare with the configured one.
    pub fn secret(&self) -> Secret {
        Secret::of(&self.0)
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token")
    }
}

/// When a request that is not refused has a reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReplyRule {
    /// The server always sends exactly one reply.
    Always,
    /// The server sends one reply or none.
    Sometimes,
    /// The server never replies, except to refuse the request.
    Never,
}

/// What the daemon demands of a client before it carries out a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Demand {
    /// The client must have one of these rights; none is needed if this is empty.
    pub rights: Rights,
    /// As what the request counts for the limits.
    pub charge: Charge,
}

/// As what a request counts for the limits of a client, besides being a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Charge {
    /// Only a line.
    Line,
    /// A decision: the daemon searches for teams, or stores how it chose.
    Decision,
    /// A report: the daemon stores what the line says.
    Report,
}

/// The row of a request in the table of verbs, without its arguments.
struct VerbRow {
    verb: Verb,
    demand: Demand,
    reply: ReplyRule,
}

impl Verb {
    /// The verb with this word, in any case.
    fn parse(word: &[u8]) -> Option<Self> {
        let is_it = |verb: &Self| verb.as_str().as_bytes().eq_ignore_ascii_case(word);
        Self::ALL.iter().copied().find(is_it)
    }
}

impl Request {
    /// Reads one line; `None` if it is blank.
    ///
    /// # Errors
    /// `unknown-command` if the first word is no verb, `bad-argument` if its arguments are wrong or too many.
    pub fn parse(line: Bytes) -> Result<Option<Self>, Refusal> {
        let mut words = Words::new(line);
        if words.is_empty() {
            return Ok(None);
        }
        let word = words.verb();
        let request = match Verb::parse(&word) {
            // With a ticket, it is a request about that.
            Some(Verb::Explain) if words.is_empty() => Some(Self::Explain),
            Some(verb) => Self::read(verb, &mut words)?,
            None => None,
        };
        let request = request.ok_or_else(|| unknown(&word))?;
        words.end()?;
        Ok(Some(request))
    }

    /// Appends the request's line. Identifiers are quoted where they need it.
    ///
    /// [`Request::parse`] reads the same request back if its values are within the protocol's limits:
    /// non-empty identifiers without line feeds, and numbers in the ranges that it accepts.
    pub fn encode(&self, out: &mut BytesMut) {
        let mut line = WordWriter::new(out, self.verb().as_str());
        self.put_arguments(&mut line);
        line.end();
    }

    /// The verb of the request.
    pub fn verb(&self) -> Verb {
        self.rule().verb
    }

    /// When this request has a reply. Any request may be refused instead.
    pub fn reply_rule(&self) -> ReplyRule {
        self.rule().reply
    }

    /// What a client needs for this request.
    pub fn demand(&self) -> Demand {
        let demand = self.rule().demand;
        match self {
            Self::Hello { hosts: Some(_), .. } => Demand {
                rights: verbs::INSTANCE,
                ..demand
            },
            _ => demand,
        }
    }

    /// The player for whom a client of the queues sends this. Tickets belong to the client that submitted them anyway.
    pub fn speaks_for(&self) -> Option<&Ident> {
        let Self::Queue(request) = self else {
            return None;
        };
        match request {
            QueueRequest::Seat { player, .. }
            | QueueRequest::Accept { player, .. }
            | QueueRequest::Decline { player, .. } => Some(player),
            QueueRequest::Queues
            | QueueRequest::Enqueue { .. }
            | QueueRequest::Submit
            | QueueRequest::Cancel(_)
            | QueueRequest::Ticket(_)
            | QueueRequest::Listen
            | QueueRequest::Explain(_) => None,
        }
    }
}

/// Refuses an unknown verb. The reply repeats as much of it as a line has room for.
fn unknown(verb: &[u8]) -> Refusal {
    let shown = verb[..verb.len().min(32)].escape_ascii();
    Refusal::new(Code::UnknownCommand, shown.to_string())
}

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
mod question_tests {
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
