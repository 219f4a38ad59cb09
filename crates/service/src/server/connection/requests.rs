//! The requests of a connection: each is passed on if the peer may send it.

use tokio_util::sync::CancellationToken;
use tracing::{Instrument, Span, debug_span};

use super::{AfterLine, ByteStream, Connection, ConnectionEnd};
use crate::{
    model::text::counted,
    protocol::{Code, FramedLine, Refusal, Reply, Request, Verb, push::GameNotice, request::Token},
    server::{dispatch, host::HostStep},
    session::SessionError,
};

impl<S: ByteStream> Connection<S> {
    /// Handles one line.
    pub(super) async fn line(&mut self, line: FramedLine, stop: &CancellationToken) -> AfterLine {
        self.host.heard();
        self.session.heard();
        self.peer.heard(self.began);
        self.peer.count_line();
        let answer = match line {
            FramedLine::Text(line) => match Request::parse(line) {
                Ok(None) => return AfterLine::Continue,
                Ok(Some(request)) => {
                    self.verb = Some(request.verb());
                    return match request {
                        Request::Quit => AfterLine::Close(ConnectionEnd::ByPeer),
                        hello @ Request::Hello { .. } => self.hello(hello, stop).await,
                        request => self.request(request, stop).await,
                    };
                }
                Err(refusal) => Err(refusal),
            },
            FramedLine::TooLong => {
                let text = format!(
                    "the line is longer than {} bytes",
                    self.limits.max_line_bytes.get()
                );
                Err(Refusal::new(Code::TooLong, text))
            }
        };
        self.reply(answer)
    }

    /// Handles a request other than HELLO and QUIT, if the peer may send it.
    async fn request(&mut self, request: Request, stop: &CancellationToken) -> AfterLine {
        if self.peer.is_outdated()
            && let AfterLine::Close(end) = self.renew()
        {
            return AfterLine::Close(end);
        }
        if let Err(refusal) = self.peer.authorize(&request) {
            return self.refuse(refusal);
        }
        self.peer.count_report(&request);
        self.session.ids_are_names(self.peer.ids_are_names());
        self.session.pass_time();
        let again = self.session.awaits_weights().then(|| request.clone());
        let answer = match request {
            kill @ Request::Kill { .. } => return self.kill(kill).await,
            request => self.pass_on(request).await,
        };
        match (answer, again) {
            (Err(refusal), Some(again)) if refusal.code == Code::Overloaded => {
                self.wait_for_weights(refusal, again, stop).await
            }
            (answer, _) => self.reply(answer),
        }
    }

    async fn pass_on(&mut self, request: Request) -> Result<Option<Reply>, Refusal> {
        let verb = request.verb();
        match request {
            Request::Behaviour { id, points } => {
                let client = self.peer.client();
                let reported = self.session.report_behaviour(client, &id, points).await;
                reported.map(|()| None).map_err(dispatch::refusal)
            }
            Request::Queue(request) => {
                let name = self.session.name().map(str::to_owned);
                let answer = self.queue.answer(name.as_deref(), request);
                answer.instrument(command_span(verb)).await
            }
            Request::Host(request) => {
                let answer = self.host.answer(request, &mut self.session);
                answer.instrument(command_span(verb)).await
            }
            request => self.answer(request).await,
        }
    }

    /// Passes a request on again that was refused while weights were being derived, once they are. If that takes too
    /// long, sends the refusal, which is no error of the client.
    async fn wait_for_weights(
        &mut self,
        refusal: Refusal,
        again: Request,
        stop: &CancellationToken,
    ) -> AfterLine {
        if let Err(end) = self.flush(stop).await {
            return AfterLine::Close(end);
        }
        let derived = stop.run_until_cancelled(self.session.weights_in_time());
        if derived.await == Some(true) {
            let answer = self.pass_on(again).await;
            return self.reply(answer);
        }
        self.put_error(refusal);
        AfterLine::Continue
    }

    fn reply(&mut self, answer: Result<Option<Reply>, Refusal>) -> AfterLine {
        self.put_offers();
        match answer {
            Ok(reply) => {
                if let Some(reply) = reply {
                    reply.encode(&mut self.output);
                }
                AfterLine::Continue
            }
            Err(refusal) => self.refuse(refusal),
        }
    }

    /// Handles KILL. An unknown player in it is refused, but does not count as an error of the peer,
    /// because games report deaths by falls or lava as kills by "world".
    async fn kill(&mut self, kill: Request) -> AfterLine {
        match self.answer(kill).await {
            Err(refusal) if refusal.code == Code::UnknownPlayer => {
                self.put_error(refusal);
                AfterLine::Continue
            }
            answer => self.reply(answer),
        }
    }

