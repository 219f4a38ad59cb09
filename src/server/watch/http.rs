//! What is counted about requests over HTTP.

use crate::metrics::{Counter, Gauge, Histogram, Registry, SECONDS};

/// What is counted about visitors of the pages, and of the metrics themselves.
#[derive(Debug)]
pub struct HttpMetrics {
    pub(super) registry: Registry,
    /// Number of connections that are open now.
    pub connections: Gauge,
    /// Connections that were refused because there were too many.
    pub refused: Counter,
    seconds: Histogram,
    /// Answers by the first digit of their status, from 1.
    answers: [Counter; 5],
}

impl Default for HttpMetrics {
    fn default() -> Self {
        let mut all = Registry::default();
        Self {
            connections: all.gauge(
                "evenkeel_http_connections",
                "Connections over HTTP that are open.",
            ),
            refused: all.counter(
                "evenkeel_http_refused_total",
                "Connections over HTTP that were refused because there were too many.",
            ),
            seconds: all.histogram(
                "evenkeel_http_request_seconds",
                "Time to make an answer over HTTP, without the time to send it.",
                SECONDS,
            ),
            answers: ["1xx", "2xx", "3xx", "4xx", "5xx"].map(|class| {
                all.counter(
                    ("evenkeel_http_requests_total", "status", class),
                    "Requests over HTTP, by the status of the answer.",
                )
            }),
            registry: all,
        }
    }
}

impl HttpMetrics {
    /// Adds an answer with this status, and the seconds that it took to make it.
    pub fn answered(&self, status: u16, seconds: f64) {
        let class = usize::from(status / 100).saturating_sub(1);
        if let Some(count) = self.answers.get(class) {
            count.count();
        }
        self.seconds.observe(seconds);
    }
}
