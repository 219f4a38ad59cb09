//! One connection: reads lines, passes requests to the session, and writes replies, within limits.

use std::{io, time::Duration};

use bytes::BytesMut;
use tokio::{
    io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt},
    time::{Instant, timeout, timeout_at},
};
use tokio_util::sync::CancellationToken;
use tracing::{Instrument, debug_span};

use super::{
    Limits, dispatch,
    host::{HostClient, Step},
    queue::QueueClient,
};
use crate::{
    domain::counted,
    protocol::{
        Code, FramedLine, Framer, HostRequest, Push, QueueRequest, Refusal, Reply, Request,
    },
    service::Service,
    session::{MailboxReceiver, Session},
};

/// The most bytes per read from the socket.
const READ: usize = 8 * 1024;
/// The number of buffered reply bytes at which they are sent, even if more commands are waiting.
const WRITE: usize = 64 * 1024;

/// The time limit for sending the last replies after the daemon stops.
const LAST_WRITE: Duration = Duration::from_secs(1);
/// How long the daemon still reads and discards input after the last reply.
const DISCARD: Duration = Duration::from_millis(500);
/// The most bytes of input that are discarded after the last reply.
const DISCARD_BYTES: usize = 64 * 1024;

/// The reason why a connection ended.
#[derive(Debug)]
pub enum ConnectionEnd {
    /// The peer closed the connection or sent QUIT.
    ByPeer,
    /// HELLO was refused, or there were too many errors.
    ForCause,
    /// The peer sent nothing for too long, or read or wrote too slowly.
    TimedOut,
    /// Another connection of the same game server has resumed its game.
    Replaced,
    /// The daemon is stopping.
    ByShutdown,
    /// The network connection failed.
    Broken(io::Error),
}

/// Serves one connection until it ends.
///
/// All log lines meanwhile are in the [span](Session::span) of the session.
pub async fn serve<S: AsyncRead + AsyncWrite + Unpin>(
    stream: S,
    service: &Service,
    limits: Limits,
    stop: CancellationToken,
) -> ConnectionEnd {
    let (session, pushes) = service.open_connection();
    let span = session.span().clone();
    let queue = QueueClient::new(service.queues().clone(), session.mailbox().clone());
    let host = HostClient::new(service.queues().clone(), session.mailbox().clone());
    let connection = Connection {
        stream,
        limits,
        queue,
        host,
        session,
        pushes,
        framer: Framer::new(limits.max_line_bytes.as_usize()),
        input: BytesMut::with_capacity(READ),
        output: BytesMut::new(),
        errors: 0,
        patience: Instant::now() + limits.first_line_seconds.duration(),
        idle_until: Instant::now() + limits.first_line_seconds.duration(),
        inside_line: false,
    };
    connection.run(&stop).instrument(span).await
}

struct Connection<S> {
    stream: S,
    limits: Limits,
    session: Session,
    queue: QueueClient,
    host: HostClient,
    /// Lines to send without a request.
    pushes: MailboxReceiver,
    framer: Framer,
    input: BytesMut,
    /// Replies and pushes that have not been sent yet, each complete.
    output: BytesMut,
    errors: u32,
    /// The time at which the connection is closed unless a line is completed before.
    patience: Instant,
    /// The same, but not postponed when a line begins, nor by blank lines.
    idle_until: Instant,
    inside_line: bool,
}

/// What to do after handling a line.
enum Next {
    Continue,
    Close(ConnectionEnd),
}

impl<S: AsyncRead + AsyncWrite + Unpin> Connection<S> {
    async fn run(mut self, stop: &CancellationToken) -> ConnectionEnd {
        let end = self.talk(stop).await;
        self.session
            .close(!matches!(end, ConnectionEnd::ByShutdown));
        // Send the last replies whatever the reason. If the peer has gone, this fails without
        // effect.
        let _ = self.flush(stop).await;
        let _ = timeout(self.limits.write_seconds.duration(), self.stream.shutdown()).await;
        self.discard_input().await;
        tracing::debug!(?end, "connection ended");
        end
    }

