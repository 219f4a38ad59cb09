//! The settings of the service.

use crate::{learning, session};

/// The settings of learning and of sessions.
#[derive(Clone, Debug)]
pub struct Settings {
    /// How weights are learned.
    pub learning: learning::Settings,
    /// How sessions behave.
    pub session: session::Settings,
}
