//! Connecting to a daemon, encrypted or not.

use std::io;

use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::{TcpStream, ToSocketAddrs},
    time::timeout,
};

use super::{Client, ClientError, ClientSettings, ReplyReceiver, RequestSender, Trust};

impl Client {
    /// Connects with the default settings.
    ///
    /// # Errors
    /// [`ClientError::Connect`] or [`ClientError::ConnectTimeout`].
    pub async fn connect(address: impl ToSocketAddrs) -> Result<Self, ClientError> {
        Self::connect_with(address, ClientSettings::default()).await
    }

    /// Connects.
    ///
    /// # Errors
    /// [`ClientError::Connect`] or [`ClientError::ConnectTimeout`].
    pub async fn connect_with(
        address: impl ToSocketAddrs,
        settings: ClientSettings,
    ) -> Result<Self, ClientError> {
        let stream = in_time(settings, connected(address)).await?;
        let (reader, writer) = stream.into_split();
        Ok(Self::over(reader, writer, settings))
    }

    /// Connects to the daemon's address for encrypted connections.
    ///
    /// # Errors
    /// [`ClientError::ConnectTimeout`], and [`ClientError::Connect`] also if the daemon does not prove what
    /// `trust` demands.
    pub async fn connect_encrypted(
        address: impl ToSocketAddrs,
        trust: &Trust,
        settings: ClientSettings,
    ) -> Result<Self, ClientError> {
        let connecting = async { trust.encrypt(connected(address).await?).await };
        let stream = in_time(settings, connecting).await?;
        let (reader, writer) = tokio::io::split(stream);
        Ok(Self::over(reader, writer, settings))
    }

    fn over(
        reader: impl AsyncRead + Send + Unpin + 'static,
        writer: impl AsyncWrite + Send + Unpin + 'static,
        settings: ClientSettings,
    ) -> Self {
        let receiver = ReplyReceiver::new(Box::new(reader), settings.max_line_bytes);
        Self::new(RequestSender::new(Box::new(writer)), receiver, settings)
    }
}

/// Connects, so that each request is sent at once: they are small, and the caller waits for their replies.
async fn connected(address: impl ToSocketAddrs) -> io::Result<TcpStream> {
    let stream = TcpStream::connect(address).await?;
    stream.set_nodelay(true)?;
    Ok(stream)
}

async fn in_time<T>(
    settings: ClientSettings,
    connecting: impl Future<Output = io::Result<T>>,
) -> Result<T, ClientError> {
    let limit = settings.connect_timeout;
    match timeout(limit, connecting).await {
        Ok(connected) => connected.map_err(ClientError::Connect),
        Err(_) => Err(ClientError::ConnectTimeout(limit)),
    }
}
