//! One connection: reads lines, passes requests to the session, and writes replies, within limits.

mod requests;
mod turn;

use std::{
    future::poll_fn,
    io,
    pin::Pin,
    task::{Context, Poll},
    time::Duration,
};

use bytes::{Buf, BytesMut};
use tokio::{
    io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, DuplexStream},
    net::TcpStream,
    time::{Instant, timeout},
};
use tokio_rustls::server::TlsStream;
use tokio_util::sync::CancellationToken;
use tracing::Instrument;

use super::{
    ConnectionLimits, Peer, Service, gate::not_allowed, host::HostClient, host::QueueClient,
};
use crate::{
    model::access::Right,
    protocol::{Code, FramedLine, Framer, Push, Refusal, Verb},
    session::Session,
};

use turn::{EndTokens, Input, Signal, Signals};

/// The most bytes per read from the socket.
const READ: usize = 16 * 1024;
/// The largest buffer in bytes that a connection keeps while it waits.
const KEPT: usize = 1024;
/// The number of buffered reply bytes at which they are sent, even if more commands are waiting.
const WRITE: usize = 64 * 1024;

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
    /// There were too many connections, and a new one has its place.
    GivenUp,
    /// The daemon is stopping.
    ByShutdown,
    /// The network connection failed.
    Broken(io::Error),
}

/// Serves one connection until it ends.
///
/// All log lines meanwhile are in the [span](Session::span) of the session.
pub async fn serve<S: ByteStream>(
    stream: S,
    service: &Service,
    limits: ConnectionLimits,
    peer: Peer,
    stop: CancellationToken,
) -> ConnectionEnd {
    let (mut session, pushes) = service.open_connection();
    session.belongs_to(peer.holder());
    let queue = QueueClient::new(service.queues().clone(), session.mailbox().clone());
    let host = HostClient::new(service.queues().clone(), session.mailbox().clone());
    let patience = Instant::now() + limits.first_line_seconds.duration();
    let ends = EndTokens {
        stop: stop.clone(),
        replaced: session.replaced(),
        gives_up: peer.gives_up().clone(),
    };
    let outdated = peer.outdated();
    let connection = Connection {
        stream,
        limits,
        peer,
        queue,
        host,
        session,
        signals: Signals::new(ends, outdated, pushes, patience),
        framer: Framer::new(limits.max_line_bytes.as_usize()),
        input: BytesMut::new(),
        output: BytesMut::new(),
        unflushed: false,
        errors: 0,
        patience,
        idle_until: patience,
        inside_line: false,
        verb: None,
        began: Instant::now(),
    };
    connection.run(&stop).await
}

struct Connection<S> {
    stream: S,
    limits: ConnectionLimits,
    peer: Peer,
    session: Session,
    queue: QueueClient,
    host: HostClient,
    signals: Signals,
    framer: Framer,
    /// Lines that have been read and not been handled yet. The last one may lack its end.
    input: BytesMut,
    /// Replies and pushes that have not been sent yet, each complete.
    output: BytesMut,
    /// Whether the stream holds bytes that it has not sent yet.
    unflushed: bool,
    errors: u32,
    /// The time at which the connection is closed unless a line is completed before.
    patience: Instant,
    /// The same, but not postponed when a line begins, nor by blank lines.
    idle_until: Instant,
    inside_line: bool,
    /// The verb of the last line, until it is counted.
    verb: Option<Verb>,
    /// When the last line had arrived: at the last read, or when the line before it was answered.
    began: Instant,
}

/// What to do after handling a line.
enum AfterLine {
    Continue,
    Close(ConnectionEnd),
}

impl<S: ByteStream> Connection<S> {
    async fn run(mut self, stop: &CancellationToken) -> ConnectionEnd {
        let end = self.talk(stop).await;
        let span = self.session.span().clone();
        let closing = async {
            self.session
                .close(!matches!(end, ConnectionEnd::ByShutdown));
            match end {
                // Others wait for the place.
                ConnectionEnd::GivenUp => {
                    let _ = timeout(LAST_WRITE, self.flush(stop)).await;
                }
                _ => self.say_goodbye(stop).await,
            }
            tracing::debug!(?end, "connection ended");
        };
        closing.instrument(span).await;
        end
    }

    async fn talk(&mut self, stop: &CancellationToken) -> ConnectionEnd {
        let span = self.session.span().clone();
        loop {
            let handled = self.handle_input(stop).instrument(span.clone()).await;
            if let Err(end) = handled {
                return end;
            }
            self.watch_line();
            let due = self.session.due();
            self.signals
                .watch_offer(due.map(|due| Instant::now() + due));
            // Questions about weights are answered in here, outside of the span: they log nothing.
            let reacted = match poll_fn(|context| self.poll_input(context)).await {
                Input::Lines => Ok(()),
                Input::Signal(signal) => span.in_scope(|| self.react(signal)),
                Input::End(end) => Err(end),
            };
            if let Err(end) = reacted {
                return end;
            }
        }
    }

