//! The steps of a hosted match's game, from START to END.

use std::time::Duration;

use super::{HostClient, refusal};
use crate::{
    coordinator::HostRefused,
    domain::MatchId,
    protocol::{Refusal, Request},
    queues::QueuesError,
    session::Session,
};

/// How often, and after which pauses, the end of a match is reported again that could not be noted.
const TRIES: u32 = 30;
const PAUSE: Duration = Duration::from_secs(2);

/// A step of a game that concerns the match that it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::server) enum Step {
    Start,
    End,
    Game,
    Join(String),
}

impl Step {
    /// The step that a request is, if it is one.
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
    /// The match that this session's game is, before a step of it.
    ///
    /// # Errors
    /// Fails for START of an instance's game if the match cannot be looked up. Other steps count as those of
    /// the match that was last known.
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
            // JOIN is frequent in games of any kind: only what is known counts.
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

    /// Has play begin in a match, before START is carried out: from then on no other instance gets the match.
    ///
    /// # Errors
    /// Fails if the match is hosted elsewhere, or if this cannot be written now. The instance can send START again.
    pub async fn begin(&self, id: MatchId, session: &Session) -> Result<(), Refusal> {
        let (Some(server), Some(game)) = (&self.server, session.game_number()) else {
            return Ok(());
        };
        let mut began = self.queues.began(server, id).await;
        if began == Err(HostRefused::NotReady.into()) {
            // The daemon that runs the queue may be a new one, which does not know of this connection yet.
            self.opened(server, id, game).await?;
            began = self.queues.began(server, id).await;
        }
        began.map_err(refusal)
    }

    /// Refuses START of a match that this instance does not host any more.
    pub fn check_start(&self, session: &Session) -> Result<(), Refusal> {
        let same = self.game.is_some() && self.game == session.game_number();
        match self.found.filter(|_| same) {
            Some(_) => Err(refusal(HostRefused::NotYours.into())),
            None => Ok(()),
        }
    }

    /// Reports a step that a match's game has made.
    pub async fn report(&self, step: Step, id: MatchId) {
        let Some(server) = &self.server else { return };
        let done = match step {
            Step::Start => Ok(()), // reported before it was made
            Step::End => self.queues.ended(id).await,
            Step::Game => self.give_up(id).await,
            Step::Join(player) => self.queues.arrived(server, id, &player).await,
        };
        if let Err(error) = done {
            tracing::warn!(match_id = id, %error, "a step of a hosted match is not noted");
        }
    }

    /// Gives up a match. While the daemon that runs its queue is away, this is tried again for some time.
    async fn give_up(&self, id: MatchId) -> Result<(), QueuesError> {
        let given_up = self.queues.gave_up(id).await;
        if given_up.is_err() {
            let queues = self.queues.clone();
            tokio::spawn(async move {
                for _ in 0..TRIES {
                    tokio::time::sleep(PAUSE).await;
                    match queues.gave_up(id).await {
                        Ok(()) | Err(QueuesError::Stopped) => return,
                        Err(_) => {}
                    }
                }
            });
        }
        given_up
    }
}
