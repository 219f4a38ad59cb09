//! One partition, as its task sees it.

use std::sync::Arc;

use tokio::sync::mpsc;

use super::{ClientCall, QueueShared};

/// What the names of the leases of partitions begin with.
const LEASE: &str = "queues/";

/// One partition, as its task sees it.
pub(super) struct PartitionHandle {
    pub shared: Arc<QueueShared>,
    pub name: String,
    /// The name of its lease.
    pub lease: String,
    /// The way to its task.
    pub calls: mpsc::Sender<ClientCall>,
}

impl PartitionHandle {
    /// The partitions whose tasks have not begun, with the calls that come for each.
    pub fn begin(shared: &Arc<QueueShared>) -> Vec<(Self, mpsc::Receiver<ClientCall>)> {
        let handle = |(name, receiver): (String, _)| {
            let handle = Self {
                lease: format!("{LEASE}{name}"),
                calls: shared.tasks.calls(&name)?,
                shared: shared.clone(),
                name,
            };
            Some((handle, receiver))
        };
        shared
            .tasks
            .begin()
            .into_iter()
            .filter_map(handle)
            .collect()
    }
}
