//! What clients are sent of tickets and queues, and the connections that have sent LISTEN, by the name of their
//! client. The state of a ticket that another daemon owns comes from the database.

use std::collections::BTreeMap;

use super::{Queues, QueuesError, WaitClock};
use crate::{
    matchmaking::lifecycle::{Lifecycle, Match, Reason, State, TicketRecord, TicketRefused},
    model::{Timestamp, record::MatchId},
    protocol::{
        push::Notice,
        reply::{QueueLine, TicketReply},
    },
    session::{Mailbox, MailboxError},
    store::{StoreError, StoredTicket},
};

/// A ticket, and what else matters for what its client is sent.
pub(super) struct SeenTicket<'a> {
    pub record: &'a TicketRecord,
    /// The match that it is in, with its hosting, as long as that is kept.
    pub in_match: Option<&'a Match>,
    pub now: Timestamp,
    /// The median wait of its queue's last matches, in milliseconds.
    pub median: Option<i64>,
}

impl<'a> SeenTicket<'a> {
    /// A ticket of a partition that this daemon runs.
    pub fn of(life: &'a Lifecycle, record: &'a TicketRecord) -> Self {
        let id = record.state.match_id();
        Self {
            record,
            in_match: id.and_then(|id| life.formed(id).or_else(|| life.hosted(id))),
            now: life.now(),
            median: match record.state {
                State::Queued => life.median_wait(&record.ticket.queue),
                _ => None,
            },
        }
    }

    /// The match, while any of its tickets is kept.
    fn formed(&self) -> Option<&'a Match> {
        self.in_match.filter(|one| !one.seats.is_empty())
    }
}

/// The state of a ticket.
pub(super) fn ticket_reply(seen: &SeenTicket<'_>) -> TicketReply {
    let record = seen.record;
    let ticket = record.ticket.id.clone();
    match record.state {
        State::Queued => {
            let waited = seconds(seen.now.0.saturating_sub(record.submitted_at.0));
            TicketReply::Queued {
                ticket,
                waited,
                eta: seen
                    .median
                    .map(|median| seconds(median).saturating_sub(waited)),
            }
        }
        State::Proposed(id) => {
            let until = seen.formed().and_then(|formed| formed.open_until);
            let left = until.map_or(0, |until| until.0.saturating_sub(seen.now.0));
            TicketReply::Proposed {
                id,
                ticket,
                seconds: seconds(left.saturating_add(999)),
            }
        }
        State::Hosted(id) => TicketReply::Matched { id, ticket },
        State::Called(id) | State::Matched(id) => {
            go(seen, id).unwrap_or(TicketReply::Matched { id, ticket })
        }
        State::Cancelled => TicketReply::Cancelled(ticket),
        State::Expired => TicketReply::Expired(ticket),
    }
}

/// Where the players of a ticket connect: from the call on, as long as their passes are valid.
fn go(seen: &SeenTicket<'_>, id: MatchId) -> Option<TicketReply> {
    let hosted = seen.in_match.filter(|one| one.stage.is_called())?;
    let seat = |player: &String| Some((hosted.pass(player, seen.now)?.clone(), player.clone()));
    let players = &seen.record.ticket.players;
    let seats: Vec<_> = players.iter().filter_map(seat).collect();
    let address = hosted.address.clone()?;
    (!seats.is_empty()).then_some(TicketReply::Go { id, address, seats })
}

/// What the clients that listen are sent of a change of a ticket. With the call to a match in play that the
/// ticket joins, they are sent the match.
pub(super) fn notices(seen: &SeenTicket<'_>) -> Vec<Notice> {
    let record = seen.record;
    let ticket = record.ticket.id.clone();
    let reply = ticket_reply(seen);
    match (&reply, seen.formed()) {
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

/// The match of a ticket whose client is sent the call to it, and has not been sent the match before.
pub(super) fn match_before_call(seen: &SeenTicket<'_>) -> Option<Notice> {
    let formed = seen.formed()?;
    let is_called = matches!(seen.record.state, State::Called(_));
    let comes_alone = is_called && !formed.is_later(seen.record.number);
    comes_alone.then(|| matched(formed, seen.record.ticket.id.clone()))
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

/// The listening connections of all names.
#[derive(Debug, Default)]
pub(super) struct NamedListeners(BTreeMap<String, Vec<Mailbox>>);

impl NamedListeners {
    pub fn add(&mut self, owner: String, mailbox: Mailbox) {
        self.0.entry(owner).or_default().push(mailbox);
    }

    /// The names for which connections listen.
    pub fn owners(&self) -> Vec<String> {
        self.0.keys().cloned().collect()
    }

    /// Sends a change of a ticket of this client to the connections that listen for it.
    ///
    /// # Errors
    /// Fails if none takes it: their clients read too slowly, or they have ended.
    pub fn hear(&mut self, owner: &str, notices: &[Notice]) -> Result<(), MailboxError> {
        let mut heard = Err(MailboxError::Closed);
        let Some(mailboxes) = self.0.get_mut(owner) else {
            return heard;
        };
        mailboxes.retain(|mailbox| {
            let lines = notices.iter().flat_map(Notice::lines).collect();
            let now = mailbox.push_all(lines);
            let is_open = now != Err(MailboxError::Closed);
            if heard.is_err() && is_open {
                heard = now;
            }
            is_open
        });
        if mailboxes.is_empty() {
            self.0.remove(owner);
        }
        heard
    }

    /// Sends all changes of tickets, which are on disk, to the connections that listen for their client. A
    /// change that no connection takes is kept, and is sent the next time.
    pub fn send_changes(&mut self, life: &mut Lifecycle) {
        let unsent = |owner: &&String| !life.unsent(owner).is_empty();
        let owners: Vec<String> = self.0.keys().filter(unsent).cloned().collect();
        for owner in owners {
            for number in life.unsent(&owner) {
                let Some(record) = life.ticket(number) else {
                    continue;
                };
                let notices = notices(&SeenTicket::of(life, record));
                if self.hear(&owner, &notices).is_err() {
                    break;
                }
                life.sent(number);
            }
        }
    }
}

impl Queues {
    /// What the ticket's client is answered.
    pub(super) async fn stored_ticket(
        &self,
        owner: &str,
        id: &str,
    ) -> Result<TicketReply, QueuesError> {
        let found = self.shared.store.queues().stored_ticket(owner, id).await;
        let reply = match found {
            Ok(None) => return Err(TicketRefused::NoTicket.into()),
            Ok(Some(stored)) => self.reply(&stored).await,
            Err(error) => Err(error),
        };
        reply.map_err(|error| {
            tracing::error!(%error, "a ticket cannot be read");
            QueuesError::NotRead
        })
    }

    async fn reply(&self, stored: &StoredTicket) -> Result<TicketReply, StoreError> {
        let shared = &self.shared;
        let clock = WaitClock::new(shared).of_database(shared).await?;
        let ticket = &stored.ticket;
        Ok(ticket_reply(&SeenTicket {
            record: ticket,
            in_match: stored.in_match.as_ref(),
            now: clock.now(shared),
            median: match ticket.state {
                State::Queued => {
                    shared
                        .store
                        .queues()
                        .median_wait(&ticket.ticket.queue)
                        .await?
                }
                _ => None,
            },
        }))
    }
}
