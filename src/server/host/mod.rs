//! One connection's part in hosted matches: an instance, or the connection with the game of a match.

mod news;
mod seats;
mod steps;

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

use super::queue::refusal;
use crate::{
    coordinator::Offer,
    domain::MatchId,
    protocol::{Code, HostRequest, Refusal, Reply},
    queues::{HostPlan, Queues},
    session::{Mailbox, Session, SessionError},
};
use news::{Expected, hosted_game};

pub(super) use steps::Step;

/// A connection as an instance.
#[derive(Debug)]
pub(super) struct HostClient {
    queues: Arc<Queues>,
    mailbox: Mailbox,
    heard: Arc<AtomicU64>,
    /// The name of the game server, without the match that the connection hosts.
    server: Option<String>,
    /// The match of HELLO.
    hosts: Option<MatchId>,
    /// The slots of INSTANCE.
    slots: Option<u32>,
    /// The partition of INSTANCE.
    partition: Option<String>,
    /// The number of the session's game when it was last compared with those of matches, and the match
    /// that it was found to be.
    game: Option<i64>,
    found: Option<MatchId>,
    /// The players of the match in play, as they were last reported.
    roster: Option<Vec<(String, Option<u8>)>>,
    /// The players who are on their way to the match in play.
    expected: Expected,
}

impl HostClient {
    /// A connection that has not sent anything yet.
    pub fn new(queues: Arc<Queues>, mailbox: Mailbox) -> Self {
        Self {
            queues,
            mailbox,
            heard: Arc::default(),
            server: None,
            hosts: None,
            slots: None,
            partition: None,
            game: None,
            found: None,
            roster: None,
            expected: Expected::default(),
        }
    }

    /// Whether the connection is that of an instance, or hosts a match.
    pub fn is_host(&self) -> bool {
        self.slots.is_some() || self.hosts.is_some()
    }

    /// Notes that a line has arrived.
    pub fn heard(&self) {
        if self.slots.is_some() {
            self.heard.store(self.queues.millis(), Ordering::Relaxed);
        }
    }

    /// After HELLO: opens the game of the match that this connection hosts, or finds out that a game
    /// that was resumed is that of a match.
    pub async fn greet(
        &mut self,
        server: &str,
        hosts: Option<MatchId>,
        session: &mut Session,
    ) -> Result<(), Refusal> {
        (self.server, self.hosts) = (Some(server.to_owned()), hosts);
        match hosts {
            Some(id) => {
                let plan = self.queues.plan(server, id).await.map_err(refusal)?;
                self.open(server, &plan, session).await
            }
            None => {
                self.follow(session).await;
                Ok(())
            }
        }
    }

    /// After a command: finds out whether a game that the session has continued is that of a match.
    pub async fn follow(&mut self, session: &Session) {
        let game = session.game_number();
        // Before greet, it is not known whose game it is.
        let Some(server) = self.server.clone() else {
            return;
        };
        if game == self.game || !self.queues.has_hosts() {
            return;
        }
        (self.game, self.found) = (game, None);
        self.roster = None;
        let server = server.as_str();
        if let Some(game) = game
            && let Ok(Some(id)) = self.match_of(server, game).await
        {
            match self.opened(server, id, game).await {
                Ok(()) => self.found = Some(id),
                Err(refusal) => {
                    tracing::debug!(match_id = id, %refusal, "this game is no match any more");
                }
            }
        }
    }

    /// Handles a request of an instance.
    pub async fn answer(
        &mut self,
        request: HostRequest,
        session: &mut Session,
    ) -> Result<Option<Reply>, Refusal> {
        let server = self.server.clone();
        let server = server.ok_or_else(|| not_allowed("say HELLO <server> first"))?;
        if let HostRequest::Backfill { id, team, seats } = request {
            let seats = self
                .seek_players(&server, (id, team, seats), session)
                .await?;
            return Ok(Some(Reply::Backfill { id, seats }));
        }
        if self.hosts.is_some() {
            return Err(not_allowed("this connection hosts a single match"));
        }
        match request {
            HostRequest::Instance {
                address,
                region,
                slots,
                modes,
                maps,
                partition,
            } => {
                self.slots = Some(slots);
                self.partition.clone_from(&partition);
                self.heard();
                let name = server;
                let offer = Offer {
                    name,
                    address,
                    region,
                    slots,
                    modes,
                    maps,
                    partition,
                };
                let joined = self.queues.join_instance(offer, self.link()).await;
                joined.map_err(refusal)
            }
            HostRequest::Load(load) => {
                let load = self
                    .queues
                    .load(&server, load, self.partition.as_deref())
                    .await;
                load.map_err(refusal)
            }
            HostRequest::Ready { id, address } => self.ready(&server, id, address, session).await,
            HostRequest::Refuse { id, reason } => {
                tracing::info!(match_id = id, reason = reason.text(), "a match is refused");
                self.queues.refuse(&server, id).await.map_err(refusal)
            }
            HostRequest::Backfill { .. } => Ok(()),
        }
        .map(|()| None)
    }

    /// With a single slot, this connection has the game of the match.
    async fn ready(
        &mut self,
        server: &str,
        id: MatchId,
        address: Option<String>,
        session: &mut Session,
    ) -> Result<(), Refusal> {
        let plan = self.queues.plan(server, id).await.map_err(refusal)?;
        let ready = self.queues.ready(server, id, address).await;
        ready.map_err(refusal)?;
        match self.slots {
            Some(1) => self.open(server, &plan, session).await,
            _ => Ok(()),
        }
    }

    /// Puts the game of a match into the session, unless it is there.
    async fn open(
        &mut self,
        server: &str,
        plan: &HostPlan,
        session: &mut Session,
    ) -> Result<(), Refusal> {
        let game = match session.game_number() {
            Some(game) if self.match_of(server, game).await? == Some(plan.id) => game,
            _ => session.host(&hosted_game(plan)).map_err(failed)?,
        };
        (self.game, self.found) = (Some(game), Some(plan.id));
        self.roster = None;
        self.opened(server, plan.id, game).await
    }

    async fn opened(&self, server: &str, id: MatchId, game: i64) -> Result<(), Refusal> {
        let opened = self.queues.opened(server, id, game, self.link()).await;
        opened.map_err(refusal)
    }

    async fn match_of(&self, server: &str, game: i64) -> Result<Option<MatchId>, Refusal> {
        let found = self.queues.match_of_game(server, game).await;
        found.map_err(refusal)
    }
}

fn failed(error: SessionError) -> Refusal {
    Refusal {
        code: Code::Internal,
        text: error.to_string(),
    }
}

fn not_allowed(text: &str) -> Refusal {
    Refusal {
        code: Code::NotAllowed,
        text: text.to_owned(),
    }
}
