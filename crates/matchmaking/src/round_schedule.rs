//! When the rounds of a queue begin: the same in the daemon and in a simulation.

/// The shortest time between the beginnings of two rounds of a queue, in milliseconds.
pub const SPACING_MILLIS: u64 = 100;

/// The time after which a round begins although nothing has changed but the waits, in milliseconds.
pub const AGAIN_MILLIS: u64 = 1_000;

/// A queue spends at most one part in this number of its time on searches.
pub const REST: u32 = 3;
