//! How far the clock of this machine is from that of the database.

use parking_lot::Mutex;

use crate::{model::Timestamp, server::Service};

/// The greatest difference between the two clocks that is not reported, in seconds.
pub(super) const APART: f64 = 3.0;

/// The difference between the clocks of this machine and of the database, as it was last measured.
#[derive(Debug, Default)]
pub(super) struct ClockDifference(Mutex<Option<f64>>);

impl ClockDifference {
    /// By how many seconds this machine's clock is ahead; `None` if the database has no clock of its own, or has not
    /// been asked.
    pub fn seconds(&self) -> Option<f64> {
        *self.0.lock()
    }

    /// Measures it. Logs when the clocks begin to differ, and when they no longer do.
    pub async fn measure(&self, service: &Service) {
        let clock = service.sessions().clock();
        let before = clock.now();
        let theirs = match service.store().clock().await {
            Ok(Some(theirs)) => theirs,
            Ok(None) => return,
            Err(error) => return tracing::debug!(%error, "the clock of the database is not known"),
        };
        let seconds = ahead(before, theirs, clock.now());
        let was_apart = self.0.lock().replace(seconds).is_some_and(is_apart);
        match (was_apart, is_apart(seconds)) {
            (false, true) => tracing::warn!(
                seconds,
                "the clock of this machine differs from that of the database: set it, for example with NTP"
            ),
            (true, false) => tracing::info!("the clocks of this machine and of the database agree"),
            _ => {}
        }
    }
}

/// Whether a difference is to be reported.
pub(super) fn is_apart(seconds: f64) -> bool {
    seconds.abs() > APART
}

/// By how many seconds this machine's clock is ahead, at least. The database has read its clock between two readings
/// of this machine's.
fn ahead(before: Timestamp, theirs: Timestamp, after: Timestamp) -> f64 {
    let (least, most) = (
        before.0.saturating_sub(theirs.0),
        after.0.saturating_sub(theirs.0),
    );
    let nearest = match (least > 0, most < 0) {
        (true, _) => least,
        (_, true) => most,
        _ => 0,
    };
    nearest as f64 / 1_000.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slow_answer_is_no_difference() {
        let seconds =
            |before, theirs, after| ahead(Timestamp(before), Timestamp(theirs), Timestamp(after));
        assert_eq!(seconds(10_000, 15_000, 60_000), 0.0);
        assert_eq!(seconds(610_000, 10_000, 612_000), 600.0);
        assert_eq!(seconds(10_000, 610_000, 12_000), -598.0);
        assert!(is_apart(-598.0) && !is_apart(2.9));
    }
}
