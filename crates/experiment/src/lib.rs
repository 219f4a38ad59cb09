#![doc = include_str!("../README.md")]
//!
//! # How it is built
//!
//! Pure: no clock, no files, and no randomness but that of a key or a seed. The same matches in the same order give the same bits
//! on every machine, so nothing needs to be stored: who starts again folds the stored matches again.
//!
//! [`arms`] draws the arm of a game. [`baseline`] predicts an outcome before the arm is known, [`sequence`] compares both
//! arms, and [`verdict`] puts both together for one outcome and says it as a sentence. [`season`] plays made-up seasons.

#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used))] // a test may fail by unwrapping
#![warn(unreachable_pub)]

pub mod arms;
pub mod baseline;
pub mod season;
pub mod sequence;
pub mod verdict;

pub use arms::{Arm, ArmKey, ArmShare, Commitment, DrawnFor};
pub use baseline::Baseline;
pub use sequence::ConfidenceSequence;
pub use verdict::{ExperimentVerdict, FollowedOutcome};

/// What is wrong with the input.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum ExperimentError {
    /// An arm would have too few games.
    #[error("the share of arm B must be from 0.05 to 0.95, but is {0}")]
    Share(f64),
    /// A level that promises nothing.
    #[error("the level must be above 0 and at most 0.5, but is {0}")]
    Level(f64),
    /// An outcome, a baseline or a rate that is none.
    #[error("an outcome must be from 0 to 1, but is {0}")]
    Outcome(f64),
    /// A feature that is not a number.
    #[error("a feature must be a finite number, but is {0}")]
    NotFinite(f64),
    /// A match with too few or too many features.
    #[error("a match must have {expected} features, but has {given}")]
    Features {
        /// The number of features of this match.
        given: usize,
        /// The number of features of each match.
        expected: usize,
    },
    /// More features than a baseline can have.
    #[error("a match can have at most {most} features, not {0}", most = baseline::MAX_FEATURES)]
    TooManyFeatures(usize),
    /// A text that is no key and no commitment.
    #[error("a key or a commitment must have 64 hexadecimal digits")]
    Hex,
    /// Too many seasons or matches, or none.
    #[error("seasons and their matches must be from 1 to {}", season::MOST)]
    Seasons,
    /// No test finds a difference that is none.
    #[error("both rates are the same: there is nothing to find")]
    NoEffect,
}

/// The number, if it is from 0 to 1.
fn checked(number: f64) -> Result<f64, ExperimentError> {
    match (0.0..=1.0).contains(&number) {
        true => Ok(number),
        false => Err(ExperimentError::Outcome(number)),
    }
}
