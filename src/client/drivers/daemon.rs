//! The connection to Evenkeel's daemon, which reconnects whenever it ends.

use std::time::Duration;

use tokio::{
    sync::mpsc,
    task::JoinHandle,
    time::{sleep, timeout},
};

use super::DaemonEndpoint;
use crate::{
    client::{Client, ClientError, ReplyReceiver, RequestSender},
    model::time::Backoff,
    protocol::{Push, Received, Reply, Request},
};

/// The delay before the second attempt to connect; it doubles with each attempt.
const FIRST_PAUSE: Duration = Duration::from_millis(500);
/// The delays between attempts to connect.
const PAUSES: Backoff = Backoff::new(FIRST_PAUSE, Duration::from_secs(30));
/// The time limit for the first reply. After failures, the daemon answers HELLO up to 10 seconds later.
const FIRST_REPLY: Duration = Duration::from_secs(15);
/// The time limit for sending the last requests on exit.
const LAST_REQUESTS: Duration = Duration::from_secs(5);
/// The most requests, and the most events, that can be queued. A daemon that leaves that many
/// requests unread is treated as hanging.
const QUEUE: usize = 4_096;

/// An event of the connection.
pub(super) enum DaemonEvent {
    /// There is a new connection, with this channel for requests. Requests queued for an earlier one are dropped.
    Connected(mpsc::Sender<Request>),
    Reply(Reply),
    /// A line that answers no request.
    Push(Push),
    /// The connection has ended, or could not be made, for this reason.
    Lost(String),
}

/// A connection that lasts as long as the program, with reconnects.
pub struct DaemonConnection {
    endpoint: DaemonEndpoint,
    pauses: Backoff,
    task: Option<JoinHandle<()>>,
    events: mpsc::Receiver<DaemonEvent>,
    event_sender: mpsc::Sender<DaemonEvent>,
    /// The channel of the current connection; `None` without one.
    requests: Option<mpsc::Sender<Request>>,
}

impl DaemonConnection {
    /// A connection that is made once the driver runs.
    pub fn new(endpoint: DaemonEndpoint) -> Self {
        let (event_sender, events) = mpsc::channel(QUEUE);
        Self {
            endpoint,
            pauses: PAUSES,
            task: None,
            events,
            event_sender,
            requests: None,
        }
    }

    /// Tries to connect at least this often.
    pub fn with_longest_pause(self, longest_pause: Duration) -> Self {
        Self {
            pauses: Backoff::new(FIRST_PAUSE, longest_pause),
            ..self
        }
    }

    /// Where the daemon is reached.
    pub(super) fn endpoint(&self) -> &DaemonEndpoint {
        &self.endpoint
    }

    /// Starts to connect. From now on, it connects again whenever a connection ends.
    pub(super) fn connect(&mut self) {
        let work = keep_connected(
            self.endpoint.clone(),
            self.pauses,
            self.event_sender.clone(),
        );
        self.task = Some(tokio::spawn(work));
    }

    /// Waits for the next event.
    pub(super) async fn next_event(&mut self) -> DaemonEvent {
        // The channel cannot close, because `self` holds a sender.
        let Some(event) = self.events.recv().await else {
            return std::future::pending().await;
        };
        match &event {
            DaemonEvent::Connected(requests) => self.requests = Some(requests.clone()),
            DaemonEvent::Lost(_) => self.requests = None,
            DaemonEvent::Reply(_) | DaemonEvent::Push(_) => {}
        }
        event
    }

    /// Sends a request. Without a connection it is dropped, because the next session starts afresh.
    pub(super) fn send(&mut self, request: Request) {
        if let Some(requests) = &self.requests
            && requests.try_send(request).is_err()
        {
            // The task ends a connection whose channel is closed, and opens another.
            self.requests = None;
        }
    }

    /// Sends the queued requests and closes the connection.
    pub(super) async fn close(mut self) {
        if self.requests.take().is_some() {
            let closed = async {
                while let Some(event) = self.events.recv().await {
                    if matches!(event, DaemonEvent::Lost(_)) {
                        return;
                    }
                }
            };
            let _ = timeout(LAST_REQUESTS, closed).await;
        }
        if let Some(task) = self.task.take() {
            task.abort();
        }
    }
}

async fn keep_connected(
    endpoint: DaemonEndpoint,
    pauses: Backoff,
    events: mpsc::Sender<DaemonEvent>,
) {
    let mut failures = 0u32;
    // Report consecutive failures once.
    let mut reported = false;
    while !events.is_closed() {
        let reason = match endpoint.connect().await {
            Ok(client) => {
                let (sender, requests) = mpsc::channel(QUEUE);
                if events.send(DaemonEvent::Connected(sender)).await.is_err() {
                    return;
                }
                reported = false;
                let (reason, served) = converse(client, requests, &events).await;
                if served {
                    failures = 0;
                }
                reason
            }
            Err(error) => error.to_string(),
        };
        if !std::mem::replace(&mut reported, true)
            && events.send(DaemonEvent::Lost(reason)).await.is_err()
        {
            return;
        }
        failures = failures.saturating_add(1);
        sleep(pauses.after(failures)).await;
    }
}

/// Forwards requests and replies until the connection ends. Returns why it ended, and whether the
/// daemon accepted any request.
async fn converse(
    client: Client,
    requests: mpsc::Receiver<Request>,
    events: &mpsc::Sender<DaemonEvent>,
) -> (String, bool) {
    let (sender, receiver) = client.split();
    let mut served = false;
    let error = tokio::select! {
        error = receive(receiver, events, &mut served) => error,
        error = send(sender, requests) => error,
    };
    (error.to_string(), served)
}

async fn receive(
    mut replies: ReplyReceiver,
    events: &mpsc::Sender<DaemonEvent>,
    served: &mut bool,
) -> ClientError {
    let mut heard = false;
    loop {
        let next = match std::mem::replace(&mut heard, true) {
            true => replies.receive().await,
            false => timeout(FIRST_REPLY, replies.receive())
                .await
                .unwrap_or(Err(ClientError::ReplyTimeout(FIRST_REPLY))),
        };
        match next {
            Ok(Received::Reply(reply)) => {
                *served |= !matches!(reply, Reply::Error(_));
                if events.send(DaemonEvent::Reply(reply)).await.is_err() {
                    return ClientError::Closed;
                }
            }
            Ok(Received::Push(push)) => {
                if events.send(DaemonEvent::Push(push)).await.is_err() {
                    return ClientError::Closed;
                }
            }
            Err(ClientError::Malformed(reply)) if !*served && reply.line.starts_with("HTTP/") => {
                return ClientError::Pages;
            }
            // Replies of a later version are ignored.
            Err(ClientError::Malformed(_) | ClientError::LineTooLong(_)) => {}
            Err(error) => return error,
        }
    }
}

async fn send(mut sender: RequestSender, mut requests: mpsc::Receiver<Request>) -> ClientError {
    while let Some(request) = requests.recv().await {
        sender.queue(&request);
        if let Err(error) = sender.flush().await {
            return error;
        }
    }
    if let Err(error) = sender.close().await {
        return error;
    }
    // The daemon closes after reading everything. Dropping the socket first could discard requests.
    sleep(LAST_REQUESTS).await;
    ClientError::Closed
}