    async fn talk(&mut self, stop: &CancellationToken) -> ConnectionEnd {
        loop {
            while let Some(line) = self.framer.next_line(&mut self.input) {
                let blank = matches!(&line, FramedLine::Text(text) if text.trim_ascii().is_empty());
                if let Next::Close(end) = self.line(line).await {
                    return end;
                }
                // Only lines that are not blank give a peer more time; before a required HELLO, no
                // line does.
                if !blank && !self.session.must_say_hello() {
                    self.idle_until = Instant::now() + self.limits.idle_seconds.duration();
                }
                self.patience = self.idle_until;
                self.inside_line = false;
                if stop.is_cancelled() {
                    return ConnectionEnd::ByShutdown;
                }
                if self.output.len() >= WRITE
                    && let Err(end) = self.flush(stop).await
                {
                    return end;
                }
            }
            if let Err(end) = self.flush(stop).await {
                return end;
            }
            self.watch_line();
            let read = self.stream.read_buf(&mut self.input);
            let read = tokio::select! {
                biased;
                () = stop.cancelled() => return ConnectionEnd::ByShutdown,
                () = self.session.replaced() => return ConnectionEnd::Replaced,
                Some(line) = self.pushes.receive() => {
                    self.push(line);
                    continue;
                }
                read = timeout_at(self.patience, read) => read,
            };
            match read {
                Ok(Ok(0)) => return ConnectionEnd::ByPeer,
                Ok(Ok(_)) => {}
                Ok(Err(error)) => return ConnectionEnd::Broken(error),
                Err(_) => return ConnectionEnd::TimedOut,
            }
        }
    }

    /// Buffers this line and the other queued ones. Replies are buffered whole, so a push never
    /// comes inside a reply.
    fn push(&mut self, line: String) {
        Push::new(line).encode(&mut self.output);
        while self.output.len() < WRITE
            && let Some(line) = self.pushes.try_receive()
        {
            Push::new(line).encode(&mut self.output);
        }
    }

    /// Reads and discards, for a moment, what the peer has already sent. Closing a connection with
    /// unread input resets it, and the peer could lose the last replies.
    async fn discard_input(&mut self) {
        let mut left = DISCARD_BYTES;
        let rest = async {
            while left > 0 {
                self.input.clear();
                match self.stream.read_buf(&mut self.input).await {
                    Ok(read @ 1..) => left = left.saturating_sub(read),
                    _ => break,
                }
            }
        };
        let _ = timeout(DISCARD, rest).await;
    }

    /// Starts the time limit of a line once its first byte has arrived.
    fn watch_line(&mut self) {
        let inside = self.framer.is_inside_line(&self.input);
        if inside && !self.inside_line {
            self.patience = self
                .patience
                .min(Instant::now() + self.limits.line_seconds.duration());
        }
        self.inside_line = inside;
        self.input.reserve(READ);
    }

    async fn line(&mut self, line: FramedLine) -> Next {
        self.host.heard();
        let answer = match line {
            FramedLine::Text(line) => match Request::parse(line) {
                Ok(None) => return Next::Continue,
                Ok(Some(Request::Quit)) => return Next::Close(ConnectionEnd::ByPeer),
                Ok(Some(hello @ Request::Hello { .. })) => return self.hello(hello).await,
                Ok(Some(kill @ Request::Kill { .. })) => return self.kill(kill).await,
                Ok(Some(Request::Queue(request))) => self.queue(request).await,
                Ok(Some(Request::Host(request))) => self.host(request).await,
                Ok(Some(request)) => self.answer(request).await,
                Err(refusal) => Err(refusal),
            },
            FramedLine::TooLong => {
                let text = format!(
                    "the line is longer than {} bytes",
                    self.limits.max_line_bytes.get()
                );
                let code = Code::TooLong;
                Err(Refusal { code, text })
            }
        };
        self.reply(answer)
    }

    fn reply(&mut self, answer: Result<Option<Reply>, Refusal>) -> Next {
        match answer {
            Ok(reply) => {
                if let Some(reply) = reply {
                    reply.encode(&mut self.output);
                }
                Next::Continue
            }
            Err(refusal) => self.refuse(refusal),
        }
    }

    /// Handles KILL. An unknown player in it is refused, but does not count as an error of the peer,
    /// because games report deaths by falls or lava as kills by "world".
    async fn kill(&mut self, kill: Request) -> Next {
        match self.answer(kill).await {
            Err(refusal) if refusal.code == Code::UnknownPlayer => {
                Reply::Error(refusal).encode(&mut self.output);
                Next::Continue
            }
            answer => self.reply(answer),
        }
    }

