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

mod request;
mod settings;
pub use request::{
    HookAnswer, HookVerdict, LONGEST_DELAY, MAX_BODY, SigningKeys, body, closeness, delay, verdict,
};
pub use settings::{HookName, HookUrl, MAX_HOOKS, WebhookSettings};

use std::{collections::VecDeque, fmt, io, io::Read, path::PathBuf, sync::Arc, time::Duration};

use tokio::{
    task::{JoinSet, spawn_blocking},
    time::sleep,
};
use tokio_util::sync::CancellationToken;
use ureq::{Agent, http::Response};

use crate::{
    metrics::{Counter, Gauge, Registry},
    model::Timestamp,
    random,
    session::Clock,
    store::{HookEvent, HookNote, HookReport, HookWaits, Store, StoreError},
};

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

/// How often the database is asked for new events.
const POLL: Duration = Duration::from_millis(250);
/// The delay before a database that failed is asked again.
const RETRY: Duration = Duration::from_secs(1);
/// How often the events that wait are counted, in milliseconds.
const COUNT: u64 = 5_000;
/// The most events that are read at once.
const BATCH: u32 = 32;
/// How long a delivery may remain without a note of it, in milliseconds.
const LAZY: u64 = 1_000;

/// A webhook, and how far it is.
#[derive(Debug)]
struct Hook {
    name: String,
    sender: Arc<HookSender>,
    store: Arc<Store>,
    clock: Arc<dyn Clock>,
    delays: Delays,
    keep: i64,
    most: u32,
    /// The next events.
    ready: VecDeque<HookEvent>,
    /// The event that failed last.
    failed: i64,
    /// What the database does not have yet.
    note: HookNote,
    is_noted: bool,
    noted_at: u64,
    is_broken: bool,
    metrics: Arc<HookMetrics>,
    /// The millisecond of the clock at which the events that wait were last counted.
    counted_at: Option<u64>,
}

impl Hook {
    fn new(
        settings: &WebhookSettings,
        sender: Arc<HookSender>,
        store: Arc<Store>,
        clock: Arc<dyn Clock>,
        delays: Delays,
    ) -> Self {
        Self {
            name: settings.name.to_string(),
            sender,
            store,
            clock,
            delays,
            keep: i64::from(settings.keep_seconds.get()) * 1_000,
            most: settings.max_waiting.get(),
            ready: VecDeque::new(),
            failed: 0,
            note: HookNote::default(),
            is_noted: true,
            noted_at: 0,
            is_broken: false,
            metrics: HookMetrics::new(&settings.name.to_string()),
            counted_at: None,
        }
    }

    /// What is counted about this webhook.
    fn metrics(&self) -> Arc<HookMetrics> {
        self.metrics.clone()
    }

    /// Sends events until `stop` is cancelled.
    async fn run(mut self, stop: CancellationToken) {
        loop {
            let step = stop.run_until_cancelled(self.step()).await;
            let wait = match step {
                None => break,
                Some(Ok(wait)) => {
                    self.is_broken = false;
                    wait
                }
                Some(Err(error)) => {
                    if !self.is_broken {
                        tracing::error!(webhook = self.name, %error, "events cannot be read");
                    }
                    self.is_broken = true;
                    self.ready.clear();
                    RETRY
                }
            };
            if stop.run_until_cancelled(sleep(wait)).await.is_none() {
                break;
            }
        }
        if let Err(error) = self.save().await {
            tracing::warn!(webhook = self.name, %error, "the last events will be sent twice");
        }
    }

    /// Sends the next event. Returns how long to wait before the next step.
    async fn step(&mut self) -> Result<Duration, StoreError> {
        self.count_waiting().await?;
        if self.ready.is_empty() {
            self.fetch().await?;
        }
        let Some(event) = self.ready.front().cloned() else {
            self.save().await?;
            return Ok(POLL);
        };
        match self.store.hooks().hook_report(&event).await? {
            Some(report) => self.send(&event, &report).await,
            None => {
                tracing::debug!(
                    webhook = self.name,
                    event = event.id,
                    "nothing is left to report"
                );
                self.go_on(&event).await?;
                Ok(Duration::ZERO)
            }
        }
    }

