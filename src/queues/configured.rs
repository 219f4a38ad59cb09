//! The configured queues.

use std::{collections::BTreeMap, sync::Arc};

use crate::matchmaking::{Queue, QueueError, QueueSettings};

/// The configured queues, by name.
pub(super) type Configured = BTreeMap<String, Arc<Queue>>;

/// Checks the settings of all queues. Those that are as before keep their searches.
pub(super) fn configured(
    settings: BTreeMap<String, QueueSettings>,
    before: &Configured,
) -> Result<Configured, QueueError> {
    let queue = |(name, settings): (String, QueueSettings)| {
        let same = before.get(&name).filter(|old| *old.settings() == settings);
        let queue = match same {
            Some(old) => old.clone(),
            None => Arc::new(Queue::new(&name, settings)?),
        };
        Ok((name, queue))
    };
    settings.into_iter().map(queue).collect()
}
