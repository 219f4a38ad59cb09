//! The bytes of a connection: what is sent, and when nothing is read.

use std::time::Duration;

use tokio::{
    io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt},
    time::{Instant, sleep_until, timeout},
};
use tokio_util::sync::CancellationToken;

use super::{Connection, ConnectionEnd, Next, WRITE};
use crate::protocol::Push;

/// The time limit for sending the last replies after the daemon stops.
const LAST_WRITE: Duration = Duration::from_secs(1);
/// How long the daemon still reads and discards input after the last reply.
const DISCARD: Duration = Duration::from_millis(500);
/// The most bytes of input that are discarded after the last reply.
const DISCARD_BYTES: usize = 64 * 1024;

impl<S: AsyncRead + AsyncWrite + Unpin> Connection<S> {
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

    /// Reads nothing for so long, because the peer has sent more than it may. Pushes go on.
    pub(super) async fn pause(
        &mut self,
        pause: Duration,
        stop: &CancellationToken,
    ) -> Result<(), ConnectionEnd> {
        let until = Instant::now() + pause;
        loop {
            self.flush(stop).await?;
            tokio::select! {
                biased;
                () = stop.cancelled() => return Err(ConnectionEnd::ByShutdown),
                () = self.session.replaced() => return Err(ConnectionEnd::Replaced),
                () = self.peer.outdated() => {
                    if let Next::Close(end) = self.renew() {
                        return Err(end);
                    }
                }
                Some(line) = self.pushes.receive() => self.push(line),
                () = sleep_until(until) => return Ok(()),
            }
        }
    }

    /// Writes the journal, then sends the replies.
    pub(super) async fn flush(&mut self, stop: &CancellationToken) -> Result<(), ConnectionEnd> {
        if self.output.is_empty() {
            self.session.write_journal();
            return Ok(());
        }
        self.session.before_replies().await;
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
        self.output.clear();
        match write {
            Ok(Ok(())) => Ok(()),
            Ok(Err(error)) => Err(ConnectionEnd::Broken(error)),
            Err(_) => Err(ConnectionEnd::TimedOut),
        }
    }
}
