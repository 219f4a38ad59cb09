//! What is counted about webhooks.

use std::sync::Arc;

use crate::metrics::{Counter, Family, FamilyKind, Gauge};

/// What is counted about one webhook.
#[derive(Debug, Default)]
pub struct HookMetrics {
    /// The name in the configuration.
    pub name: String,
    /// Events that wait, as of the last look at them.
    pub(super) waiting: Gauge,
    pub(super) delivered: Counter,
    pub(super) dropped: Counter,
    /// Requests that failed and are sent again.
    pub(super) failed: Counter,
}

impl HookMetrics {
    /// No events yet for the webhook with this name.
    pub(super) fn new(name: &str) -> Arc<Self> {
        Arc::new(Self {
            name: name.to_owned(),
            ..Self::default()
        })
    }

    /// The number of events that wait.
    pub fn waiting(&self) -> i64 {
        self.waiting.get()
    }

    /// The number of events that were dropped.
    pub fn dropped(&self) -> u64 {
        self.dropped.get()
    }

    /// The names, meanings and values of all webhooks.
    pub fn families(hooks: &[Arc<Self>]) -> Vec<Family> {
        let family = |kind, name, help, add: &dyn Fn(Family, &Self) -> Family| {
            let empty = Family::new(kind, name, help);
            hooks.iter().fold(empty, |family, hook| add(family, hook))
        };
        let counter = FamilyKind::Counter;
        vec![
            family(
                FamilyKind::Gauge,
                "evenkeel_webhook_pending",
                "Events that wait for a webhook.",
                &|family, hook| family.with(&[("webhook", &hook.name)], &hook.waiting),
            ),
            family(
                counter,
                "evenkeel_webhook_delivered_total",
                "Events that a webhook has accepted.",
                &|family, hook| family.with(&[("webhook", &hook.name)], &hook.delivered),
            ),
            family(
                counter,
                "evenkeel_webhook_dropped_total",
                "Events that were given up: refused, too old or too many.",
                &|family, hook| family.with(&[("webhook", &hook.name)], &hook.dropped),
            ),
            family(
                counter,
                "evenkeel_webhook_failures_total",
                "Requests to a webhook that failed; they are sent again.",
                &|family, hook| family.with(&[("webhook", &hook.name)], &hook.failed),
            ),
        ]
    }
}