    /// Handles HELLO; a refusal closes the connection.
    async fn hello(&mut self, hello: Request, stop: &CancellationToken) -> AfterLine {
        let introduced = stop.run_until_cancelled(self.introduce(hello)).await;
        let Some(introduced) = introduced else {
            return AfterLine::Close(ConnectionEnd::ByShutdown);
        };
        match introduced {
            Err(refusal) => {
                self.put_error(refusal);
                AfterLine::Close(ConnectionEnd::ForCause)
            }
            Ok(reply) => {
                if let Some(reply) = reply {
                    reply.encode(&mut self.output);
                }
                self.put_offers();
                AfterLine::Continue
            }
        }
    }

    async fn introduce(&mut self, hello: Request) -> Result<Option<Reply>, Refusal> {
        let Request::Hello {
            server,
            token,
            hosts,
            resume,
            source,
            ..
        } = &hello
        else {
            return Ok(None);
        };
        let (server, hosts, resume) = (server.text().to_owned(), *hosts, *resume);
        // A connection that hosts a match reports the game server of an instance.
        let source = source.clone().filter(|_| hosts.is_none());
        let token = token.as_ref().map(Token::secret);
        self.peer.greet(&server, token).await?;
        self.session.belongs_to(self.peer.holder());
        self.peer.authorize(&hello)?;
        if let Some(source) = source {
            let (source, from) = (source.text(), self.peer.from());
            let reported = self.session.report_source(&server, source, from, resume);
            reported.map_err(dispatch::refusal)?;
        }
        let reply = self.answer(hello).await?;
        self.host.greet(&server, hosts, &mut self.session).await?;
        self.host.report_roster(&self.session).await;
        Ok(reply)
    }

    async fn answer(&mut self, mut request: Request) -> Result<Option<Reply>, Refusal> {
        if self.host.sends_away(&request, &mut self.session).await? {
            return Ok(None);
        }
        self.host.complete(&mut request);
        let new_game = matches!(request, Request::Game(_));
        let step = HostStep::of(&request);
        let hosted = match &step {
            Some(step) => self.host.current(step, &mut self.session).await?,
            None => None,
        };
        match (&step, hosted) {
            (Some(HostStep::Start), Some(id)) => self.host.begin(id, &self.session).await?,
            (Some(HostStep::Start), None) => self.host.check_start(&self.session)?,
            _ => {}
        }
        let span = command_span(request.verb());
        let answer = dispatch::answer(&mut self.session, request);
        let answer = answer.instrument(span.clone()).await;
        self.host.follow(&self.session).await;
        // A match whose record is written later is over, too.
        if let (Some(step), Some(hosted), Ok(_) | Err(SessionError::Deferred)) =
            (step, hosted, &answer)
        {
            self.host.report(step, hosted).await;
        }
        self.host.report_roster(&self.session).await;
        if new_game && answer.is_ok() {
            self.errors = 0;
        }
        span.in_scope(|| answer.map_err(dispatch::refusal))
    }

    /// Buffers the pushes about what has happened to offers, and about a streak.
    pub(super) fn put_offers(&mut self) {
        for event in self.session.take_offer_events() {
            for notice in dispatch::notices(event) {
                notice.push().encode(&mut self.output);
            }
        }
        if let Some(streak) = self.session.take_streak() {
            GameNotice::Streak(streak).push().encode(&mut self.output);
        }
    }

    fn refuse(&mut self, refusal: Refusal) -> AfterLine {
        // A fault of the daemon does not count as an error of the client.
        self.errors += u32::from(refusal.code != Code::Internal);
        self.put_error(refusal);
        if self.errors < self.limits.max_errors.get() {
            return AfterLine::Continue;
        }
        let text = format!("{} since the last GAME", counted(self.errors, "error"));
        self.put_error(Refusal::new(Code::TooManyErrors, text));
        AfterLine::Close(ConnectionEnd::ForCause)
    }

    /// Buffers an error reply, and counts it.
    pub(super) fn put_error(&mut self, refusal: Refusal) {
        self.peer.metrics().error(refusal.code);
        Reply::Error(refusal).encode(&mut self.output);
    }
}

/// The span of what is logged while a request is carried out.
fn command_span(verb: Verb) -> Span {
    debug_span!("command", verb = verb.as_str())
}
