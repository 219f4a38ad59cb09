//! Evenkeel: even teams for any multiplayer game server.

pub mod domain;
pub mod partition;
