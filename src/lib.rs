//! Evenkeel: even teams for any multiplayer game server.

#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used))] // a test may fail by unwrapping

pub mod config;
pub mod domain;
pub mod history;
pub mod ingest;
pub mod lobby;
pub mod protocol;
pub mod rating;
pub mod store;
