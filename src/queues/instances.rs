//! The calls that connections of instances make: each is an [`InstanceCommand`].

use super::{
    InstanceCommand, Queues, QueuesError,
    command::{Answer, Command},
};
use crate::{model::MatchId, session::HostedGame};

impl Queues {
    /// Whether any queue needs instances.
    pub fn has_hosts(&self) -> bool {
        self.shared.has_hosts()
    }

    /// The time now, in milliseconds of the clock by which [`Link`](super::Link) states when a line came.
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

    async fn of_instance(&self, command: InstanceCommand) -> Result<Answer, QueuesError> {
        self.ask(Command::Host(command)).await
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
            Answer::Game(game) => Ok(*game),
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
            Answer::WasComing(was_coming) => Ok(was_coming),
            _ => Err(QueuesError::Stopped),
        }
    }

    /// The same for [`InstanceCommand::Seek`]. Returns the number of seats that are sought now.
    ///
    /// # Errors
    /// Those of [`host`](Self::host), and if the queue has `backfill = false`.
    pub async fn seek_players(&self, command: InstanceCommand) -> Result<u32, QueuesError> {
        match self.of_instance(command).await? {
            Answer::Seats(seats) => Ok(seats),
            _ => Err(QueuesError::Stopped),
        }
    }
}
