//! One connection's part in the queues: the ticket that it has begun, and whether it listens.

use std::sync::Arc;

use crate::{
    coordinator,
    protocol::{Code, Notice, QueueLine, QueueRequest, Refusal, Reply, TicketReply},
    queues::{Draft, Heard, Listener, QueueSize, Queues, QueuesError, Standing, TicketView},
    session::{Mailbox, MailboxError},
    tickets::{Reason, TicketRefused},
};

/// A connection as a client of the queues.
#[derive(Debug)]
pub(super) struct QueueClient {
    queues: Arc<Queues>,
    mailbox: Mailbox,
    /// The ticket that ENQUEUE has begun; SUBMIT may be sent again.
    draft: Option<Draft>,
    /// The name for which this connection listens.
    listens: Option<String>,
}

impl QueueClient {
    /// A connection that has not sent anything yet. News of tickets goes to the mailbox.
    pub fn new(queues: Arc<Queues>, mailbox: Mailbox) -> Self {
        Self {
            queues,
            mailbox,
            draft: None,
            listens: None,
        }
    }

    /// Whether the connection gets pushes about tickets.
    pub fn listens(&self) -> bool {
        self.listens.is_some()
    }

    /// Handles a request of the client with this name.
    pub async fn answer(
        &mut self,
        name: Option<&str>,
        request: QueueRequest,
    ) -> Result<Option<Reply>, Refusal> {
        if request == QueueRequest::Queues {
            let queues = self.queues.list().await.map_err(refusal)?;
            return Ok(Some(Reply::Queues(queues.into_iter().map(line).collect())));
        }
        let owner = name.ok_or_else(|| not_allowed("say HELLO <name> first"))?;
        match request {
            QueueRequest::Seat { player, stated } => {
                if player.is_nobody() {
                    return Err(bad("this id stands for players without an identity"));
                }
                let draft = self.draft.as_mut().ok_or_else(no_draft)?;
                let stated = stated
                    .iter()
                    .map(|(name, value)| (name.as_str(), value.text()));
                draft.seat(player.text(), stated).map_err(refusal)?;
                Ok(None)
            }
            request => self.ask(owner, request).await,
        }
    }

    async fn ask(&mut self, owner: &str, request: QueueRequest) -> Result<Option<Reply>, Refusal> {
        let view = match request {
            QueueRequest::Enqueue { queue, ticket } => {
                self.draft = None;
                self.draft =
                    Some(Draft::begin(&self.queues, queue.text(), &ticket).map_err(refusal)?);
                return Ok(None);
            }
            QueueRequest::Submit => {
                let draft = self.draft.as_ref().ok_or_else(no_draft)?;
                self.queues.submit(owner, draft).await
            }
            QueueRequest::Cancel(ticket) => self.queues.cancel(owner, &ticket).await,
            QueueRequest::Ticket(ticket) => self.queues.ticket(owner, &ticket).await,
            QueueRequest::Accept { id, player } => {
                self.queues
                    .answer(owner, id, player.text(), true)
                    .await
                    .map_err(refusal)?;
                return Ok(None);
            }
            QueueRequest::Decline { id, player } => {
                self.queues
                    .answer(owner, id, player.text(), false)
                    .await
                    .map_err(refusal)?;
                return Ok(None);
            }
            QueueRequest::Listen => {
                self.listen(owner).await.map_err(refusal)?;
                return Ok(None);
            }
            QueueRequest::Explain(ticket) => {
                let reasons = self.queues.explain(owner, &ticket).await.map_err(refusal)?;
                return Ok(Some(Reply::Explain(reasons)));
            }
            QueueRequest::Queues | QueueRequest::Seat { .. } => return Ok(None),
        };
        Ok(Some(Reply::Ticket(state(&view.map_err(refusal)?))))
    }

    /// Listens for the name. Sent again, changes nothing.
    async fn listen(&mut self, owner: &str) -> Result<(), QueuesError> {
        if self.listens.as_deref() == Some(owner) {
            return Ok(());
        }
        let mailbox = self.mailbox.clone();
        let listener = Listener::new(move |view| match mailbox.push_all(lines(view)) {
            Ok(()) => Heard::Yes,
            Err(MailboxError::Full) => Heard::Full,
            Err(MailboxError::Closed) => Heard::Gone,
        });
        self.queues.listen(owner, listener).await?;
        self.listens = Some(owner.to_owned());
        Ok(())
    }
}

