//! Which partition a call is for.

use tokio::sync::oneshot;

use super::{
    Queues, QueuesError,
    call::{Call, ReplyTo},
    command::{Answer, Command, Outcome},
    links::InstanceCommand,
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
    fn of(command: &Command) -> Self {
        let named = |name: Option<&str>| Self::Named(name.unwrap_or(MAIN_PARTITION).to_owned());
        match command {
            Command::Submit(queue, ticket) => {
                let partition = queue.as_ref().map(|one| one.settings().partition.clone());
                Self::Ticket(ticket.owner.clone(), ticket.id.clone(), partition)
            }
            Command::Cancel(owner, id) | Command::Ticket(owner, id) => {
                Self::Ticket(owner.clone(), id.clone(), None)
            }
            Command::Explain(owner, id) => Self::Either(owner.clone(), id.clone()),
            Command::Answer { id, .. } => Self::Match(*id),
            Command::List | Command::Listen(_) | Command::Configure(_) => named(None),
            Command::Host(command) => match command {
                InstanceCommand::Join(offer, _) => named(offer.partition.as_deref()),
                InstanceCommand::Load(_, _, partition) => named(partition.as_deref()),
                InstanceCommand::Refuse(_, id)
                | InstanceCommand::Began(_, id)
                | InstanceCommand::Ended(id)
                | InstanceCommand::GaveUp(id)
                | InstanceCommand::Ready { id, .. }
                | InstanceCommand::Opened { id, .. }
                | InstanceCommand::Allocated { id, .. }
                | InstanceCommand::Roster { id, .. }
                | InstanceCommand::Seek { id, .. }
                | InstanceCommand::SendAway { id, .. }
                | InstanceCommand::Arrived { id, .. } => Self::Match(*id),
            },
        }
    }
}

impl Queues {
    /// Asks the partition that the call is for.
    pub(super) async fn ask(&self, command: Command) -> Outcome {
        let tasks = &self.shared.tasks;
        if let Command::Host(InstanceCommand::Join(offer, _)) = &command {
            let partition = offer.partition.as_deref().unwrap_or(MAIN_PARTITION);
            let all = self.shared.partitions();
            if !(all.is_empty() || all.contains(partition)) {
                return Err(QueuesError::NoPartition(partition.to_owned()));
            }
        }
        let partition = match (tasks.only(), Place::of(&command)) {
            // An instance may ask for another partition than the only one.
            (Some(only), place) if !matches!(place, Place::Named(_)) => Some(only),
            (_, place) => self.find(place).await.map_err(|error| {
                tracing::error!(%error, "the partition of a call cannot be read");
                QueuesError::NotRead
            })?,
        };
        match partition.filter(|name| tasks.calls(name).is_some()) {
            Some(partition) => self.ask_partition(&partition, command).await,
            None => nowhere(&command),
        }
    }

    /// Asks every partition, and returns the answers in the order of their names.
    ///
    /// # Errors
    /// Fails if one of them does. Others may have changed something then.
    pub(super) async fn ask_all(
        &self,
        command: impl Fn() -> Command,
    ) -> Result<Vec<Answer>, QueuesError> {
        let mut answers = Vec::new();
        for partition in self.shared.tasks.names() {
            answers.push(self.ask_partition(&partition, command()).await?);
        }
        Ok(answers)
    }

    async fn ask_partition(&self, partition: &str, command: Command) -> Outcome {
        let calls = self.shared.tasks.calls(partition);
        let calls = calls.ok_or(QueuesError::Stopped)?;
        let (answer, answered) = oneshot::channel();
        let answer = ReplyTo::Here(answer);
        let sent = calls.send(Call { command, answer }).await;
        sent.map_err(|_| QueuesError::Stopped)?;
        answered.await.map_err(|_| QueuesError::Stopped)?
    }

    /// Looks in the database where tickets, matches and games are.
    async fn find(&self, place: Place) -> Result<Option<String>, StoreError> {
        let store = &self.shared.store;
        match place {
            Place::Named(name) => Ok(Some(name)),
            Place::Match(id) => store.queues().partition_of_match(id).await,
            Place::Ticket(owner, id, other) => {
                let found = store.queues().partition_of_ticket(&owner, &id).await?;
                Ok(found.or(other))
            }
            Place::Either(owner, id) => {
                let found = store.queues().partition_of_ticket(&owner, &id).await?;
                match (found, id.parse()) {
                    (None, Ok(id)) => store.queues().partition_of_match(id).await,
                    (found, _) => Ok(found),
                }
            }
        }
    }
}

/// The answer to a call about what is in no partition.
fn nowhere(command: &Command) -> Outcome {
    Err(match command {
        Command::Answer { .. } => TicketRefused::NoCheck.into(),
        Command::Host(InstanceCommand::Ended(_) | InstanceCommand::GaveUp(_)) => {
            return Ok(Answer::Done);
        }
        Command::Host(InstanceCommand::Join(offer, _)) => {
            let partition = offer.partition.clone();
            QueuesError::NoPartition(partition.unwrap_or_else(|| MAIN_PARTITION.to_owned()))
        }
        Command::Host(_) => HostRefused::NotYours.into(),
        Command::Submit(_, ticket) => TicketRefused::NoQueue(ticket.queue.clone()).into(),
        _ => TicketRefused::NoTicket.into(),
    })
}
