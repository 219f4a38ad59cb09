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
//! use evenkeel::model::Ident;
//! use evenkeel::protocol::{Join, Reply, Request};
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

mod connect;
pub mod drivers;
mod error;
mod halves;
mod settings;
mod trust;

use std::{collections::VecDeque, time::Duration};

use tokio::time::timeout;

pub use error::ClientError;
pub use halves::{ReplyReceiver, RequestSender};
pub use settings::ClientSettings;
pub use trust::Trust;

use crate::{
    model::Ident,
    protocol::{Received, Reply, ReplyRule, Request, Token},
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
