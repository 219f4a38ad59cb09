//! Webhooks: addresses to which the daemon sends a request for each event: a match was formed by a queue, is hosted, or
//! was recorded. One task for each webhook sends one event after the other.
//!
//! An event is committed together with what it reports, and remains in the database until each webhook is
//! done with it. A task notes after a request what was delivered, so that an end of the process repeats an
//! event at most, and loses none. A receiver that fails is asked again after growing delays; the events
//! behind the one that waits keep their order. An event that is too old, or beyond the number that may
//! wait, is dropped, logged and counted. Requests run on blocking threads, one at a time for each webhook, with a
//! time limit; no redirect is followed, and of a response only the status and two headers are used. Nothing
//! else of the daemon waits for this room.
//!
//! `request` decides what is sent, without a runtime, database or clock: it makes events into JSON, and never
//! puts a player's pass into it; the signature follows Standard Webhooks 1.0.0 (<https://www.standardwebhooks.com>),
//! so that the libraries of that project verify it; and it says when a failed request is repeated.
//!
//! Entry points: [`Deliveries::open`] and [`Deliveries::run`]; [`HookSender`] for one request.

mod hook;
mod request;
mod settings;

pub use hook::HookSender;
pub use request::{
    HookAnswer, HookVerdict, LONGEST_DELAY, MAX_BODY, SigningKeys, body, closeness, delay, verdict,
};
pub use settings::{HookName, HookUrl, MAX_HOOKS, WebhookSettings};

use std::{io, path::PathBuf, sync::Arc, time::Duration};

use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use crate::{
    metrics::{Counter, Gauge, Registry},
    session::Clock,
    store::{Store, StoreError},
};

use hook::Hook;

/// How long to wait after a number of failed tries: see [`delay`].
pub type Delays = fn(u32, u16, &HookAnswer) -> Duration;

/// The webhooks of the configuration, ready to be sent events.
#[derive(Debug)]
pub struct Deliveries {
    hooks: Vec<Hook>,
}

impl Deliveries {
    /// Prepares the webhooks. From now on, what happens is an event for them.
    ///
    /// # Errors
    /// Fails if the file of a secret cannot be read or has no secret, or if the database fails.
    pub async fn open(
        settings: &[WebhookSettings],
        store: Arc<Store>,
        clock: Arc<dyn Clock>,
    ) -> Result<Self, DeliveryError> {
        Self::open_with_delays(settings, store, clock, delay).await
    }

    /// Like [`open`](Self::open), with other delays after failures than those of [`delay`].
    ///
    /// # Errors
    /// Those of [`open`](Self::open).
    pub async fn open_with_delays(
        settings: &[WebhookSettings],
        store: Arc<Store>,
        clock: Arc<dyn Clock>,
        delays: Delays,
    ) -> Result<Self, DeliveryError> {
        let mut hooks = Vec::new();
        for settings in settings {
            let sender = Arc::new(HookSender::new(settings)?);
            let (store, clock) = (store.clone(), clock.clone());
            hooks.push(Hook::new(settings, sender, store, clock, delays));
        }
        let kinds = |hook: &WebhookSettings| (hook.name.to_string(), hook.events.clone());
        let kinds: Vec<_> = settings.iter().map(kinds).collect();
        store.hooks().set_webhooks(&kinds).await?;
        Ok(Self { hooks })
    }

    /// What is counted about each webhook.
    pub fn metrics(&self) -> Vec<Arc<HookMetrics>> {
        self.hooks.iter().map(Hook::metrics).collect()
    }

    /// Sends events until `stop` is cancelled. Then notes what was delivered.
    pub async fn run(self, stop: CancellationToken) {
        let mut tasks = JoinSet::new();
        for hook in self.hooks {
            tasks.spawn(hook.run(stop.clone()));
        }
        while let Some(ended) = tasks.join_next().await {
            if let Err(error) = ended {
                tracing::error!(%error, "the task of a webhook has failed");
            }
        }
    }
}

/// Why the daemon cannot send events.
#[derive(Debug, thiserror::Error)]
pub enum DeliveryError {
    /// The file of a secret cannot be read.
    #[error("{}: {source}", path.display())]
    SecretFile {
        /// The configured path.
        path: PathBuf,
        /// The error of the operating system.
        source: io::Error,
    },
    /// The file of a secret does not contain one.
    #[error("{}: the secret {why}", path.display())]
    BadSecret {
        /// The configured path.
        path: PathBuf,
        /// What is wrong with it.
        why: &'static str,
    },
    /// The webhook has neither a secret nor a file of one.
    #[error("webhook {0} has no secret")]
    NoSecret(String),
    /// The database fails.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// What is counted about one webhook.
#[derive(Debug)]
pub struct HookMetrics {
    /// The name in the configuration.
    pub name: String,
    /// All of them.
    pub registry: Registry,
    /// As of the last look at the events.
    waiting: Gauge,
    delivered: Counter,
    dropped: Counter,
    failed: Counter,
}

impl HookMetrics {
    /// No events yet for the webhook with this name.
    fn new(name: &str) -> Arc<Self> {
        let mut all = Registry::default();
        let of = |metric| (metric, "webhook", name);
        Arc::new(Self {
            name: name.to_owned(),
            waiting: all.gauge(
                of("evenkeel_webhook_pending"),
                "Events that wait for a webhook.",
            ),
            delivered: all.counter(
                of("evenkeel_webhook_delivered_total"),
                "Events that a webhook has accepted.",
            ),
            dropped: all.counter(
                of("evenkeel_webhook_dropped_total"),
                "Events that were given up: refused, too old or too many.",
            ),
            failed: all.counter(
                of("evenkeel_webhook_failures_total"),
                "Requests to a webhook that failed; they are sent again.",
            ),
            registry: all,
        })
    }

    /// The number of events that wait.
    pub fn waiting(&self) -> i64 {
        self.waiting.get() as i64
    }

    /// The number of events that were dropped.
    pub fn dropped(&self) -> u64 {
        self.dropped.get()
    }
}
