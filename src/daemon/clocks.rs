//! Compares the clock of this machine with that of the database, and with the last match.
//!
//! Matches are learned from in the order in which they ended. If the clocks of two daemons differ, or if a clock was
//! set back, matches come late, and those after them are learned from again.

use std::{sync::Arc, time::Duration};

use tokio::time::sleep;

use crate::{domain::Timestamp, service::Service, store::StoreError};

/// The pause between two comparisons.
const PAUSE: Duration = Duration::from_secs(60);
/// The most milliseconds by which clocks may differ; a question to a database that is busy takes seconds.
const TOLERANCE: u64 = 10_000;

/// A difference for which somebody should look at the clocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Doubt {
    /// The clock of this machine is so many milliseconds ahead of that of the database, or behind it.
    Database(i64),
    /// The last match ended so many milliseconds from now.
    Future(i64),
}

/// Compares the clocks every minute, and logs once that they differ and that they do not differ any more. Never
/// returns.
pub(super) async fn watch(service: Arc<Service>) {
    let mut doubted = false;
    loop {
        match compare(&service).await {
            Ok(doubt) => {
                let before = std::mem::replace(&mut doubted, doubt.is_some());
                match doubt {
                    Some(doubt) if !before => warn(doubt),
                    None if before => tracing::info!("the clocks agree again"),
                    _ => {}
                }
            }
            Err(error) => tracing::debug!(%error, "the clocks cannot be compared"),
        }
        sleep(PAUSE).await;
    }
}

async fn compare(service: &Service) -> Result<Option<Doubt>, StoreError> {
    let store = service.store();
    let last = store.last_end().await?;
    let database = store.clock().await?;
    Ok(doubt(service.sessions().clock().now(), database, last))
}

/// What is wrong at `now`, if anything.
fn doubt(now: Timestamp, database: Option<Timestamp>, last: Option<Timestamp>) -> Option<Doubt> {
    let ahead_of = |other: Timestamp| now.0.saturating_sub(other.0);
    let database = database.map(ahead_of);
    let database = database.filter(|ahead| ahead.unsigned_abs() > TOLERANCE);
    let future = last.map(|last| ahead_of(last).saturating_neg());
    let future = future.filter(|ahead| u64::try_from(*ahead).is_ok_and(|ahead| ahead > TOLERANCE));
    database.map(Doubt::Database).or(future.map(Doubt::Future))
}

fn warn(doubt: Doubt) {
    match doubt {
        Doubt::Database(millis) => tracing::warn!(
            seconds = millis / 1_000,
            "the clock of this machine is ahead of the clock of the database, or behind it if the number is negative: matches may be learned from in a wrong order"
        ),
        Doubt::Future(millis) => tracing::warn!(
            seconds = millis / 1_000,
            "the last match ended in the future: the clock of this machine was set back, or that of another one is ahead"
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_difference_of_clocks_is_noticed_in_both_directions() {
        let at = |seconds: i64| Timestamp(1_000 * seconds);
        let doubt = |database: Option<i64>, last: Option<i64>| {
            doubt(at(1_000), database.map(at), last.map(at))
        };
        assert_eq!(doubt(None, None), None);
        assert_eq!(doubt(Some(1_010), Some(-9)), None);
        assert_eq!(doubt(Some(990), Some(1_010)), None);
        assert_eq!(doubt(Some(1_011), None), Some(Doubt::Database(-11_000)));
        assert_eq!(
            doubt(Some(400), Some(1_600)),
            Some(Doubt::Database(600_000))
        );
        assert_eq!(doubt(None, Some(1_600)), Some(Doubt::Future(600_000)));
        let extreme = [i64::MIN, i64::MAX].map(Timestamp);
        for one in extreme {
            for other in extreme {
                super::doubt(one, Some(other), Some(other));
            }
        }
    }
}
