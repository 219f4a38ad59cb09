//! Takes, renews and gives back leases.

use std::time::Duration;

use super::{
    Backend, LastHolder, Lease, Store, StoreError, Taken,
    db::{Dialect, PooledConnection, Query, scalar, tuple},
    sqlite,
};

/// Leases. Times count by the clock of the database, so that the clocks of the daemons need not agree.
impl Store {
    /// Takes a lease that is free or has ended. The holder has a name that no other process uses.
    pub async fn take_lease(
        &self,
        name: &str,
        holder: &str,
        lasts: Duration,
    ) -> Result<Taken, StoreError> {
        match &self.backend {
            Backend::Sqlite(file) => {
                let Some(lock) = file.lock_lease(name)? else {
                    let (holder, epoch) = self.lease_holder(name).await?.unwrap_or_default();
                    return Ok(Taken::No { holder, epoch });
                };
                let mut tx = self.begin().await?;
                let lease = sqlite::take_lease(&mut tx, name, holder, lock).await?;
                tx.commit().await?;
                Ok(Taken::Yes(lease))
            }
            Backend::Postgres(server) => server.take_lease(name, holder, lasts).await,
        }
    }

    /// The holder of a lease that has not ended, and its epoch. On SQLite, the last holder.
    pub async fn lease_holder(&self, name: &str) -> Result<Option<(String, i64)>, StoreError> {
        match &self.backend {
            Backend::Sqlite(_) => {
                let query = tuple("SELECT holder, epoch FROM leases WHERE name = $1");
                query.bind(name).fetch_optional(&self.readers).await
            }
            Backend::Postgres(server) => server.lease_holder(name).await,
        }
    }

    /// Makes a lease end later: [`Lease::lasts`] from now. Returns whether the caller still has it. If not, it
    /// has ended, even if no other process has taken it since.
    pub async fn renew_lease(&self, lease: &Lease) -> Result<bool, StoreError> {
        match &self.backend {
            Backend::Sqlite(_) => Ok(true), // the process holds it until it drops it
            Backend::Postgres(server) => server.renew_lease(lease).await,
        }
    }

    /// Gives a lease back before it ends, so that another holder can take it at once. If this fails, the lease ends by
    /// itself.
    pub async fn give_back_lease(&self, lease: &Lease) -> Result<(), StoreError> {
        match &self.backend {
            Backend::Sqlite(_) => Ok(()), // the lock ends when the lease is dropped
            Backend::Postgres(server) => server.give_back_lease(lease).await,
        }
    }

    /// Notes the settings of the holder beside its lease, for daemons that may take it later. Does nothing where
    /// only one daemon uses a database, as on SQLite.
    pub async fn describe_lease(&self, lease: &Lease, settings: &str) -> Result<(), StoreError> {
        match &self.backend {
            Backend::Sqlite(_) => Ok(()),
            Backend::Postgres(server) => server.describe_lease(lease, settings).await,
        }
    }

    /// Who holds a lease, or held it last. `None` if nobody ever has, and where only one daemon uses a database.
    pub async fn last_holder(&self, name: &str) -> Result<Option<LastHolder>, StoreError> {
        match &self.backend {
            Backend::Sqlite(_) => Ok(None),
            Backend::Postgres(server) => server.last_holder(name).await,
        }
    }
}

/// Fails unless the lease has not ended. On PostgreSQL, no other process can take it until the end of the transaction.
pub(super) async fn check(tx: &mut PooledConnection, lease: &Lease) -> Result<(), StoreError> {
    let held: Query<bool> = scalar(match tx.dialect() {
        Dialect::Sqlite => "SELECT TRUE FROM leases WHERE name = $1 AND epoch = $2",
        Dialect::Postgres => {
            "SELECT TRUE FROM leases WHERE name = $1 AND epoch = $2 AND ends_at > clock() FOR SHARE"
        }
    });
    let held = held.bind(&lease.name).bind(lease.epoch);
    let held = held.fetch_optional(tx).await?.is_some();
    held.then_some(())
        .ok_or_else(|| StoreError::LeaseLost(lease.name.clone()))
}
