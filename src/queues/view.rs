//! What clients are sent of tickets and queues.

use crate::{
    domain::MatchId,
    lifecycle::{Lifecycle, Match, Reason, State, TicketRecord},
    protocol::{Notice, QueueLine, TicketReply},
};

/// The state of a ticket.
pub(super) fn ticket_reply(life: &Lifecycle, record: &TicketRecord) -> TicketReply {
    let ticket = record.ticket.id.clone();
    match record.state {
        State::Queued => {
            let waited = seconds(life.waited(record));
            let median = life.median_wait(&record.ticket.queue).map(seconds);
            TicketReply::Queued {
                ticket,
                waited,
                eta: median.map(|median| median.saturating_sub(waited)),
            }
        }
        State::Proposed(id) => {
            let until = life.formed(id).and_then(|formed| formed.open_until);
            let left = until.map_or(0, |until| until.0.saturating_sub(life.now().0));
            TicketReply::Proposed {
                id,
                ticket,
                seconds: seconds(left.saturating_add(999)),
            }
        }
        State::Hosted(id) => TicketReply::Matched { id, ticket },
        State::Called(id) | State::Matched(id) => {
            go(life, record, id).unwrap_or(TicketReply::Matched { id, ticket })
        }
        State::Cancelled => TicketReply::Cancelled(ticket),
        State::Expired => TicketReply::Expired(ticket),
    }
}

/// Where the players of a ticket connect: from the call on, as long as their passes are valid.
fn go(life: &Lifecycle, record: &TicketRecord, id: MatchId) -> Option<TicketReply> {
    let hosted = life.hosted(id).filter(|one| one.stage.is_called())?;
    let seat = |player: &String| Some((life.pass(id, player)?.clone(), player.clone()));
    let seats: Vec<_> = record.ticket.players.iter().filter_map(seat).collect();
    let address = hosted.address.clone()?;
    (!seats.is_empty()).then_some(TicketReply::Go { id, address, seats })
}

/// What the clients that listen are sent of a change of a ticket. With the call to a match in play that the
/// ticket joins, they are sent the match.
pub(super) fn notices(life: &Lifecycle, record: &TicketRecord) -> Vec<Notice> {
    let ticket = record.ticket.id.clone();
    let reply = ticket_reply(life, record);
    let formed = record.state.match_id().and_then(|id| life.formed(id));
    match (&reply, formed) {
        (TicketReply::Queued { .. }, _) => vec![Notice::Requeued {
            ticket,
            reason: record.reason.as_str().to_owned(),
        }],
        (TicketReply::Cancelled(_), _) if record.reason == Reason::Reconfigured => {
            vec![Notice::Reconfigured { ticket }]
        }
        (TicketReply::Matched { .. }, Some(formed)) => vec![matched(formed, ticket)],
        (TicketReply::Go { .. }, Some(formed)) if formed.is_later(record.number) => {
            let matched = matched(formed, ticket);
            vec![matched, Notice::State(reply)]
        }
        _ => vec![Notice::State(reply)],
    }
}

/// The match of a ticket, without the players who have left it in play.
fn matched(formed: &Match, ticket: String) -> Notice {
    let is_here = |player| formed.roster.is_none() || formed.has(player);
    let seats = formed.seats.iter().filter(|seat| is_here(&seat.player));
    Notice::Matched {
        id: formed.id,
        ticket,
        mode: formed.proposal.mode.clone(),
        map: formed.proposal.map.clone(),
        seats: seats.map(|seat| (seat.team, seat.player.clone())).collect(),
    }
}

/// How many tickets and players wait in a queue, and for how long.
pub(super) fn queue_line(life: &Lifecycle, name: &str) -> QueueLine {
    let (mut tickets, mut players) = (0, 0);
    for record in life.queued(name) {
        tickets += 1;
        players += record.ticket.players.len();
    }
    QueueLine {
        name: name.to_owned(),
        tickets,
        players,
        wait: life.median_wait(name).map(seconds),
    }
}

/// Whole seconds, rounded down.
pub(super) fn seconds(millis: i64) -> u32 {
    u32::try_from(millis.max(0) / 1_000).unwrap_or(u32::MAX)
}
