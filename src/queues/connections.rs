//! The connections that the task sends news to.

use super::{fleet::Remote, links::Links};

/// The connections that are sent what happens. They outlast a write that fails.
#[derive(Debug, Default)]
pub(super) struct Connections {
    /// The instances.
    pub links: Links,
    /// What is connected to other daemons.
    pub remote: Remote,
}
