//! The bytes of a connection: what is sent, and when nothing is read.

use std::{
    future::poll_fn,
    io,
    pin::Pin,
    task::{Context, Poll},
    time::Duration,
};

use bytes::{Buf, BytesMut};
use tokio::{
    io::{AsyncReadExt, AsyncWrite, AsyncWriteExt},
    time::{Instant, timeout},
};
use tokio_util::sync::CancellationToken;

use super::{Connection, ConnectionEnd, READ, Signal, Stream, WRITE, release};
use crate::protocol::Push;

/// The time limit for sending the last replies after the daemon stops.
const LAST_WRITE: Duration = Duration::from_secs(1);
/// How long the daemon still reads and discards input after the last reply.
const DISCARD: Duration = Duration::from_millis(500);
/// The most bytes of input that are discarded after the last reply.
const DISCARD_BYTES: usize = 64 * 1024;

impl<S: Stream> Connection<S> {
    /// Sends the last replies, whatever the reason of the end, and closes. If the peer has gone, this fails
    /// without effect.
    pub(super) async fn say_goodbye(&mut self, stop: &CancellationToken) {
        let _ = self.flush(stop).await;
        let _ = timeout(self.limits.write_seconds.duration(), self.stream.shutdown()).await;
        self.discard_input().await;
    }

    /// Buffers this line and the other queued ones. Replies are buffered whole, so a push never
    /// comes inside a reply.
    pub(super) fn push(&mut self, line: String) {
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
    pub(super) async fn pause(
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
    pub(super) async fn flush(&mut self, stop: &CancellationToken) -> Result<(), ConnectionEnd> {
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
pub(super) fn write_now<S: AsyncWrite + Unpin>(
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
