//! The fold of finished matches into weights.
//!
//! [`Fold`] takes match records in (end time, fingerprint) order, one at a time, decides which are
//! rated and which are not and why ([`Unrated`]), hands them to the rating system of their ruleset,
//! and tells the weights of humans and bots apart. It is the only path from matches to weights:
//! rebuilding from all stored matches and learning from each as it arrives run the same code and end
//! in the same bits. A match that arrives late cannot be pushed ([`Late`]); the caller folds again.
//!
//! This room never reads a clock, a file or a database. Entry point: [`Fold::new`].

mod fold;
mod ruling;

pub use fold::{Fold, Late, Weight};
pub use ruling::{Played, Ruling, Unrated};
