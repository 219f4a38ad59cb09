//! The replies to queue clients. Each kind is written and read in this file only.

use std::fmt;

use bytes::{Bytes, BytesMut};
use serde::{Deserialize, Serialize};

use super::{Parsed, Reply, dash_or, number, put_line, split_first};
use crate::words::{WordWriter, Words};
use evenkeel_model::ident::{Ident, decode};

/// A queue, as QUEUES lists it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
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
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
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
        /// By which ACCEPT and DECLINE name the match.
        id: i64,
        /// The client's id of the ticket.
        ticket: String,
        /// The time that is left to accept, in seconds.
        seconds: u32,
    },
    /// It is in a match.
    Matched {
        /// The match that was formed of it.
        id: i64,
        /// The client's id of the ticket.
        ticket: String,
    },
    /// It is in a match that an instance hosts.
    Go {
        /// The match that is hosted.
        id: i64,
        /// Where players connect.
        address: String,
        /// The pass and the identity of each player of the ticket; there is at least one.
        seats: Vec<(String, String)>,
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
    /// The text of the line; of several lines, the first.
    pub(crate) fn line(&self) -> String {
        match self {
            Self::Go { id, address, seats } => match seats.first() {
                Some((pass, player)) => go(*id, address, pass, player),
                None => String::new(),
            },
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
        let Self::Go { id, address, seats } = self else {
            out.extend_from_slice(self.line().as_bytes());
            out.extend_from_slice(b"\n");
            return;
        };
        let left = (0..seats.len()).rev();
        for ((pass, player), left) in seats.iter().zip(left) {
            let line = format!("{} {left}\n", go(*id, address, pass, player));
            out.extend_from_slice(line.as_bytes());
        }
    }

    /// Reads the line with this verb, and those after it; `None` if it is no reply about a ticket.
    pub(super) fn parse(verb: &[u8], rest: &Bytes, more: &[Bytes]) -> Option<Parsed> {
        if verb == b"GO" {
            return Some(calls(rest, more).map(Reply::Ticket));
        }
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

/// The text of a call: `GO <match> <address> <pass> <player>`.
pub(crate) fn go(id: i64, address: &str, pass: &str, player: &str) -> String {
    let mut out = BytesMut::new();
    let mut line = WordWriter::new(&mut out, "GO");
    line.plain(format_args!("{id} {address} {pass}"));
    line.word(&Ident::from_text(player));
    String::from_utf8_lossy(&out).into_owned()
}

/// The number of calls after this one, without the verb: its last argument.
pub(super) fn calls_after(rest: &[u8]) -> &[u8] {
    let space = rest.iter().rposition(|&b| b == b' ');
    space.map_or(b"", |at| &rest[at + 1..])
}

/// Calls, each with the number of those after it: `<match> <address> <pass> <player> <left>`.
fn calls(first: &Bytes, more: &[Bytes]) -> Parsed<TicketReply> {
    let (id, address, seat) = call(first.clone(), more.len())?;
    let mut seats = vec![seat];
    for (line, left) in more.iter().zip((0..more.len()).rev()) {
        let rest = line.strip_prefix(b"GO ").ok_or("not a call")?;
        let (of, at, seat) = call(line.slice_ref(rest), left)?;
        if of != id || at != address {
            return Err("calls to different matches");
        }
        seats.push(seat);
    }
    Ok(TicketReply::Go { id, address, seats })
}

fn call(line: Bytes, left: usize) -> Parsed<(i64, String, (String, String))> {
    let wrong = |_| "not a call";
    let mut words = Words::new(line);
    let id = number(&words.verb())?;
    let address = words.word("the address").map_err(wrong)?;
    let pass = words.word("the pass").map_err(wrong)?;
    let player = words.word("the player").map_err(wrong)?;
    let announced: usize = number(&words.verb())?;
    if announced != left || !words.is_empty() {
        return Err("a call lacks lines");
    }
    let text = |ident: Ident| ident.text().to_owned();
    Ok((id, text(address), (text(pass), text(player))))
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
