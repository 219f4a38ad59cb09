//! A running game and its result, over the line protocol.

mod again;
mod decisions;
mod leaving;
mod partition;
mod results;
mod running;
mod sessions;
