//! Numbers about the running daemon: counters, gauges and histograms, and the text in which Prometheus reads them.
//!
//! A room that counts something has a struct of these in a file `metrics.rs`, which also lists their names and
//! meanings as [`Family`]s. To count takes no lock and no memory: any number of threads may do it at any time, and
//! nothing that is counted ever waits for a reader. Labels come from lists of this program or of the
//! configuration, never from players or game servers, so that their number is bounded.

mod buckets;
mod counter;
mod family;
mod text;
mod time_table;

pub use buckets::{BucketCounts, Buckets, SECONDS, SHARES};
pub use counter::{Counter, Gauge};
pub use family::{Family, FamilyKind, MetricValue};
pub use text::{CONTENT_TYPE, TextError, text};
pub use time_table::TimeTable;
