//! One connection: bytes in, lines through the session, bytes out, under its limits.

use std::{io, time::Duration};

use bytes::BytesMut;
use tokio::{
    io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt},
    time::{Instant, timeout},
};
use tokio_util::sync::CancellationToken;

use super::{Limits, dispatch};
use crate::{
    domain::counted,
    protocol::{Code, FramedLine, Framer, Refusal, Reply, Request},
    service::Service,
    session::Session,
};

/// Read from the socket at once, at most.
const READ: usize = 8 * 1024;
/// Replies that may gather before they are sent although more commands wait.
const WRITE: usize = 64 * 1024;

/// How long replies owed may still take once the daemon is told to stop.
const LAST_WRITE: Duration = Duration::from_secs(1);
/// How long, and how many bytes, a peer is still listened to after the last reply.
const LEAVE: Duration = Duration::from_millis(500);
const LEAVE_BYTES: usize = 64 * 1024;

/// Why a connection ended.
#[derive(Debug)]
pub enum Ended {
    /// The peer closed it, or said QUIT.
    ByPeer,
    /// It failed HELLO, or made too many errors.
    ForCause,
    /// It was silent, or too slow.
    TimedOut,
    /// Another connection of the same game server goes on with its game.
    Replaced,
    /// The daemon stops.
    ByShutdown,
    /// The network's doing.
    Broken(io::Error),
}

/// Serves one connection to its end.
pub async fn serve<S: AsyncRead + AsyncWrite + Unpin>(
    stream: S,
    service: &Service,
    limits: Limits,
    stop: CancellationToken,
) -> Ended {
    let mut connection = Connection {
        stream,
        limits,
        session: service.open_session(),
        framer: Framer::new(limits.max_line_bytes),
        input: BytesMut::with_capacity(READ),
        output: BytesMut::new(),
        errors: 0,
        patience: Instant::now() + limits.first_line,
        idle_until: Instant::now() + limits.first_line,
        inside_line: false,
    };
    let ended = connection.talk(&stop).await;
    connection
        .session
        .close(!matches!(ended, Ended::ByShutdown));
    // Whatever the reason, replies owed are sent; a peer that has gone does not mind.
    let _ = connection.flush(&stop).await;
    let _ = timeout(limits.write, connection.stream.shutdown()).await;
    connection.take_leave().await;
    ended
}

struct Connection<S> {
    stream: S,
    limits: Limits,
    session: Session,
    framer: Framer,
    input: BytesMut,
    output: BytesMut,
    errors: u32,
    /// When the connection is closed unless a line has ended by then.
    patience: Instant,
    /// The same without regard to a line that has begun. Blank lines do not move it.
    idle_until: Instant,
    inside_line: bool,
}

/// What to do after a line.
enum Next {
    GoOn,
    Close(Ended),
}

impl<S: AsyncRead + AsyncWrite + Unpin> Connection<S> {
    async fn talk(&mut self, stop: &CancellationToken) -> Ended {
        loop {
            while let Some(line) = self.framer.next_line(&mut self.input) {
                let blank = matches!(&line, FramedLine::Text(text) if text.trim_ascii().is_empty());
                if let Next::Close(ended) = self.line(line).await {
                    return ended;
                }
                // A client that has to send HELLO gets no more time for anything else, and nobody gets
                // any for blank lines.
                if !blank && !self.session.must_say_hello() {
                    self.idle_until = Instant::now() + self.limits.idle;
                }
                self.patience = self.idle_until;
                self.inside_line = false;
                if stop.is_cancelled() {
                    return Ended::ByShutdown;
                }
                if self.output.len() >= WRITE
                    && let Err(ended) = self.flush(stop).await
                {
                    return ended;
                }
            }
            if let Err(ended) = self.flush(stop).await {
                return ended;
            }
            self.watch_line();
            let read = self.stream.read_buf(&mut self.input);
            let read = tokio::select! {
                biased;
                () = stop.cancelled() => return Ended::ByShutdown,
                () = self.session.replaced() => return Ended::Replaced,
                read = tokio::time::timeout_at(self.patience, read) => read,
            };
            match read {
                Ok(Ok(0)) => return Ended::ByPeer,
                Ok(Ok(_)) => {}
                Ok(Err(error)) => return Ended::Broken(error),
                Err(_) => return Ended::TimedOut,
            }
        }
    }

