//! The calls of the queues: what clients and instances ask for, what they are answered, and the ticket that a client
//! has begun.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::{Configured, Queues, QueuesError, links::InstanceCommand};
use crate::{
    matchmaking::lifecycle::{Submission, TicketRefused},
    matchmaking::{KnownAttributes, Queue, TicketSpec, settings::MAX_MATCH, ticket::PlayerSpec},
    model::record::MatchId,
    protocol::reply::{QueueLine, TicketReply},
    session::HostedGame,
};

/// What a client asks for, as JSON in a request to another daemon. The first text is the client's name.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum ClientCommand {
    List,
    /// The ticket, and the queue that has checked it; `None` if another daemon has checked it.
    Submit(#[serde(skip)] Option<Arc<Queue>>, Submission),
    Cancel(String, String),
    /// Of the daemon alone that runs the queue; the others read it.
    #[serde(skip)]
    Ticket(String, String),
    Answer {
        owner: String,
        id: MatchId,
        player: String,
        accepts: bool,
    },
    /// The client listens from now on. Of its daemon alone.
    #[serde(skip)]
    Listen(String),
    Explain(String, String),
    Host(InstanceCommand),
    /// Other queues. Of each daemon alone.
    #[serde(skip)]
    Configure(Configured),
}

impl ClientCommand {
    /// Whether the call may change something.
    pub fn changes(&self) -> bool {
        !matches!(self, Self::List | Self::Ticket(..) | Self::Explain(..))
    }
}

/// The answer to a call, or why it has failed.
pub(super) type Outcome = Result<ClientAnswer, QueuesError>;

/// What a client is answered.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum ClientAnswer {
    List(Vec<QueueLine>),
    Ticket(TicketReply),
    /// The state of the ticket is to be read from the database.
    #[serde(skip)]
    Stored,
    Reasons(Vec<String>),
    Game(Box<HostedGame>),
    Seats(u32),
    /// Whether a player was on the way to a match.
    WasComing(bool),
    Done,
}

impl Queues {
    /// Whether any queue needs instances.
    pub fn has_hosts(&self) -> bool {
        self.shared.has_hosts()
    }

    /// The time now, in milliseconds of the clock by which [`InstanceLink`](super::InstanceLink) states when a line came.
    pub fn millis(&self) -> u64 {
        self.shared.clock.millis()
    }

    /// The match of an instance whose game has this number, as it is on disk: the daemon that runs the queue
    /// may be away.
    pub async fn match_of_game(
        &self,
        name: &str,
        game: i64,
    ) -> Result<Option<MatchId>, QueuesError> {
        let found = self.shared.store.queues().hosted_by(name, game).await;
        found.map_err(|error| {
            tracing::error!(%error, "the match of a game cannot be read");
            QueuesError::NotRead
        })
    }

    async fn of_instance(&self, command: InstanceCommand) -> Result<ClientAnswer, QueuesError> {
        self.ask(ClientCommand::Host(command)).await
    }

    /// Carries out what an instance asks for or reports. When this returns, that is on disk.
    ///
    /// # Errors
    /// Fails for the reason that the command names, or if the change cannot be written.
    pub async fn host(&self, command: InstanceCommand) -> Result<(), QueuesError> {
        self.of_instance(command).await.map(drop)
    }

    /// The same for a command with which a connection opens the game of a match. Returns the game.
    ///
    /// # Errors
    /// Those of [`host`](Self::host).
    pub async fn open_game(&self, command: InstanceCommand) -> Result<HostedGame, QueuesError> {
        match self.of_instance(command).await? {
            ClientAnswer::Game(game) => Ok(*game),
            _ => Err(QueuesError::Stopped),
        }
    }

    /// The same for [`InstanceCommand::SendAway`]. Returns whether the player was on the way; the ticket is then back
    /// in its queue.
    ///
    /// # Errors
    /// Those of [`host`](Self::host).
    pub async fn send_away(&self, command: InstanceCommand) -> Result<bool, QueuesError> {
        match self.of_instance(command).await? {
            ClientAnswer::WasComing(was_coming) => Ok(was_coming),
            _ => Err(QueuesError::Stopped),
        }
    }

    /// The same for [`InstanceCommand::Seek`]. Returns the number of seats that are sought now.
    ///
    /// # Errors
    /// Those of [`host`](Self::host), and if the queue has `backfill = false`.
    pub async fn seek_players(&self, command: InstanceCommand) -> Result<u32, QueuesError> {
        match self.of_instance(command).await? {
            ClientAnswer::Seats(seats) => Ok(seats),
            _ => Err(QueuesError::Stopped),
        }
    }
}

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
        let checked = self
            .queue
            .ticket(&self.spec, &mut |_| KnownAttributes::default())?;
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
