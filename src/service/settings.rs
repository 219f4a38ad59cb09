//! The settings of the service.

use std::collections::BTreeMap;

use crate::{learning, matchmaking::QueueSettings, session};

/// The settings of learning, of sessions and of queues.
#[derive(Clone, Debug)]
pub struct Settings {
    /// How weights are learned.
    pub learning: learning::Settings,
    /// How sessions behave.
    pub session: session::Settings,
    /// The queues, by name.
    pub queues: BTreeMap<String, QueueSettings>,
}