fn line(size: QueueSize) -> QueueLine {
    QueueLine {
        name: size.name,
        tickets: size.tickets,
        players: size.players,
        wait: size.wait,
    }
}

fn state(view: &TicketView) -> TicketReply {
    let ticket = view.ticket.clone();
    if let (Standing::Matched(id), Some(call)) = (view.standing, &view.call) {
        return TicketReply::Go {
            id,
            address: call.address.clone(),
            seats: call.seats.clone(),
        };
    }
    match view.standing {
        Standing::Queued { waited, eta } => TicketReply::Queued {
            ticket,
            waited,
            eta,
        },
        Standing::Proposed { id, left } => TicketReply::Proposed {
            id,
            ticket,
            seconds: left,
        },
        Standing::Matched(id) => TicketReply::Matched { id, ticket },
        Standing::Cancelled => TicketReply::Cancelled(ticket),
        Standing::Expired => TicketReply::Expired(ticket),
    }
}

/// The lines that a listening client is sent of a ticket. One that joins a match in play is sent the match
/// together with the call.
fn lines(view: &TicketView) -> Vec<String> {
    let mut lines = Vec::new();
    if view.joins && view.call.is_some() {
        let alone = TicketView {
            call: None,
            ..view.clone()
        };
        lines = notice(&alone).lines();
    }
    lines.extend(notice(view).lines());
    lines
}

/// What has happened to a ticket.
fn notice(view: &TicketView) -> Notice {
    match (view.standing, &view.formed) {
        (Standing::Queued { .. }, _) => Notice::Requeued {
            ticket: view.ticket.clone(),
            reason: view.reason.as_str(),
        },
        (Standing::Cancelled, _) if view.reason == Reason::Reconfigured => Notice::Reconfigured {
            ticket: view.ticket.clone(),
        },
        (Standing::Matched(id), Some(formed)) if view.call.is_none() => {
            let seats = formed
                .seats
                .iter()
                .map(|seat| (seat.team, seat.player.clone()));
            Notice::Matched {
                id,
                ticket: view.ticket.clone(),
                mode: formed.proposal.mode.clone(),
                map: formed.proposal.map.clone(),
                seats: seats.collect(),
            }
        }
        _ => Notice::State(state(view)),
    }
}

/// Converts an error of the queues for the peer.
pub fn refusal(error: QueuesError) -> Refusal {
    let code = match &error {
        QueuesError::Refused(refused) => match refused {
            TicketRefused::OtherContent | TicketRefused::NoQueue(_) | TicketRefused::NoTicket => {
                Code::BadArgument
            }
            TicketRefused::InAnother(_) | TicketRefused::InMatch(_) | TicketRefused::NoCheck => {
                Code::NotAllowed
            }
            TicketRefused::NotInMatch => Code::UnknownPlayer,
            TicketRefused::Full => Code::Overloaded,
        },
        QueuesError::Host(coordinator::HostRefused::TooMany) => Code::Overloaded,
        QueuesError::Host(_) => Code::NotAllowed,
        barred if barred.is_barred() => Code::NotAllowed,
        QueuesError::Ticket(_)
        | QueuesError::TooLarge
        | QueuesError::NoPartition(_)
        | QueuesError::Reconfigured => Code::BadArgument,
        QueuesError::NotWritten | QueuesError::NotRead => Code::Internal,
        QueuesError::Busy
        | QueuesError::NotReady
        | QueuesError::Moved
        | QueuesError::Elsewhere
        | QueuesError::OtherSettings(_)
        | QueuesError::Stopped => Code::Overloaded,
    };
    Refusal {
        code,
        text: error.to_string(),
    }
}

fn bad(text: &str) -> Refusal {
    Refusal {
        code: Code::BadArgument,
        text: text.to_owned(),
    }
}

fn not_allowed(text: &str) -> Refusal {
    Refusal {
        code: Code::NotAllowed,
        text: text.to_owned(),
    }
}

fn no_draft() -> Refusal {
    not_allowed("send ENQUEUE first")
}
