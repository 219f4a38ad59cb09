//! The other end of the line: a client of the line protocol over TCP or TLS, for tests and plugins written in Rust, and
//! the `drivers` of sidecars and agents, which use it.
//!
//! [`Client::ask`] sends one request and returns its whole reply. [`Client::send`] sends many without
//! waiting, and [`Client::receive`] returns their replies one after the other. [`Client::split`] gives
//! both directions to different tasks. Lines that the server sends without a request are received
//! between replies.
//!
//! ```
//! use evenkeel::client::Client;
//! use evenkeel::model::ident::Ident;
//! use evenkeel::protocol::{Reply, Request, request::Join};
//!
//! # use evenkeel::{config::Config, daemon::Daemon};
//! # #[tokio::main]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let folder = tempfile::tempdir()?;
//! # let database = folder.path().join("evenkeel.db");
//! # let toml = format!("server.listen = '127.0.0.1:0'\nstore.database = '{}'", database.display());
//! # let daemon = Daemon::open(&Config::load(&toml, [])?).await?;
//! # let address = daemon.local_addr()?;
//! # tokio::spawn(daemon.run(std::future::pending()));
//! let mut client = Client::connect(address).await?;
//! client.hello("my-server", None).await?;
//! client.ask(&Request::Game(Ident::from_text("ctf"))).await?;
//! for name in ["ann", "bob", "Boring John"] {
//!     client.ask(&Request::Join(Join::new(Ident::from_text(name)))).await?;
//! }
//! let balance = Request::Balance { top: None, seed: Some(7) };
//! if let Some(Reply::Balance { humans, .. }) = client.ask(&balance).await? {
//!     assert_eq!(humans.len(), 3);
//! }
//! # Ok(())
//! # }
//! ```
//! Connecting to a daemon, encrypted or not: which certificates are trusted, and the name that the daemon must prove.

pub mod drivers;

use std::{collections::VecDeque, fmt, io, sync::Arc, time::Duration};

use bytes::BytesMut;
use tokio::{
    io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt},
    net::{TcpStream, ToSocketAddrs},
    time::timeout,
};
use tokio_rustls::{
    TlsConnector,
    client::TlsStream,
    rustls::{
        ClientConfig, RootCertStore,
        crypto::ring,
        pki_types::{CertificateDer, ServerName, pem::PemObject},
    },
};

use crate::{
    model::ident::Ident,
    protocol::{
        FramedLine, Framer, Received, Refusal, Reply, ReplyReader, Request,
        error::MalformedReply,
        request::{ReplyRule, Token},
    },
};

/// A connection to a daemon.
///
/// Most requests have no reply. [`Client::ask`] therefore sends PING after each: the PONG shows
/// that the request was accepted.
#[derive(Debug)]
pub struct Client {
    sender: RequestSender,
    receiver: ReplyReceiver,
    reply_timeout: Duration,
    max_backlog: usize,
    /// Replies and pushes that came while [`Client::ask`] waited for another reply.
    backlog: VecDeque<Received>,
    /// Whether replies to requests of [`Client::send`] may still come.
    owed: bool,
    /// How many PONGs are owed to requests of [`Client::send`].
    pongs: usize,
    /// Whether a request of [`Client::ask`] was given up before its reply came.
    out_of_step: bool,
}

impl Client {
    fn new(sender: RequestSender, receiver: ReplyReceiver, settings: ClientSettings) -> Self {
        Self {
            sender,
            receiver,
            reply_timeout: settings.reply_timeout,
            max_backlog: settings.max_backlog,
            backlog: VecDeque::new(),
            owed: false,
            pongs: 0,
            out_of_step: false,
        }
    }

    /// Names this game server. A game that its last connection left is resumed by the first request
    /// that needs one.
    ///
    /// # Errors
    /// [`ClientError::Refused`] if the daemon does not know the name or the token, and those of
    /// [`Client::ask`].
    pub async fn hello(&mut self, server: &str, token: Option<&str>) -> Result<(), ClientError> {
        self.introduce(server, token, false).await.map(|_| ())
    }

    /// Names this game server, and resumes the game that its last connection left. Returns whether
    /// there was one.
    ///
    /// # Errors
    /// Those of [`Client::hello`].
    pub async fn resume(&mut self, server: &str, token: Option<&str>) -> Result<bool, ClientError> {
        self.introduce(server, token, true).await
    }

    async fn introduce(
        &mut self,
        server: &str,
        token: Option<&str>,
        resume: bool,
    ) -> Result<bool, ClientError> {
        let hello = Request::Hello {
            server: Ident::from_text(server),
            token: token.map(Token::new),
            resume,
            bots: None,
            offers: None,
            streaks: None,
            hosts: None,
            source: None,
        };
        match self.ask(&hello).await? {
            Some(Reply::Hello { resumed, .. }) => Ok(resumed == Some(true)),
            other => Err(unexpected(other)),
        }
    }

