//! Tests of the room, from the views of players and organisers.

mod situations;
mod tickets;
