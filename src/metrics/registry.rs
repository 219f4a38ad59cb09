//! Metrics with their names and meanings, and the text of them.

use std::fmt::{Display, Write};

use super::{Counter, Gauge, Histogram};

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
