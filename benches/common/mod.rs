//! What several benches share: recorded lobbies, an independent judge of teams, and the daemon that picks them.

pub mod daemon;
pub mod judge;
pub mod lobbies;
pub mod sets;
pub mod statistics;
pub mod threads;
