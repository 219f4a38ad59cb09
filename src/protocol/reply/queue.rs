//! The replies to queue clients. Each kind is written and read in this file only.

use std::fmt;

use bytes::{Bytes, BytesMut};

use super::{
    Reply,
    grammar::{Parsed, dash_or, number, put_line, split_first},
};
use crate::domain::decode;

/// A queue, as QUEUES lists it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueueLine {
    /// The name of the queue.
    pub name: String,
    /// Number of tickets that wait.
    pub tickets: usize,
    /// Number of players in them.
    pub players: usize,
    /// The median wait of the last matched tickets, in seconds; `None` before the first match.
    pub wait: Option<u32>,
}

/// The state of a ticket.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TicketReply {
    /// The ticket waits in its queue.
    Queued {
        /// The client's id of the ticket.
        ticket: String,
        /// How long it has waited, in seconds.
        waited: u32,
        /// How much longer it is expected to wait, in seconds; `None` if that is unknown.
        eta: Option<u32>,
    },
    /// Its players can accept a match.
    Proposed {
        /// The id of the match.
        id: i64,
        /// The client's id of the ticket.
        ticket: String,
        /// The time that is left to accept, in seconds.
        seconds: u32,
    },
    /// It is in a match.
    Matched {
        /// The id of the match.
        id: i64,
        /// The client's id of the ticket.
        ticket: String,
    },
    /// It has left the queue.
    Cancelled(String),
    /// It has waited for too long.
    Expired(String),
}

/// Formats a number or, for `None`, a dash.
struct Dash(Option<u32>);

impl fmt::Display for Dash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(number) => number.fmt(f),
            None => f.write_str("-"),
        }
    }
}

impl TicketReply {
    /// The text of the line.
    pub(in crate::protocol) fn line(&self) -> String {
        match self {
            Self::Queued {
                ticket,
                waited,
                eta,
            } => format!("QUEUED {ticket} {waited} {}", Dash(*eta)),
            Self::Proposed {
                id,
                ticket,
                seconds,
            } => format!("PROPOSED {id} {ticket} {seconds}"),
            Self::Matched { id, ticket } => format!("MATCHED {id} {ticket}"),
            Self::Cancelled(ticket) => format!("CANCELLED {ticket}"),
            Self::Expired(ticket) => format!("EXPIRED {ticket}"),
        }
    }

    pub(super) fn encode(&self, out: &mut BytesMut) {
        out.extend_from_slice(self.line().as_bytes());
        out.extend_from_slice(b"\n");
    }

    /// Reads the line with this verb; `None` if it is no reply about a ticket.
    pub(super) fn parse(verb: &[u8], rest: &[u8]) -> Option<Parsed> {
        let parsed = match verb {
            b"QUEUED" => queued(rest),
            b"PROPOSED" => proposed(rest),
            b"MATCHED" => matched(rest),
            b"CANCELLED" => word(rest).map(Self::Cancelled),
            b"EXPIRED" => word(rest).map(Self::Expired),
            _ => return None,
        };
        Some(parsed.map(Reply::Ticket))
    }
}

fn word(text: &[u8]) -> Parsed<String> {
    match text.is_empty() || text.contains(&b' ') {
        true => Err("not one word"),
        false => Ok(decode(text).into_owned()),
    }
}

fn queued(rest: &[u8]) -> Parsed<TicketReply> {
    let (ticket, rest) = split_first(rest);
    let (waited, eta) = split_first(rest);
    Ok(TicketReply::Queued {
        ticket: word(ticket)?,
        waited: number(waited)?,
        eta: dash_or(eta, number)?,
    })
}

fn proposed(rest: &[u8]) -> Parsed<TicketReply> {
    let (id, rest) = split_first(rest);
    let (ticket, seconds) = split_first(rest);
    Ok(TicketReply::Proposed {
        id: number(id)?,
        ticket: word(ticket)?,
        seconds: number(seconds)?,
    })
}

fn matched(rest: &[u8]) -> Parsed<TicketReply> {
    let (id, ticket) = split_first(rest);
    Ok(TicketReply::Matched {
        id: number(id)?,
        ticket: word(ticket)?,
    })
}

/// `QUEUES <lines>`, then `QUEUE <name> <tickets> <players> <wait>` for each.
pub(super) fn put_queues(out: &mut BytesMut, queues: &[QueueLine]) {
    put_line(out, "QUEUES", queues.len());
    for queue in queues {
        let QueueLine {
            name,
            tickets,
            players,
            wait,
        } = queue;
        let text = format_args!("{name} {tickets} {players} {}", Dash(*wait));
        put_line(out, "QUEUE", text);
    }
}

pub(super) fn parse_queues(lines: &[Bytes]) -> Parsed {
    let queue = |line: &Bytes| {
        let (b"QUEUE", rest) = split_first(line) else {
            return Err("not a queue");
        };
        let (name, rest) = split_first(rest);
        let (tickets, rest) = split_first(rest);
        let (players, wait) = split_first(rest);
        Ok(QueueLine {
            name: word(name)?,
            tickets: number(tickets)?,
            players: number(players)?,
            wait: dash_or(wait, number)?,
        })
    };
    let queues = lines.iter().map(queue).collect::<Parsed<_>>()?;
    Ok(Reply::Queues(queues))
}
