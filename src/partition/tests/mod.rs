//! Properties of the room, against oracles.

mod prop;
