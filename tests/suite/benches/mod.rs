//! What benches compute, where it must be right: the judge of teams, and the balancers of others.
//!
//! The files of the benches are compiled here, too, with the tests that stand in them.

#[allow(dead_code, reason = "the bench uses the rest of it")]
#[path = "../../../benches/field/balancers/mod.rs"]
mod balancers;
#[allow(dead_code, reason = "benches use the rest of it")]
#[path = "../../../benches/common"]
mod common {
    pub mod judge;
    pub mod lobbies;
    pub mod threads;
}
#[path = "../../../benches/field/data.rs"]
mod data;
#[allow(dead_code, reason = "the bench uses the rest of it")]
#[path = "../../../benches/field/page.rs"]
mod page;

mod field;
mod judge;
