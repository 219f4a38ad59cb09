//! What is counted about connections and their lines.

use std::time::Duration;

use crate::{
    metrics::{Counter, Gauge, Histogram, Registry},
    protocol::{Code, Verb},
};

/// The upper bounds of the times to answer a line, in seconds: from a look into memory to a search for teams.
const ANSWER_SECONDS: &[f64] = &[
    1e-6, 5e-6, 1e-5, 5e-5, 1e-4, 5e-4, 1e-3, 5e-3, 0.01, 0.05, 0.1, 0.5, 1.0, 5.0,
];

/// What all connections count. No line waits for another one to be counted.
#[derive(Debug)]
pub struct ServerMetrics {
    registry: Registry,
    /// Connections that are open now.
    pub(super) connections: Gauge,
    /// Connections that were accepted without encryption, and with it.
    pub(super) accepted: [Counter; 2],
    /// Connections that were refused because there were too many.
    pub(super) refused: Counter,
    /// Connections that were refused because their address had too many.
    pub(super) refused_by_address: Counter,
    /// Connections that gave up their place to another.
    pub(super) given_up: Counter,
    /// How long the requests of each verb took.
    requests: [Histogram; Verb::ALL.len()],
    /// Error replies, by code.
    errors: [Counter; Code::ALL.len()],
}

impl Default for ServerMetrics {
    fn default() -> Self {
        let mut all = Registry::default();
        let [refused, refused_by_address] = ["all", "address"].map(|limit| {
            all.counter(
                ("evenkeel_connections_refused_total", "limit", limit),
                "Connections that were refused: too many in all, or too many from one address.",
            )
        });
        Self {
            connections: all.gauge(
                "evenkeel_connections",
                "Connections of game servers and other clients that are open.",
            ),
            accepted: ["none", "tls"].map(|encryption| {
                all.counter(
                    (
                        "evenkeel_connections_accepted_total",
                        "encryption",
                        encryption,
                    ),
                    "Connections that were accepted, by encryption.",
                )
            }),
            refused,
            refused_by_address,
            given_up: all.counter(
                "evenkeel_connections_given_up_total",
                "Connections without a running game that gave up their place to another one.",
            ),
            requests: std::array::from_fn(|_| Histogram::new(ANSWER_SECONDS)),
            errors: std::array::from_fn(|at| {
                let code = Code::ALL[at].as_str();
                all.counter(
                    ("evenkeel_errors_total", "code", code),
                    "Error replies, by code.",
                )
            }),
            registry: all,
        }
    }
}

impl ServerMetrics {
    /// The number of connections that are open.
    pub fn open_connections(&self) -> i64 {
        self.connections.get() as i64
    }

    /// How many connections were refused, or gave up their place, because there were too many.
    pub fn without_place(&self) -> [u64; 2] {
        let refused = self.refused.get() + self.refused_by_address.get();
        [refused, self.given_up.get()]
    }

    /// Counts a request of duration `took`.
    pub(super) fn request(&self, verb: Verb, took: Duration) {
        self.requests(verb, 1, took);
    }

    /// Counts `number` requests of duration `took` each.
    pub(super) fn requests(&self, verb: Verb, number: u32, took: Duration) {
        if number > 0 {
            self.requests[verb as usize].observe_each(number, took.as_secs_f64());
        }
    }

    /// Counts an error reply.
    pub(super) fn error(&self, code: Code) {
        self.errors[code as usize].count();
    }

    /// Adds all metrics to those of a reading. `failed_hellos` is the number of HELLOs that were refused.
    pub fn gather(&self, all: &mut Registry, failed_hellos: u64) {
        all.extend(&self.registry);
        for (verb, took) in Verb::ALL.iter().zip(&self.requests) {
            let number = took.counts().total();
            let requests = all.counter(
                ("evenkeel_requests_total", "verb", verb.as_str()),
                "Lines that are requests, by verb, whether they were carried out or refused.",
            );
            requests.add(number);
            // Most verbs are never sent to most daemons, and a histogram is long.
            if number > 0 {
                all.show(
                    ("evenkeel_request_seconds", "verb", verb.as_str()),
                    "Time to answer a line, by verb: from its arrival, or from the reply to the line before it.",
                    took,
                );
            }
        }
        let hellos = all.counter(
            "evenkeel_failed_hellos_total",
            "HELLOs with an unknown name, a wrong token or from a wrong address.",
        );
        hellos.add(failed_hellos);
    }
}
