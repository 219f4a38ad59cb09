//! What only one daemon may do at a time.

use std::{any::Any, fmt, sync::Arc, time::Duration};

use async_trait::async_trait;

use super::StoreError;

/// The longest time for which a lease is taken. One that ends later was taken before the clock of the
/// database was set back, and counts as free.
pub const LONGEST_LEASE: Duration = Duration::from_secs(600);

/// A lease that this process has taken. Writes that only the holder may make show it to the database.
#[derive(Clone)]
pub struct Lease {
    /// What only its holder may do, such as `fold`.
    pub name: String,
    /// Grows with each new holder: a write with an old epoch fails.
    pub epoch: i64,
    /// For how long it is taken and renewed. `None` if it lasts as long as this value: no other process can
    /// take it before, and it need not be renewed.
    pub lasts: Option<Duration>,
    /// Keeps others from taking it.
    pub(super) _lock: Option<Arc<dyn Any + Send + Sync>>,
}

impl fmt::Debug for Lease {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (epoch {})", self.name, self.epoch)
    }
}

/// The result of an attempt to take a lease.
#[derive(Clone, Debug)]
pub enum Taken {
    /// The caller has it now.
    Yes(Lease),
    /// Another holder has it now.
    No {
        /// The name of the holder.
        holder: String,
        /// The epoch of that holder.
        epoch: i64,
    },
}

/// Who holds a lease, or held it last, and with which settings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LastHolder {
    /// The name of the holder.
    pub holder: String,
    /// Its epoch.
    pub epoch: i64,
    /// What it has noted by [`Leases::describe_lease`]; empty if nothing.
    pub settings: String,
    /// For how long the lease has been free; `None` while it is held.
    pub free_for: Option<Duration>,
    /// Whether the holder gave it back. Otherwise it has ended by itself.
    pub gave_it_back: bool,
}

/// The leases of a database. Times count by the clock of the database, so that the clocks of the daemons need
/// not agree.
#[async_trait]
pub trait Leases: Send + Sync {
    /// Takes a lease that is free or has ended. The holder has a name that no other process uses.
    ///
    /// # Errors
    /// Fails if the database does.
    async fn take_lease(
        &self,
        name: &str,
        holder: &str,
        lasts: Duration,
    ) -> Result<Taken, StoreError>;

    /// The holder of a lease that has not ended, and its epoch. On SQLite, the last holder.
    ///
    /// # Errors
    /// Fails if the database does.
    async fn lease_holder(&self, name: &str) -> Result<Option<(String, i64)>, StoreError>;

    /// Makes a lease end later: [`Lease::lasts`] from now. Returns whether the caller still has it. If not, it
    /// has ended, even if no other process has taken it since.
    ///
    /// # Errors
    /// Fails if the database does.
    async fn renew_lease(&self, lease: &Lease) -> Result<bool, StoreError>;

    /// Gives a lease back before it ends, so that another holder can take it at once.
    ///
    /// # Errors
    /// Fails if the database does. The lease then ends by itself.
    async fn give_back_lease(&self, lease: &Lease) -> Result<(), StoreError>;

    /// Notes the settings of the holder beside its lease, for daemons that may take it later. Does nothing where
    /// only one daemon uses a database, as on SQLite.
    ///
    /// # Errors
    /// Fails if the database does.
    async fn describe_lease(&self, _lease: &Lease, _settings: &str) -> Result<(), StoreError> {
        Ok(())
    }

    /// Who holds a lease, or held it last. `None` if nobody ever has, and where only one daemon uses a database.
    ///
    /// # Errors
    /// Fails if the database does.
    async fn last_holder(&self, _name: &str) -> Result<Option<LastHolder>, StoreError> {
        Ok(None)
    }
}
