//! Tests of the room, from the views of players and organisers.

mod demands;
mod plans;
mod situations;
mod tickets;
mod why;
