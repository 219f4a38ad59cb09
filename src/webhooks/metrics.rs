//! What is counted about webhooks.

use std::sync::Arc;

use crate::metrics::{Counter, Gauge, Registry};

/// What is counted about one webhook.
#[derive(Debug)]
pub struct HookMetrics {
    /// The name in the configuration.
    pub name: String,
    /// All of them.
    pub registry: Registry,
    /// As of the last look at the events.
    pub(super) waiting: Gauge,
    pub(super) delivered: Counter,
    pub(super) dropped: Counter,
    pub(super) failed: Counter,
}

impl HookMetrics {
    /// No events yet for the webhook with this name.
    pub(super) fn new(name: &str) -> Arc<Self> {
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
