//! What is counted about connections and their lines.

use std::time::Duration;

use crate::{
    metrics::{Counter, Family, FamilyKind, Gauge, TimeTable},
    protocol::{Code, Verb},
};

/// What all connections count. No line waits for another one to be counted.
#[derive(Debug)]
pub struct ServerMetrics {
    /// Connections that are open now.
    pub(super) connections: Gauge,
    /// Connections that were accepted without encryption, and with it.
    pub(super) accepted: [Counter; 2],
    /// Connections that were refused because there were too many.
    pub(super) refused: Counter,
    /// Connections that were refused because their address had too many.
    pub(super) refused_by_address: Counter,
    /// How long the requests of each verb took.
    requests: TimeTable,
    /// Error replies, by code.
    errors: [Counter; Code::ALL.len()],
}

impl Default for ServerMetrics {
    fn default() -> Self {
        Self {
            connections: Gauge::default(),
            accepted: Default::default(),
            refused: Counter::default(),
            refused_by_address: Counter::default(),
            requests: TimeTable::new(Verb::ALL.len()),
            errors: Default::default(),
        }
    }
}

impl ServerMetrics {
    /// The number of connections that are open.
    pub fn open_connections(&self) -> i64 {
        self.connections.get()
    }

    /// Counts a request that took so long.
    pub(super) fn request(&self, verb: Verb, took: Duration) {
        self.requests(verb, 1, took);
    }

    /// Counts so many requests that took so long each.
    pub(super) fn requests(&self, verb: Verb, number: u32, took: Duration) {
        if number > 0 {
            self.requests.observe(verb as usize, number, took);
        }
    }

    /// Counts an error reply.
    pub(super) fn error(&self, code: Code) {
        if let Some(count) = self.errors.get(code as usize) {
            count.count();
        }
    }

    /// The names, meanings and values. `failed_hellos` is the number of HELLOs that were refused.
    pub fn families(&self, failed_hellos: u64) -> Vec<Family> {
        let counter = FamilyKind::Counter;
        let mut requests = Family::new(
            counter,
            "evenkeel_requests_total",
            "Lines that are requests, by verb, whether they were carried out or refused.",
        );
        let mut seconds = Family::new(
            FamilyKind::Histogram,
            "evenkeel_request_seconds",
            "Time to answer a line, by verb: from its arrival, or from the reply to the line before it.",
        );
        for verb in Verb::ALL {
            let counts = self.requests.counts(*verb as usize);
            let label = [("verb", verb.as_str())];
            requests = requests.with(&label, counts.total());
            // Most verbs are never sent to most daemons, and a histogram is long.
            if counts.total() > 0 {
                seconds = seconds.with(&label, counts);
            }
        }
        let mut errors = Family::new(counter, "evenkeel_errors_total", "Error replies, by code.");
        for (code, count) in Code::ALL.iter().zip(&self.errors) {
            errors = errors.with(&[("code", code.as_str())], count);
        }
        let accepted = Family::new(
            counter,
            "evenkeel_connections_accepted_total",
            "Connections that were accepted, by encryption.",
        );
        let refused = Family::new(
            counter,
            "evenkeel_connections_refused_total",
            "Connections that were refused: too many in all, or too many from one address.",
        );
        vec![
            Family::gauge(
                "evenkeel_connections",
                "Connections of game servers and other clients that are open.",
                &self.connections,
            ),
            accepted
                .with(&[("encryption", "none")], &self.accepted[0])
                .with(&[("encryption", "tls")], &self.accepted[1]),
            refused
                .with(&[("limit", "all")], &self.refused)
                .with(&[("limit", "address")], &self.refused_by_address),
            requests,
            seconds,
            errors,
            Family::counter(
                "evenkeel_failed_hellos_total",
                "HELLOs with an unknown name, a wrong token or from a wrong address.",
                failed_hellos,
            ),
        ]
    }
}
