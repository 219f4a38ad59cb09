//! The two directions of a connection, which can be used from different tasks.

use std::{fmt, io};

use bytes::BytesMut;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};

use super::ClientError;
use crate::protocol::{FramedLine, Framer, Received, ReplyReader, Request};

/// A stream to the server, encrypted or not.
type Writer = Box<dyn AsyncWrite + Send + Unpin>;
/// A stream from the server, encrypted or not.
type Reader = Box<dyn AsyncRead + Send + Unpin>;

/// The direction to the server.
pub struct RequestSender {
    writer: Writer,
    /// Requests that are not sent yet.
    output: BytesMut,
}

impl fmt::Debug for RequestSender {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RequestSender").finish_non_exhaustive()
    }
}

impl RequestSender {
    pub(super) fn new(writer: Writer) -> Self {
        Self {
            writer,
            output: BytesMut::new(),
        }
    }

    /// Appends a request to those that the next [`flush`](Self::flush) sends.
    pub fn queue(&mut self, request: &Request) {
        request.encode(&mut self.output);
    }

    /// Sends the requests queued, in their order.
    ///
    /// # Errors
    /// [`ClientError::Io`] if the connection is broken.
    pub async fn flush(&mut self) -> Result<(), ClientError> {
        self.writer.write_all_buf(&mut self.output).await?;
        Ok(self.writer.flush().await?)
    }

    /// Ends this direction. The server answers what it has read, and closes the other direction.
    ///
    /// # Errors
    /// [`ClientError::Io`] if the connection is broken.
    pub async fn close(mut self) -> Result<(), ClientError> {
        self.flush().await?;
        Ok(self.writer.shutdown().await?)
    }
}

/// The direction from the server.
pub struct ReplyReceiver {
    reader: Reader,
    framer: Framer,
    max_line_bytes: usize,
    input: BytesMut,
    replies: ReplyReader,
}

impl fmt::Debug for ReplyReceiver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ReplyReceiver").finish_non_exhaustive()
    }
}

impl ReplyReceiver {
    pub(super) fn new(reader: Reader, max_line_bytes: usize) -> Self {
        Self {
            reader,
            framer: Framer::new(max_line_bytes),
            max_line_bytes,
            input: BytesMut::new(),
            replies: ReplyReader::default(),
        }
    }

    /// Waits for the next whole reply or push.
    ///
    /// It is cancel safe: no line is lost if the future is dropped.
    ///
    /// # Errors
    /// - [`ClientError::Malformed`] or [`ClientError::LineTooLong`] for a line that is no reply. The
    ///   next call goes on with the line after it.
    /// - [`ClientError::Closed`] or [`ClientError::Io`] if nothing more will come.
    pub async fn receive(&mut self) -> Result<Received, ClientError> {
        loop {
            while let Some(line) = self.framer.next_line(&mut self.input) {
                let FramedLine::Text(line) = line else {
                    return Err(ClientError::LineTooLong(self.max_line_bytes));
                };
                if let Some(received) = self.replies.line(line)? {
                    return Ok(received);
                }
            }
            match self.reader.read_buf(&mut self.input).await {
                Ok(0) => return Err(ClientError::Closed),
                // The server was killed, and has not ended the encryption before.
                Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => {
                    return Err(ClientError::Closed);
                }
                read => read?,
            };
        }
    }
}
