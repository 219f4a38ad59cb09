//! The settings of the service.

use std::{collections::BTreeMap, time::Duration};

use crate::{coordinator::CoordinatorSettings, learning, matchmaking::QueueSettings, session};

/// The settings of learning, of sessions and of queues.
#[derive(Clone, Debug)]
pub struct Settings {
    /// How weights are learned.
    pub learning: learning::Settings,
    /// How sessions behave.
    pub session: session::Settings,
    /// The queues, by name.
    pub queues: BTreeMap<String, QueueSettings>,
    /// How long each step of a hosted match may take.
    pub hosting: CoordinatorSettings,
    /// After how long without a sign of life another daemon may take over what only one may do.
    pub lease: Duration,
}
