//! Evenkeel: even teams for any multiplayer game server.

pub mod domain;
pub mod history;
pub mod lobby;
pub mod protocol;
pub mod rating;
pub mod store;
