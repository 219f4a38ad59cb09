//! The calls that connections of instances make: what an instance offers, and the steps of its matches.

use super::{
    HostPlan, Link, Queues, QueuesError,
    command::{Answer, Command},
    instance_command::InstanceCommand,
};
use crate::{domain::MatchId, lifecycle::Offer};

impl Queues {
    /// Whether any queue needs instances.
    pub fn has_hosts(&self) -> bool {
        self.shared.has_hosts()
    }

    /// The time now, in milliseconds of the clock by which [`Link`] states when a line came.
    pub fn millis(&self) -> u64 {
        self.shared.clock.millis()
    }

    async fn of_instance(&self, command: InstanceCommand) -> Result<Answer, QueuesError> {
        self.ask(Command::Host(command)).await
    }

    /// An instance connects, or changes what it offers.
    ///
    /// # Errors
    /// Fails if there are too many instances.
    pub async fn join_instance(&self, offer: Offer, link: Link) -> Result<(), QueuesError> {
        let command = InstanceCommand::Join(Box::new(offer), link);
        self.of_instance(command).await.map(drop)
    }

    /// An instance states how busy it is. The partition is that of its offer.
    ///
    /// # Errors
    /// Fails if it is not known.
    pub async fn load(
        &self,
        name: &str,
        load: f64,
        partition: Option<&str>,
    ) -> Result<(), QueuesError> {
        let partition = partition.map(str::to_owned);
        let command = InstanceCommand::Load(name.to_owned(), load, partition);
        self.of_instance(command).await.map(drop)
    }

    /// The match of an instance whose game has this number, as it is on disk: the daemon that runs the queue
    /// may be away.
    pub async fn match_of_game(
        &self,
        name: &str,
        game: i64,
    ) -> Result<Option<MatchId>, QueuesError> {
        let found = self.shared.store.hosted_by(name, game).await;
        found.map_err(|error| {
            tracing::error!(%error, "the match of a game cannot be read");
            QueuesError::NotRead
        })
    }

    /// An instance is ready to host a match, at its own address or another one. The players are called.
    ///
    /// # Errors
    /// Fails for the reasons of [`Lifecycle::ready`](crate::lifecycle::Lifecycle::ready).
    pub async fn ready(
        &self,
        name: &str,
        id: MatchId,
        address: Option<String>,
    ) -> Result<(), QueuesError> {
        let command = InstanceCommand::Ready {
            name: name.to_owned(),
            id,
            address,
            opens: None,
        };
        self.of_instance(command).await.map(drop)
    }

    /// An instance is ready to host a match, and this connection opens a game of this number for it. Returns what
    /// the game is to be.
    ///
    /// # Errors
    /// Fails for the reasons of [`ready`](Self::ready) and [`opened`](Self::opened).
    pub async fn ready_here(
        &self,
        name: &str,
        id: MatchId,
        address: Option<String>,
        game: i64,
        link: Link,
    ) -> Result<HostPlan, QueuesError> {
        let name = name.to_owned();
        let opens = Some((game, link));
        let command = InstanceCommand::Ready {
            name,
            id,
            address,
            opens,
        };
        self.plan(command).await
    }

    /// A connection opens a game of this number for a match whose instance is ready. Returns what the game is to be.
    ///
    /// # Errors
    /// Fails for the reasons of [`opened`](Self::opened).
    pub async fn open(
        &self,
        name: &str,
        id: MatchId,
        game: i64,
        link: Link,
    ) -> Result<HostPlan, QueuesError> {
        let command = InstanceCommand::Opened {
            name: name.to_owned(),
            id,
            game,
            link,
            plans: true,
        };
        self.plan(command).await
    }

    async fn plan(&self, command: InstanceCommand) -> Result<HostPlan, QueuesError> {
        match self.of_instance(command).await? {
            Answer::Plan(plan) => Ok(*plan),
            _ => Err(QueuesError::Stopped),
        }
    }

    /// An instance refuses to host a match. The daemon looks for another one.
    ///
    /// # Errors
    /// Fails for the reasons of [`Lifecycle::refused`](crate::lifecycle::Lifecycle::refused).
    pub async fn refuse(&self, name: &str, id: MatchId) -> Result<(), QueuesError> {
        let command = InstanceCommand::Refuse(name.to_owned(), id);
        self.of_instance(command).await.map(drop)
    }