    /// Counts the events that wait, every few seconds.
    async fn count_waiting(&mut self) -> Result<(), StoreError> {
        let now = self.clock.millis();
        let is_new = |at: u64| now.saturating_sub(at) < COUNT;
        if self.counted_at.is_some_and(is_new) {
            return Ok(());
        }
        let rows = self.store.hooks().hook_rows().await?;
        let own = rows.into_iter().find(|row| row.name == self.name);
        let waiting = own.map_or(0, |row| row.waiting);
        self.metrics.waiting.set(waiting as f64);
        self.counted_at = Some(now);
        Ok(())
    }

    /// Reads the next events, after those that are beyond the bounds were dropped.
    async fn fetch(&mut self) -> Result<(), StoreError> {
        let last = self.store.hooks().last_event().await?;
        if last <= self.note.position {
            return Ok(());
        }
        self.save().await?;
        let waits = HookWaits {
            since: self.clock.now().plus_millis(-self.keep),
            most: self.most,
        };
        let (dropped, position) = self.store.hooks().bound_events(&self.name, waits).await?;
        if dropped > 0 {
            self.metrics.dropped.add(dropped);
            let webhook = &self.name;
            tracing::warn!(
                webhook,
                dropped,
                "events are dropped: the receiver takes too few"
            );
        }
        self.note.position = self.note.position.max(position);
        let after = self.note.position;
        let events = self
            .store
            .hooks()
            .next_events(&self.name, after, BATCH)
            .await?;
        self.ready = events.into();
        if self.ready.is_empty() && last > after {
            // The others are for other webhooks.
            (self.note.position, self.is_noted) = (last, false);
        }
        Ok(())
    }

    async fn send(
        &mut self,
        event: &HookEvent,
        report: &HookReport,
    ) -> Result<Duration, StoreError> {
        if self.failed != event.number {
            self.note.tries = 0;
        }
        let answer = self.ask(event.id.clone(), body(event, report)).await;
        let tries = self.note.tries.saturating_add(1);
        match verdict(&answer, tries) {
            HookVerdict::Delivered => {
                if self.note.tries > 0 {
                    tracing::info!(
                        webhook = self.name,
                        tries,
                        "an event was delivered after failed tries"
                    );
                }
                self.note.delivered += 1;
                self.metrics.delivered.count();
                self.go_on(event).await?;
                Ok(Duration::ZERO)
            }
            HookVerdict::GiveUp => {
                let (webhook, why) = (&self.name, answer.describe());
                tracing::warn!(
                    webhook,
                    event = event.id,
                    why,
                    "an event is dropped: the receiver refuses it"
                );
                self.note.dropped += 1;
                self.metrics.dropped.count();
                self.go_on(event).await?;
                Ok(Duration::ZERO)
            }
            HookVerdict::Again => {
                (self.failed, self.note.tries) = (event.number, tries);
                self.fail(answer).await
            }
        }
    }

    /// Sends a request on a blocking thread. If this is dropped, the thread ends by itself after the time
    /// limit of the request.
    async fn ask(&self, id: String, body: String) -> HookAnswer {
        let (sender, now) = (self.sender.clone(), self.clock.now());
        let sent = spawn_blocking(move || sender.send(&id, now, &body));
        sent.await
            .unwrap_or_else(|error| HookAnswer::Failed(error.to_string()))
    }

    /// Is done with an event.
    async fn go_on(&mut self, event: &HookEvent) -> Result<(), StoreError> {
        self.ready.pop_front();
        self.note.position = event.number;
        (self.note.tries, self.note.failure) = (0, None);
        self.is_noted = false;
        let is_late = self.clock.millis().saturating_sub(self.noted_at) >= LAZY;
        match self.ready.is_empty() || is_late {
            true => self.save().await,
            false => Ok(()),
        }
    }

