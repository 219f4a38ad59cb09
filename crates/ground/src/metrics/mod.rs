//! Numbers about the running daemon: counters, gauges and histograms, and the text in which Prometheus reads them.
//!
//! A room that counts something has a struct of handles, made by a [`Registry`] that knows
//! their names and meanings. To count takes no lock and no memory: any number of threads may do it at any time, and
//! nothing that is counted ever waits for a reader. Numbers that are known elsewhere are added to the registry of one
//! reading. Labels come from lists of this program or of the configuration, never from players or game servers, so
//! that their number is bounded.
//!
//! Copies of a counter or gauge share its number. A histogram counts how many values fell into each of a few ranges.

use std::{
    fmt::{Display, Write},
    sync::{
        Arc,
        atomic::{AtomicU64, AtomicUsize, Ordering},
    },
};

/// A number that only grows, from 0 at the start of the daemon. Its name ends with `_total`.
#[derive(Clone, Debug, Default)]
pub struct Counter(Arc<AtomicU64>);

impl Counter {
    /// Adds one to the number.
    pub fn count(&self) {
        self.add(1);
    }

    /// Adds `more` to the number.
    pub fn add(&self, more: u64) {
        self.0.fetch_add(more, Ordering::Relaxed);
    }

    /// The number that was counted so far.
    pub fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// A number that rises and falls. Whole numbers are exact up to 2⁵³.
#[derive(Clone, Debug, Default)]
pub struct Gauge(Arc<AtomicU64>);

impl Gauge {
    /// Sets the number to `value`.
    pub fn set(&self, value: f64) {
        self.0.store(value.to_bits(), Ordering::Relaxed);
    }

    /// Raises the number by one.
    pub fn rise(&self) {
        add(&self.0, 1.0);
    }

    /// Lowers the number by one.
    pub fn fall(&self) {
        add(&self.0, -1.0);
    }

    /// The number as it is now.
    pub fn get(&self) -> f64 {
        f64::from_bits(self.0.load(Ordering::Relaxed))
    }
}

/// Adds `more` to the number whose bits these are.
fn add(bits: &AtomicU64, more: f64) {
    let sum = |bits| Some((f64::from_bits(bits) + more).to_bits());
    let _ = bits.fetch_update(Ordering::Relaxed, Ordering::Relaxed, sum);
}

/// The upper bounds of durations, in seconds: from a write to the disk to a long rebuild.
pub const SECONDS: &[f64] = &[
    0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 60.0,
];

/// The upper bounds of ratios and chances, closest together near the values of even teams.
pub const SHARES: &[f64] = &[
    0.1, 0.2, 0.3, 0.4, 0.45, 0.48, 0.5, 0.52, 0.55, 0.6, 0.7, 0.8, 0.9, 0.95, 0.98, 1.0,
];

/// The number of copies of the counts. Threads beyond that share them.
const COPIES: usize = 16;
/// The numbers of 64 bits in a cache line.
const CACHE_LINE: usize = 8;

/// The values that were observed, by range. Clones share them.
///
/// Threads that count in the same memory slow each other down. So there are several copies of the counts; each thread
/// counts in one of them, and a reader adds them up.
#[derive(Clone, Debug)]
pub struct Histogram {
    bounds: &'static [f64],
    /// In each copy: a count for each bound, one for larger values, and the bits of the sum of all values.
    copies: Arc<[AtomicU64]>,
}

/// What a [`Histogram`] contains at a moment.
#[derive(Clone, Debug, PartialEq)]
pub struct HistogramCounts {
    /// Number of values in each range; the last one has no upper bound.
    pub counts: Vec<u64>,
    /// The sum of all values.
    pub sum: f64,
}

/// The number of the copy in which this thread counts.
fn own_copy() -> usize {
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    thread_local! {
        static OWN: usize = NEXT.fetch_add(1, Ordering::Relaxed) % COPIES;
    }
    OWN.with(|own| *own)
}

impl Histogram {
    /// A histogram without values. `bounds` are ascending.
    pub fn new(bounds: &'static [f64]) -> Self {
        let numbers = COPIES * stride(bounds);
        Self {
            bounds,
            copies: (0..numbers).map(|_| AtomicU64::new(0)).collect(),
        }
    }

