//! One connection's part in hosted matches: an instance, or the connection with the game of a match. It follows the
//! game from START to END, and reports who is in it, who is sought, and who is on the way.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use super::gate::not_allowed;
use crate::{
    matchmaking::lifecycle::{HostRefused, InstanceOffer, TicketRefused},
    model::{ident::Ident, record::MatchId},
    protocol::{
        Code, Refusal, Reply, Request,
        push::HostSeat,
        request::{HostRequest, QueueRequest},
    },
    queues::{Draft, ExpectedPlayers, InstanceCommand, InstanceLink, Queues, QueuesError},
    session::{Mailbox, Session, SessionError, draw_game},
};

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
    expected: ExpectedPlayers,
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
            expected: ExpectedPlayers::default(),
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
                let offer = Box::new(InstanceOffer {
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
    fn link(&self) -> InstanceLink {
        InstanceLink::new(
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

impl HostClient {
    /// BACKFILL: only the connection with the game of the match may send it.
    async fn seek_players(
        &mut self,
        server: &str,
        (id, team, seats): (MatchId, u8, u32),
        session: &mut Session,
    ) -> Result<u32, Refusal> {
        session.resumed_game_number();
        self.follow(session).await;
        if self.found != Some(id) || self.game != session.game_number() {
            return Err(refusal(HostRefused::NotYours.into()));
        }
        self.report_roster(session).await;
        let seek = InstanceCommand::Seek {
            name: server.to_owned(),
            id,
            team,
            seats,
        };
        self.queues.seek_players(seek).await.map_err(refusal)
    }

    /// LEAVE of a player who is on the way to the match in play, and hence not in the game: the game server
    /// sends the player away. Returns whether the request was that.
    pub async fn sends_away(
        &mut self,
        request: &Request,
        session: &mut Session,
    ) -> Result<bool, Refusal> {
        let (Request::Leave { id: player, .. }, Some(server)) = (request, self.server.clone())
        else {
            return Ok(false);
        };
        if !self.queues.has_hosts() {
            return Ok(false);
        }
        session.resumed_game_number();
        self.follow(session).await;
        let same = self.game.is_some() && self.game == session.game_number();
        let player = player.text();
        let (Some(id), Some(players)) = (self.found.filter(|_| same), session.players()) else {
            return Ok(false);
        };
        if players.iter().any(|(id, _)| id == player) {
            return Ok(false);
        }
        let command = InstanceCommand::SendAway {
            name: server,
            id,
            player: player.to_owned(),
        };
        self.queues.send_away(command).await.map_err(refusal)
    }

    /// Reports the players of a match in play if they or their teams have changed.
    pub async fn report_roster(&mut self, session: &Session) {
        let same = self.game.is_some() && self.game == session.game_number();
        let Some(id) = self.found.filter(|_| same) else {
            return;
        };
        let (Some(server), Some(players)) = (&self.server, session.players()) else {
            return;
        };
        if self.roster.as_ref() == Some(&players) {
            return;
        }
        self.roster = Some(players.clone());
        let name = server.clone();
        let command = InstanceCommand::Roster { name, id, players };
        if let Err(error) = self.queues.host(command).await {
            self.roster = None;
            tracing::warn!(match_id = id, %error, "the players of a hosted match are not noted");
        }
    }

    /// Completes JOIN of a player who is on the way to the match in play: the player is on the team whose
    /// seat was free, unless the game server states another one.
    pub fn complete(&self, request: &mut Request) {
        let Request::Join(join) = request else {
            return;
        };
        if let Some(HostSeat { team, party, .. }) = self.expected.take(join.id.text()) {
            join.team = join.team.or(Some(team));
            if join.party.is_none() {
                join.party = party.as_deref().map(Ident::from_text);
            }
        }
    }
}

/// How many times giving up a match is tried again if the first try fails.
const TRIES: u32 = 30;
/// The pause before each of these tries.
const PAUSE: Duration = Duration::from_secs(2);

/// A step of a hosted match: a request about its game that the queues have to know of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum HostStep {
    Start,
    End,
    Game,
    Join(String),
}

impl HostStep {
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
        step: &HostStep,
        session: &mut Session,
    ) -> Result<Option<MatchId>, Refusal> {
        let Some(server) = self.server.as_deref().filter(|_| self.queues.has_hosts()) else {
            return Ok(None);
        };
        let game = match step {
            HostStep::Start | HostStep::End => session.resumed_game_number(),
            // These do not continue a parked game. JOIN is frequent, so it only uses the match that is known.
            HostStep::Game | HostStep::Join(_) => session.game_number(),
        };
        let Some(game) = game else { return Ok(None) };
        let known = self.found.filter(|_| self.game == Some(game));
        if let HostStep::Join(_) = step {
            return Ok(known);
        }
        match self.match_of(server, game).await {
            Err(refusal) if *step == HostStep::Start && self.is_host() => Err(refusal),
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
    pub async fn report(&self, step: HostStep, id: MatchId) {
        let Some(server) = &self.server else { return };
        let done = match step {
            HostStep::Start => Ok(()), // `begin` has reported it
            HostStep::End => self.queues.host(InstanceCommand::Ended(id)).await,
            HostStep::Game => self.give_up(id).await,
            HostStep::Join(player) => {
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

/// A connection as a client of the queues.
#[derive(Debug)]
pub(super) struct QueueClient {
    queues: Arc<Queues>,
    mailbox: Mailbox,
    /// The ticket that ENQUEUE has begun; SUBMIT may be sent again.
    draft: Option<Draft>,
    /// The name for which this connection listens.
    listens: Option<String>,
}

impl QueueClient {
    /// A connection that has not sent anything yet. News of tickets goes to the mailbox.
    pub fn new(queues: Arc<Queues>, mailbox: Mailbox) -> Self {
        Self {
            queues,
            mailbox,
            draft: None,
            listens: None,
        }
    }

    /// Whether the connection gets pushes about tickets.
    pub fn listens(&self) -> bool {
        self.listens.is_some()
    }

    /// Handles a request of the client with this name. Only QUEUES needs no name.
    pub async fn answer(
        &mut self,
        name: Option<&str>,
        request: QueueRequest,
    ) -> Result<Option<Reply>, Refusal> {
        let owner = match name {
            None if request != QueueRequest::Queues => {
                return Err(not_allowed("say HELLO <name> first"));
            }
            name => name.unwrap_or_default(),
        };
        let queues = &self.queues;
        let reply = match request {
            QueueRequest::Queues => queues.list().await.map(Reply::Queues),
            QueueRequest::Enqueue { queue, ticket } => {
                self.draft = None;
                let draft = Draft::begin(queues, queue.text(), &ticket).map_err(refusal)?;
                self.draft = Some(draft);
                return Ok(None);
            }
            QueueRequest::Seat { player, stated } => return self.seat(&player, &stated),
            QueueRequest::Submit => {
                let draft = self.draft.as_ref().ok_or_else(no_draft)?;
                queues.submit(owner, draft).await.map(Reply::Ticket)
            }
            QueueRequest::Cancel(ticket) => queues.cancel(owner, &ticket).await.map(Reply::Ticket),
            QueueRequest::Ticket(ticket) => queues.ticket(owner, &ticket).await.map(Reply::Ticket),
            QueueRequest::Accept { id, player } => {
                let accepted = queues.answer(owner, id, player.text(), true).await;
                return accepted.map(|()| None).map_err(refusal);
            }
            QueueRequest::Decline { id, player } => {
                let declined = queues.answer(owner, id, player.text(), false).await;
                return declined.map(|()| None).map_err(refusal);
            }
            QueueRequest::Listen => {
                return self.listen(owner).await.map(|()| None).map_err(refusal);
            }
            QueueRequest::Explain(ticket) => {
                queues.explain(owner, &ticket).await.map(Reply::Explain)
            }
        };
        reply.map(Some).map_err(refusal)
    }

    fn seat(
        &mut self,
        player: &Ident,
        stated: &[(String, Ident)],
    ) -> Result<Option<Reply>, Refusal> {
        if player.is_nobody() {
            let why = "this id stands for players without an identity";
            return Err(Refusal::new(Code::BadArgument, why));
        }
        let draft = self.draft.as_mut().ok_or_else(no_draft)?;
        let stated = stated
            .iter()
            .map(|(name, value)| (name.as_str(), value.text()));
        draft.seat(player.text(), stated).map_err(refusal)?;
        Ok(None)
    }

    /// Listens for the name. Sent again, changes nothing.
    async fn listen(&mut self, owner: &str) -> Result<(), QueuesError> {
        if self.listens.as_deref() == Some(owner) {
            return Ok(());
        }
        self.queues.listen(owner, self.mailbox.clone()).await?;
        self.listens = Some(owner.to_owned());
        Ok(())
    }
}

/// Converts an error of the queues for the peer.
pub fn refusal(error: QueuesError) -> Refusal {
    let code = match &error {
        QueuesError::Refused(refused) => match refused {
            TicketRefused::OtherContent | TicketRefused::NoQueue(_) | TicketRefused::NoTicket => {
                Code::BadArgument
            }
            TicketRefused::InAnother(_) | TicketRefused::InMatch(_) | TicketRefused::NoCheck => {
                Code::NotAllowed
            }
            TicketRefused::NotInMatch => Code::UnknownPlayer,
            TicketRefused::Full { .. } => Code::Overloaded,
        },
        QueuesError::Host(HostRefused::TooMany) => Code::Overloaded,
        QueuesError::Host(_) => Code::NotAllowed,
        barred if barred.is_barred() => Code::NotAllowed,
        QueuesError::Ticket(_)
        | QueuesError::TooLarge
        | QueuesError::NoPartition(_)
        | QueuesError::Reconfigured => Code::BadArgument,
        QueuesError::NotWritten | QueuesError::NotRead => Code::Internal,
        QueuesError::Busy
        | QueuesError::NotReady
        | QueuesError::Moved
        | QueuesError::Elsewhere
        | QueuesError::OtherSettings(_)
        | QueuesError::Stopped => Code::Overloaded,
    };
    Refusal::new(code, error.to_string())
}

fn no_draft() -> Refusal {
    not_allowed("send ENQUEUE first")
}
