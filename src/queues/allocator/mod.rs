//! Sends the requests of matches to the allocator service, and passes on the answers.
//!
//! Requests run on blocking threads, at most [`AT_ONCE`] of them; the others wait. Each
//! request is answered exactly once, also when it fails or takes too long, except when the daemon stops:
//! the match then asks again after the restart.

mod credentials;
mod error;

use std::sync::Arc;

use parking_lot::Mutex;
use rand::{TryRng, rngs::SysRng};
use tokio::sync::{Semaphore, mpsc, oneshot};

use super::{
    call::{Call, ReplyTo},
    command::Command,
    links::InstanceCommand,
};
use crate::{
    matchmaking::lifecycle::{
        AgonesSettings, Allocation,
        agones::{MAX_ANSWER, PATH},
    },
    model::MatchId,
};

use credentials::Credentials;
pub use error::AllocatorError;

/// The most requests at once.
const AT_ONCE: usize = 16;

/// The allocator service, as the daemon reaches it.
#[derive(Debug)]
pub struct Allocator {
    settings: AgonesSettings,
    url: String,
    credentials: Mutex<Credentials>,
    permits: Semaphore,
}

impl Allocator {
    /// Reads the certificates of the settings. Connects to nothing yet.
    ///
    /// # Errors
    /// Fails if a file cannot be read, or does not contain what it should.
    pub fn open(settings: &AgonesSettings) -> Result<Self, AllocatorError> {
        Ok(Self {
            url: format!("{}{PATH}", settings.url.trim_end_matches('/')),
            credentials: Mutex::new(Credentials::read(settings)?),
            permits: Semaphore::new(AT_ONCE),
            settings: settings.clone(),
        })
    }

    /// The settings with which the service is asked.
    pub(super) fn settings(&self) -> &AgonesSettings {
        &self.settings
    }

    /// Sends one request, and waits for its answer. Blocks the thread.
    fn send(&self, body: &str) -> Allocation {
        let agent = self.credentials.lock().agent(&self.settings);
        let sent = agent
            .post(&self.url)
            .header("content-type", "application/json")
            .send(body);
        let mut response = match sent {
            Ok(response) => response,
            Err(error) => return Allocation::Failed(error.to_string()),
        };
        let status = response.status().as_u16();
        // One byte more than an answer may have.
        let most = MAX_ANSWER as u64 + 1;
        let read = response.body_mut().with_config().limit(most).read_to_vec();
        match read {
            Ok(bytes) => self.settings.allocation(status, &bytes),
            Err(error) => Allocation::Failed(format!("status {status}: {error}")),
        }
    }

    /// Asks for the game server of a match in the background. The answer comes as a call of the task.
    pub(super) fn ask(
        self: &Arc<Self>,
        id: MatchId,
        request: Result<String, String>,
        calls: mpsc::Sender<Call>,
    ) {
        let this = self.clone();
        tokio::spawn(async move {
            let allocation = match request {
                Ok(body) => this.allocation(body).await,
                Err(why) => Allocation::Failed(why),
            };
            match &allocation {
                Allocation::Done(server) => {
                    let (name, address) = (&server.name, &server.address);
                    tracing::info!(match_id = id, name, address, "a game server is allocated");
                }
                Allocation::NoneFree => tracing::info!(match_id = id, "no game server is ready"),
                Allocation::Failed(why) => {
                    tracing::warn!(match_id = id, why, "no game server is allocated");
                }
            }
            let (answer, _) = oneshot::channel();
            let answer = ReplyTo::Here(answer);
            let command = Command::Host(InstanceCommand::Allocated {
                id,
                allocation,
                jitter: draw(),
            });
            if calls.send(Call { command, answer }).await.is_err() {
                tracing::debug!(match_id = id, "the daemon stops before an answer");
            }
        });
    }

    async fn allocation(self: &Arc<Self>, body: String) -> Allocation {
        let Ok(_permit) = self.permits.acquire().await else {
            return Allocation::Failed("the daemon stops".to_owned());
        };
        let this = self.clone();
        let sent = tokio::task::spawn_blocking(move || this.send(&body)).await;
        sent.unwrap_or_else(|error| Allocation::Failed(error.to_string()))
    }
}

/// A random number, 0 to 1.
fn draw() -> f64 {
    let drawn = SysRng.try_next_u32().unwrap_or(u32::MAX / 2);
    f64::from(drawn) / f64::from(u32::MAX)
}
