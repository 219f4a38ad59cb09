//! What Evenkeel decides and learns: the pure rooms.
//!
//! The rooms of this crate have no runtime, database, log, file, clock, thread or global random numbers. Time and
//! randomness come in as arguments, and what is to be done comes out as values, so that every decision can be
//! repeated. The program, crate `evenkeel`, gives them their input and carries out what they say; it names these rooms
//! by its own path, `evenkeel::domain` for example. The glossary of all rooms is in its `src/lib.rs`.

#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used))] // a test may fail by unwrapping

pub mod domain;
pub mod history;
pub mod ingest;
pub mod lifecycle;
pub mod lobby;
pub mod matchmaking;
pub mod partition;
pub mod protocol;
pub mod rating;
pub mod sidecar;