    /// A connection has the game of a match.
    ///
    /// # Errors
    /// Fails for the reasons of [`Lifecycle::opened`](crate::lifecycle::Lifecycle::opened).
    pub async fn opened(
        &self,
        name: &str,
        id: MatchId,
        game: i64,
        link: Link,
    ) -> Result<(), QueuesError> {
        let command = InstanceCommand::Opened {
            name: name.to_owned(),
            id,
            game,
            link,
            plans: false,
        };
        self.of_instance(command).await.map(drop)
    }

    /// Play begins in a match, which no other instance gets from now on. When this returns, the match's new
    /// state is on disk.
    ///
    /// # Errors
    /// Fails for the reasons of [`Lifecycle::began`](crate::lifecycle::Lifecycle::began).
    pub async fn began(&self, name: &str, id: MatchId) -> Result<(), QueuesError> {
        let command = InstanceCommand::Began(name.to_owned(), id);
        self.of_instance(command).await.map(drop)
    }

    /// A match has ended, and is recorded.
    ///
    /// # Errors
    /// Fails if this cannot be written. The daemon that runs the queue finds the recorded match later, and ends
    /// it.
    pub async fn ended(&self, id: MatchId) -> Result<(), QueuesError> {
        self.of_instance(InstanceCommand::Ended(id)).await.map(drop)
    }

    /// A game server has begun another game instead of that of the match.
    ///
    /// # Errors
    /// Fails if this cannot be written.
    pub async fn gave_up(&self, id: MatchId) -> Result<(), QueuesError> {
        self.of_instance(InstanceCommand::GaveUp(id))
            .await
            .map(drop)
    }

    /// An instance reports a player of a match whose play has not begun.
    ///
    /// # Errors
    /// Fails if the queues do not run.
    pub async fn arrived(&self, name: &str, id: MatchId, player: &str) -> Result<(), QueuesError> {
        let (name, player) = (name.to_owned(), player.to_owned());
        let command = InstanceCommand::Arrived { name, id, player };
        self.of_instance(command).await.map(drop)
    }

    /// All players of the game of a match in play, each with the team. Others may queue again.
    ///
    /// # Errors
    /// Fails if the change cannot be written.
    pub async fn roster(
        &self,
        name: &str,
        id: MatchId,
        players: Vec<(String, Option<u8>)>,
    ) -> Result<(), QueuesError> {
        let name = name.to_owned();
        let command = InstanceCommand::Roster { name, id, players };
        self.of_instance(command).await.map(drop)
    }

    /// The game server sends a player away who is on the way to its match in play. Returns whether the
    /// player was on the way; the ticket is then back in its queue, on disk.
    ///
    /// # Errors
    /// Fails if the change cannot be written.
    pub async fn send_away(
        &self,
        name: &str,
        id: MatchId,
        player: &str,
    ) -> Result<bool, QueuesError> {
        let (name, player) = (name.to_owned(), player.to_owned());
        let command = InstanceCommand::SendAway { name, id, player };
        match self.of_instance(command).await? {
            Answer::WasComing(was_coming) => Ok(was_coming),
            _ => Err(QueuesError::Stopped),
        }
    }

    /// The game server of a match in play seeks players for seats of a team. Returns the number of seats
    /// that are sought now, on disk.
    ///
    /// # Errors
    /// Fails for the reasons of
    /// [`Lifecycle::seek_players`](crate::lifecycle::Lifecycle::seek_players), and if the queue has
    /// `backfill = false`.
    pub async fn seek_players(
        &self,
        name: &str,
        id: MatchId,
        team: u8,
        seats: u32,
    ) -> Result<u32, QueuesError> {
        let name = name.to_owned();
        let command = InstanceCommand::Seek {
            name,
            id,
            team,
            seats,
        };
        match self.of_instance(command).await? {
            Answer::Seats(seats) => Ok(seats),
            _ => Err(QueuesError::Stopped),
        }
    }
}
