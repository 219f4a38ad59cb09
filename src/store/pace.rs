//! Many rows are written in short transactions, so that whoever else writes waits for none of them for long.

use std::time::Duration;

use tokio::time::{Instant, sleep};

/// How long a transaction may take. Others may take twice as long, since no two sets of rows take equally long.
const SHORT: Duration = Duration::from_millis(20);
/// The first of several transactions writes this many rows; the next ones as many as take about [`SHORT`].
const SOME: usize = 64;

/// How many rows a transaction writes, so that it takes about [`SHORT`].
pub(in crate::store) struct Pace {
    rows: usize,
    since: Instant,
}

impl Pace {
    pub(in crate::store) fn new() -> Self {
        Self {
            rows: SOME,
            since: Instant::now(),
        }
    }

    /// The number of rows to write next, of so many.
    pub(in crate::store) fn next(&mut self, left: usize) -> usize {
        self.since = Instant::now();
        self.rows.min(left)
    }

    /// Notes that this many rows were written.
    pub(in crate::store) fn took(&mut self, rows: usize) {
        let took = self.since.elapsed().as_secs_f64().max(1e-4);
        let fit = (rows as f64 * SHORT.as_secs_f64() / took) as usize;
        self.rows = fit.clamp(self.rows / 2, 2 * self.rows).clamp(8, 4_096);
    }

    /// Waits for as long as the transaction took: another process does not get its turn between two that follow each other.
    pub(in crate::store) async fn rest(&self) {
        sleep(self.since.elapsed()).await;
    }
}