    /// Handles HELLO; a refusal closes the connection.
    async fn hello(&mut self, hello: Request) -> Next {
        match self.introduce(hello).await {
            Ok(reply) => {
                if let Some(reply) = reply {
                    reply.encode(&mut self.output);
                }
                Next::Continue
            }
            Err(refusal) => {
                Reply::Error(refusal).encode(&mut self.output);
                Next::Close(ConnectionEnd::ForCause)
            }
        }
    }

    async fn introduce(&mut self, hello: Request) -> Result<Option<Reply>, Refusal> {
        let named = match &hello {
            Request::Hello { server, hosts, .. } => Some((server.text().to_owned(), *hosts)),
            _ => None,
        };
        let reply = self.answer(hello).await?;
        if let Some((server, hosts)) = named {
            self.host.greet(&server, hosts, &mut self.session).await?;
        }
        Ok(reply)
    }

    /// Handles a request of an instance.
    async fn host(&mut self, request: HostRequest) -> Result<Option<Reply>, Refusal> {
        if self.session.must_say_hello() {
            return Err(dispatch::hello_first());
        }
        let span = debug_span!("command", verb = Request::Host(request.clone()).verb());
        let answer = self.host.answer(request, &mut self.session);
        answer.instrument(span).await.map(|()| None)
    }

    /// Handles a request about the queue, which does not touch the game of this connection.
    async fn queue(&mut self, request: QueueRequest) -> Result<Option<Reply>, Refusal> {
        if self.session.must_say_hello() {
            return Err(dispatch::hello_first());
        }
        let name = self.session.name().map(str::to_owned);
        let span = debug_span!("command", verb = Request::Queue(request.clone()).verb());
        self.queue
            .answer(name.as_deref(), request)
            .instrument(span)
            .await
    }

    async fn answer(&mut self, request: Request) -> Result<Option<Reply>, Refusal> {
        let new_game = matches!(request, Request::Game(_));
        let step = Step::of(&request);
        let hosted = match &step {
            Some(step) => self.host.current(step, &mut self.session).await,
            None => None,
        };
        if step == Some(Step::Start) && hosted.is_none() {
            self.host.check_start(&self.session)?;
        }
        let span = debug_span!("command", verb = request.verb());
        let answer = dispatch::answer(&mut self.session, request)
            .instrument(span)
            .await;
        self.host.follow(&self.session).await;
        // A match that is kept is over, too.
        let kept = |refusal: &Refusal| refusal.code == Code::Internal && refusal.text == "kept";
        if let (Some(step), Some(hosted)) = (step, hosted)
            && answer.as_ref().err().is_none_or(kept)
        {
            self.host.report(step, hosted).await;
        }
        if new_game && answer.is_ok() {
            self.errors = 0;
        }
        answer
    }

    fn refuse(&mut self, refusal: Refusal) -> Next {
        // A fault of the daemon does not count as an error of the client.
        self.errors += u32::from(refusal.code != Code::Internal);
        Reply::Error(refusal).encode(&mut self.output);
        if self.errors < self.limits.max_errors.get() {
            return Next::Continue;
        }
        let text = format!("{} since the last GAME", counted(self.errors, "error"));
        Reply::Error(Refusal {
            code: Code::TooManyErrors,
            text,
        })
        .encode(&mut self.output);
        Next::Close(ConnectionEnd::ForCause)
    }

    /// Writes the journal, then sends the replies.
    async fn flush(&mut self, stop: &CancellationToken) -> Result<(), ConnectionEnd> {
        if self.output.is_empty() {
            self.session.write_journal();
            return Ok(());
        }
        self.session.before_replies().await;
        let write = timeout(
            self.limits.write_seconds.duration(),
            self.stream.write_all(&self.output),
        );
        let too_late = async {
            stop.cancelled().await;
            tokio::time::sleep(LAST_WRITE).await;
        };
        let write = tokio::select! {
            biased;
            write = write => write,
            () = too_late => return Err(ConnectionEnd::ByShutdown),
        };
        self.output.clear();
        match write {
            Ok(Ok(())) => Ok(()),
            Ok(Err(error)) => Err(ConnectionEnd::Broken(error)),
            Err(_) => Err(ConnectionEnd::TimedOut),
        }
    }
}
