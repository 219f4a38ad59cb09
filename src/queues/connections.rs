//! The connections that the task sends news to.

use super::{links::Links, listeners::Listeners};

/// The connections that are sent what happens. They outlast a write that fails.
#[derive(Debug, Default)]
pub(super) struct Connections {
    /// The clients that have sent LISTEN.
    pub listeners: Listeners,
    /// The instances.
    pub links: Links,
}
