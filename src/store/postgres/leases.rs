//! Leases on PostgreSQL: rows that end by the clock of the server.
//!
//! These statements do not wait for the lock of all writers: a lease must not end because another process writes
//! for long.

use std::time::Duration;

use super::Server;
use crate::store::{
    LONGEST_LEASE, LastHolder, Lease, StoreError, Taken,
    db::{scalar, sql, tuple},
};

/// Finds the holder of a lease that has not ended.
const HELD: &str = "SELECT holder, epoch FROM leases
     WHERE name = $1 AND ends_at > clock() AND ends_at <= clock($2)";
/// Takes a lease that is free, and waits for a write of its old holder that is under way.
const TAKE: &str =
    "INSERT INTO leases AS l (name, holder, epoch, ends_at) VALUES ($1, $2, 1, clock($3))
     ON CONFLICT (name) DO UPDATE
         SET holder = excluded.holder, epoch = l.epoch + 1, ends_at = excluded.ends_at, given_back_at = NULL
         WHERE l.ends_at IS NULL OR l.ends_at <= clock() OR l.ends_at > clock($4)
     RETURNING epoch";

impl Server {
    pub async fn take_lease(
        &self,
        name: &str,
        holder: &str,
        lasts: Duration,
    ) -> Result<Taken, StoreError> {
        let lasts = lasts.min(LONGEST_LEASE);
        loop {
            if let Some((holder, epoch)) = self.lease_holder(name).await? {
                return Ok(Taken::No { holder, epoch });
            }
            let query = scalar(TAKE).bind(name).bind(holder);
            let query = query.bind(millis(lasts)).bind(millis(LONGEST_LEASE));
            let epoch: Option<i64> = query.fetch_optional(&self.apart).await?;
            if let Some(epoch) = epoch {
                return Ok(Taken::Yes(Lease {
                    name: name.to_owned(),
                    epoch,
                    lasts: Some(lasts),
                    _lock: None,
                }));
            }
        }
    }

    pub async fn lease_holder(&self, name: &str) -> Result<Option<(String, i64)>, StoreError> {
        let query = tuple(HELD).bind(name);
        let query = query.bind(millis(LONGEST_LEASE));
        query.fetch_optional(&self.apart).await
    }

    pub async fn renew_lease(&self, lease: &Lease) -> Result<bool, StoreError> {
        let renew = "UPDATE leases SET ends_at = clock($3)
                     WHERE name = $1 AND epoch = $2 AND ends_at > clock()";
        let query = sql(renew).bind(&lease.name).bind(lease.epoch);
        let query = query.bind(millis(lease.lasts.unwrap_or_default()));
        Ok(query.execute(&self.apart).await? > 0)
    }

    pub async fn give_back_lease(&self, lease: &Lease) -> Result<(), StoreError> {
        let free = "UPDATE leases SET ends_at = NULL, given_back_at = clock() WHERE name = $1 AND epoch = $2";
        let query = sql(free).bind(&lease.name).bind(lease.epoch);
        query.execute(&self.apart).await?;
        Ok(())
    }

    pub async fn describe_lease(&self, lease: &Lease, settings: &str) -> Result<(), StoreError> {
        let describe = "UPDATE leases SET settings = $3
                        WHERE name = $1 AND epoch = $2 AND ends_at > clock()";
        let query = sql(describe).bind(&lease.name).bind(lease.epoch);
        query.bind(settings).execute(&self.apart).await?;
        Ok(())
    }

    pub async fn last_holder(&self, name: &str) -> Result<Option<LastHolder>, StoreError> {
        // A lease that ends later than any can was taken before the clock of the server was set back.
        let last = "SELECT holder, epoch, coalesce(settings, ''), ends_at IS NULL,
                           CASE WHEN ends_at > clock() AND ends_at <= clock($2) THEN NULL
                                WHEN ends_at > clock() THEN $2
                                ELSE millis(clock()) - millis(coalesce(ends_at, given_back_at)) END
                    FROM leases WHERE name = $1";
        let query = tuple(last).bind(name).bind(millis(LONGEST_LEASE));
        let row: Option<(String, i64, String, bool, Option<i64>)> =
            query.fetch_optional(&self.apart).await?;
        let last = |(holder, epoch, settings, gave_it_back, free): (_, _, _, _, Option<i64>)| {
            let free = free.map(|free| u64::try_from(free).unwrap_or(0));
            LastHolder {
                holder,
                epoch,
                settings,
                free_for: free.map(Duration::from_millis),
                gave_it_back,
            }
        };
        Ok(row.map(last))
    }
}

fn millis(time: Duration) -> i64 {
    i64::try_from(time.as_millis()).unwrap_or(i64::MAX)
}
