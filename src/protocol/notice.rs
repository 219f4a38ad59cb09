//! What a listening queue client is sent without a request.

use bytes::BytesMut;

use super::{TicketReply, words::WordWriter};
use crate::domain::Ident;

/// Something that has happened to a ticket. It is sent as one push, or as several in a row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Notice {
    /// The ticket's state, as TICKET replies it.
    State(TicketReply),
    /// The ticket is in a match, with these teams.
    Matched {
        /// The id of the match.
        id: i64,
        /// The client's id of the ticket.
        ticket: String,
        /// The mode of the match, if a rule of the queue picks one.
        mode: Option<String>,
        /// The map of the match, if a rule of the queue picks one.
        map: Option<String>,
        /// All players of the match, each with the team, counted from 0.
        seats: Vec<(u8, String)>,
    },
    /// The ticket has gone back to the queue.
    Requeued {
        /// The client's id of the ticket.
        ticket: String,
        /// Why, in one word.
        reason: &'static str,
    },
}

impl Notice {
    /// The texts of the pushes, in the order in which they are sent.
    pub fn lines(&self) -> Vec<String> {
        match self {
            Self::State(state) => vec![state.line()],
            Self::Requeued { ticket, reason } => vec![format!("REQUEUED {ticket} {reason}")],
            Self::Matched {
                id,
                ticket,
                mode,
                map,
                seats,
            } => {
                let head = text("MATCHED", |line| {
                    line.plain(format_args!("{id} {ticket}"));
                    put_pick(line, mode.as_deref());
                    put_pick(line, map.as_deref());
                    line.plain(seats.len());
                });
                let team = |(team, player): &(u8, String)| {
                    text("TEAM", |line| {
                        line.plain(format_args!("{id} {team}"));
                        line.word(&Ident::from_text(player));
                    })
                };
                std::iter::once(head)
                    .chain(seats.iter().map(team))
                    .collect()
            }
        }
    }
}

/// A dash stands for no mode or no map.
fn put_pick(line: &mut WordWriter<'_>, pick: Option<&str>) {
    match pick {
        Some(word) => line.word(&Ident::from_text(word)),
        None => line.plain('-'),
    }
}

fn text(verb: &str, put: impl FnOnce(&mut WordWriter<'_>)) -> String {
    let mut out = BytesMut::new();
    put(&mut WordWriter::new(&mut out, verb));
    String::from_utf8_lossy(&out).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_match_is_sent_with_its_teams() {
        let notice = Notice::Matched {
            id: 7,
            ticket: "t1".to_owned(),
            mode: Some("supremacy".to_owned()),
            map: None,
            seats: vec![(0, "ann".to_owned()), (1, "Boring \"John\"".to_owned())],
        };
        assert_eq!(
            notice.lines(),
            [
                "MATCHED 7 t1 supremacy - 2",
                "TEAM 7 0 ann",
                "TEAM 7 1 \"Boring \\\"John\\\"\""
            ]
        );
        let ticket = "t1".to_owned();
        let reason = "declined";
        assert_eq!(
            Notice::Requeued { ticket, reason }.lines(),
            ["REQUEUED t1 declined"]
        );
        let gone = Notice::State(TicketReply::Expired("t1".to_owned()));
        assert_eq!(gone.lines(), ["EXPIRED t1"]);
    }
}
