//! Numbers about the running daemon: counters, gauges and histograms, and the text in which Prometheus reads them.
//!
//! A room that counts something has a struct of handles in a file `metrics.rs`, made by a [`Registry`] that knows
//! their names and meanings. To count takes no lock and no memory: any number of threads may do it at any time, and
//! nothing that is counted ever waits for a reader. Numbers that are known elsewhere are added to the registry of one
//! reading. Labels come from lists of this program or of the configuration, never from players or game servers, so
//! that their number is bounded.

mod histogram;
mod number;
mod registry;

pub use histogram::{Histogram, HistogramCounts, SECONDS, SHARES};
pub use number::{Counter, Gauge};
pub use registry::{CONTENT_TYPE, MetricName, Registry};
