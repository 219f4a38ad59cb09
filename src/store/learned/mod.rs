//! What was learned, as rows: rulings, performances, weights, divisions, the persons behind them, and notices of corrections.
//!
//! [`Learned`] replaces these rows, and does not depend on how they are made.

pub(in crate::store) mod names;
pub(in crate::store) mod notices;
pub(in crate::store) mod persons;
pub(in crate::store) mod read;
pub(in crate::store) mod recounts;
pub(in crate::store) mod rewrite;
pub(in crate::store) mod rows;
pub(in crate::store) mod spool;
pub(in crate::store) mod systems;
pub(in crate::store) mod weights;

use super::Store;

/// What was learned.
#[derive(Clone, Copy, Debug)]
pub struct Learned<'a>(&'a Store);

impl Store {
    /// What was learned.
    pub fn learned(&self) -> Learned<'_> {
        Learned(self)
    }
}
