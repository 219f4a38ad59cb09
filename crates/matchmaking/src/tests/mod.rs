//! Tests of the room, from the views of players and organisers.

mod backfill;
mod backfill_sound;
mod demands;
mod draws;
#[allow(unreachable_pub, reason = "the program compiles this file, too")]
#[path = "../../../../src/simulate/load.rs"]
pub(super) mod load;
mod maps;
pub(super) mod oracle;
mod plans;
mod restrict;
mod rounds;
mod situations;
mod small;
mod tickets;
mod why;
