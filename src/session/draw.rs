//! Random numbers of the system, for seeds and for the numbers of games.

use std::sync::atomic::{AtomicU32, Ordering};

use rand::{TryRng, rngs::SysRng};

/// A random seed. It has 31 bits, so that it fits the integers of old scripting languages.
pub fn draw_seed() -> u64 {
    // If the system has no randomness, a fixed seed still gives good teams.
    SysRng
        .try_next_u32()
        .map_or(0, |drawn| u64::from(drawn >> 1))
}

/// A random number for the decisions of a game, unique among all games. Without system randomness
/// it is negative, and unique among the games of this process.
pub fn draw_game() -> i64 {
    static NEXT: AtomicU32 = AtomicU32::new(1);
    let counted = || {
        let next = NEXT.fetch_add(1, Ordering::Relaxed);
        -(i64::from(std::process::id()) << 32 | i64::from(next))
    };
    SysRng
        .try_next_u64()
        .map_or_else(|_| counted(), |drawn| (drawn >> 1).cast_signed())
}
