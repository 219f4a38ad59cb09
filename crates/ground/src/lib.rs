#![doc = include_str!("../README.md")]
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used))] // a test may fail by unwrapping

use evenkeel_ingest as ingest;
use evenkeel_matchmaking as matchmaking;
use evenkeel_model as model;

pub mod files;
pub mod metrics;
pub mod random;
pub mod store;
