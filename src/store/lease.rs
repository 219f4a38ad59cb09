//! What only one daemon may do at a time.

use std::{any::Any, fmt, sync::Arc, time::Duration};

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
    /// What it has noted by [`Store::describe_lease`](super::Store::describe_lease); empty if nothing.
    pub settings: String,
    /// For how long the lease has been free; `None` while it is held.
    pub free_for: Option<Duration>,
    /// Whether the holder gave it back. Otherwise it has ended by itself.
    pub gave_it_back: bool,
}
