#![doc = include_str!("../README.md")]
//!
//! # How it is built
//!
//! The types that all other rooms share: identities, rulesets, the match record, units, and seeded
//! random streams.
//!
//! This room uses no file, socket, clock or database, and decides nothing about teams or weights.
//! Entry point: [`MatchRecord`], the only ground truth.

#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used))] // a test may fail by unwrapping
#![warn(unreachable_pub)]

pub mod access;
pub mod behaviour;
pub mod fingerprint;
pub mod ident;
pub mod in_game;
pub mod match_chances;
pub mod merge;
pub mod names;
pub mod random;
pub mod record;
pub mod recorder;
pub mod rulebook;
pub mod steam;
pub mod team_names;
pub mod text;
pub mod time;
pub mod units;
pub mod weight;
pub mod win_model;

pub use ident::{Kind, PlayerKey};
pub use record::{MatchRecord, Outcome, Participant};
pub use recorder::MatchRecorder;
pub use rulebook::{Rulebook, Ruleset};
pub use time::Timestamp;
pub use win_model::WinModel;
