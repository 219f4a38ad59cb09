//! The events that wait to be sent to webhooks, and how far each webhook is.

use async_trait::async_trait;

use super::StoreError;
use crate::{
    domain::Timestamp,
    webhooks::{HookEvent, HookKind, HookReport},
};

/// What became of the events up to a number.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HookNote {
    /// The number of the last event that was sent or given up.
    pub position: i64,
    /// How many events were sent since the last note.
    pub delivered: u64,
    /// How many events were given up since the last note.
    pub dropped: u64,
    /// Failed tries of the event that waits.
    pub tries: u32,
    /// When the last try failed, and how; `None` after a try that did not.
    pub failure: Option<(Timestamp, String)>,
}

/// The bounds of the events that wait for a webhook.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HookWaits {
    /// Events that happened before this are dropped.
    pub since: Timestamp,
    /// The most events that wait: older ones are dropped.
    pub most: u32,
}

/// A webhook, as operators see it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HookRow {
    /// The name of the webhook.
    pub name: String,
    /// The kinds of its events.
    pub kinds: Vec<HookKind>,
    /// How many events wait.
    pub waiting: i64,
    /// When the oldest of them happened.
    pub oldest: Option<Timestamp>,
    /// How many events were sent.
    pub delivered: i64,
    /// How many events were dropped.
    pub dropped: i64,
    /// Failed tries of the event that waits.
    pub tries: i64,
    /// When the last try failed, and how; `None` after a try that did not.
    pub failure: Option<(Timestamp, String)>,
}

/// Events are committed together with what they report, and remain until each webhook is done with them.
#[async_trait]
pub trait Webhooks: Send + Sync {
    /// Sets which webhooks there are. A new one is sent the events from now on, and events that no
    /// webhook waits for are removed.
    ///
    /// # Errors
    /// Fails if the database does.
    async fn set_webhooks(&self, hooks: &[(String, Vec<HookKind>)]) -> Result<(), StoreError>;

    /// The number of the latest event, 0 before the first.
    ///
    /// # Errors
    /// Fails if the database does.
    async fn last_event(&self) -> Result<i64, StoreError>;

    /// The next events for a webhook after the event with the number `after`, at most `limit`.
    ///
    /// # Errors
    /// Fails if the database does.
    async fn next_events(
        &self,
        hook: &str,
        after: i64,
        limit: u32,
    ) -> Result<Vec<HookEvent>, StoreError>;

    /// The content of an event; `None` if what it reports is no longer stored.
    ///
    /// # Errors
    /// Fails if the database does, or if it contains a value that no version of Evenkeel writes.
    async fn hook_report(&self, event: &HookEvent) -> Result<Option<HookReport>, StoreError>;

    /// Drops the events of a webhook that are beyond its bounds. Returns how many those were since the
    /// last call, and the number of the last event that the webhook is done with.
    ///
    /// # Errors
    /// Fails if the database does.
    async fn bound_events(&self, hook: &str, waits: HookWaits) -> Result<(u64, i64), StoreError>;

    /// Stores how far a webhook is, and removes the events that no webhook waits for.
    ///
    /// # Errors
    /// Fails if the database does.
    async fn note_hook(&self, hook: &str, note: &HookNote) -> Result<(), StoreError>;

    /// All webhooks, by name.
    ///
    /// # Errors
    /// Fails if the database does.
    async fn hook_rows(&self) -> Result<Vec<HookRow>, StoreError>;
}