    /// Takes what the peer had already sent, for a moment: a connection closed with unread input is
    /// reset, and the peer may then lose the last replies.
    async fn take_leave(&mut self) {
        let mut left = LEAVE_BYTES;
        let rest = async {
            while left > 0 {
                self.input.clear();
                match self.stream.read_buf(&mut self.input).await {
                    Ok(read @ 1..) => left = left.saturating_sub(read),
                    _ => break,
                }
            }
        };
        let _ = timeout(LEAVE, rest).await;
    }

    /// A line that has begun must end soon, however its bytes trickle in.
    fn watch_line(&mut self) {
        let inside = self.framer.is_inside_line(&self.input);
        if inside && !self.inside_line {
            self.patience = self.patience.min(Instant::now() + self.limits.line);
        }
        self.inside_line = inside;
        self.input.reserve(READ);
    }

    async fn line(&mut self, line: FramedLine) -> Next {
        let request = match line {
            FramedLine::Text(line) => Request::parse(line),
            FramedLine::TooLong => {
                let text = format!("a line may hold {} bytes", self.limits.max_line_bytes);
                Err(Refusal {
                    code: Code::TooLong,
                    text,
                })
            }
        };
        let answer = match request {
            Ok(None) => return Next::GoOn,
            Ok(Some(Request::Quit)) => return Next::Close(Ended::ByPeer),
            Ok(Some(request)) => {
                let kill = matches!(request, Request::Kill { .. });
                let (new_game, hello) = (
                    matches!(request, Request::Game(_)),
                    matches!(request, Request::Hello { .. }),
                );
                let answer = dispatch::answer(&mut self.session, request).await;
                if new_game && answer.is_ok() {
                    self.errors = 0;
                }
                if hello && let Err(refusal) = answer {
                    Reply::Error(refusal).encode(&mut self.output);
                    return Next::Close(Ended::ForCause);
                }
                if kill
                    && let Err(refusal) = &answer
                    && refusal.code == Code::UnknownPlayer
                {
                    // Games report falls and lava as kills by "world": that is no client gone wrong.
                    Reply::Error(refusal.clone()).encode(&mut self.output);
                    return Next::GoOn;
                }
                answer
            }
            Err(refusal) => Err(refusal),
        };
        match answer {
            Ok(reply) => {
                if let Some(reply) = reply {
                    reply.encode(&mut self.output);
                }
                Next::GoOn
            }
            Err(refusal) => self.refuse(refusal),
        }
    }

    fn refuse(&mut self, refusal: Refusal) -> Next {
        self.errors += 1;
        Reply::Error(refusal).encode(&mut self.output);
        if self.errors < self.limits.max_errors {
            return Next::GoOn;
        }
        let text = format!("{} since the last GAME", counted(self.errors, "error"));
        Reply::Error(Refusal {
            code: Code::TooManyErrors,
            text,
        })
        .encode(&mut self.output);
        Next::Close(Ended::ForCause)
    }

    async fn flush(&mut self, stop: &CancellationToken) -> Result<(), Ended> {
        if self.output.is_empty() {
            return Ok(());
        }
        let write = timeout(self.limits.write, self.stream.write_all(&self.output));
        let too_late = async {
            stop.cancelled().await;
            tokio::time::sleep(LAST_WRITE).await;
        };
        let write = tokio::select! {
            biased;
            write = write => write,
            () = too_late => return Err(Ended::ByShutdown),
        };
        self.output.clear();
        match write {
            Ok(Ok(())) => Ok(()),
            Ok(Err(error)) => Err(Ended::Broken(error)),
            Err(_) => Err(Ended::TimedOut),
        }
    }
}
