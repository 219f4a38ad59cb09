//! The two directions of a connection, which can be used from different tasks.

use bytes::BytesMut;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::tcp::{OwnedReadHalf, OwnedWriteHalf},
};

use super::ClientError;
use crate::protocol::{FramedLine, Framer, Received, ReplyReader, Request};

/// The direction to the server.
#[derive(Debug)]
pub struct RequestSender {
    writer: OwnedWriteHalf,
    /// Requests that are not sent yet.
    output: BytesMut,
}

impl RequestSender {
    pub(super) fn new(writer: OwnedWriteHalf) -> Self {
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
        Ok(self.writer.write_all_buf(&mut self.output).await?)
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
#[derive(Debug)]
pub struct ReplyReceiver {
    reader: OwnedReadHalf,
    framer: Framer,
    max_line_bytes: usize,
    input: BytesMut,
    replies: ReplyReader,
}

impl ReplyReceiver {
    pub(super) fn new(reader: OwnedReadHalf, max_line_bytes: usize) -> Self {
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
            if self.reader.read_buf(&mut self.input).await? == 0 {
                return Err(ClientError::Closed);
            }
        }
    }
}