    /// Adds a value. One that is not a number is left out.
    pub fn observe(&self, value: f64) {
        self.observe_each(1, value);
    }

    /// Adds the same value `times` times.
    pub fn observe_each(&self, times: u32, value: f64) {
        if value.is_nan() {
            return;
        }
        let copy = &self.copies[own_copy() * stride(self.bounds)..];
        // Most durations are below one of the first bounds.
        let at = self.bounds.iter().take_while(|b| **b < value).count();
        copy[at].fetch_add(times.into(), Ordering::Relaxed);
        add(&copy[self.bounds.len() + 1], value * f64::from(times));
    }

    /// The upper bounds, ascending. A value that is equal to a bound is below it.
    pub fn bounds(&self) -> &'static [f64] {
        self.bounds
    }

    /// The values that were added so far.
    pub fn counts(&self) -> HistogramCounts {
        let mut counts = vec![0; self.bounds.len() + 1];
        let mut sum = 0.0;
        for copy in self.copies.chunks(stride(self.bounds)) {
            for (count, more) in counts.iter_mut().zip(copy) {
                *count += more.load(Ordering::Relaxed);
            }
            sum += f64::from_bits(copy[counts.len()].load(Ordering::Relaxed));
        }
        HistogramCounts { counts, sum }
    }
}

/// How many numbers a copy takes: at its end is a gap, so that no two copies are in one cache line.
fn stride(bounds: &[f64]) -> usize {
    bounds.len() + 2 + CACHE_LINE
}

impl HistogramCounts {
    /// The number of all values, in whatever range.
    pub fn total(&self) -> u64 {
        self.counts.iter().sum()
    }
}

/// The content type of the text.
pub const CONTENT_TYPE: &str = "text/plain; version=0.0.4; charset=utf-8";

/// The name of a metric, and the label that distinguishes it from others of the same name.
#[derive(Clone, Debug)]
pub struct MetricName {
    name: &'static str,
    label: Option<(&'static str, String)>,
}

impl From<&'static str> for MetricName {
    fn from(name: &'static str) -> Self {
        Self { name, label: None }
    }
}

impl From<(&'static str, &'static str, &str)> for MetricName {
    /// From the name of the metric, and the name and the value of its label.
    fn from((name, label, value): (&'static str, &'static str, &str)) -> Self {
        let label = Some((label, value.to_owned()));
        Self { name, label }
    }
}

#[derive(Clone, Debug)]
enum Handle {
    Counter(Counter),
    Gauge(Gauge),
    Histogram(Histogram),
}

#[derive(Clone, Debug)]
struct Metric {
    name: MetricName,
    help: &'static str,
    handle: Handle,
}

/// The metrics of a part of the daemon. Each method that adds one takes its name and its help: a sentence on what the
/// value means, and in which unit it is. Metrics of one name have the same help.
#[derive(Clone, Debug, Default)]
pub struct Registry(Vec<Metric>);

impl Registry {
    fn add(&mut self, name: MetricName, help: &'static str, handle: Handle) {
        self.0.push(Metric { name, help, handle });
    }

    /// Adds a counter.
    pub fn counter(&mut self, name: impl Into<MetricName>, help: &'static str) -> Counter {
        let counter = Counter::default();
        self.add(name.into(), help, Handle::Counter(counter.clone()));
        counter
    }

    /// Adds a gauge.
    pub fn gauge(&mut self, name: impl Into<MetricName>, help: &'static str) -> Gauge {
        let gauge = Gauge::default();
        self.add(name.into(), help, Handle::Gauge(gauge.clone()));
        gauge
    }

    /// Adds a histogram with these upper bounds, ascending.
    pub fn histogram(
        &mut self,
        name: impl Into<MetricName>,
        help: &'static str,
        bounds: &'static [f64],
    ) -> Histogram {
        let histogram = Histogram::new(bounds);
        self.show(name, help, &histogram);
        histogram
    }

    /// Adds a histogram that exists already.
    pub fn show(&mut self, name: impl Into<MetricName>, help: &'static str, shown: &Histogram) {
        self.add(name.into(), help, Handle::Histogram(shown.clone()));
    }

