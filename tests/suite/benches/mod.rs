//! What benches compute, where it must be right: the judge of teams.
//!
//! The files of the benches are compiled here, too.

#[allow(dead_code, reason = "benches use the rest of it")]
#[path = "../../../benches/common"]
mod common {
    pub mod judge;
    pub mod lobbies;
    pub mod threads;
}

mod judge;
