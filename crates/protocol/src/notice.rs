//! What queue clients that listen, and instances, are sent without a request.

use bytes::BytesMut;
use serde::{Deserialize, Serialize};

use super::{TicketReply, reply::go, writer::WordWriter};
use evenkeel_model::Ident;

/// Something that has happened to a ticket. It is sent as one push, or as several in a row.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Notice {
    /// The ticket's state, as TICKET replies it.
    State(TicketReply),
    /// The ticket is in a match, with these teams.
    Matched {
        /// The match that was formed of it.
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
    /// The ticket has left the queue, because the configuration has changed.
    Reconfigured {
        /// The client's id of the ticket.
        ticket: String,
    },
    /// The ticket has gone back to the queue.
    Requeued {
        /// The client's id of the ticket.
        ticket: String,
        /// Why, in one word.
        reason: String,
    },
}

impl Notice {
    /// The texts of the pushes, in the order in which they are sent.
    pub fn lines(&self) -> Vec<String> {
        match self {
            Self::State(TicketReply::Go { id, address, seats }) => seats
                .iter()
                .map(|(pass, player)| go(*id, address, pass, player))
                .collect(),
            Self::State(state) => vec![state.line()],
            Self::Reconfigured { ticket } => vec![format!("CANCELLED {ticket} reconfigured")],
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

/// What an instance is sent without a request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum HostNotice {
    /// The instance is asked to host a match.
    Session(HostSession),
    /// The game of a match in play gets these players.
    Admit(Vec<HostSeat>),
    /// These players, whom the game was to get, do not come.
    Dismiss(Vec<String>),
    /// The instance does not host the match any more.
    Close {
        /// The match that it hosts no longer.
        id: i64,
        /// Why, in one word.
        why: String,
    },
}

/// A match that an instance is asked to host.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostSession {
    /// By which READY, REFUSE and BACKFILL name the match.
    pub id: i64,
    /// The queue that formed it.
    pub queue: String,
    /// The mode of the match, if it has one.
    pub mode: Option<String>,
    /// The map of the match, if it has one.
    pub map: Option<String>,
    /// All players, with their teams and passes.
    pub seats: Vec<HostSeat>,
}

/// A player whom an instance expects.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostSeat {
    /// The player's identity.
    pub player: String,
    /// The team, counted from 0.
    pub team: u8,
    /// The pass that the player shows; empty if passes are void.
    pub pass: String,
    /// The player's party, if it has other players.
    pub party: Option<String>,
}

impl HostNotice {
    /// The texts of the pushes, in the order in which they are sent.
    pub fn lines(&self) -> Vec<String> {
        match self {
            Self::Admit(seats) => seats.iter().map(join).collect(),
            Self::Dismiss(players) => players
                .iter()
                .map(|player| text("LEAVE", |line| line.word(&Ident::from_text(player))))
                .collect(),
            Self::Close { id, why } => vec![format!("CLOSE {id} {why}")],
            Self::Session(session) => {
                let head = text("SESSION", |line| {
                    line.plain(format_args!("{} {}", session.id, session.queue));
                    put_pick(line, session.mode.as_deref());
                    put_pick(line, session.map.as_deref());
                    line.plain(session.seats.len());
                });
                let seats = session.seats.iter().map(join);
                std::iter::once(head).chain(seats).collect()
            }
        }
    }
}

/// The push about a player whom the instance expects.
fn join(seat: &HostSeat) -> String {
    text("JOIN", |line| {
        line.word(&Ident::from_text(&seat.player));
        line.plain(format_args!("team={} pass={}", seat.team, seat.pass));
        if let Some(party) = &seat.party {
            line.option("party", &Ident::from_text(party));
        }
    })
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
        let reason = "declined".to_owned();
        assert_eq!(
            Notice::Requeued { ticket, reason }.lines(),
            ["REQUEUED t1 declined"]
        );
        let gone = Notice::State(TicketReply::Expired("t1".to_owned()));
        assert_eq!(gone.lines(), ["EXPIRED t1"]);
        let seat = |pass: &str, player: &str| (pass.to_owned(), player.to_owned());
        let go = Notice::State(TicketReply::Go {
            id: 7,
            address: "h:1".to_owned(),
            seats: vec![seat("x", "ann"), seat("y", "Boring John")],
        });
        assert_eq!(go.lines(), ["GO 7 h:1 x ann", "GO 7 h:1 y \"Boring John\""]);
    }

    #[test]
    fn an_instance_is_sent_its_players() {
        let seat = |player: &str, team, party: Option<&str>| HostSeat {
            player: player.to_owned(),
            team,
            pass: "x".to_owned(),
            party: party.map(str::to_owned),
        };
        let session = HostNotice::Session(HostSession {
            id: 7,
            queue: "regular".to_owned(),
            mode: None,
            map: Some("mines".to_owned()),
            seats: vec![seat("ann", 0, Some("3")), seat("Boring John", 1, None)],
        });
        assert_eq!(
            session.lines(),
            [
                "SESSION 7 regular - mines 2",
                "JOIN ann team=0 pass=x party=3",
                "JOIN \"Boring John\" team=1 pass=x"
            ]
        );
        let why = "lost".to_owned();
        let close = HostNotice::Close { id: 7, why };
        assert_eq!(close.lines(), ["CLOSE 7 lost"]);
    }
}
