//! What is counted about requests over HTTP.

use crate::metrics::{Buckets, Counter, Family, FamilyKind, Gauge, SECONDS};

/// What is counted about visitors of the pages, and of the metrics themselves.
#[derive(Debug)]
pub struct HttpMetrics {
    /// Number of connections that are open now.
    pub connections: Gauge,
    /// Connections that were refused because there were too many.
    pub refused: Counter,
    seconds: Buckets,
    /// Answers by the first digit of their status, from 1.
    answers: [Counter; 5],
}

impl Default for HttpMetrics {
    fn default() -> Self {
        Self {
            connections: Gauge::default(),
            refused: Counter::default(),
            seconds: Buckets::new(SECONDS),
            answers: Default::default(),
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

    /// The names, meanings and values.
    pub fn families(&self) -> Vec<Family> {
        let mut answers = Family::new(
            FamilyKind::Counter,
            "evenkeel_http_requests_total",
            "Requests over HTTP, by the status of the answer.",
        );
        const CLASSES: [&str; 5] = ["1xx", "2xx", "3xx", "4xx", "5xx"];
        for (class, count) in CLASSES.iter().zip(&self.answers) {
            answers = answers.with(&[("status", class)], count);
        }
        vec![
            answers,
            Family::histogram(
                "evenkeel_http_request_seconds",
                "Time to make an answer over HTTP, without the time to send it.",
                self.seconds.counts(),
            ),
            Family::gauge(
                "evenkeel_http_connections",
                "Connections over HTTP that are open.",
                &self.connections,
            ),
            Family::counter(
                "evenkeel_http_refused_total",
                "Connections over HTTP that were refused because there were too many.",
                &self.refused,
            ),
        ]
    }
}
