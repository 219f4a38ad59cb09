//! Notices a last match that ended in the future.
//!
//! Matches are learned from in the order in which they ended. If a clock was ahead, all matches until then come late,
//! and those after them are learned from again. `watch` compares the clocks themselves.

use std::{sync::Arc, time::Duration};

use tokio::time::sleep;

use crate::{model::Timestamp, server::Service};

/// The pause between two looks.
const PAUSE: Duration = Duration::from_secs(60);

/// Looks every minute, and logs once that the last match ended in the future. Never returns.
pub(super) async fn watch(service: Arc<Service>) {
    let mut was_ahead = false;
    loop {
        match service.store().matches().last_end().await {
            Ok(last) => {
                let ahead = last.and_then(|last| ahead(service.sessions().clock().now(), last));
                if let Some(millis) = ahead.filter(|_| !was_ahead) {
                    tracing::warn!(
                        seconds = millis / 1_000,
                        "the last match ended in the future: its log is in another time zone, which time_zone in its [[follow]] section or --time-zone sets (rebuild --from-logs then mends the match), or the one who reported it is ahead of this machine"
                    );
                }
                was_ahead = ahead.is_some();
            }
            Err(error) => tracing::debug!(%error, "the end of the last match is not known"),
        }
        sleep(PAUSE).await;
    }
}

/// By how many milliseconds `last` is later than `now`, if that is more than clocks differ.
fn ahead(now: Timestamp, last: Timestamp) -> Option<i64> {
    let ahead = last.0.saturating_sub(now.0);
    last.is_ahead_of(now).then_some(ahead)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_an_end_that_is_far_ahead_is_reported() {
        let ahead = |now, last| ahead(Timestamp(now), Timestamp(last));
        assert_eq!(ahead(1_000_000, 1_010_000), None);
        assert_eq!(ahead(1_000_000, 1_600_000), Some(600_000));
        assert_eq!(ahead(1_600_000, 1_000_000), None);
        assert_eq!(ahead(i64::MIN, i64::MAX), Some(i64::MAX));
    }
}
