//! One connection's part in the queues: the ticket that it has begun, and whether it listens.

use std::sync::Arc;

use super::gate::not_allowed;
use crate::{
    matchmaking::lifecycle::{HostRefused, TicketRefused},
    model::ident::Ident,
    protocol::{Code, Refusal, Reply, request::QueueRequest},
    queues::{Draft, Queues, QueuesError},
    session::Mailbox,
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

    /// Handles a request of the client with this name. Only QUEUES needs no name.
    pub async fn answer(
        &mut self,
        name: Option<&str>,
        request: QueueRequest,
    ) -> Result<Option<Reply>, Refusal> {
        let owner = match name {
            None if request != QueueRequest::Queues => {
                return Err(not_allowed("say HELLO <name> first"));
            }
            name => name.unwrap_or_default(),
        };
        let queues = &self.queues;
        let reply = match request {
            QueueRequest::Queues => queues.list().await.map(Reply::Queues),
            QueueRequest::Enqueue { queue, ticket } => {
                self.draft = None;
                let draft = Draft::begin(queues, queue.text(), &ticket).map_err(refusal)?;
                self.draft = Some(draft);
                return Ok(None);
            }
            QueueRequest::Seat { player, stated } => return self.seat(&player, &stated),
            QueueRequest::Submit => {
                let draft = self.draft.as_ref().ok_or_else(no_draft)?;
                queues.submit(owner, draft).await.map(Reply::Ticket)
            }
            QueueRequest::Cancel(ticket) => queues.cancel(owner, &ticket).await.map(Reply::Ticket),
            QueueRequest::Ticket(ticket) => queues.ticket(owner, &ticket).await.map(Reply::Ticket),
            QueueRequest::Accept { id, player } => {
                let accepted = queues.answer(owner, id, player.text(), true).await;
                return accepted.map(|()| None).map_err(refusal);
            }
            QueueRequest::Decline { id, player } => {
                let declined = queues.answer(owner, id, player.text(), false).await;
                return declined.map(|()| None).map_err(refusal);
            }
            QueueRequest::Listen => {
                return self.listen(owner).await.map(|()| None).map_err(refusal);
            }
            QueueRequest::Explain(ticket) => {
                queues.explain(owner, &ticket).await.map(Reply::Explain)
            }
        };
        reply.map(Some).map_err(refusal)
    }

    fn seat(
        &mut self,
        player: &Ident,
        stated: &[(String, Ident)],
    ) -> Result<Option<Reply>, Refusal> {
        if player.is_nobody() {
            let why = "this id stands for players without an identity";
            return Err(Refusal::new(Code::BadArgument, why));
        }
        let draft = self.draft.as_mut().ok_or_else(no_draft)?;
        let stated = stated
            .iter()
            .map(|(name, value)| (name.as_str(), value.text()));
        draft.seat(player.text(), stated).map_err(refusal)?;
        Ok(None)
    }

    /// Listens for the name. Sent again, changes nothing.
    async fn listen(&mut self, owner: &str) -> Result<(), QueuesError> {
        if self.listens.as_deref() == Some(owner) {
            return Ok(());
        }
        self.queues.listen(owner, self.mailbox.clone()).await?;
        self.listens = Some(owner.to_owned());
        Ok(())
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
            TicketRefused::Full { .. } => Code::Overloaded,
        },
        QueuesError::Host(HostRefused::TooMany) => Code::Overloaded,
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
    Refusal::new(code, error.to_string())
}

fn no_draft() -> Refusal {
    not_allowed("send ENQUEUE first")
}
