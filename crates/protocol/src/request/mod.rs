//! What a client can send: one row in the table of `verbs` per request.

mod arguments;
#[cfg(test)]
mod tests;
mod verbs;

use std::fmt;

use bytes::{Bytes, BytesMut};

pub use verbs::{HostRequest, QueueRequest, Request, Verb};

use super::{
    Code, Refusal,
    words::{WordWriter, Words},
};
use evenkeel_model::{
    access::{Rights, Secret},
    ident::Ident,
};

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
