//! Which partition a call is for.

use tokio::sync::oneshot;

use super::{
    Queues, QueuesError,
    call::{Answer, Ask, Call, Outcome, ReplyTo},
    host_ask::HostAsk,
};
use crate::{
    domain::MatchId,
    lifecycle::{HostRefused, TicketRefused},
    matchmaking::MAIN_PARTITION,
    store::StoreError,
};

/// How the partition of a call is found.
#[derive(Debug, PartialEq)]
enum Place {
    /// It is named.
    Named(String),
    /// It is that of the client's ticket with this id; if there is none, the named one.
    Ticket(String, String, Option<String>),
    /// It is that of a match.
    Match(MatchId),
    /// It is that of the client's ticket with this id, or else of the match.
    Either(String, String),
}

impl Place {
    fn of(ask: &Ask) -> Self {
        let named = |name: Option<&str>| Self::Named(name.unwrap_or(MAIN_PARTITION).to_owned());
        match ask {
            Ask::Submit(queue, ticket) => {
                let partition = queue.as_ref().map(|one| one.settings().partition.clone());
                Self::Ticket(ticket.owner.clone(), ticket.id.clone(), partition)
            }
            Ask::Cancel(owner, id) | Ask::Ticket(owner, id) => {
                Self::Ticket(owner.clone(), id.clone(), None)
            }
            Ask::Explain(owner, id) => Self::Either(owner.clone(), id.clone()),
            Ask::Answer { id, .. } => Self::Match(*id),
            Ask::List | Ask::Listen(_) | Ask::Configure(_) => named(None),
            Ask::Host(ask) => match ask {
                HostAsk::Join(offer, _) => named(offer.partition.as_deref()),
                HostAsk::Load(_, _, partition) => named(partition.as_deref()),
                HostAsk::Refuse(_, id)
                | HostAsk::Began(_, id)
                | HostAsk::Ended(id)
                | HostAsk::GaveUp(id)
                | HostAsk::Ready { id, .. }
                | HostAsk::Opened { id, .. }
                | HostAsk::Allocated { id, .. }
                | HostAsk::Roster { id, .. }
                | HostAsk::Seek { id, .. }
                | HostAsk::SendAway { id, .. }
                | HostAsk::Arrived { id, .. } => Self::Match(*id),
            },
        }
    }
}

impl Queues {
    /// Asks the partition that the call is for.
    pub(super) async fn ask(&self, ask: Ask) -> Outcome {
        let parts = &self.shared.parts;
        if let Ask::Host(HostAsk::Join(offer, _)) = &ask {
            let partition = offer.partition.as_deref().unwrap_or(MAIN_PARTITION);
            let all = self.shared.partitions();
            if !(all.is_empty() || all.contains(partition)) {
                return Err(QueuesError::NoPartition(partition.to_owned()));
            }
        }
        let partition = match (parts.only(), Place::of(&ask)) {
            // An instance may ask for another partition than the only one.
            (Some(only), place) if !matches!(place, Place::Named(_)) => Some(only),
            (_, place) => self.find(place).await.map_err(|error| {
                tracing::error!(%error, "the partition of a call cannot be read");
                QueuesError::NotRead
            })?,
        };
        match partition.filter(|name| parts.calls(name).is_some()) {
            Some(partition) => self.ask_partition(&partition, ask).await,
            None => nowhere(&ask),
        }
    }

    /// Asks every partition, and returns the answers in the order of their names.
    ///
    /// # Errors
    /// Fails if one of them does. Others may have changed something then.
    pub(super) async fn ask_all(&self, ask: impl Fn() -> Ask) -> Result<Vec<Answer>, QueuesError> {
        let mut answers = Vec::new();
        for partition in self.shared.parts.names() {
            answers.push(self.ask_partition(&partition, ask()).await?);
        }
        Ok(answers)
    }

    async fn ask_partition(&self, partition: &str, ask: Ask) -> Outcome {
        let calls = self.shared.parts.calls(partition);
        let calls = calls.ok_or(QueuesError::Stopped)?;
        let (answer, answered) = oneshot::channel();
        let answer = ReplyTo::Here(answer);
        let sent = calls.send(Call { ask, answer }).await;
        sent.map_err(|_| QueuesError::Stopped)?;
        answered.await.map_err(|_| QueuesError::Stopped)?
    }

    /// Looks in the database where tickets, matches and games are.
    async fn find(&self, place: Place) -> Result<Option<String>, StoreError> {
        let store = &self.shared.store;
        match place {
            Place::Named(name) => Ok(Some(name)),
            Place::Match(id) => store.partition_of_match(id).await,
            Place::Ticket(owner, id, other) => {
                let found = store.partition_of_ticket(&owner, &id).await?;
                Ok(found.or(other))
            }
            Place::Either(owner, id) => {
                let found = store.partition_of_ticket(&owner, &id).await?;
                match (found, id.parse()) {
                    (None, Ok(id)) => store.partition_of_match(id).await,
                    (found, _) => Ok(found),
                }
            }
        }
    }
}

/// The answer to a call about what is in no partition.
fn nowhere(ask: &Ask) -> Outcome {
    Err(match ask {
        Ask::Answer { .. } => TicketRefused::NoCheck.into(),
        Ask::Host(HostAsk::Ended(_) | HostAsk::GaveUp(_)) => return Ok(Answer::Done),
        Ask::Host(HostAsk::Join(offer, _)) => {
            let partition = offer.partition.clone();
            QueuesError::NoPartition(partition.unwrap_or_else(|| MAIN_PARTITION.to_owned()))
        }
        Ask::Host(_) => HostRefused::NotYours.into(),
        Ask::Submit(_, ticket) => TicketRefused::NoQueue(ticket.queue.clone()).into(),
        _ => TicketRefused::NoTicket.into(),
    })
}
