//! Metrics with their names and meanings.

use super::{BucketCounts, Counter, Gauge};

/// How the values of a family behave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FamilyKind {
    /// Each value only grows, from 0 at the start of the daemon. The name ends with `_total`.
    Counter,
    /// Each value rises and falls.
    Gauge,
    /// Each value is a histogram.
    Histogram,
}

/// The value of one metric.
#[derive(Clone, Debug, PartialEq)]
pub enum MetricValue {
    /// A counter or a gauge.
    Number(f64),
    /// The contents of a histogram.
    Buckets(BucketCounts),
}

impl From<f64> for MetricValue {
    fn from(number: f64) -> Self {
        Self::Number(number)
    }
}

impl From<i64> for MetricValue {
    fn from(number: i64) -> Self {
        Self::Number(number as f64)
    }
}

impl From<u64> for MetricValue {
    fn from(number: u64) -> Self {
        Self::Number(number as f64)
    }
}

impl From<usize> for MetricValue {
    fn from(number: usize) -> Self {
        Self::Number(number as f64)
    }
}

impl From<&Counter> for MetricValue {
    fn from(counter: &Counter) -> Self {
        counter.get().into()
    }
}

impl From<&Gauge> for MetricValue {
    fn from(gauge: &Gauge) -> Self {
        gauge.get().into()
    }
}

impl From<BucketCounts> for MetricValue {
    fn from(counts: BucketCounts) -> Self {
        Self::Buckets(counts)
    }
}

/// One value, and the labels that distinguish it from the others of its family.
pub(super) struct Labelled {
    pub labels: Vec<(&'static str, String)>,
    pub value: MetricValue,
}

/// The metrics of one name.
pub struct Family {
    pub(super) name: &'static str,
    pub(super) help: &'static str,
    pub(super) kind: FamilyKind,
    pub(super) values: Vec<Labelled>,
}

impl Family {
    /// A family without values. `help` is a sentence on what the value means, and in which unit it is.
    pub fn new(kind: FamilyKind, name: &'static str, help: &'static str) -> Self {
        Self {
            name,
            help,
            kind,
            values: Vec::new(),
        }
    }

    /// A family of one counter.
    pub fn counter(name: &'static str, help: &'static str, value: impl Into<MetricValue>) -> Self {
        Self::new(FamilyKind::Counter, name, help).with(&[], value)
    }

    /// A family of one gauge.
    pub fn gauge(name: &'static str, help: &'static str, value: impl Into<MetricValue>) -> Self {
        Self::new(FamilyKind::Gauge, name, help).with(&[], value)
    }

    /// A family of one histogram.
    pub fn histogram(name: &'static str, help: &'static str, counts: BucketCounts) -> Self {
        Self::new(FamilyKind::Histogram, name, help).with(&[], counts)
    }

    /// Adds a value with these labels.
    #[must_use]
    pub fn with(mut self, labels: &[(&'static str, &str)], value: impl Into<MetricValue>) -> Self {
        let labels = labels
            .iter()
            .map(|(name, text)| (*name, (*text).to_owned()));
        self.values.push(Labelled {
            labels: labels.collect(),
            value: value.into(),
        });
        self
    }

    /// The name of the family.
    pub fn name(&self) -> &'static str {
        self.name
    }
}
