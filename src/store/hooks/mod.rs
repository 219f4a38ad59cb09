//! The tables of webhooks: the events that wait, and what each webhook was sent.

pub(in crate::store) mod event;
pub(in crate::store) mod events;
pub(in crate::store) mod reports;

use super::Store;

/// The tables of webhooks.
#[derive(Clone, Copy, Debug)]
pub struct Hooks<'a>(&'a Store);

impl Store {
    /// The tables of webhooks.
    pub fn hooks(&self) -> Hooks<'_> {
        Hooks(self)
    }
}
