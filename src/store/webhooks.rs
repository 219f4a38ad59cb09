//! The events that wait to be sent to webhooks, and how far each webhook is.

use crate::{domain::Timestamp, webhooks::HookKind};

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