    /// Handles the lines that have arrived, and sends the replies.
    async fn handle_input(&mut self, stop: &CancellationToken) -> Result<(), ConnectionEnd> {
        self.between_lines(stop).await?;
        while let Some(line) = self.framer.next_line(&mut self.input) {
            let blank = matches!(&line, FramedLine::Text(text) if text.trim_ascii().is_empty());
            let next = self.line(line, stop).await;
            let now = Instant::now();
            self.count_request(now);
            let has_game = self.session.game_number().is_some();
            self.peer.show(self.session.name().is_some(), has_game);
            if let AfterLine::Close(end) = next {
                return Err(end);
            }
            match blank {
                true => self.patience = self.idle_until,
                false => self.postpone(now),
            }
            self.inside_line = false;
            if stop.is_cancelled() {
                return Err(ConnectionEnd::ByShutdown);
            }
            self.between_lines(stop).await?;
        }
        release(&mut self.input);
        self.flush(stop).await
    }

    /// Sends replies if many are waiting, and stops reading for a while if the peer has exceeded its limit. The next
    /// line is not slower for it.
    async fn between_lines(&mut self, stop: &CancellationToken) -> Result<(), ConnectionEnd> {
        if self.output.len() >= WRITE {
            self.flush(stop).await?;
            self.began = Instant::now();
        }
        if let Some(pause) = self.peer.take_pause() {
            self.pause(pause, stop).await?;
            self.began = Instant::now();
        }
        Ok(())
    }

    /// Counts the last line, if it was a request.
    fn count_request(&mut self, now: Instant) {
        let took = now.duration_since(self.began);
        self.began = now;
        if let Some(verb) = self.verb.take() {
            self.peer.metrics().request(verb, took);
        }
    }

    /// Gives the peer more time after a line that is not blank. Before a required HELLO, no line does.
    fn postpone(&mut self, now: Instant) {
        if !self.peer.must_say_hello() {
            self.idle_until = now + self.limits.idle_seconds.duration();
        }
        self.patience = self.idle_until;
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
        self.signals.not_later_than(self.patience);
    }

    /// Reacts to something other than a line of the peer.
    fn react(&mut self, signal: Signal) -> Result<(), ConnectionEnd> {
        match signal {
            Signal::Stop => Err(ConnectionEnd::ByShutdown),
            Signal::Replaced => Err(ConnectionEnd::Replaced),
            Signal::Late => Err(ConnectionEnd::TimedOut),
            Signal::GivesUp => {
                let why = "all places are taken, and your address has most of those without a running game: \
                           this one gives up its place";
                self.put_error(Refusal::new(Code::Overloaded, why));
                Err(ConnectionEnd::GivenUp)
            }
            Signal::Due => {
                self.session.pass_time();
                self.put_offers();
                Ok(())
            }
            Signal::Push(line) => {
                self.push(line);
                Ok(())
            }
            Signal::Outdated => {
                let next = self.renew();
                self.signals.watch_configuration(self.peer.outdated());
                match next {
                    AfterLine::Continue => Ok(()),
                    AfterLine::Close(end) => Err(end),
                }
            }
        }
    }

    /// Takes over a configuration that has been read again. A connection that is no client any more, or that
    /// has lost the right to the pushes that it gets, is closed.
    fn renew(&mut self) -> AfterLine {
        let refusal = match self.peer.renew() {
            Ok(()) => {
                self.session.belongs_to(self.peer.holder());
                let lost = self.queue.listens() && !self.peer.has(Right::Queue)
                    || self.host.is_host() && !self.peer.has(Right::Instance);
                if !lost {
                    return AfterLine::Continue;
                }
                not_allowed("you have lost the right to what this connection does")
            }
            Err(refusal) => refusal,
        };
        tracing::info!(%refusal, "a connection is closed after the configuration was read again");
        self.put_error(refusal);
        AfterLine::Close(ConnectionEnd::ForCause)
    }
}

/// Releases a buffer that is empty and large: a connection that waits keeps little memory.
fn release(buffer: &mut BytesMut) {
    if buffer.is_empty() && buffer.capacity() > KEPT {
        *buffer = BytesMut::new();
    }
}

/// The stream of bytes of a connection.
pub trait ByteStream: AsyncRead + AsyncWrite + Unpin {
    /// Acknowledges at once what has been read, where the system can. It would otherwise wait some 40 ms for a reply that
    /// carries the acknowledgement, and a client with Nagle's algorithm sends its next line only then.
    fn acknowledge(&self);
}

impl ByteStream for TcpStream {
    fn acknowledge(&self) {
        // It is only faster: a system that refuses acknowledges later.
        #[cfg(any(target_os = "linux", target_os = "android"))]
        let _ = self.set_quickack(true);
    }
}

