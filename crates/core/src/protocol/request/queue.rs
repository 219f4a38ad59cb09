//! The requests of queue clients. Each verb is read and written only in this file.

use super::{ReplyRule, Verb};
use crate::{
    domain::Ident,
    protocol::{
        Refusal,
        words::{WordWriter, Words, bad},
    },
};

/// The longest id of a ticket, in bytes.
const MAX_TICKET_ID: usize = 64;
/// The largest id of a match.
const MAX_MATCH: u64 = i64::MAX as u64;

/// One command of a queue client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum QueueRequest {
    /// Asks for the configured queues.
    Queues,
    /// Begins a ticket.
    Enqueue {
        /// The name of the queue.
        queue: Ident,
        /// The client's own id of the ticket.
        ticket: String,
    },
    /// Adds a player, or more attributes of one, to the ticket that was begun.
    Seat {
        /// The identity of the player.
        player: Ident,
        /// What the player states: names in lower case, and values.
        stated: Vec<(String, Ident)>,
    },
    /// Puts the ticket that was begun into its queue.
    Submit,
    /// Takes a ticket out of the queue.
    Cancel(String),
    /// Asks for the state of a ticket.
    Ticket(String),
    /// A player accepts a match.
    Accept {
        /// The id of the match.
        id: i64,
        /// The identity of the player.
        player: Ident,
    },
    /// A player declines a match.
    Decline {
        /// The id of the match.
        id: i64,
        /// The identity of the player.
        player: Ident,
    },
    /// Asks for pushes about all tickets of the client's name.
    Listen,
    /// Asks why a ticket still waits.
    Explain(String),
}

impl QueueRequest {
    /// Reads the arguments of a verb in upper case; `None` if no queue client sends that verb.
    pub(super) fn parse(verb: &[u8], words: &mut Words) -> Result<Option<Self>, Refusal> {
        Ok(Some(match verb {
            b"QUEUES" => Self::Queues,
            b"ENQUEUE" => Self::Enqueue {
                queue: words.word("the queue")?,
                ticket: ticket(words)?,
            },
            b"SEAT" => seat(words)?,
            b"SUBMIT" => Self::Submit,
            b"CANCEL" => Self::Cancel(ticket(words)?),
            b"TICKET" => Self::Ticket(ticket(words)?),
            b"ACCEPT" => Self::Accept {
                id: id(words)?,
                player: words.word("the player")?,
            },
            b"DECLINE" => Self::Decline {
                id: id(words)?,
                player: words.word("the player")?,
            },
            b"LISTEN" => Self::Listen,
            b"EXPLAIN" if !words.is_empty() => Self::Explain(ticket(words)?),
            _ => return Ok(None),
        }))
    }

    /// The verb, as it is sent.
    pub(super) fn verb(&self) -> Verb {
        match self {
            Self::Queues => Verb::Queues,
            Self::Enqueue { .. } => Verb::Enqueue,
            Self::Seat { .. } => Verb::Seat,
            Self::Submit => Verb::Submit,
            Self::Cancel(_) => Verb::Cancel,
            Self::Ticket(_) => Verb::Ticket,
            Self::Accept { .. } => Verb::Accept,
            Self::Decline { .. } => Verb::Decline,
            Self::Listen => Verb::Listen,
            Self::Explain(_) => Verb::Explain,
        }
    }

    /// When this request has a reply.
    pub(super) fn reply_rule(&self) -> ReplyRule {
        match self {
            Self::Queues | Self::Submit | Self::Cancel(_) | Self::Ticket(_) | Self::Explain(_) => {
                ReplyRule::Always
            }
            Self::Enqueue { .. }
            | Self::Seat { .. }
            | Self::Accept { .. }
            | Self::Decline { .. }
            | Self::Listen => ReplyRule::Never,
        }
    }

    pub(super) fn put_arguments(&self, line: &mut WordWriter<'_>) {
        match self {
            Self::Queues | Self::Submit | Self::Listen => {}
            Self::Enqueue { queue, ticket } => {
                line.word(queue);
                line.plain(ticket);
            }
            Self::Seat { player, stated } => {
                line.word(player);
                for (name, value) in stated {
                    line.option(name, value);
                }
            }
            Self::Cancel(ticket) | Self::Ticket(ticket) | Self::Explain(ticket) => {
                line.plain(ticket);
            }
            Self::Accept { id, player } | Self::Decline { id, player } => {
                line.plain(id);
                line.word(player);
            }
        }
    }
}

/// An id of a ticket: visible ASCII characters without quotes and backslashes, so that it never
/// needs quotes.
fn ticket(words: &mut Words) -> Result<String, Refusal> {
    let ticket = words.word("the ticket")?;
    let text = ticket.text();
    let plain = |b: u8| b.is_ascii_graphic() && !matches!(b, b'"' | b'\\');
    if text.len() <= MAX_TICKET_ID && text.bytes().all(plain) {
        return Ok(text.to_owned());
    }
    Err(bad(format!(
        "the ticket's id must be 1 to {MAX_TICKET_ID} visible ASCII characters without quotes and backslashes"
    )))
}

fn seat(words: &mut Words) -> Result<QueueRequest, Refusal> {
    let player = words.word("the player")?;
    let mut stated = Vec::new();
    while let Some(option) = words.option()? {
        stated.push(option);
    }
    Ok(QueueRequest::Seat { player, stated })
}

fn id(words: &mut Words) -> Result<i64, Refusal> {
    let id = words.number("the match", 1, MAX_MATCH)?;
    i64::try_from(id).map_err(|_| bad("the match is out of range".to_owned()))
}

/// Reads one line for tests.
#[cfg(test)]
fn read(line: &'static str) -> Result<Option<QueueRequest>, Refusal> {
    let mut words = Words::new(line.as_bytes().into());
    let verb = words.verb().to_ascii_uppercase();
    let request = QueueRequest::parse(&verb, &mut words)?;
    words.end()?;
    Ok(request)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tickets_have_plain_ids_and_players_any() {
        let request = read("seat \"Boring John\" tier=8 MAPS=a maps=\"b c\" ping.eu=32");
        let Ok(Some(QueueRequest::Seat { player, stated })) = request else {
            panic!("{request:?}");
        };
        assert_eq!(player.text(), "Boring John");
        let stated: Vec<_> = stated
            .iter()
            .map(|(name, value)| (name.as_str(), value.text()))
            .collect();
        assert_eq!(
            stated,
            [
                ("tier", "8"),
                ("maps", "a"),
                ("maps", "b c"),
                ("ping.eu", "32")
            ]
        );
        let accept = QueueRequest::Accept {
            id: 7,
            player: Ident::from_text("ann"),
        };
        assert_eq!(read("ACCEPT 7 ann"), Ok(Some(accept)));
        assert_eq!(read("EXPLAIN"), Ok(None));
        let id = "t".repeat(MAX_TICKET_ID);
        for good in ["t", "a-1:b/c=#", &id] {
            assert!(super::super::Request::parse(format!("CANCEL {good}").into()).is_ok());
        }
        for bad in [
            "ENQUEUE q",
            "ENQUEUE q t u",
            "ENQUEUE q \"a b\"",
            "CANCEL t\\u",
            "CANCEL \u{e4}",
            "SEAT",
            "SEAT p tier",
            "SEAT p =8",
            "ACCEPT 0 p",
            "ACCEPT -1 p",
            "ACCEPT 9223372036854775808 p",
            "ACCEPT 7",
            "DECLINE x p",
            "TICKET",
            "EXPLAIN a b",
            "LISTEN now",
        ] {
            assert!(read(bad).is_err(), "{bad}");
        }
    }
}
