//! Tests of the room, from the views of players and organisers.

mod backfill;
mod demands;
mod plans;
mod restrict;
mod situations;
mod small;
mod tickets;
mod why;
