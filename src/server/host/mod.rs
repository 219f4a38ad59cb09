//! One connection's part in hosted matches: an instance, or the connection with the game of a match.

mod seats;
mod steps;

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

use super::{peer::not_allowed, queue::refusal};
use crate::{
    matchmaking::lifecycle::Offer,
    model::MatchId,
    protocol::{Code, HostRequest, Refusal, Reply},
    queues::{Expected, InstanceCommand, Link, Queues},
    session::{Mailbox, Session, SessionError, draw_game},
};

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
            Some(id) => self.open(server, id, None, session).await,
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
        match request {
            HostRequest::Backfill { id, team, seats } => {
                let seek = (id, team, seats);
                let seats = self.seek_players(&server, seek, session).await?;
                return Ok(Some(Reply::Backfill { id, seats }));
            }
            _ if self.hosts.is_some() => Err(not_allowed("this connection hosts a single match")),
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
                let offer = Box::new(Offer {
                    name,
                    address,
                    region,
                    slots,
                    modes,
                    maps,
                    partition,
                });
                let command = InstanceCommand::Join(offer, self.link());
                self.pass_on(command).await
            }
            HostRequest::Load(load) => {
                let command = InstanceCommand::Load(server, load, self.partition.clone());
                self.pass_on(command).await
            }
            // With a single slot, this connection has the game of the match.
            HostRequest::Ready { id, address } if self.slots == Some(1) => {
                self.open(&server, id, Some(address), session).await
            }
            HostRequest::Ready { id, address } => {
                let command = InstanceCommand::Ready {
                    name: server,
                    id,
                    address,
                    opens: None,
                };
                self.pass_on(command).await
            }
            HostRequest::Refuse { id, reason } => {
                tracing::info!(match_id = id, reason = reason.text(), "a match is refused");
                self.pass_on(InstanceCommand::Refuse(server, id)).await
            }
        }
        .map(|()| None)
    }

    /// Registers this connection with the game of a match, and puts the game into the session unless it is there. With
    /// `ready`, the instance is ready to host the match, at this address or at its own.
    async fn open(
        &mut self,
        server: &str,
        id: MatchId,
        ready: Option<Option<String>>,
        session: &mut Session,
    ) -> Result<(), Refusal> {
        let own = match session.game_number() {
            Some(game) if self.match_of(server, game).await? == Some(id) => Some(game),
            _ => None,
        };
        let (game, link) = (own.unwrap_or_else(draw_game), self.link());
        let name = server.to_owned();
        let command = match ready {
            Some(address) => InstanceCommand::Ready {
                name,
                id,
                address,
                opens: Some((game, link)),
            },
            None => InstanceCommand::Opened {
                name,
                id,
                game,
                link,
                plans: true,
            },
        };
        let opened = self.queues.open_game(command).await;
        let opened = opened.map_err(refusal)?;
        if own.is_none() {
            session.host(&opened, game).map_err(failed)?;
        }
        (self.game, self.found) = (Some(game), Some(id));
        self.roster = None;
        Ok(())
    }

    /// Sends this connection the notices of its matches.
    fn link(&self) -> Link {
        Link::new(
            self.mailbox.clone(),
            self.expected.clone(),
            self.heard.clone(),
        )
    }

    async fn pass_on(&self, command: InstanceCommand) -> Result<(), Refusal> {
        self.queues.host(command).await.map_err(refusal)
    }

    async fn opened(&self, server: &str, id: MatchId, game: i64) -> Result<(), Refusal> {
        let command = InstanceCommand::Opened {
            name: server.to_owned(),
            id,
            game,
            link: self.link(),
            plans: false,
        };
        self.pass_on(command).await
    }

    async fn match_of(&self, server: &str, game: i64) -> Result<Option<MatchId>, Refusal> {
        let found = self.queues.match_of_game(server, game).await;
        found.map_err(refusal)
    }
}

fn failed(error: SessionError) -> Refusal {
    Refusal::new(Code::Internal, error.to_string())
}