    /// Sends one request and waits for its whole reply; `None` if it was accepted without one.
    ///
    /// Replies to earlier requests of [`Client::send`], and pushes, are kept for [`Client::receive`].
    ///
    /// # Errors
    /// [`ClientError::Refused`] if the server refuses the request. After any other error, and if the
    /// future is dropped before it completes, the client is [out of step](ClientError::OutOfStep).
    pub async fn ask(&mut self, request: &Request) -> Result<Option<Reply>, ClientError> {
        if std::mem::replace(&mut self.out_of_step, true) {
            return Err(ClientError::OutOfStep);
        }
        let limit = self.reply_timeout;
        let answer = timeout(limit, self.exchange(request)).await;
        let answer = answer.map_err(|_| ClientError::ReplyTimeout(limit))??;
        self.out_of_step = false;
        match answer {
            Some(Reply::Error(refusal)) => Err(ClientError::Refused(refusal)),
            answer => Ok(answer),
        }
    }

    async fn exchange(&mut self, request: &Request) -> Result<Option<Reply>, ClientError> {
        let owed = std::mem::take(&mut self.owed);
        if owed {
            self.sender.queue(&Request::Ping);
        }
        self.sender.queue(request);
        let always = request.reply_rule() == ReplyRule::Always;
        if !always {
            self.sender.queue(&Request::Ping);
        }
        self.sender.flush().await?;
        if owed {
            self.keep_until_pong().await?;
        }
        let answer = self.next_reply().await?;
        if always {
            return Ok(Some(answer));
        }
        if answer == Reply::Pong {
            return Ok(None);
        }
        match self.next_reply().await? {
            Reply::Pong => Ok(Some(answer)),
            // The error that closes the connection follows the last refusal.
            Reply::Error(refusal) => Ok(Some(Reply::Error(refusal))),
            other => Err(unexpected(Some(other))),
        }
    }

    /// Keeps the replies to earlier requests.
    async fn keep_until_pong(&mut self) -> Result<(), ClientError> {
        loop {
            let reply = self.next_reply().await?;
            if reply == Reply::Pong {
                if self.pongs == 0 {
                    return Ok(());
                }
                self.pongs -= 1;
            }
            self.keep(Received::Reply(reply))?;
        }
    }

    /// The next reply; pushes before it are kept.
    async fn next_reply(&mut self) -> Result<Reply, ClientError> {
        loop {
            match self.receiver.receive().await? {
                Received::Reply(reply) => return Ok(reply),
                push @ Received::Push(_) => self.keep(push)?,
            }
        }
    }

    fn keep(&mut self, received: Received) -> Result<(), ClientError> {
        if self.backlog.len() >= self.max_backlog {
            return Err(ClientError::Backlog(self.max_backlog));
        }
        self.backlog.push_back(received);
        Ok(())
    }

    /// Sends requests without waiting for their replies.
    ///
    /// A server stops reading while its replies are not received: send at most a few thousand requests
    /// before receiving, or [split](Client::split) the client.
    ///
    /// # Errors
    /// [`ClientError::Io`] if the connection is broken.
    pub async fn send(&mut self, requests: &[Request]) -> Result<(), ClientError> {
        for request in requests {
            self.sender.queue(request);
            self.pongs += usize::from(*request == Request::Ping);
        }
        self.owed |= !requests.is_empty();
        self.sender.flush().await
    }

    /// Waits for the next reply to a request of [`Client::send`], or the next push. It is cancel safe.
    ///
    /// # Errors
    /// Those of [`ReplyReceiver::receive`]. There is no time-out.
    pub async fn receive(&mut self) -> Result<Received, ClientError> {
        if let Some(received) = self.backlog.pop_front() {
            return Ok(received);
        }
        if self.out_of_step {
            return Err(ClientError::OutOfStep);
        }
        let received = self.receiver.receive().await?;
        if received == Received::Reply(Reply::Pong) {
            self.pongs = self.pongs.saturating_sub(1);
        }
        Ok(received)
    }

    /// The two directions, to be used from different tasks. What [`Client::ask`] kept is dropped.
    pub fn split(self) -> (RequestSender, ReplyReceiver) {
        (self.sender, self.receiver)
    }
}

fn unexpected(reply: Option<Reply>) -> ClientError {
    match reply {
        Some(reply) => ClientError::Unexpected(Box::new(reply)),
        None => ClientError::Closed,
    }
}

