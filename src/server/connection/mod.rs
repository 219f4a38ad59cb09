//! One connection: reads lines, passes requests to the session, and writes replies, within limits.

mod requests;
mod wire;

use std::io;

use bytes::BytesMut;
use tokio::{
    io::{AsyncRead, AsyncReadExt, AsyncWrite},
    time::{Instant, timeout_at},
};
use tokio_util::sync::CancellationToken;
use tracing::Instrument;

use super::{Limits, Peer, host::HostClient, queue::QueueClient};
use crate::{
    domain::Right,
    protocol::{Code, FramedLine, Framer, Refusal, Verb},
    service::Service,
    session::{MailboxReceiver, Session},
};

/// The most bytes per read from the socket.
const READ: usize = 8 * 1024;
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
    peer: Peer,
    stop: CancellationToken,
) -> ConnectionEnd {
    let (session, pushes) = service.open_connection();
    let span = session.span().clone();
    let queue = QueueClient::new(service.queues().clone(), session.mailbox().clone());
    let host = HostClient::new(service.queues().clone(), session.mailbox().clone());
    let connection = Connection {
        stream,
        limits,
        peer,
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
        verb: None,
        began: Instant::now(),
    };
    connection.run(&stop).instrument(span).await
}

struct Connection<S> {
    stream: S,
    limits: Limits,
    peer: Peer,
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
    /// The verb of the last line, until it is counted.
    verb: Option<Verb>,
    /// When the last line had arrived: at the last read, or when the line before it was answered.
    began: Instant,
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
        self.say_goodbye(stop).await;
        tracing::debug!(?end, "connection ended");
        end
    }

    async fn talk(&mut self, stop: &CancellationToken) -> ConnectionEnd {
        loop {
            while let Some(line) = self.framer.next_line(&mut self.input) {
                let blank = matches!(&line, FramedLine::Text(text) if text.trim_ascii().is_empty());
                let next = self.line(line, stop).await;
                let now = Instant::now();
                self.count_request(now);
                if let Next::Close(end) = next {
                    return end;
                }
                // Only lines that are not blank give a peer more time; before a required HELLO, no
                // line does.
                if !blank && !self.peer.must_say_hello() {
                    self.idle_until = now + self.limits.idle_seconds.duration();
                }
                self.patience = self.idle_until;
                self.inside_line = false;
                if stop.is_cancelled() {
                    return ConnectionEnd::ByShutdown;
                }
                if let Err(end) = self.between_lines(stop).await {
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
                () = self.peer.outdated() => {
                    match self.renew() {
                        Next::Continue => continue,
                        Next::Close(end) => return end,
                    }
                }
                Some(line) = self.pushes.receive() => {
                    self.push(line);
                    continue;
                }
                read = timeout_at(self.patience, read) => read,
            };
            match read {
                Ok(Ok(0)) => return ConnectionEnd::ByPeer,
                Ok(Ok(_)) => self.began = Instant::now(),
                Ok(Err(error)) => return ConnectionEnd::Broken(error),
                Err(_) => return ConnectionEnd::TimedOut,
            }
        }
    }

    /// Sends replies if many are waiting, and reads nothing for a while if the peer has sent too much. The next
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

    /// Takes over a configuration that has been read again. A connection that is no client any more, or that
    /// has lost the right to the pushes that it gets, is closed.
    fn renew(&mut self) -> Next {
        let refusal = match self.peer.renew() {
            Ok(()) => {
                let lost = self.queue.listens() && !self.peer.has(Right::Queue)
                    || self.host.is_host() && !self.peer.has(Right::Instance);
                if !lost {
                    return Next::Continue;
                }
                let text = "you have lost the right to what this connection does".to_owned();
                Refusal {
                    code: Code::NotAllowed,
                    text,
                }
            }
            Err(refusal) => refusal,
        };
        tracing::info!(%refusal, "a connection is closed after the configuration was read again");
        self.put_error(refusal);
        Next::Close(ConnectionEnd::ForCause)
    }
}