    /// Adds all metrics of another registry.
    pub fn extend(&mut self, other: &Self) {
        self.0.extend_from_slice(&other.0);
    }

    /// The text in which Prometheus reads the metrics, in the order of their names.
    pub fn text(&self) -> String {
        let mut metrics: Vec<&Metric> = self.0.iter().collect();
        metrics.sort_by_key(|metric| metric.name.name);
        let mut text = String::new();
        let mut before = "";
        for metric in metrics {
            let name = metric.name.name;
            if name != before {
                let kind = match metric.handle {
                    Handle::Counter(_) => "counter",
                    Handle::Gauge(_) => "gauge",
                    Handle::Histogram(_) => "histogram",
                };
                let help = metric.help;
                let _ = writeln!(text, "# HELP {name} {help}\n# TYPE {name} {kind}");
                before = name;
            }
            metric.write(&mut text);
        }
        text
    }
}

impl Metric {
    fn write(&self, text: &mut String) {
        match &self.handle {
            Handle::Counter(counter) => self.line(text, "", None, &counter.get()),
            Handle::Gauge(gauge) => self.line(text, "", None, &gauge.get()),
            Handle::Histogram(histogram) => {
                let counts = histogram.counts();
                let bounds = histogram.bounds().iter().map(f64::to_string);
                let mut below = 0;
                for (bound, count) in bounds.chain(["+Inf".to_owned()]).zip(&counts.counts) {
                    below += count; // the counts of all lower ranges, too
                    self.line(text, "_bucket", Some(&bound), &below);
                }
                self.line(text, "_sum", None, &counts.sum);
                self.line(text, "_count", None, &below);
            }
        }
    }

    /// Writes one value: the name with this ending, the labels, and the number.
    fn line(&self, text: &mut String, ending: &str, bound: Option<&str>, number: &dyn Display) {
        let label = self.name.label.as_ref();
        let label = label.map(|(name, value)| format!("{name}=\"{}\"", escaped(value)));
        let bound = bound.map(|bound| format!("le=\"{bound}\""));
        let labels: Vec<String> = label.into_iter().chain(bound).collect();
        let labels = match labels.is_empty() {
            true => String::new(),
            false => format!("{{{}}}", labels.join(",")),
        };
        let _ = writeln!(text, "{}{ending}{labels} {number}", self.name.name);
    }
}

fn escaped(label: &str) -> String {
    label
        .replace('\\', "\\\\")
        .replace('"', "\\\"")
        .replace('\n', "\\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_belongs_below_the_first_bound_that_it_does_not_exceed() {
        let histogram = Histogram::new(&[1.0, 2.0]);
        for value in [0.5, 1.0, 1.5, 2.0, 2.5, -3.0, f64::NAN] {
            histogram.observe(value);
        }
        histogram.observe_each(2, 7.0);
        let counts = histogram.counts();
        assert_eq!(counts.counts, [3, 2, 3]);
        assert_eq!((counts.total(), counts.sum), (8, 18.5));
    }

    #[test]
    fn the_text_has_every_value_with_its_labels() {
        let mut all = Registry::default();
        let seconds = all.histogram(("c_seconds", "of", "g"), "Durations.", &[0.1, 1.0]);
        for value in [0.05, 0.5, 0.5, 7.0] {
            seconds.observe(value);
        }
        let help = "What it counts.";
        all.counter(("a_total", "queue", "a\"b\\c\nd"), help).add(2);
        all.gauge("b", "A level.").set(0.25);
        let mut more = Registry::default();
        more.counter(("a_total", "queue", "e"), help).add(3);
        all.extend(&more);
        let expected = r#"# HELP a_total What it counts.
# TYPE a_total counter
a_total{queue="a\"b\\c\nd"} 2
a_total{queue="e"} 3
# HELP b A level.
# TYPE b gauge
b 0.25
# HELP c_seconds Durations.
# TYPE c_seconds histogram
c_seconds_bucket{of="g",le="0.1"} 1
c_seconds_bucket{of="g",le="1"} 3
c_seconds_bucket{of="g",le="+Inf"} 4
c_seconds_sum{of="g"} 8.05
c_seconds_count{of="g"} 4
"#;
        assert_eq!(all.text(), expected);
    }
}
