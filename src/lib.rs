//! Evenkeel: even teams for any multiplayer game server.

// A test may fail by unwrapping; the program may not.
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used))]

pub mod domain;
pub mod history;
pub mod rating;
