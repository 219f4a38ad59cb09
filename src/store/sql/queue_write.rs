//! Writes what has changed in the queues, as one transaction.

use super::{Store, behaviour, hosting, leases, requests, turn};
use crate::store::{QueueWrite, StoreError};

impl Store {
    /// Applies changes, adds the no-shows that they have made, and writes what was decided for other daemons: all or
    /// none. Returns the version of the reports about behaviour if there are no-shows.
    ///
    /// # Errors
    /// Fails if the lease is lost ([`StoreError::LeaseLost`]), if a ticket is in another state than before its change
    /// ([`StoreError::OtherState`]), a match not open to be accepted ([`StoreError::NoCheck`]) or a player in another
    /// ticket of the group ([`StoreError::InAnother`]), or if a request was withdrawn that was carried out ([`StoreError::Withdrawn`]).
    pub async fn write_queues(&self, write: QueueWrite<'_>) -> Result<Option<i64>, StoreError> {
        let adds_reports = !write.no_shows.days.is_empty();
        let mut tx = self.begin_turn(adds_reports).await?;
        if let Err(error) = leases::check(&mut tx, write.lease).await {
            tx.abandon().await?; // at once, for the holder
            return Err(error);
        }
        turn::write(&mut tx, write.changes, write.partition).await?;
        hosting::write(&mut tx, write.changes, write.partition).await?;
        let version = match adds_reports {
            false => None,
            true => Some(behaviour::add(&mut tx, write.no_shows).await?),
        };
        requests::decide(&mut tx, &write).await?;
        // No weights change, so nobody who waits for commits is woken.
        tx.commit().await?;
        Ok(version)
    }
}