/// Why a request got no reply.
#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    /// The address cannot be connected to.
    #[error("cannot connect: {0}")]
    Connect(#[source] io::Error),
    /// The address did not answer within [`ClientSettings::connect_timeout`].
    ///
    /// [`ClientSettings::connect_timeout`]: ClientSettings::connect_timeout
    #[error("no connection within {0:?}")]
    ConnectTimeout(Duration),
    /// The certificates to trust are not usable, or the host's name is none.
    #[error("the daemon's certificate cannot be checked: {0}")]
    Trust(String),
    /// The connection broke.
    #[error("the connection broke: {0}")]
    Io(#[from] io::Error),
    /// The server closed the connection.
    #[error("the server closed the connection")]
    Closed,
    /// The whole reply did not come within [`ClientSettings::reply_timeout`].
    ///
    /// [`ClientSettings::reply_timeout`]: ClientSettings::reply_timeout
    #[error("no reply within {0:?}")]
    ReplyTimeout(Duration),
    /// The server refused the request, which changed nothing.
    #[error("refused: {0}")]
    Refused(Refusal),
    /// A web server answers at the address.
    #[error(
        "this is the port of the pages: game servers connect to that of [server] listen, 7997 by default"
    )]
    Pages,
    /// The server sent a line that is too long.
    #[error("the server sent a line of more than {0} bytes")]
    LineTooLong(usize),
    /// The server sent a line that is no reply.
    #[error(transparent)]
    Malformed(#[from] MalformedReply),
    /// The server sent a reply that does not belong to the request.
    #[error("the server sent a reply to another request: {0:?}")]
    Unexpected(Box<Reply>),
    /// The number of replies and pushes that wait to be received exceeds
    /// [`ClientSettings::max_backlog`].
    ///
    /// [`ClientSettings::max_backlog`]: ClientSettings::max_backlog
    #[error("more than {0} replies wait to be received")]
    Backlog(usize),
    /// An earlier request failed or was cancelled before its reply came, so that later replies cannot
    /// be assigned to requests. Connect again.
    #[error("an earlier request was given up before its reply came")]
    OutOfStep,
}

/// The limits of a client. The default suits a daemon in the same network.
#[derive(Clone, Copy, Debug)]
pub struct ClientSettings {
    /// How long connecting may take.
    pub connect_timeout: Duration,
    /// How long [`Client::ask`](Client::ask) waits for the whole reply.
    pub reply_timeout: Duration,
    /// The longest line accepted from the server, in bytes, not counting its line end.
    pub max_line_bytes: usize,
    /// The most replies and pushes that [`Client::ask`](Client::ask) keeps for
    /// [`Client::receive`](Client::receive).
    pub max_backlog: usize,
}

impl Default for ClientSettings {
    fn default() -> Self {
        Self {
            connect_timeout: Duration::from_secs(5),
            reply_timeout: Duration::from_secs(30),
            max_line_bytes: 4_096,
            max_backlog: 4_096,
        }
    }
}

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
    fn new(writer: Writer) -> Self {
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
    fn new(reader: Reader, max_line_bytes: usize) -> Self {
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

/// What a daemon must prove on an encrypted connection: that its certificate is for a name, and was issued
/// by one of these certificates.
#[derive(Clone)]
pub struct Trust {
    connector: TlsConnector,
    name: ServerName<'static>,
}

impl std::fmt::Debug for Trust {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Trust")
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}

impl Trust {
    /// Trusts the certificates in `pem`, which is the content of a file in the format PEM: those of the
    /// authorities, or a daemon's own one that nobody else has signed. `host` is the name or the IP address
    /// that the daemon's certificate must have.
    ///
    /// # Errors
    /// [`ClientError::Trust`] if the text contains no usable certificate, or `host` is no name.
    pub fn new(pem: &[u8], host: &str) -> Result<Self, ClientError> {
        let wrong = |why: String| ClientError::Trust(why);
        let mut roots = RootCertStore::empty();
        for certificate in CertificateDer::pem_slice_iter(pem) {
            let certificate = certificate.map_err(|error| wrong(error.to_string()))?;
            let added = roots.add(certificate);
            added.map_err(|error| wrong(error.to_string()))?;
        }
        if roots.is_empty() {
            return Err(wrong("there is no certificate in the file".to_owned()));
        }
        let name = ServerName::try_from(host.to_owned());
        let name = name.map_err(|_| wrong(format!("{host} is no host name")))?;
        let provider = Arc::new(ring::default_provider());
        let config = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(|error| wrong(error.to_string()))?
            .with_root_certificates(roots)
            .with_no_client_auth();
        Ok(Self {
            connector: TlsConnector::from(Arc::new(config)),
            name,
        })
    }

    /// Encrypts a connection, once the daemon has proved its name.
    async fn encrypt(&self, stream: TcpStream) -> std::io::Result<TlsStream<TcpStream>> {
        self.connector.connect(self.name.clone(), stream).await
    }
}
