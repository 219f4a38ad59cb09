//! The text in which Prometheus reads metrics.

use prometheus::{
    TextEncoder,
    proto::{Bucket, Counter, Gauge, Histogram, LabelPair, Metric, MetricFamily, MetricType},
};

use super::{BucketCounts, Family, FamilyKind, MetricValue, family::Labelled};

/// The content type of the text.
pub const CONTENT_TYPE: &str = "text/plain; version=0.0.4; charset=utf-8";

/// Why there is no text.
#[derive(Debug, thiserror::Error)]
#[error("metrics cannot be written: {0}")]
pub struct TextError(#[from] prometheus::Error);

/// The text of these families. A family without values is left out.
///
/// # Errors
/// Fails if the text cannot be written, which no family that this program makes leads to.
pub fn text(families: Vec<Family>) -> Result<String, TextError> {
    let full = families
        .into_iter()
        .filter(|family| !family.values.is_empty());
    let families: Vec<MetricFamily> = full.map(MetricFamily::from).collect();
    Ok(TextEncoder::new().encode_to_string(&families)?)
}

impl From<Family> for MetricFamily {
    fn from(family: Family) -> Self {
        let mut whole = MetricFamily::default();
        whole.set_name(family.name.to_owned());
        whole.set_help(family.help.to_owned());
        whole.set_field_type(match family.kind {
            FamilyKind::Counter => MetricType::COUNTER,
            FamilyKind::Gauge => MetricType::GAUGE,
            FamilyKind::Histogram => MetricType::HISTOGRAM,
        });
        let values = family.values.into_iter();
        whole.set_metric(values.map(|value| metric(family.kind, value)).collect());
        whole
    }
}

fn metric(kind: FamilyKind, labelled: Labelled) -> Metric {
    let pair = |(name, text): (&str, String)| {
        let mut pair = LabelPair::default();
        pair.set_name(name.to_owned());
        pair.set_value(text);
        pair
    };
    let mut metric = Metric::from_label(labelled.labels.into_iter().map(pair).collect());
    match (kind, labelled.value) {
        (FamilyKind::Counter, MetricValue::Number(number)) => {
            let mut counter = Counter::default();
            counter.set_value(number);
            metric.set_counter(counter);
        }
        (_, MetricValue::Number(number)) => {
            let mut gauge = Gauge::default();
            gauge.set_value(number);
            metric.set_gauge(gauge);
        }
        (_, MetricValue::Buckets(counts)) => metric.set_histogram(histogram(&counts)),
    }
    metric
}

/// A histogram whose counts include those of all lower ranges.
fn histogram(counts: &BucketCounts) -> Histogram {
    let mut below = 0;
    let bucket = |(bound, count): (&f64, &u64)| {
        below += count;
        let mut bucket = Bucket::default();
        bucket.set_upper_bound(*bound);
        bucket.set_cumulative_count(below);
        bucket
    };
    let buckets = counts.bounds.iter().zip(&counts.counts).map(bucket);
    let mut histogram = Histogram::default();
    histogram.set_bucket(buckets.collect());
    histogram.set_sample_count(counts.total());
    histogram.set_sample_sum(counts.sum);
    histogram
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metrics::Buckets;

    #[test]
    fn the_text_has_every_value_with_its_labels() {
        let seconds = Buckets::new(&[0.1, 1.0]);
        for value in [0.05, 0.5, 0.5, 7.0] {
            seconds.observe(value);
        }
        let families = vec![
            Family::new(FamilyKind::Counter, "a_total", "What it counts.")
                .with(&[("queue", "a\"b\\c\nd")], 2_u64)
                .with(&[("queue", "e"), ("kind", "f")], 3_u64),
            Family::gauge("b", "A level.", 0.25),
            Family::new(FamilyKind::Gauge, "none", "Left out."),
            Family::histogram("c_seconds", "Durations.", seconds.counts()),
        ];
        let expected = r#"# HELP a_total What it counts.
# TYPE a_total counter
a_total{queue="a\"b\\c\nd"} 2
a_total{queue="e",kind="f"} 3
# HELP b A level.
# TYPE b gauge
b 0.25
# HELP c_seconds Durations.
# TYPE c_seconds histogram
c_seconds_bucket{le="0.1"} 1
c_seconds_bucket{le="1"} 3
c_seconds_bucket{le="+Inf"} 4
c_seconds_sum 8.05
c_seconds_count 4
"#;
        assert_eq!(text(families).unwrap(), expected);
    }
}
