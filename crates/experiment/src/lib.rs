#![doc = include_str!("../README.md")]
//!
//! # How it is built
//!
//! Pure: no clock, no files, and no randomness but that of a key.

#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used))] // a test may fail by unwrapping
#![warn(unreachable_pub)]

pub mod arms;

pub use arms::{Arm, ArmKey, ArmShare, Commitment, DrawnFor};

/// What is wrong with the input.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum ExperimentError {
    /// An arm would have too few games.
    #[error("the share of arm B must be from 0.05 to 0.95, but is {0}")]
    Share(f64),
    /// A text that is no key and no commitment.
    #[error("a key or a commitment must have 64 hexadecimal digits")]
    Hex,
}
