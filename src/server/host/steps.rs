//! The steps of a hosted match's game, from START to END.

use std::time::Duration;

use super::{HostClient, refusal};
use crate::{
    matchmaking::lifecycle::HostRefused,
    model::MatchId,
    protocol::{Refusal, Request},
    queues::{InstanceCommand, QueuesError},
    session::Session,
};

/// How many times giving up a match is tried again if the first try fails.
const TRIES: u32 = 30;
/// The pause before each of these tries.
const PAUSE: Duration = Duration::from_secs(2);

/// A step of a hosted match: a request about its game that the queues have to know of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::server) enum Step {
    Start,
    End,
    Game,
    Join(String),
}

impl Step {
    /// The step that a request makes; `None` if the queues need not know of the request.
    pub fn of(request: &Request) -> Option<Self> {
        Some(match request {
            Request::Start => Self::Start,
            Request::End(_) => Self::End,
            Request::Game(_) => Self::Game,
            Request::Join(join) => Self::Join(join.id.text().to_owned()),
            _ => return None,
        })
    }
}

impl HostClient {
    /// Looks up the hosted match that this session's game belongs to, before a step is carried out.
    ///
    /// # Errors
    /// Fails if an instance sends START and the match cannot be looked up. Otherwise, if the lookup fails, the match
    /// that was found last counts.
    pub async fn current(
        &self,
        step: &Step,
        session: &mut Session,
    ) -> Result<Option<MatchId>, Refusal> {
        let Some(server) = self.server.as_deref().filter(|_| self.queues.has_hosts()) else {
            return Ok(None);
        };
        let game = match step {
            Step::Start | Step::End => session.resumed_game_number(),
            // These do not continue a parked game. JOIN is frequent, so it only uses the match that is known.
            Step::Game | Step::Join(_) => session.game_number(),
        };
        let Some(game) = game else { return Ok(None) };
        let known = self.found.filter(|_| self.game == Some(game));
        if let Step::Join(_) = step {
            return Ok(known);
        }
        match self.match_of(server, game).await {
            Err(refusal) if *step == Step::Start && self.is_host() => Err(refusal),
            Err(_) => Ok(known),
            Ok(found) => Ok(found),
        }
    }

    /// Notes in the database that play begins in a match, before START is carried out. From then on, no other instance
    /// gets the match.
    ///
    /// # Errors
    /// Fails if another instance hosts the match, or if the note cannot be written now. The instance can send START
    /// again.
    pub async fn begin(&self, id: MatchId, session: &Session) -> Result<(), Refusal> {
        let (Some(server), Some(game)) = (&self.server, session.game_number()) else {
            return Ok(());
        };
        let begins = || self.queues.host(InstanceCommand::Began(server.clone(), id));
        let mut began = begins().await;
        if began == Err(HostRefused::NotReady.into()) {
            // Another daemon may have taken over the queue, and may not know this connection yet.
            self.opened(server, id, game).await?;
            began = begins().await;
        }
        began.map_err(refusal)
    }

    /// Refuses START if this instance no longer hosts the match of the game.
    pub fn check_start(&self, session: &Session) -> Result<(), Refusal> {
        let same = self.game.is_some() && self.game == session.game_number();
        match self.found.filter(|_| same) {
            Some(_) => Err(refusal(HostRefused::NotYours.into())),
            None => Ok(()),
        }
    }

    /// Reports a step to the queues after it was carried out. If that fails, it logs a warning.
    pub async fn report(&self, step: Step, id: MatchId) {
        let Some(server) = &self.server else { return };
        let done = match step {
            Step::Start => Ok(()), // `begin` has reported it
            Step::End => self.queues.host(InstanceCommand::Ended(id)).await,
            Step::Game => self.give_up(id).await,
            Step::Join(player) => {
                let name = server.clone();
                let arrived = InstanceCommand::Arrived { name, id, player };
                self.queues.host(arrived).await
            }
        };
        if let Err(error) = done {
            tracing::warn!(match_id = id, %error, "a step of a hosted match is not noted");
        }
    }

    /// Gives up a match. If that fails, such as while no daemon runs the queue, a task tries again `TRIES` times.
    async fn give_up(&self, id: MatchId) -> Result<(), QueuesError> {
        let given_up = self.queues.host(InstanceCommand::GaveUp(id)).await;
        if given_up.is_err() {
            let queues = self.queues.clone();
            tokio::spawn(async move {
                for _ in 0..TRIES {
                    tokio::time::sleep(PAUSE).await;
                    match queues.host(InstanceCommand::GaveUp(id)).await {
                        Ok(()) | Err(QueuesError::Stopped) => return,
                        Err(_) => {}
                    }
                }
            });
        }
        given_up
    }
}
