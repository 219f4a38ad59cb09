//! A ticket that a client has begun and not submitted yet.

use std::sync::Arc;

use super::{Queues, QueuesError};
use crate::{
    matchmaking::lifecycle::{Submission, TicketRefused},
    matchmaking::{Known, MAX_MATCH, PlayerSpec, Queue, TicketSpec},
};

/// The most bytes that a ticket may state.
const MAX_BYTES: usize = 64 * 1024;

/// The players of a ticket, as far as a client has stated them.
#[derive(Clone, Debug)]
pub struct Draft {
    queue: Arc<Queue>,
    spec: TicketSpec,
    bytes: usize,
}

impl Draft {
    /// Begins a ticket.
    ///
    /// # Errors
    /// Fails if there is no such queue.
    pub fn begin(queues: &Queues, queue: &str, ticket: &str) -> Result<Self, QueuesError> {
        let found = queues.queue(queue);
        Ok(Self {
            queue: found.ok_or_else(|| TicketRefused::NoQueue(queue.to_owned()))?,
            spec: TicketSpec {
                ticket: ticket.to_owned(),
                ..TicketSpec::default()
            },
            bytes: 0,
        })
    }

    /// Adds a player, or more attributes of one. Names of attributes are compared without regard to
    /// case.
    ///
    /// # Errors
    /// Fails if the ticket becomes too large. What is wrong with its content is found at
    /// [`Queues::submit`].
    pub fn seat<'a>(
        &mut self,
        player: &str,
        stated: impl IntoIterator<Item = (&'a str, &'a str)>,
    ) -> Result<(), QueuesError> {
        let mut players = self.spec.players.iter();
        let at = match players.position(|known| known.id == player) {
            Some(at) => at,
            None if self.spec.players.len() >= MAX_MATCH => return Err(QueuesError::TooLarge),
            None => {
                self.bytes += player.len();
                self.spec.players.push(PlayerSpec {
                    id: player.to_owned(),
                    ..PlayerSpec::default()
                });
                self.spec.players.len() - 1
            }
        };
        for (name, value) in stated {
            self.bytes += name.len() + value.len();
            if self.bytes > MAX_BYTES {
                return Err(QueuesError::TooLarge);
            }
            let name = declared(&self.queue, name);
            if let Some(spec) = self.spec.players.get_mut(at) {
                spec.state(&self.queue, &name, value);
            }
        }
        Ok(())
    }

    /// The ticket, if the queue's declarations allow it, and the queue that has checked it.
    pub(super) fn submission(&self, owner: &str) -> Result<(Arc<Queue>, Submission), QueuesError> {
        let checked = self.queue.ticket(&self.spec, &mut |_| Known::default())?;
        let submission = Submission {
            owner: owner.to_owned(),
            id: self.spec.ticket.clone(),
            queue: self.queue.name().to_owned(),
            players: checked
                .players
                .into_iter()
                .map(|player| player.id)
                .collect(),
            spec: Arc::new(self.spec.clone()),
        };
        Ok((self.queue.clone(), submission))
    }
}

/// The name as the queue declares it. Of `ping.eu`, only `ping` is declared.
fn declared(queue: &Queue, name: &str) -> String {
    let attributes = &queue.settings().attributes;
    let find = |name: &str| {
        attributes
            .keys()
            .find(|known| known.eq_ignore_ascii_case(name))
    };
    if let Some(known) = find(name) {
        return known.clone();
    }
    match name.split_once('.') {
        Some((map, word)) => match find(map) {
            Some(known) => format!("{known}.{word}"),
            None => name.to_owned(),
        },
        None => name.to_owned(),
    }
}
