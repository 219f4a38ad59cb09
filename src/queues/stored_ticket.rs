//! The state of a ticket that another daemon owns, as the database has it.

use super::{
    Queues, QueuesError,
    view::{Seen, ticket_reply},
    wait_clock::WaitClock,
};
use crate::{
    matchmaking::lifecycle::{State, TicketRefused},
    protocol::TicketReply,
    store::{StoreError, StoredTicket},
};

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
        Ok(ticket_reply(&Seen {
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
