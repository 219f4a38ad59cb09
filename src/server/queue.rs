//! One connection's part in the queues: the ticket that it has begun, and whether it listens.

use std::sync::Arc;

use crate::{
    coordinator,
    protocol::{Code, Notice, QueueRequest, Refusal, Reply},
    queues::{Draft, Heard, Listener, Queues, QueuesError},
    session::{Mailbox, MailboxError},
    tickets::TicketRefused,
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
            return Ok(Some(Reply::Queues(queues)));
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
        let ticket = match request {
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
        Ok(Some(Reply::Ticket(ticket.map_err(refusal)?)))
    }

    /// Listens for the name. Sent again, changes nothing.
    async fn listen(&mut self, owner: &str) -> Result<(), QueuesError> {
        if self.listens.as_deref() == Some(owner) {
            return Ok(());
        }
        let mailbox = self.mailbox.clone();
        let listener = Listener::new(move |notices| {
            let lines = notices.iter().flat_map(Notice::lines).collect();
            match mailbox.push_all(lines) {
                Ok(()) => Heard::Yes,
                Err(MailboxError::Full) => Heard::Full,
                Err(MailboxError::Closed) => Heard::Gone,
            }
        });
        self.queues.listen(owner, listener).await?;
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