    /// Notes a failed try, and returns how long to wait.
    async fn fail(&mut self, answer: HookAnswer) -> Result<Duration, StoreError> {
        let (tries, why) = (self.note.tries, answer.describe());
        let wait = (self.delays)(tries, roll(), &answer);
        self.metrics.failed.count();
        if tries.is_power_of_two() {
            let (webhook, seconds) = (&self.name, wait.as_secs_f32());
            tracing::warn!(
                webhook,
                tries,
                why,
                seconds,
                "an event is not delivered; it will be sent again"
            );
        }
        self.note.failure = Some((self.clock.now(), why));
        self.is_noted = false;
        // Read again before the next try: meanwhile the event may have grown too old.
        self.ready.clear();
        self.save().await?;
        Ok(wait)
    }

    /// Writes what the database does not have yet.
    async fn save(&mut self) -> Result<(), StoreError> {
        if self.is_noted {
            return Ok(());
        }
        self.store.hooks().note_hook(&self.name, &self.note).await?;
        (self.note.delivered, self.note.dropped) = (0, 0);
        self.is_noted = true;
        self.noted_at = self.clock.millis();
        Ok(())
    }
}

/// A random number; 0 if the system has none.
fn roll() -> u16 {
    random::bytes().map_or(0, u16::from_le_bytes)
}

/// The most bytes that a response's head may have.
const MAX_HEAD: usize = 16 * 1_024;
/// The most bytes of a response's content that are read, so that its connection can be used again.
const MAX_CONTENT: u64 = 8 * 1_024;
/// The longest text of an error, in characters.
const MAX_WHY: usize = 200;

/// The connection to one webhook.
pub struct HookSender {
    agent: Agent,
    url: HookUrl,
    keys: SigningKeys,
}

impl fmt::Debug for HookSender {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HookSender")
            .field("url", &self.url)
            .finish_non_exhaustive()
    }
}

impl HookSender {
    /// Prepares requests, without connecting.
    ///
    /// # Errors
    /// Fails if the file of the secret cannot be read or has none.
    pub fn new(settings: &WebhookSettings) -> Result<Self, DeliveryError> {
        let config = Agent::config_builder()
            .timeout_global(Some(settings.timeout_seconds.duration()))
            .http_status_as_error(false)
            // A redirect could lead anywhere, and the content with it.
            .max_redirects(0)
            .max_redirects_will_error(false)
            .max_response_header_size(MAX_HEAD)
            .max_idle_connections(1)
            .max_idle_connections_per_host(1)
            // A proxy of the environment would see requests to this machine.
            .proxy(None)
            .user_agent(concat!("evenkeel/", env!("CARGO_PKG_VERSION")))
            .build();
        Ok(Self {
            agent: config.into(),
            url: settings.url.clone(),
            keys: settings.keys()?,
        })
    }

    /// Sends an event, and waits for the answer: at most for the configured time. Blocks the thread.
    pub fn send(&self, id: &str, now: Timestamp, body: &str) -> HookAnswer {
        let seconds = now.0.div_euclid(1_000);
        let sent = self
            .agent
            .post(self.url.as_str())
            .header("content-type", "application/json")
            .header("webhook-id", id)
            .header("webhook-timestamp", seconds.to_string())
            .header("webhook-signature", self.keys.sign(id, seconds, body))
            .send(body);
        match sent {
            Ok(mut response) => {
                let answer = HookAnswer::Status(response.status().as_u16(), wish(&response));
                finish(&mut response);
                answer
            }
            Err(error) => HookAnswer::Failed(error.to_string().chars().take(MAX_WHY).collect()),
        }
    }
}

/// How many seconds the receiver asks to wait.
fn wish<T>(response: &Response<T>) -> Option<u64> {
    let wish = response.headers().get("retry-after")?;
    wish.to_str().ok()?.trim().parse().ok()
}

/// Reads a short content, after which the connection can be used again. Any other is left unread, which
/// closes the connection.
fn finish(response: &mut Response<ureq::Body>) {
    let length = response.body().content_length();
    if length.is_some_and(|length| length <= MAX_CONTENT) {
        let mut rest = response.body_mut().as_reader().take(MAX_CONTENT);
        let _ = std::io::copy(&mut rest, &mut std::io::sink());
    }
}