impl ByteStream for TlsStream<TcpStream> {
    fn acknowledge(&self) {
        self.get_ref().0.acknowledge();
    }
}

/// Within one process, nothing is acknowledged.
impl ByteStream for DuplexStream {
    fn acknowledge(&self) {}
}

/// The time limit for sending the last replies after the daemon stops.
const LAST_WRITE: Duration = Duration::from_secs(1);
/// How long the daemon still reads and discards input after the last reply.
const DISCARD: Duration = Duration::from_millis(500);
/// The most bytes of input that are discarded after the last reply.
const DISCARD_BYTES: usize = 64 * 1024;

impl<S: ByteStream> Connection<S> {
    /// Sends the last replies, whatever the reason of the end, and closes. If the peer has gone, this fails
    /// without effect.
    async fn say_goodbye(&mut self, stop: &CancellationToken) {
        let _ = self.flush(stop).await;
        let _ = timeout(self.limits.write_seconds.duration(), self.stream.shutdown()).await;
        self.discard_input().await;
    }

    /// Buffers this line and the other queued ones. Replies are buffered whole, so a push never
    /// comes inside a reply.
    fn push(&mut self, line: String) {
        Push::new(line).encode(&mut self.output);
        while self.output.len() < WRITE
            && let Some(line) = self.signals.pushes.try_receive()
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
                self.input.reserve(READ);
                match self.stream.read_buf(&mut self.input).await {
                    Ok(read @ 1..) => left = left.saturating_sub(read),
                    _ => break,
                }
            }
        };
        let _ = timeout(DISCARD, rest).await;
    }

    /// Stops reading for `pause`: the peer has sent more than it may. Pushes go on.
    async fn pause(
        &mut self,
        pause: Duration,
        stop: &CancellationToken,
    ) -> Result<(), ConnectionEnd> {
        let until = Instant::now() + pause;
        self.signals.not_later_than(until);
        loop {
            self.flush(stop).await?;
            match self.signals.next(until).await {
                Signal::Late => return Ok(()),
                signal => self.react(signal)?,
            }
        }
    }

    /// Writes the journal, then sends the replies. Without any, what has been read is acknowledged at once.
    async fn flush(&mut self, stop: &CancellationToken) -> Result<(), ConnectionEnd> {
        if self.output.is_empty() && !self.unflushed {
            self.stream.acknowledge();
            self.session.write_journal();
            return Ok(());
        }
        self.session.before_replies().await;
        // Nearly always the peer takes everything at once, and no timer is needed.
        let written =
            poll_fn(|context| Poll::Ready(write_now(&mut self.stream, context, &mut self.output)));
        match written.await {
            Ok(true) => {}
            Ok(false) => self.write_in_time(stop).await?,
            Err(error) => return Err(ConnectionEnd::Broken(error)),
        }
        self.unflushed = false;
        self.output.clear();
        release(&mut self.output);
        Ok(())
    }

    /// Sends what the peer has not taken at once.
    async fn write_in_time(&mut self, stop: &CancellationToken) -> Result<(), ConnectionEnd> {
        let write = async {
            self.stream.write_all(&self.output).await?;
            // An encrypted stream may still hold the last bytes.
            self.stream.flush().await
        };
        let write = timeout(self.limits.write_seconds.duration(), write);
        let too_late = async {
            stop.cancelled().await;
            tokio::time::sleep(LAST_WRITE).await;
        };
        let write = tokio::select! {
            biased;
            write = write => write,
            () = too_late => return Err(ConnectionEnd::ByShutdown),
        };
        match write {
            Ok(Ok(())) => Ok(()),
            Ok(Err(error)) => Err(ConnectionEnd::Broken(error)),
            Err(_) => Err(ConnectionEnd::TimedOut),
        }
    }
}

/// Writes as much as the peer takes now, and removes it from the bytes. Returns whether that is everything, and
/// the stream holds nothing back.
fn write_now<S: AsyncWrite + Unpin>(
    stream: &mut S,
    context: &mut Context<'_>,
    bytes: &mut BytesMut,
) -> io::Result<bool> {
    while !bytes.is_empty() {
        match Pin::new(&mut *stream).poll_write(context, bytes) {
            Poll::Ready(Ok(0)) => return Err(io::ErrorKind::WriteZero.into()),
            Poll::Ready(Ok(written)) if written == bytes.len() => bytes.clear(),
            Poll::Ready(Ok(written)) => bytes.advance(written),
            Poll::Ready(Err(error)) => return Err(error),
            Poll::Pending => return Ok(false),
        }
    }
    match Pin::new(stream).poll_flush(context) {
        Poll::Ready(flushed) => flushed.map(|()| true),
        Poll::Pending => Ok(false),
    }
}
