//! The allocator service of Agones: what it is asked for a match, and what its answers mean.
//!
//! Agones keeps game servers in Kubernetes. Its allocator service takes `POST /gameserverallocation` with
//! labels, marks a game server that has them as allocated, and returns its name, its address and its ports.
//! This module writes the requests and reads the answers; it sends nothing. The fields are those of
//! `proto/allocation/allocation.proto` of Agones, as the service writes them in JSON.

mod allocation;
mod request;
mod settings;
#[cfg(test)]
mod tests;

pub use allocation::{Allocation, GameServer};
pub use settings::{AgonesSettings, Provider};

/// The path of the service.
pub const PATH: &str = "/gameserverallocation";
/// The longest answer that is read, in bytes.
pub const MAX_ANSWER: usize = 64 * 1_024;
